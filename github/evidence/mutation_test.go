package evidence_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/sim"
)

// TestEveryField takes every field of every answer, and makes it null, which
// Go reads as if it were not there, or gives it another type. Nothing may panic; what is built is whole, and
// what is not built leaves nothing behind.
func TestEveryField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.go": "package a\n", "CODEOWNERS": "* @octo/all\n"})
	pr := w.OpenPullRequest(repoName, sim.NewPullRequest{
		Title: "T", Body: "B", Author: "mona", HeadRepo: "mona/shop", Labels: []string{"l"},
		Files: map[string]sim.Change{"a.go": sim.Write("package b\n"), "b.go": sim.Rename("CODEOWNERS", "")},
	})
	w.AddComment(repoName, pr.Number, "mona", "c")
	w.AddReview(repoName, pr.Number, sim.Review{Author: "mona", State: "COMMENTED", Body: "r"})
	w.AddReviewComment(repoName, pr.Number, sim.ReviewComment{Author: "mona", Path: "a.go", Line: 1, Body: "l"})
	w.AddCheckRun(repoName, pr.HeadSHA, sim.CheckRun{Name: "c", Status: "completed", Conclusion: "success", Title: "t"})

	answers := map[string]*recorded{}
	w.around = func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(resp.Body)
		if cerr := resp.Body.Close(); err != nil || cerr != nil {
			return nil, errors.Join(err, cerr)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		answers[nameOf(r)] = &recorded{resp.StatusCode, resp.Header, body}
		return answers[nameOf(r)].response(r), nil
	}
	w.build(w.request(pr.Number))

	mutations := 0
	for name, answer := range answers {
		var root any
		if answer.status != http.StatusOK || json.Unmarshal(answer.body, &root) != nil {
			continue
		}
		for _, at := range fields(root, nil) {
			for _, how := range []string{"null", "another type"} {
				mutations++
				changed := *answer
				changed.body = mutate(t, answer.body, at, how)
				w.around = func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
					if nameOf(r) == name {
						return changed.response(r), nil
					}
					if a := answers[nameOf(r)]; a != nil {
						return a.response(r), nil
					}
					return (&recorded{status: http.StatusNotFound}).response(r), nil
				}
				if _, err := evidence.Build(t.Context(), w.request(pr.Number)); err == nil {
					w.read()
				}
				for _, name := range names(t, w.dir) {
					if !strings.HasPrefix(name, "pr/") && name != "pr" {
						t.Fatalf("%s %v %s left %s behind", name, at, how, name)
					}
				}
			}
		}
	}
	if mutations < 300 {
		t.Errorf("only %d mutations were tried", mutations)
	}
}

// unread are fields that nothing here reads, which are most of GitHub's.
var unread = regexp.MustCompile(`_url$|^(_links|owner|permissions|node_id|site_admin|url|stats|external_id|check_suite|events)$|^(has|is|allow|can|auto)_|_(count|template)$`)

// recorded is an answer that can be given again without asking.
type recorded struct {
	status int
	header http.Header
	body   []byte
}

func (a *recorded) response(r *http.Request) *http.Response {
	return &http.Response{
		StatusCode: a.status, Header: a.header.Clone(), Request: r,
		Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}
}

// nameOf tells requests from each other.
func nameOf(r *http.Request) string {
	return r.URL.String() + " " + r.Header.Get("Accept")
}

// fields lists the paths of all keys in a value; lists by their first element.
func fields(v any, at []any) [][]any {
	var out [][]any
	add := func(key, value any) {
		p := append(append([]any{}, at...), key)
		out = append(append(out, p), fields(value, p)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if !unread.MatchString(key) {
				add(key, value)
			}
		}
	case []any:
		if len(v) > 0 {
			add(0, v[0])
		}
	}
	return out
}

// mutate changes the value at a path of fields.
func mutate(t *testing.T, body []byte, at []any, how string) []byte {
	var root any
	if json.Unmarshal(body, &root) != nil {
		return body
	}
	parent := root
	for _, step := range at[:len(at)-1] {
		switch p := parent.(type) {
		case map[string]any:
			parent = p[step.(string)]
		case []any:
			if len(p) == 0 {
				return body
			}
			parent = p[step.(int)]
		}
	}
	change := func(old any) any {
		if how == "null" {
			return nil
		}
		switch old.(type) {
		case string:
			return 7
		case float64, bool:
			return "text"
		default:
			return fmt.Sprint(how)
		}
	}
	switch p := parent.(type) {
	case map[string]any:
		key := at[len(at)-1].(string)
		p[key] = change(p[key])
	case []any:
		if len(p) > 0 {
			p[0] = change(p[0])
		}
	}
	return encode(t, root)
}
