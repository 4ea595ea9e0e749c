package sim_test

import (
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// threadsAnswer is an answer about threads, of a query or a mutation.
type threadsAnswer struct {
	Data struct {
		Repository struct {
			PullRequest struct {
				ReviewThreads struct {
					TotalCount int
					Nodes      []struct {
						ID                     string
						IsResolved, IsOutdated bool
						Comments               struct {
							Nodes []struct{ DatabaseID int64 }
						}
					}
					PageInfo struct {
						HasNextPage bool
						EndCursor   string
					}
				}
			}
		}
	}
	Errors []struct{ Type, Message string }
}

func (w *world) graphQL(token, query, vars string) threadsAnswer {
	w.t.Helper()
	a := w.call("POST", "/graphql", token, `{"query":`+quote(w.t, query)+`,"variables":`+vars+`}`)
	return decode[threadsAnswer](w.t, a)
}

func TestThreadsByGraphQL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "hubot", Body: "Why?", Path: "main.go", Line: 3})
	w.ReplyToThread(first, "mona", "Because.")
	w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "hubot", Body: "Old.", Path: "main.go"})
	const query = `query($n: Int!, $first: Int!, $after: String) { repository(owner: "acme", name: "widget") { pullRequest(number: $n) {
		reviewThreads(first: $first, after: $after) { totalCount nodes { id isResolved isOutdated comments(first: 9) { nodes { databaseId } } } pageInfo { hasNextPage endCursor } } } } }`
	token := w.token("")
	threads := w.graphQL(token, query, `{"n":1,"first":1}`).Data.Repository.PullRequest.ReviewThreads
	if threads.TotalCount != 2 || len(threads.Nodes) != 1 || !threads.PageInfo.HasNextPage || len(threads.Nodes[0].Comments.Nodes) != 2 ||
		threads.Nodes[0].Comments.Nodes[0].DatabaseID != first || threads.Nodes[0].IsOutdated {
		t.Fatalf("first page: %+v", threads)
	}
	id := threads.Nodes[0].ID
	second := w.graphQL(token, query, `{"n":1,"first":1,"after":`+quote(t, threads.PageInfo.EndCursor)+`}`).Data.Repository.PullRequest.ReviewThreads
	if len(second.Nodes) != 1 || second.PageInfo.HasNextPage || !second.Nodes[0].IsOutdated || second.Nodes[0].ID == id {
		t.Errorf("second page: %+v", second)
	}
	for name, test := range map[string]struct{ vars, permissions, want string }{
		"no such pull request":  {`{"n":77,"first":1}`, "", "NOT_FOUND"},
		"too many at once":      {`{"n":1,"first":101}`, "", "EXCESSIVE_PAGINATION"},
		"without a permission":  {`{"n":1,"first":1}`, `{"permissions":{"checks":"write"}}`, "FORBIDDEN"},
		"the longest page":      {`{"n":1,"first":100}`, "", ""},
		"reading is permission": {`{"n":1,"first":1}`, `{"permissions":{"pull_requests":"read"}}`, ""},
	} {
		got := ""
		if a := w.graphQL(w.token(test.permissions), query, test.vars); len(a.Errors) > 0 {
			got = a.Errors[0].Type
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}

	const mutation = `mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }`
	vars := `{"id":` + quote(t, id) + `}`
	if a := w.graphQL(token, mutation, vars); len(a.Errors) != 1 || a.Errors[0].Type != "FORBIDDEN" || w.ReviewComments(repoName, 1)[0].Resolved {
		t.Errorf("resolved without contents: write: %+v", a)
	}
	w.SetInstallationPermissions(installation, map[string]string{"contents": "write", "pull_requests": "write"})
	token = w.token("")
	if a := w.graphQL(token, mutation, `{"id":"nothing"}`); len(a.Errors) != 1 || a.Errors[0].Type != "NOT_FOUND" {
		t.Errorf("no such thread: %+v", a)
	}
	for range 2 { // again changes nothing
		if a := w.graphQL(token, mutation, vars); len(a.Errors) != 0 {
			t.Errorf("resolve: %+v", a)
		}
	}
	for _, c := range w.ReviewComments(repoName, 1) {
		if c.Resolved != (c.ID == first || c.ReplyTo == first) {
			t.Errorf("%s: resolved=%t", strings.TrimSpace(c.Body), c.Resolved)
		}
	}
}
