package sim

import (
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// Fault makes matching requests go wrong. Faults are tried in the order in
// which they were given; the first that matches and is not spent applies.
type Fault struct {
	// Method such as "POST"; empty matches all.
	Method string
	// PathPattern is matched against the path after the REST root, segment by
	// segment as by path.Match; a last "**" takes any rest. Empty matches all.
	// Example: "/repos/*/*/check-runs/**".
	PathPattern string
	// Skip lets that many matching requests pass before the fault begins.
	Skip int
	// Times is how many requests are hit. 0 means one, negative means all.
	Times int

	// Status, Headers and Body are the answer. Status 0 with neither Hang nor
	// DropConnection leaves the true answer alone, which is useful with Hook and Gate.
	Status  int
	Headers http.Header
	// Body is sent as it is; empty means an error in GitHub's shape, and for
	// 502 and 503 its HTML page, which is not JSON.
	Body string

	// AfterEffect performs the request before the answer goes wrong: the
	// comment exists although the client saw a 502.
	AfterEffect bool
	// Hang never answers; it ends when the client goes or at [GitHub.Close].
	Hang bool
	// DropConnection closes the connection without an answer.
	DropConnection bool

	// Gate holds the request, before any effect, until the channel is closed.
	Gate <-chan struct{}
	// Hook runs before any effect, without the simulator's lock: the place to
	// push a commit between a client's read and its write.
	Hook func(RecordedRequest)
}

// fault is a registered Fault and what is left of it.
type fault struct {
	Fault
	countdown
}

// Fail registers a fault and returns a function that takes it back.
func (g *GitHub) Fail(f Fault) (undo func()) {
	reg := &fault{Fault: f, countdown: newCountdown(f.Skip, f.Times)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = append(g.faults, reg)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		reg.left = 0
	}
}

// ClearFaults takes all faults back.
func (g *GitHub) ClearFaults() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = nil
}

// takeFault finds the fault of a request and uses it up by one.
func (g *GitHub) takeFault(r *http.Request) *fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.faults {
		if f.matches(r.Method, strings.TrimPrefix(r.URL.Path, g.prefix)) && f.hits() {
			return f
		}
	}
	return nil
}

func (f *fault) matches(method, p string) bool {
	if f.Method != "" && f.Method != method {
		return false
	}
	return f.PathPattern == "" || matchPath(f.PathPattern, p)
}

// matchPath compares a path with a pattern of which a last "**" takes any rest.
func matchPath(pattern, p string) bool {
	if prefix, open := strings.CutSuffix(pattern, "**"); open {
		n := strings.Count(prefix, "/")
		parts := strings.SplitAfter(p, "/")
		if len(parts) < n {
			return false
		}
		pattern, p = prefix, strings.Join(parts[:n], "")
	}
	matched, err := path.Match(pattern, p)
	if err != nil {
		panic("sim: bad fault pattern " + pattern)
	}
	return matched
}

// apply carries a fault out.
func (f *fault) apply(g *GitHub, w http.ResponseWriter, r *http.Request, body []byte) {
	if f.Hook != nil {
		f.Hook(g.describe(r, body, 0))
	}
	if f.Gate != nil {
		select {
		case <-f.Gate:
		case <-r.Context().Done():
		case <-g.stop:
		}
	}
	plain := f.Status == 0 && !f.Hang && !f.DropConnection
	if plain {
		g.send(w, r, body, g.answer(r, body), true)
		return
	}
	if f.AfterEffect {
		g.answer(r, body)
	}
	switch {
	case f.Hang:
		g.note(r, body, 0)
		select {
		case <-r.Context().Done():
		case <-g.stop:
		}
		panic(http.ErrAbortHandler)
	case f.DropConnection:
		g.note(r, body, 0)
		panic(http.ErrAbortHandler)
	}
	g.send(w, r, body, f.reply(), false)
}

// reply is the answer of a fault that has one.
func (f *fault) reply() reply {
	message := http.StatusText(f.Status)
	if f.Status == http.StatusUnauthorized {
		message = "Bad credentials"
	}
	rep := failed(f.Status, message).withDocs("rest")
	switch {
	case f.Body != "":
		rep.raw, rep.ctype = []byte(f.Body), "application/json; charset=utf-8"
	case f.Status == http.StatusBadGateway || f.Status == http.StatusServiceUnavailable:
		rep.raw, rep.ctype = []byte("<html><head><title>Unicorn! &middot; GitHub</title></head></html>\n"), "text/html"
	}
	for key, values := range f.Headers {
		for _, v := range values {
			rep = rep.set(key, v) // in the canonical form, however it was written
		}
	}
	return rep
}

// SecondaryLimit is GitHub's answer to a burst: 403, with Retry-After if retry
// is above 0. GitHub is known to send it with no header at all.
func SecondaryLimit(retry time.Duration) Fault {
	f := Fault{
		Status: http.StatusForbidden,
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",` +
			`"documentation_url":"` + docs + `rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits","status":"403"}`,
		Headers: http.Header{},
	}
	if retry > 0 {
		f.Headers.Set("Retry-After", strconv.Itoa(int(retry/time.Second)))
	}
	return f
}

// TooManyRequests is the 429 that GitHub sends for either limit, with
// Retry-After if retry is above 0.
func TooManyRequests(retry time.Duration) Fault {
	f := SecondaryLimit(retry)
	f.Status = http.StatusTooManyRequests
	f.Body = strings.Replace(f.Body, `"403"`, `"429"`, 1)
	return f
}
