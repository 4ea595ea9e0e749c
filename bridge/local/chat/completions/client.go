package completions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Limits bound what is read, in bytes.
type Limits struct {
	// Stream bounds the whole of one answer, Event one event of it, and an answer
	// that comes in one piece.
	Stream, Event int
	// List bounds a list of models, Error what is read of a refusal.
	List, Error int
}

// Options say where the endpoint is and how it is asked. All but the key are required.
type Options struct {
	// BaseURL is what comes before /chat/completions; it ends with a slash.
	BaseURL *url.URL
	// Key is sent as a bearer token; without one nothing is.
	Key string
	// HTTP must not follow redirections: the key is for this endpoint alone.
	HTTP   *http.Client
	Limits Limits
	// Now is the clock by which a date in Retry-After is read.
	Now func() time.Time
}

// Client asks one endpoint. It is safe for concurrent use.
type Client struct{ o Options }

// New makes a client. It does not call the endpoint.
func New(o Options) *Client { return &Client{o} }

// ErrTooLarge is returned for an answer beyond the [Limits].
var ErrTooLarge = errors.New("the endpoint sent more than one answer may have")

// Stream asks for a completion that comes in pieces. The function heard, which
// may be nil, is called whenever bytes arrive, also those that are no piece, such
// as keepalives. The caller closes the stream. A refusal is an [*Error].
func (c *Client) Stream(ctx context.Context, q Request, heard func()) (*Stream, error) {
	q.Stream = true
	var body bytes.Buffer
	out := json.NewEncoder(&body)
	out.SetEscapeHTML(false)
	if err := out.Encode(q); err != nil {
		return nil, fmt.Errorf("encode the request for a completion: %w", err)
	}
	req, err := c.request(ctx, http.MethodPost, "chat/completions", &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := c.do(req) //nolint:bodyclose // the stream closes it
	if err != nil {
		return nil, err
	}
	return NewStream(res, c.o.Limits, heard), nil
}

// Models asks for the list of models, in the endpoint's order. A refusal is an
// [*Error].
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	req, err := c.request(ctx, http.MethodGet, "models", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := c.do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := readAll(res.Body, c.o.Limits.List)
	if err != nil {
		return nil, fmt.Errorf("read the list of models: %w", err)
	}
	var page struct {
		Data []Model `json:"data"`
	}
	if err := decode(body, &page); err != nil {
		return nil, fmt.Errorf("read the list of models: %w", err)
	}
	return page.Data, nil
}

func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.o.BaseURL.JoinPath(path).String(), body)
	if err != nil {
		return nil, fmt.Errorf("make a request to the endpoint: %w", err)
	}
	req.Header.Set("User-Agent", "liaison")
	if c.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	return req, nil
}

// do makes a request. Its error is an [*Error] when the endpoint refuses, else
// that of the HTTP client, which says what was asked of whom.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	res, err := c.o.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, c.refusal(res)
}

// readAll reads a body of at most limit bytes.
func readAll(in io.Reader, limit int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err == nil && len(body) > limit {
		err = ErrTooLarge
	}
	return body, err
}
