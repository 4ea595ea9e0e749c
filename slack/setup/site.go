package setup

import (
	"fmt"
	"net/url"
	"strings"
)

// Site is a Slack: the common one, that of the government, or a simulated one.
type Site struct {
	// API is the root of the Web API, with a slash at the end.
	API string
	// Pages is where apps are made, without one.
	Pages string
}

// ParseSite reads the root of the Web API, such as https://slack.com/api/.
func ParseSite(api string) (Site, error) {
	u, err := url.Parse(api)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return Site{}, fmt.Errorf("%q is not the root of Slack's Web API, such as https://slack.com/api/", api)
	}
	pages := u.Host
	if u.Scheme == "https" {
		pages = "api." + u.Host
	}
	return Site{API: strings.TrimRight(api, "/") + "/", Pages: u.Scheme + "://" + pages}, nil
}

// AppPage is the page of an app, or one of its parts such as "general" or "oauth".
func (s Site) AppPage(app, part string) string {
	return s.Pages + "/apps/" + url.PathEscape(app) + "/" + part
}
