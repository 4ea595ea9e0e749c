package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxRequestBody bounds what the simulator reads: far above any legal request.
const maxRequestBody = 32 << 20

// route is one endpoint. Patterns are relative to the REST root, or to the
// repository for the repository's routes. ":x" takes one segment, "*x" several.
type route struct {
	method  string
	pattern string
	auth    authKind
	// needs lists permissions of which any one is enough: "issues:write".
	needs  []string
	page   string // of the documentation
	handle func(*call) reply
}

// call is one request on its way through an endpoint. The lock is held.
type call struct {
	g     *GitHub
	r     *http.Request
	body  []byte
	vars  map[string]string
	repo  *repository
	inst  *installation // the installation behind the token, if any
	token *token
}

// ServeHTTP answers one REST request.
func (g *GitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		g.send(w, r, body, failed(http.StatusRequestEntityTooLarge, "Request body is too large").withDocs("rest"), false)
		return
	}
	f := g.takeFault(r)
	if f == nil {
		g.send(w, r, body, g.answer(r, body), true)
		return
	}
	f.apply(g, w, r, body)
}

// send writes a reply with the headers that every answer has, and records it.
func (g *GitHub) send(w http.ResponseWriter, r *http.Request, body []byte, rep reply, conditional bool) {
	payload, ctype := rep.encode()
	h := w.Header()
	h.Set("X-Github-Media-Type", "github.v3; format=json")
	h.Set("X-Github-Api-Version-Selected", apiVersion)
	h.Set("Server", "github.com")
	g.mu.Lock()
	h.Set("Date", g.opts.Now().UTC().Format(http.TimeFormat))
	h.Set("X-Github-Request-Id", "51A7:"+strings.ToUpper(digest(strconv.FormatInt(g.nextID(), 10))[:24]))
	free := r.URL.Path == g.prefix+"/rate_limit"
	for k, v := range rep.header {
		h[k] = v
	}
	if rep.status == http.StatusOK && conditional && r.Method == http.MethodGet {
		sum := sha256.Sum256(payload)
		tag := `W/"` + hex.EncodeToString(sum[:]) + `"`
		h.Set("ETag", tag)
		if strings.Contains(r.Header.Get("If-None-Match"), strings.TrimPrefix(tag, "W/")) {
			rep.status, payload, free = http.StatusNotModified, nil, true
		}
	}
	g.limitFor(r).charge(h, g.opts.Now(), free)
	g.record(r, body, rep.status)
	g.mu.Unlock()

	if ctype != "" && payload != nil {
		h.Set("Content-Type", ctype)
	}
	w.WriteHeader(rep.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(payload) // the client may be gone; there is nobody to tell
	}
	if g.opts.Watch != nil && conditional {
		x := Exchange{
			Method: r.Method, Path: strings.TrimPrefix(r.URL.EscapedPath(), g.prefix), Query: r.URL.RawQuery,
			Request: body, Status: rep.status,
		}
		if strings.HasPrefix(ctype, "application/json") {
			x.Answer = payload
		}
		g.opts.Watch(x)
	}
}

// answer performs a request: limits, identity, route, scope, permission, effect.
func (g *GitHub) answer(r *http.Request, body []byte) reply {
	g.mu.Lock()
	defer g.mu.Unlock()
	if rep, refused := g.precheck(r); refused {
		return rep.withDocs("rest")
	}
	who, rep, refused := g.identify(r)
	if refused {
		return rep.withDocs("rest")
	}
	if r.URL.Path == g.graphQLPath() {
		return g.answerGraphQL(r, body, who)
	}
	path, found := strings.CutPrefix(r.URL.EscapedPath(), g.prefix)
	if !found {
		return notFound().withDocs("rest")
	}
	segs, err := segments(path)
	if err != nil {
		return failed(http.StatusBadRequest, "Bad Request").withDocs("rest")
	}
	if rep, refused := g.limitOf(who.kind).check(g.opts.Now(), who.label()); refused && path != "/rate_limit" {
		return rep
	}
	c := &call{g: g, r: r, body: body, inst: who.inst, token: who.token}
	if rt, vars := match(g.rootTable, r.Method, segs); rt != nil {
		c.vars = vars
		return g.perform(c, rt, who)
	}
	if who.kind == authNone {
		return unauthenticated().withDocs("rest")
	}
	target, rest, isRepo := g.resolve(segs)
	if !isRepo {
		return notFound().withDocs("rest")
	}
	if who.kind == authApp {
		return notAccessible().withDocs("rest")
	}
	if target == nil || !who.token.covers(target.id) {
		return notFound().withDocs("rest")
	}
	if target.redirected(segs) {
		return g.moved(r, target, rest)
	}
	rt, vars := match(g.repoTable, r.Method, rest)
	if rt == nil {
		return notFound().withDocs("rest")
	}
	c.repo, c.vars = target, vars
	return g.perform(c, rt, who)
}

