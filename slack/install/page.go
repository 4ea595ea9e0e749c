package install

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"strings"
)

// page is one that a person sees. Its text has %s for each fact, which is shown
// as text whatever it is.
type page struct {
	status      int
	title, text string
	// link is what the link says that is given with a page; again links to the start.
	link  string
	again bool
}

var (
	pageInstalled = page{status: http.StatusOK, title: "Installed",
		text: "The app is installed in %s. Invite it to a channel with /invite, mention it there and say what you need, or send it a direct message.",
		link: "Open Slack"}
	pageDenied = page{status: http.StatusOK, title: "Not installed",
		text: "You did not allow the app on Slack's page, and nothing was installed.", again: true}
	pageStale = page{status: http.StatusBadRequest, title: "Start again",
		text: "This page is for coming back from Slack within ten minutes, once, and in the browser that went there.", again: true}
	pageForeign = page{status: http.StatusForbidden, title: "Not installed",
		text: "This service is not for this workspace. Who runs it decides which workspaces it is for."}
	pageRefused = page{status: http.StatusBadGateway, title: "Not installed",
		text: "Slack did not let the app be installed. It said: %s.", again: true}
	pageUnavailable = page{status: http.StatusServiceUnavailable, title: "Not installed",
		text: "The installation could not be finished. The service's log says why.", again: true}
	pageNotFound    = page{status: http.StatusNotFound, title: "Nothing here", text: "There is nothing at this address."}
	pageWrongMethod = page{status: http.StatusMethodNotAllowed, title: "Not possible", text: "This page is opened with GET."}
)

const style = "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem;color:#1f2937}a{color:#1d4ed8}"

// secured sets the headers of everything that the pages answer. The address of a
// page has Slack's code in it, and is told to nobody.
func secured(h http.Header) {
	sum := sha256.Sum256([]byte(style))
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-"+
		base64.StdEncoding.EncodeToString(sum[:])+"'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// write answers with a page. links are those of the page's own link, if it has one.
func (p page) write(w http.ResponseWriter, facts []string, links ...string) {
	text := html.EscapeString(p.text)
	for _, fact := range facts {
		if fact == "" {
			fact = "nothing more"
		}
		text = strings.Replace(text, "%s", "<b>"+html.EscapeString(shortened(fact))+"</b>", 1)
	}
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">`)
	b.WriteString("<title>" + html.EscapeString(p.title) + "</title><style>" + style + "</style>")
	b.WriteString("<h1>" + html.EscapeString(p.title) + "</h1><p>" + text + "</p>")
	for _, link := range links {
		b.WriteString(`<p><a href="` + html.EscapeString(link) + `">` + html.EscapeString(p.link) + "</a></p>")
	}
	if p.again {
		// Relative, so that it works below whatever path the service is served.
		b.WriteString(`<p><a href="install">Start again</a></p>`)
	}
	b.WriteString("\n")
	secured(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, b.String())
}

// maxFact bounds a fact in runes.
const maxFact = 200

func shortened(s string) string {
	if runes := []rune(s); len(runes) > maxFact {
		return string(runes[:maxFact]) + "…"
	}
	return s
}
