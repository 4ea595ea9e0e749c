package github

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that were left behind, and holds the list of
// operations to the calls that the tests made.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if problems := seen.problems(wholeRun()); code == 0 && len(problems) > 0 {
			fmt.Println("operations.go does not fit the calls that were made:\n" + strings.Join(problems, "\n"))
			code = 1
		}
		os.Exit(code)
	}))
}

// wholeRun reports whether all tests ran, so that a call that nobody made is
// one that nobody makes.
func wholeRun() bool {
	for _, name := range []string{"run", "skip", "fuzz", "list", "short"} {
		if f := flag.Lookup("test." + name); f != nil && f.Value.String() != f.DefValue {
			return false
		}
	}
	return true
}

// seen are the calls of all tests to a simulated GitHub.
var seen calls

// calls are permissions that GitHub names in its answers, by method and path.
type calls struct {
	mu   sync.Mutex
	made map[string]string
}

func (c *calls) note(req *http.Request, resp *http.Response) {
	p := strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/api/v3"), "/api")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made = map[string]string{}
	}
	key := req.Method + " " + strings.TrimPrefix(p, "/")
	if accepted := resp.Header.Get("X-Accepted-Github-Permissions"); accepted != "" || c.made[key] == "" {
		c.made[key] = accepted
	}
}

func (c *calls) problems(whole bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	used := map[int]bool{}
	for call, accepted := range c.made {
		i := slices.IndexFunc(Operations(), func(o Operation) bool { return o.matches(call) })
		if i < 0 {
			all = append(all, call+" is not listed; GitHub accepts "+accepted)
			continue
		}
		used[i] = true
		needs := strings.ReplaceAll(strings.Join(Operations()[i].Needs, "; "), ": ", "=")
		if accepted != "" && accepted != needs {
			all = append(all, fmt.Sprintf("%s: GitHub accepts %q, the list says %q", call, accepted, needs))
		}
	}
	for i, o := range Operations() {
		if whole && !used[i] {
			all = append(all, o.Method+" "+o.Path+" is listed, and no test makes it")
		}
	}
	slices.Sort(all)
	return all
}

// braces are the names in an operation's path.
var braces = regexp.MustCompile(`\{[a-z]+\}`)

// matches compares an operation with a call such as "GET repos/octo/shop/pulls/1".
func (o Operation) matches(call string) bool {
	pattern := strings.ReplaceAll(o.Path, "{repo}", "{owner}/{name}")
	method, made, _ := strings.Cut(call, " ")
	if method != o.Method {
		return false
	}
	if before, open := strings.CutSuffix(pattern, "{path}"); open {
		n := strings.Count(before, "/")
		parts := strings.SplitAfterN(made, "/", n+1)
		if len(parts) != n+1 {
			return false
		}
		made, pattern = strings.Join(parts[:n], ""), before
	}
	matched, err := path.Match(braces.ReplaceAllString(pattern, "*"), made)
	return err == nil && matched
}

func TestOperationsAreAllowedByWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	have := map[string]string{}
	for _, p := range Permissions() {
		have[p.Name+": "+p.Level] = p.Feature
		if p.Level == "write" {
			have[p.Name+": read"] = p.Feature
		}
	}
	for _, o := range Operations() {
		if o.Feature == "" || len(o.Needs) > 0 && !slices.ContainsFunc(o.Needs, func(n string) bool { return have[n] != "" }) {
			t.Errorf("%s %s needs one of %q, and none is asked for", o.Method, o.Path, o.Needs)
		}
	}
}

func TestCallsThatDoNotFitTheListAreFound(t *testing.T) {
	t.Parallel()
	c := calls{made: map[string]string{
		"GET repos/octo/shop/pulls/1":           "pull_requests=read",
		"GET repos/octo/shop/contents/a/b/c.go": "contents=read",
		"POST repos/octo/shop/check-runs":       "checks=admin",
		"DELETE repos/octo/shop":                "administration=write",
	}}
	got := c.problems(false)
	if len(got) != 2 || !strings.HasPrefix(got[0], "DELETE repos/octo/shop is not listed") || !strings.Contains(got[1], "checks=admin") {
		t.Errorf("%q", got)
	}
	if whole := c.problems(true); len(whole) <= len(got) {
		t.Errorf("what nobody calls is not found: %q", whole)
	}
}
