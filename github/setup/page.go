package setup

import (
	"crypto/subtle"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
)

// createdPath is where GitHub sends the browser back to.
const createdPath = "/created"

// Page is the local site: the form that carries the manifest to GitHub, and the
// way back. It answers on loopback only, and takes one code.
type Page struct {
	addr   string
	form   string
	state  string
	posted string
	name   string
	done   func(code string) (installURL string, err error)

	mu    sync.Mutex
	taken bool
}

// NewPage returns the site that is served at addr, a host and port on loopback.
// state is a secret that GitHub brings back, which nobody else knows. done is
// called with the code, at most once, and returns where the App is installed.
func NewPage(site Site, organization string, m Manifest, addr, state string, done func(code string) (string, error)) (*Page, error) {
	form, err := site.form(organization, state)
	if err != nil {
		return nil, err
	}
	m.RedirectURL = "http://" + addr + createdPath
	return &Page{addr: addr, form: form, state: state, posted: m.JSON(), name: m.Name, done: done}, nil
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer") // the way back has the code in its address
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	if !p.addressed(r.Host) {
		// A name that resolves here could belong to any site's page.
		p.answer(w, http.StatusForbidden, "This page is for your own browser only", "<p>Open it under the address that the command printed.</p>")
		return
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		p.answer(w, http.StatusMethodNotAllowed, "Nothing is sent here", "")
	case r.URL.Path == "/":
		p.answer(w, http.StatusOK, "Register the GitHub App", fmt.Sprintf(
			`<p>The button takes you to GitHub, which shows what the App %q asks for. You can change its name there. Then GitHub sends you back here.</p>
<form action="%s" method="post"><input type="hidden" name="manifest" value="%s"><button type="submit">Continue on GitHub</button></form>
<details><summary>The manifest</summary><pre>%s</pre></details>`,
			html.EscapeString(p.name), html.EscapeString(p.form), html.EscapeString(p.posted), html.EscapeString(p.posted)))
	case r.URL.Path == createdPath:
		p.created(w, r.URL.Query())
	default:
		p.answer(w, http.StatusNotFound, "There is no such page", "")
	}
}

// created takes the code.
func (p *Page) created(w http.ResponseWriter, query url.Values) {
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(p.state)) != 1 {
		p.answer(w, http.StatusForbidden, "This did not start here",
			"<p>The state that came back is not the one that was sent. Begin again on the page that the command printed.</p>")
		return
	}
	p.mu.Lock()
	again := p.taken
	p.taken = true
	p.mu.Unlock()
	if again {
		p.answer(w, http.StatusConflict, "This was done before", "<p>Look at the terminal for how it ended.</p>")
		return
	}
	install, err := p.done(query.Get("code"))
	if err != nil {
		p.answer(w, http.StatusBadGateway, "It did not work", "<p>"+html.EscapeString(err.Error())+"</p>")
		return
	}
	p.answer(w, http.StatusOK, "The App is registered", fmt.Sprintf(
		`<p>Its secrets are in the file that the terminal names. One step is left: <a href="%s">install it on your repositories</a>.</p>`,
		html.EscapeString(install)))
}

func (p *Page) answer(w http.ResponseWriter, status int, title, body string) {
	w.WriteHeader(status)
	// A browser that went away is nobody to tell.
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><title>Liaison: %[1]s</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}pre{overflow:auto}</style>
<h1>%[1]s</h1>
%[2]s
</html>
`, title, body)
}

// addressed reports whether a Host header names this very listener.
func (p *Page) addressed(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return false
	}
	_, own, _ := net.SplitHostPort(p.addr)
	return port == own && loopback(name)
}

func loopback(name string) bool {
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}
