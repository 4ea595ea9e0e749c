package github

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/sim"
)

func TestGraphQLRootBelongsToTheRESTRoot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rest, override, want string }{
		{"https://api.github.com", "", "https://api.github.com/graphql"},
		{"https://api.github.com/", "", "https://api.github.com/graphql"},
		{"https://ghe.example.com/api/v3/", "", "https://ghe.example.com/api/graphql"},
		{"https://ghe.example.com/inner/api/v3", "", "https://ghe.example.com/inner/api/graphql"},
		{"https://api.octo.ghe.com/", "", "https://api.octo.ghe.com/graphql"},
		{"https://api.github.com/", "https://graph.example.com/q/", "https://graph.example.com/q"},
	} {
		rest, err := parseRoot(tt.rest)
		must(t, err)
		got, err := graphQLRoot(rest, tt.override)
		must(t, err)
		if got.String() != tt.want {
			t.Errorf("%s, %q: %s, want %s", tt.rest, tt.override, got, tt.want)
		}
	}
	if _, err := graphQLRoot(&url.URL{}, "https://u:hunter2@x.example/"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("credentials: %v", err)
	}
}

const askName = `query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { nameWithOwner databaseId } }`

// ask asks for the world's repository by GraphQL.
func (w *world) ask(name string) (string, error) {
	var out struct {
		Repository struct{ NameWithOwner string }
	}
	err := w.channel.app.graphQL(w.t.Context(), repoID{installation, w.repo.ID}, askName,
		map[string]string{"owner": "octo", "name": name}, &out)
	return out.Repository.NameWithOwner, err
}

func TestGraphQLAnswersOnEveryKindOfServer(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/api/v3"} {
		w := newWorld(t, func(so *sim.GitHubOptions, _ *Options) { so.PathPrefix = prefix })
		if got, err := w.ask("shop"); err != nil || got != repoName {
			t.Errorf("prefix %q: %q, %v", prefix, got, err)
		}
	}
}

// GraphQL says with status 200 what REST says with a status.
func TestGraphQLErrorsAreTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.ask("nothing")
	var query *GraphQLError
	if !errors.As(err, &query) || query.Type != "NOT_FOUND" || query.Path != "repository" || !notFound(err) || forbidden(err) {
		t.Errorf("not found: %v", err)
	}
	err = w.channel.app.graphQL(t.Context(), repoID{installation, w.repo.ID}, `{ viewer { login } }`, nil, nil)
	if !errors.As(err, &query) || query.Type != "" || !strings.Contains(err.Error(), "viewer") {
		t.Errorf("unknown field: %v", err)
	}
	for body, want := range map[string]func(error) bool{
		`{"data":null,"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration","path":["a",0,"b"]},{"message":"x"}]}`: func(err error) bool {
			return forbidden(err) && strings.Contains(err.Error(), "a.0.b") && strings.Contains(err.Error(), "1 more")
		},
		`{"data":null,"errors":[{"message":"Something went wrong while executing your query. This may be the result of a timeout."}]}`: func(err error) bool {
			return wantRetry(t, retryable(err, time.Now())).After == 0
		},
		`{"data":null}`: func(err error) bool { return errors.Is(err, evidence.ErrNoAnswer) },
		`{}`:            func(err error) bool { return errors.Is(err, evidence.ErrNoAnswer) },
	} {
		w.Fail(sim.Fault{PathPattern: "/graphql", Status: http.StatusOK, Body: body})
		if _, err := w.ask("shop"); err == nil || !want(err) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A part of the data is no answer unless the caller says so.
func TestGraphQLPartialDataIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.Fault{PathPattern: "/graphql", Status: http.StatusOK,
		Body: `{"data":{"repository":{"nameWithOwner":"octo/shop"}},"errors":[{"type":"NOT_FOUND","message":"gone","path":["x"]}]}`})
	got, err := w.ask("shop")
	if !notFound(err) || got != repoName {
		t.Errorf("got %q, %v", got, err)
	}
}

// The quota of points is not that of REST; the limit on bursts is everyone's.
func TestGraphQLLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetGraphQLLimit(0, time.Now().Add(10*time.Minute))
	_, err := w.ask("shop")
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Secondary || limit.After < 9*time.Minute || limit.After > 11*time.Minute {
		t.Fatalf("points: %v", err)
	}
	if retry := wantRetry(t, retryable(err, time.Now())); !retry.Uncounted {
		t.Errorf("the wait counts as a try: %+v", retry)
	}
	must(t, w.getPull())
	w.SetGraphQLLimit(100, time.Now().Add(10*time.Minute))
	w.Fail(sim.Fault{PathPattern: "/graphql", Status: http.StatusOK, Headers: http.Header{"Retry-After": {"90"}},
		Body: `{"data":null,"errors":[{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}]}`})
	if _, err = w.ask("shop"); !errors.As(err, &limit) || !limit.Secondary || limit.After != 90*time.Second {
		t.Errorf("burst: %v", err)
	}
	if err := w.getPull(); !errors.As(err, &limit) {
		t.Errorf("REST after the burst: %v", err)
	}
}

// The token of the REST root goes to the GraphQL root, and to no third host.
func TestGraphQLTokenStaysWithTheRoots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := Options{AppID: appID, Key: appKey(), APIURL: w.URL(), GraphQLURL: "https://graph.example.com/graphql", Transport: inProcess{w.GitHub}}
	channel, err := New(o)
	must(t, err)
	w.channel = channel
	if got, err := w.ask("shop"); err != nil || got != repoName {
		t.Errorf("%q, %v", got, err)
	}
	r := w.mustRepository()
	req, err := r.client.NewRequest(http.MethodPost, "https://evil.example.com/graphql", nil)
	must(t, err)
	_, err = r.client.Do(t.Context(), req, nil)
	var foreign *ForeignHostError
	if !errors.As(err, &foreign) {
		t.Errorf("a third host: %v", err)
	}
}