// perform checks what the route needs and runs it.
func (g *GitHub) perform(c *call, rt *route, who identity) reply {
	if rep, refused := who.allowed(rt); refused {
		return rep.withDocs(rt.page)
	}
	rep := rt.handle(c)
	if c.r.Method != http.MethodGet && rep.status < 300 {
		g.notify()
	}
	if len(rt.needs) > 0 {
		rep = rep.set("X-Accepted-Github-Permissions", acceptedPermissions(rt.needs))
	}
	return rep.withDocs(rt.page)
}

// resolve finds the repository that a path names, by name, old name or id.
func (g *GitHub) resolve(segs []string) (r *repository, rest []string, isRepo bool) {
	switch {
	case len(segs) >= 3 && segs[0] == "repos":
		key := strings.ToLower(segs[1] + "/" + segs[2])
		id, known := g.names[key]
		if !known {
			id = g.oldNames[key]
		}
		return g.repos[id], segs[3:], true
	case len(segs) >= 2 && segs[0] == "repositories":
		id, err := strconv.ParseInt(segs[1], 10, 64)
		if err != nil {
			return nil, nil, true
		}
		return g.repos[id], segs[2:], true
	}
	return nil, nil, false
}

// redirected reports whether the path used a name that the repository had before.
func (r *repository) redirected(segs []string) bool {
	return segs[0] == "repos" && !strings.EqualFold(segs[1]+"/"+segs[2], r.fullName)
}

// moved points at the repository's id, which survives every rename.
func (g *GitHub) moved(r *http.Request, target *repository, rest []string) reply {
	u := g.api("/repositories/" + strconv.FormatInt(target.id, 10))
	for _, s := range rest {
		u += "/" + escape(s)
	}
	if r.URL.RawQuery != "" {
		u += "?" + r.URL.RawQuery
	}
	status, message := http.StatusMovedPermanently, "Moved Permanently"
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		status = g.opts.WriteRedirectStatus
		message = http.StatusText(status)
	}
	return reply{status: status, json: object{
		"message": message, "url": u,
		"documentation_url": docs + "rest/guides/best-practices-for-using-the-rest-api#follow-redirects",
	}}.set("Location", u)
}

// segments splits an escaped path and unescapes each part, so that a name may
// hold any character, a slash excepted where it is one segment.
func segments(path string) ([]string, error) {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil, nil
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		s, err := url.PathUnescape(p)
		if err != nil {
			return nil, err
		}
		parts[i] = s
	}
	return parts, nil
}

// match finds the route of a path.
func match(routes []route, method string, segs []string) (*route, map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for i := range routes {
		if routes[i].method != method {
			continue
		}
		if vars, fits := fit(routes[i].pattern, segs); fits {
			return &routes[i], vars
		}
	}
	return nil, nil
}

// fit compares a pattern with segments; at most one "*x" per pattern.
func fit(pattern string, segs []string) (map[string]string, bool) {
	var want []string
	if pattern != "" {
		want = strings.Split(pattern, "/")
	}
	vars := map[string]string{}
	for i, w := range want {
		if name, many := strings.CutPrefix(w, "*"); many {
			tail := len(want) - i - 1
			if len(segs)-i-tail < 1 {
				return nil, false
			}
			vars[name] = strings.Join(segs[i:len(segs)-tail], "/")
			more, fits := fit(strings.Join(want[i+1:], "/"), segs[len(segs)-tail:])
			for k, v := range more {
				vars[k] = v
			}
			return vars, fits
		}
		if i >= len(segs) {
			return nil, false
		}
		if name, one := strings.CutPrefix(w, ":"); one {
			vars[name] = segs[i]
		} else if w != segs[i] {
			return nil, false
		}
	}
	return vars, len(want) == len(segs)
}

// decode reads the request's JSON object, keeping numbers as written.
func (c *call) decode() (object, reply, bool) {
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, failed(http.StatusBadRequest, "Problems parsing JSON"), false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, failed(http.StatusBadRequest, "Problems parsing JSON"), false
	}
	o, isObject := v.(object)
	if !isObject {
		return nil, failed(http.StatusBadRequest, "Body should be a JSON object"), false
	}
	return o, reply{}, true
}

// number reads a numeric path variable; 0 is never an id.
func (c *call) number(name string) int64 {
	n, err := strconv.ParseInt(c.vars[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
