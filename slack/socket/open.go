package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// openTimeout bounds asking for a link, and handshakeTimeout opening it.
	openTimeout      = 30 * time.Second
	handshakeTimeout = 15 * time.Second
	// maxAnswer bounds an answer in bytes; Slack's have some 300.
	maxAnswer = 64 << 10
)

// ask returns the URL of a new link. It holds a ticket and is not to be shown.
func (c *Client) ask(ctx context.Context) (*url.URL, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.options.APIURL+"apps.connections.open", http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("slack: apps.connections.open: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+c.options.AppToken)
	r.Header.Set("Content-Type", mediaForm)
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("slack: apps.connections.open: %w", err)
	}
	defer answer.Body.Close()
	var body struct {
		OK    bool            `json:"ok"`
		URL   string          `json:"url"`
		Error json.RawMessage `json:"error"`
	}
	after := retryAfter(answer.Header)
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("slack: apps.connections.open: read the answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK || json.Unmarshal(data, &body) != nil {
		return nil, &answerError{code: "HTTP status " + strconv.Itoa(answer.StatusCode), after: after}
	}
	if !body.OK {
		code := name(body.Error)
		if err := refusal(code); err != nil {
			return nil, err
		}
		if code == "" {
			code = "an error without a name"
		}
		return nil, &answerError{code: code, after: after}
	}
	u, err := url.Parse(body.URL)
	plain := err == nil && u.Scheme == "ws" && strings.HasPrefix(c.options.APIURL, "http://")
	if err != nil || u.Host == "" || u.Scheme != "wss" && !plain {
		return nil, errors.New("slack: apps.connections.open: the answer has no wss URL")
	}
	return u, nil
}

// retryAfter reads a Retry-After in seconds.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// dial opens a link.
func (c *Client) dial(ctx context.Context, u *url.URL) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, NetDialContext: c.options.Dial}
	conn, answer, err := dialer.DialContext(ctx, u.String(), nil)
	if answer != nil {
		defer answer.Body.Close()
	}
	switch {
	case err != nil && answer != nil:
		return nil, fmt.Errorf("slack: open a link to %s: %w (HTTP status %d)", u.Host, err, answer.StatusCode)
	case err != nil:
		return nil, fmt.Errorf("slack: open a link to %s: %w", u.Host, err)
	}
	return conn, nil
}
