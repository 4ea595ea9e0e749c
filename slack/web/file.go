package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/slack-go/slack"
)

// Snippet is a text that is shared as a file.
type Snippet struct {
	Name, Title string
	Content     string
	// Comment is the message with it, in mrkdwn.
	Comment string
}

// Share puts a snippet into a place. Slack keeps no marker with a file: what became
// of an ambiguous failure is told by the name, which is to be one of its own; see
// [Client.Own].
func (c *Client) Share(ctx context.Context, at Place, s Snippet) error {
	if s.Content == "" {
		return nil
	}
	var slot struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	const method = "files.getUploadURLExternal"
	err := c.do(ctx, call{method: method, at: at, into: &slot}, func(ctx context.Context, api *slack.Client) error {
		_, err := api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{
			FileName: s.Name, FileSize: len(s.Content), SnippetType: "markdown",
		})
		return err
	})
	if err != nil {
		return err
	}
	if slot.URL == "" || slot.ID == "" {
		return &Error{Class: ErrUnsent, Method: method, Err: errors.New("the answer names no place for the file")}
	}
	if err := c.upload(ctx, slot.URL, s); err != nil {
		return err
	}
	return c.do(ctx, call{method: "files.completeUploadExternal", at: at, write: &write{priority: Answer, spends: true}},
		func(ctx context.Context, api *slack.Client) error {
			_, err := api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
				Files: []slack.FileSummary{{ID: slot.ID, Title: s.Title}}, Channel: at.Channel,
				InitialComment: s.Comment, ThreadTimestamp: at.Thread,
			})
			return err
		})
}

// upload sends the bytes. The address is good for that alone, so that it needs no
// token; nobody sees the file until the upload is completed.
func (c *Client) upload(ctx context.Context, to string, s Snippet) error {
	const method = "upload of a file"
	u, err := url.Parse(to)
	if err != nil || !c.slacks(u) {
		return &Error{Class: ErrUnsent, Method: method, Err: errors.New("the address is none of Slack's")}
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader([]byte(s.Content)))
	if err != nil {
		return &Error{Class: ErrUnsent, Method: method, Err: errors.New("the address cannot be called")}
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	got, err := c.reader.exchange(req, method)
	var failure *Error
	switch {
	case errors.As(err, &failure):
		failure.Class = ErrUnsent // nothing is shown before the upload is completed
		return failure
	case got.status == http.StatusTooManyRequests:
		return &Error{Class: ErrLimited, Method: method, After: got.wait(c.reader.random)}
	case got.status != http.StatusOK:
		return &Error{Class: ErrUnsent, Method: method, Err: fmt.Errorf("the answer's status is %d", got.status)}
	}
	return nil
}

// isMethod reports whether an address is that of a method, which Slack would perform
// with our token: whoever shares a file from elsewhere chooses what its address is.
func (c *Client) isMethod(u *url.URL) bool {
	p := strings.ToLower(path.Clean("/" + u.Path))
	own := strings.ToLower(path.Clean("/" + c.host.Path))
	return p == "/api" || strings.HasPrefix(p, "/api/") || own != "/" && strings.HasPrefix(p+"/", own+"/")
}

// Download returns the content of a file that somebody shared, of at most limit
// bytes. The token goes to Slack's hosts alone, and a redirect is not followed:
// Slack sends those who may not read a file to its page to sign in.
func (c *Client) Download(ctx context.Context, at Place, address string, limit int64) (content []byte, contentType string, err error) {
	const method = "download of a file"
	gone := func(why string) error { return &Error{Class: ErrGone, Method: method, Err: errors.New(why)} }
	u, err := url.Parse(address)
	if err != nil || !c.slacks(u) {
		return nil, "", gone("it is not on one of Slack's hosts")
	}
	if c.isMethod(u) {
		return nil, "", gone("it is no file, but a method of Slack's API")
	}
	w, err := c.Workspace(ctx, at)
	if err != nil {
		return nil, "", withoutWorkspace(method, err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, "", gone("its address cannot be called")
	}
	req.Header.Set("Authorization", "Bearer "+w.Token)
	resp, err := c.reader.http.Do(req)
	if err != nil {
		return nil, "", &Error{Class: ErrUnsent, Method: method, Err: withoutURL(err)}
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return nil, "", &Error{Class: ErrLimited, Method: method, After: retryAfter(resp.Header.Get("Retry-After"), c.reader.random)}
	case resp.StatusCode >= http.StatusInternalServerError:
		return nil, "", &Error{Class: ErrUnsent, Method: method, Err: fmt.Errorf("the answer's status is %d", resp.StatusCode)}
	case resp.StatusCode != http.StatusOK:
		return nil, "", gone(fmt.Sprintf("the app may not read it (status %d)", resp.StatusCode))
	}
	content, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, "", &Error{Class: ErrUnsent, Method: method, Err: withoutURL(err)}
	case int64(len(content)) > limit:
		return nil, "", &Error{Class: ErrRefused, Method: method, Err: fmt.Errorf("it is larger than %d bytes", limit)}
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return content, strings.TrimSpace(strings.ToLower(kind)), nil
}
