package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v66/github"
)

// need says how much a review depends on a request, and so when it may be refused.
type need int

const (
	// needAlways is for the pull request and the manifest: never refused.
	needAlways need = iota
	// needDiff is still made when the quota is low, but not above the budget.
	needDiff
	// needFull is made only when there is quota and budget for it.
	needFull
)

// fetcher makes the API requests of one review: it counts them, keeps to the
// budget and bounds how many are under way.
type fetcher struct {
	client      *github.Client
	owner, repo string
	number      int
	maxCalls    int
	slots       chan struct{}

	mu    sync.Mutex
	calls int
	rate  github.Rate
}

func newFetcher(client *github.Client, owner, repo string, number int, b Budget) *fetcher {
	return &fetcher{
		client: client, owner: owner, repo: repo, number: number,
		maxCalls: b.Calls, slots: make(chan struct{}, b.Parallel),
	}
}

// call makes one request. A request that is not worth its cost fails with a
// [*leftOutError] and is not made.
func (f *fetcher) call(ctx context.Context, n need, op string, do func(context.Context) (*github.Response, error)) error {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if err := f.admit(n); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	resp, err := do(ctx)
	if resp != nil && resp.Rate.Limit > 0 {
		f.mu.Lock()
		f.rate = resp.Rate
		f.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

func (f *fetcher) admit(n need) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n != needAlways && f.leftLocked() <= 0 {
		return &leftOutError{fmt.Sprintf("the budget of %d API calls is used up", f.maxCalls)}
	}
	if n == needFull && f.rate.Limit > 0 && f.rate.Remaining*lowQuota < f.rate.Limit {
		return &leftOutError{fmt.Sprintf("less than %d %% of the API quota is left", 100/lowQuota)}
	}
	f.calls++
	return nil
}

// left is how many requests may still be made that can be done without.
func (f *fetcher) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leftLocked()
}

// leftLocked keeps one call for reading the pull request again at the end.
func (f *fetcher) leftLocked() int { return f.maxCalls - 1 - f.calls }

func (f *fetcher) made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// raw gets the body of path, relative to the API's root, in the media type
// accept. A body above limit bytes fails with [errTooLarge].
func (f *fetcher) raw(ctx context.Context, n need, op, path, accept string, limit int64) ([]byte, error) {
	body := cappedBuffer{left: limit}
	err := f.call(ctx, n, op, func(ctx context.Context) (*github.Response, error) {
		req, err := f.client.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", accept)
		return f.client.Do(ctx, req, &body)
	})
	return body.buf.Bytes(), err
}

// repoPath is a path below the repository's root in the API.
func (f *fetcher) repoPath(format string, args ...any) string {
	return "repos/" + f.owner + "/" + f.repo + "/" + fmt.Sprintf(format, args...)
}

// listing is a paged list, as far as it was read.
type listing[T any] struct {
	items []*T
	// cut says why the list is not whole; empty when it is.
	cut string
}

// pages reads a paged list of at most limit items. When a later page cannot be
// had, what was read so far is kept and cut says why; with needAlways it fails.
func pages[T any](ctx context.Context, f *fetcher, n need, op string, limit int,
	page func(context.Context, github.ListOptions) ([]*T, *github.Response, error),
) (listing[T], error) {
	var l listing[T]
	opts := github.ListOptions{PerPage: pageSize, Page: 1}
	for {
		var next int
		err := f.call(ctx, n, op, func(ctx context.Context) (*github.Response, error) {
			items, resp, err := page(ctx, opts)
			if err == nil {
				l.items = append(l.items, slices.DeleteFunc(items, func(item *T) bool { return item == nil })...)
				next = resp.NextPage
			}
			return resp, err
		})
		if err != nil {
			why, ok := whyMissing(err)
			if n == needAlways || !ok {
				return l, err
			}
			l.cut = why
			return l, nil
		}
		switch {
		// A next page that does not lead on would never end.
		case next <= opts.Page:
			return l, nil
		case len(l.items) >= limit || opts.Page*pageSize >= limit:
			l.cut = fmt.Sprintf("only the first %d are read", len(l.items))
			return l, nil
		}
		opts.Page = next
	}
}

// leftOutError says why a request was not made.
type leftOutError struct{ why string }

func (e *leftOutError) Error() string { return e.why }

// errTooLarge is returned for a body above its limit.
var errTooLarge = errors.New("larger than its limit")

// whyMissing tells whether a review can go on without what err failed to get,
// and in which words its absence is told. Refused authorisation, rate limits,
// cancellation and broken connections are not of that kind: the caller has to
// know them, since the same request can succeed later.
func whyMissing(err error) (string, bool) {
	var left *leftOutError
	if errors.As(err, &left) {
		return left.why, true
	}
	var (
		wrongType *json.UnmarshalTypeError
		notJSON   *json.SyntaxError
		badTime   *time.ParseError
	)
	if errors.As(err, &wrongType) || errors.As(err, &notJSON) || errors.As(err, &badTime) {
		return "GitHub's answer could not be understood", true
	}
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) || answer.Response == nil {
		return "", false
	}
	switch code := answer.Response.StatusCode; {
	case code == http.StatusForbidden && refusesEverything(answer):
		return "", false
	case code == http.StatusForbidden:
		return "GitHub answered 403: the App may lack a permission", true
	case code == http.StatusNotFound, code == http.StatusNotAcceptable, code == http.StatusConflict,
		code == http.StatusGone, code == http.StatusUnprocessableEntity,
		code == http.StatusUnavailableForLegalReasons, code >= http.StatusInternalServerError:
		return fmt.Sprintf("GitHub answered %d", code), true
	default:
		return "", false
	}
}

// refusesEverything tells a 403 that any request would get, such as a rate limit
// that the client did not recognise because it came with a message only, from
// one that is about a single resource.
func refusesEverything(answer *github.ErrorResponse) bool {
	h := answer.Response.Header
	if h.Get("Retry-After") != "" || h.Get("X-RateLimit-Remaining") == "0" {
		return true
	}
	text := strings.ToLower(answer.Message + " " + answer.DocumentationURL)
	for _, sign := range []string{"rate limit", "rate-limit", "abuse", "suspended"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// cappedBuffer keeps what is written to it until there is more than it may hold.
// The buffer is not embedded: io.Copy would find its ReadFrom, which has no limit.
type cappedBuffer struct {
	buf  bytes.Buffer
	left int64
}

// Write implements io.Writer.
func (b *cappedBuffer) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		return 0, errTooLarge
	}
	b.left -= int64(len(p))
	return b.buf.Write(p)
}
