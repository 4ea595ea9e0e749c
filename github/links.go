package github

import (
	"fmt"
	"net/url"
	"strings"
)

// sessionPage is our own page about the session, for a link; nil where there is none.
func (w *writer) sessionPage() *string {
	if w.app.public == nil || w.item.SessionID == "" {
		return nil
	}
	u := *w.app.public
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawQuery = url.Values{"sessionId": {w.item.SessionID}}.Encode()
	page := u.String()
	return &page
}

// statusTarget is where a commit status leads: our own page, else our comment,
// else the pull request.
func (w *writer) statusTarget() string {
	if page := w.sessionPage(); page != nil {
		return *page
	}
	page := w.pullPage()
	if comment := w.item.Surface[rememberComment]; page != "" && comment != "" {
		page += "#issuecomment-" + comment
	}
	return page
}

// pullPage is GitHub's page of the pull request; empty where it has none, or
// where the pages' host cannot be told from that of the API.
func (w *writer) pullPage() string {
	root := webRoot(w.app.root)
	if root == "" || w.Number == 0 {
		return ""
	}
	owner, repo := w.names()
	return fmt.Sprintf("%s/%s/%s/pull/%d", root, owner, repo, w.Number)
}

// webRoot is where the pages are that belong to a REST root, without a slash at
// its end: github.com and the hosts of ghe.com have "api." before the name,
// Enterprise Server has "/api/v3" behind it.
func webRoot(rest *url.URL) string {
	if before, enterprise := strings.CutSuffix(rest.Path, "/api/v3/"); enterprise {
		return rest.Scheme + "://" + rest.Host + before
	}
	host, named := strings.CutPrefix(rest.Host, "api.")
	if !named || rest.Path != "/" {
		return ""
	}
	return rest.Scheme + "://" + host
}

// pages is where pull requests are for people, without a slash at its end. Where
// that cannot be told it is the host of the API.
func (a *app) pages() string {
	if root := webRoot(a.root); root != "" {
		return root
	}
	return a.root.Scheme + "://" + a.root.Host
}

// locate has a check that another one took the place of say where that is.
func (p *checkPayload) locate(where standing) {
	overtaken := checkPayload{Request: p.Request}
	overtaken.supersede()
	if p.Title == overtaken.Title && where == current {
		p.Title = "Superseded by a newer run"
		p.Summary = fmt.Sprintf("The review of %s was started again; the newest check run %s of this commit is the one that counts.",
			code(p.Request.Head), code(checkName))
	}
}
