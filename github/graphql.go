package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
)

// graphQLRoot is where the GraphQL API is that belongs to a REST root, unless
// override names another place. github.com and the hosts of ghe.com have it
// beside the REST resources, Enterprise Server beside "v3".
// https://docs.github.com/enterprise-server@latest/graphql/guides/forming-calls-with-graphql#the-graphql-endpoint
func graphQLRoot(rest *url.URL, override string) (*url.URL, error) {
	if override != "" {
		u, err := parseRoot(override)
		if err != nil {
			return nil, fmt.Errorf("GraphQL: %w", err)
		}
		u.Path = strings.TrimRight(u.Path, "/")
		return u, nil
	}
	u := *rest
	if before, enterprise := strings.CutSuffix(u.Path, "/api/v3/"); enterprise {
		u.Path = before + "/api/graphql"
	} else {
		u.Path += "graphql"
	}
	return &u, nil
}

// The types of errors in an answer that has some.
const (
	graphQLRateLimited = "RATE_LIMITED"
	graphQLForbidden   = "FORBIDDEN"
	graphQLNotFound    = "NOT_FOUND"
)

// GraphQLError is what an answer of the GraphQL API says went wrong; the
// answer's status is 200 all the same. Its first error counts.
type GraphQLError struct {
	// Type is GitHub's word, such as "NOT_FOUND". It is empty for queries that
	// the schema does not allow and for failures inside GitHub.
	Type    string
	Message string
	// Path is the field that failed, with dots.
	Path string
	// More is how many other errors the answer has.
	More int
}

// Error implements error.
func (e *GraphQLError) Error() string {
	var b strings.Builder
	b.WriteString("GitHub's GraphQL API says: " + e.Message)
	if e.Type != "" {
		b.WriteString(" (" + e.Type + ")")
	}
	if e.Path != "" {
		b.WriteString(" at " + e.Path)
	}
	if e.More > 0 {
		fmt.Fprintf(&b, ", and %d more", e.More)
	}
	return b.String()
}

// temporary reports whether another try can end otherwise: GitHub ends a query
// after 10 s with an apology that has no type.
func (e *GraphQLError) temporary() bool {
	return e.Type == "" && strings.HasPrefix(e.Message, "Something went wrong while executing your query")
}

// graphQL asks the GraphQL API as the App in one repository. See [repository.graphQL].
func (a *app) graphQL(ctx context.Context, id repoID, query string, vars, out any) error {
	r, err := a.repository(id.installation, id.repository)
	if err != nil {
		return err
	}
	return r.graphQL(ctx, query, vars, out)
}

// graphQL sends a query or a mutation with its variables and decodes the
// answer's data into out, which may be nil. An answer with errors is a
// [*GraphQLError], or a [*LimitError]; what data it has is in out then too, for
// those who can use a part.
func (r *repository) graphQL(ctx context.Context, query string, vars, out any) error {
	a := r.transport.app
	req, err := r.client.NewRequest(http.MethodPost, a.wire.graphQL.String(), struct {
		Query     string `json:"query"`
		Variables any    `json:"variables,omitempty"`
	}{query, vars})
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []graphQLFault  `json:"errors"`
	}
	// Not by go-github's Do: it takes Enterprise Server's path for one of REST, and
	// holds back all REST calls when the points are used up.
	resp, err := r.client.Client().Do(req.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("GraphQL: %w", err)
	}
	defer discard(resp)
	if err := gh.CheckResponse(resp); err != nil {
		return fmt.Errorf("GraphQL: %w", err)
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("read the GraphQL answer: %w", err)
	}
	data := len(answer.Data) > 0 && string(answer.Data) != "null"
	if data && out != nil {
		if err := json.Unmarshal(answer.Data, out); err != nil {
			return fmt.Errorf("read the GraphQL answer: %w", err)
		}
	}
	if len(answer.Errors) > 0 {
		return r.graphQLError(resp, answer.Errors)
	}
	if !data {
		return fmt.Errorf("GraphQL: %w", evidence.ErrNoAnswer)
	}
	return nil
}

// graphQLFault is one of an answer's errors.
type graphQLFault struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Path    []any  `json:"path"`
}

// graphQLError makes one error of an answer's errors. The quota of points is
// its own, so that its end stops no REST call; the limit on bursts is everyone's.
func (r *repository) graphQLError(resp *http.Response, faults []graphQLFault) error {
	a := r.transport.app
	for _, f := range faults {
		secondary := strings.Contains(strings.ToLower(f.Message), "secondary rate limit")
		if f.Type != graphQLRateLimited && !secondary {
			continue
		}
		now := serverTime(resp, a.now())
		limit := &LimitError{Secondary: secondary, Message: f.Message}
		if secondary {
			limit.After, _ = retryAfter(resp.Header.Get("Retry-After"), now)
			a.circuit.note(r.id.installation, limit)
		} else {
			limit.After = untilReset(resp.Header.Get("X-RateLimit-Reset"), now)
		}
		return limit
	}
	first := faults[0]
	var path []string
	for _, p := range first.Path {
		path = append(path, fmt.Sprint(p))
	}
	return &GraphQLError{
		Type: first.Type, Message: ellipsis(oneLine(first.Message), maxReason), Path: strings.Join(path, "."), More: len(faults) - 1,
	}
}

// serverTime is the time at GitHub when it answered, or ours where it is not told.
func serverTime(resp *http.Response, ours time.Time) time.Time {
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		return date
	}
	return ours
}
