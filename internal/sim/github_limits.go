package sim

import (
	"net/http"
	"strconv"
	"time"
)

// Primary limits in requests an hour: the smallest of an installation, and that
// of an address without an identity.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
const (
	hourlyLimit       = 5000
	publicHourlyLimit = 60
)

// rateLimit is the primary limit. One counter serves all installations.
type rateLimit struct {
	limit, remaining int
	reset            time.Time
}

func newRateLimit(hourly int) rateLimit { return rateLimit{limit: hourly, remaining: hourly} }

// SetRateLimit leaves installations that many requests until reset. With 0
// left, requests are answered with 403 until the simulator's clock passes
// reset. Calls with the App's own token, such as minting, go on.
func (g *GitHub) SetRateLimit(remaining int, reset time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit.remaining, g.limit.reset = remaining, reset
	g.notify()
}

// SetGraphQLLimit is [GitHub.SetRateLimit] for GraphQL, which answers with
// status 200 and an error when nothing is left.
func (g *GitHub) SetGraphQLLimit(remaining int, reset time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pointLimit.remaining, g.pointLimit.reset = remaining, reset
	g.notify()
}

// limitFor is the counter that a request is charged to.
func (g *GitHub) limitFor(r *http.Request) *rateLimit {
	if r.URL.Path == g.graphQLPath() {
		return &g.pointLimit
	}
	return g.limitOf(authOf(r))
}

// limitOf is the counter of REST calls under an identity.
func (g *GitHub) limitOf(kind authKind) *rateLimit {
	switch kind {
	case authApp:
		return &g.appLimit
	case authNone:
		return &g.publicLimit
	}
	return &g.limit
}

// refill starts a new hour if the old one is over.
func (l *rateLimit) refill(now time.Time) {
	if !now.Before(l.reset) {
		l.remaining, l.reset = l.limit, now.Add(time.Hour).Truncate(time.Second)
	}
}

// check refuses a request when nothing is left.
func (l *rateLimit) check(now time.Time, who string) (reply, bool) {
	l.refill(now)
	if l.remaining > 0 {
		return reply{}, false
	}
	rep := failed(http.StatusForbidden, "API rate limit exceeded for "+who+". If you reach out to GitHub Support for help, please include the request ID.")
	return rep.withDocs("rest/using-the-rest-api/rate-limits-for-the-rest-api"), true
}

// charge counts a request and prints the limit on the answer.
func (l *rateLimit) charge(h http.Header, now time.Time, free bool) {
	l.refill(now)
	if !free && l.remaining > 0 {
		l.remaining--
	}
	for k, v := range map[string]string{
		"X-Ratelimit-Limit":     strconv.Itoa(l.limit),
		"X-Ratelimit-Remaining": strconv.Itoa(l.remaining),
		"X-Ratelimit-Used":      strconv.Itoa(l.limit - l.remaining),
		"X-Ratelimit-Reset":     strconv.FormatInt(l.reset.Unix(), 10),
		"X-Ratelimit-Resource":  "core",
	} {
		if h.Get(k) == "" {
			h.Set(k, v)
		}
	}
}

func (g *GitHub) getRateLimit(*call) reply {
	g.limit.refill(g.opts.Now())
	core := object{
		"limit": g.limit.limit, "remaining": g.limit.remaining,
		"used": g.limit.limit - g.limit.remaining, "reset": g.limit.reset.Unix(),
	}
	return ok(object{"resources": object{"core": core, "search": core, "graphql": core}, "rate": core})
}
