package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/slack-go/slack"
)

// Ephemeral shows a message to one member of a channel, who may not see it: Slack
// keeps it nowhere. It takes no marker.
func (c *Client) Ephemeral(ctx context.Context, at Place, user string, m Message) error {
	m.Key = ""
	options := m.options()
	if at.Thread != "" {
		options = append(options, slack.MsgOptionTS(at.Thread))
	}
	return c.do(ctx, call{method: "chat.postEphemeral", at: at, write: &write{priority: Answer, spends: true}},
		func(ctx context.Context, api *slack.Client) error {
			_, err := api.PostEphemeralContext(ctx, at.Channel, user, options...)
			return err
		})
}

const methodRespond = "response_url"

// Respond answers a click or a command by its response_url, to the person alone.
// Slack takes that within 30 minutes and five times; markdown blocks are refused. The address is a credential, and no error names it.
// https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
func (c *Client) Respond(ctx context.Context, responseURL string, m Message) error {
	u, err := url.Parse(responseURL)
	if err != nil || !c.slacks(u) {
		return &Error{Class: ErrGone, Method: methodRespond, Err: errors.New("the address is none of Slack's")}
	}
	answer := map[string]any{"response_type": "ephemeral", "replace_original": false, "text": m.Text}
	if len(m.Blocks) > 0 {
		answer["blocks"] = m.Blocks
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return &Error{Class: ErrRefused, Method: methodRespond, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(raw))
	if err != nil {
		return &Error{Class: ErrGone, Method: methodRespond, Err: errors.New("the address cannot be called")}
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	got, err := c.reader.exchange(req, methodRespond)
	if err != nil {
		return err
	}
	return c.responded(got)
}

// responded returns the failure that the answer of a response_url is, or nil. Slack
// says there by the status, by the word "ok", or by JSON with or without a reason
// (https://github.com/getsentry/sentry/pull/122497): nothing was shown unless it
// says so, or no answer came.
func (c *Client) responded(got received) error {
	var said struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	readable := json.Unmarshal(got.body, &said) == nil && said.OK != nil
	switch {
	case got.status == http.StatusTooManyRequests, got.status >= http.StatusInternalServerError:
	case got.status != http.StatusOK:
		return &Error{Class: ErrGone, Method: methodRespond, Code: "expired_url"}
	case strings.TrimSpace(string(got.body)) == "ok":
		return nil
	case readable && !*said.OK && said.Error == "":
		return &Error{Class: ErrRefused, Method: methodRespond}
	}
	return c.reader.judge(got, methodRespond)
}

// slacks reports whether an address is Slack's, or that of the API that we call.
func (c *Client) slacks(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if u.Scheme == c.host.Scheme && strings.EqualFold(u.Host, c.host.Host) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	if u.Scheme != "https" || u.Port() != "" && u.Port() != "443" {
		return false
	}
	for _, domain := range []string{"slack.com", "slack-gov.com", "slack-files.com"} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}
