package setup

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// Site is a GitHub: github.com, a company's own server, or a data-residency host.
type Site struct {
	// Web is the root of its pages.
	Web *url.URL
	// API is the root of its REST API, with a slash at the end.
	API *url.URL
}

// ParseSite reads the address of a GitHub's pages, and of its API where that
// cannot be derived from it; api may be empty.
func ParseSite(web, api string) (Site, error) {
	w, err := root(web)
	if err != nil {
		return Site{}, fmt.Errorf("the address of GitHub %q: %w", web, err)
	}
	if api == "" {
		api = apiOf(w)
	}
	a, err := root(api)
	if err != nil {
		return Site{}, fmt.Errorf("the address of GitHub's API %q: %w", api, err)
	}
	a.Path = strings.TrimRight(a.Path, "/") + "/"
	return Site{Web: w, API: a}, nil
}

// apiOf derives the REST root.
// https://docs.github.com/enterprise-server/rest/enterprise-admin and
// https://docs.github.com/enterprise-cloud@latest/admin/data-residency/network-details-for-ghecom
func apiOf(web *url.URL) string {
	switch host := strings.ToLower(web.Host); {
	case host == "github.com", strings.HasSuffix(host, ".ghe.com"):
		return web.Scheme + "://api." + host + "/"
	default:
		return web.Scheme + "://" + host + "/api/v3/"
	}
}

func root(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("is not a URL")
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("is not an https URL, such as https://github.example.com")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("has more than a host and a path")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, errors.New("would send the App's secrets unencrypted; use https")
	}
	return u, nil
}

// organizationPattern is what GitHub allows in the login of an organisation.
var organizationPattern = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$`)

// form is the page that takes a manifest, for a person's own App or an organisation's.
func (s Site) form(organization, state string) (string, error) {
	path := []string{"settings", "apps", "new"}
	if organization != "" {
		if !organizationPattern.MatchString(organization) {
			return "", fmt.Errorf("%q is not the login of an organisation", organization)
		}
		path = append([]string{"organizations", organization}, path...)
	}
	u := s.Web.JoinPath(path...)
	u.RawQuery = url.Values{"state": {state}}.Encode()
	return u.String(), nil
}
