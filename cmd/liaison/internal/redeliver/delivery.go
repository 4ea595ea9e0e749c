package redeliver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"strings"
	"unicode/utf8"
)

// The surfaces whose deliveries can be sent again.
const (
	GitHub = "github"
	Slack  = "slack"
)

// Delivery is a saved delivery.
type Delivery struct {
	// Source is GitHub or Slack.
	Source string
	// Event and ID are GitHub's headers; a Slack delivery has its id in its body.
	Event, ID string
	// Headers are those that were saved, by canonical name. Never a signature.
	Headers map[string]string
	Body    []byte
}

// ErrSaved means that a file holds no saved delivery.
var ErrSaved = errors.New("this is no saved delivery")

// Parse reads a saved delivery: the JSON that "liaison deliveries show --body
// --json" prints, or an object with event, id, headers and body, where body is
// the text that was signed or, since it is signed anew, the JSON value itself.
func Parse(saved []byte) (*Delivery, error) {
	var file struct {
		Source, Event, ID string
		Headers           map[string]string
		Body              json.RawMessage
		Delivery          *struct{ Source, Event, ID string }
	}
	if err := json.Unmarshal(saved, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSaved, err)
	}
	d := &Delivery{Source: file.Source, Event: file.Event, ID: file.ID}
	body := bytes.TrimSpace(file.Body)
	if len(body) == 0 || bytes.Equal(body, []byte("null")) {
		return nil, fmt.Errorf(`%w: it has no "body"`, ErrSaved)
	}
	switch {
	case file.Delivery != nil:
		d.Source, d.Event, d.ID = file.Delivery.Source, file.Delivery.Event, file.Delivery.ID
		// A byte slice is base64 in JSON.
		if err := json.Unmarshal(body, &d.Body); err != nil {
			return nil, fmt.Errorf(`%w: its "body" is not base64, as the API gives it: %w`, ErrSaved, err)
		}
	case body[0] == '"':
		var text string
		if err := json.Unmarshal(body, &text); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSaved, err)
		}
		d.Body = []byte(text)
	default:
		d.Body = body
	}
	if err := d.complete(file.Headers); err != nil {
		return nil, err
	}
	return d, nil
}

// ParseParts reads a delivery from a file with headers, one to a line as
// platforms show them ("X-GitHub-Event: push"), and a file with the body.
func ParseParts(headers, body []byte) (*Delivery, error) {
	text := strings.TrimSpace(strings.ReplaceAll(string(headers), "\r\n", "\n")) + "\n\n"
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%w: the headers are not UTF-8", ErrSaved)
	}
	// A request line, as some tools save it, is not a header.
	if first, rest, _ := strings.Cut(text, "\n"); strings.Contains(first, " HTTP/") || strings.HasPrefix(first, "POST ") {
		text = rest
	}
	fields, err := textproto.NewReader(bufio.NewReader(strings.NewReader(text))).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("%w: the headers are not lines of \"Name: value\": %w", ErrSaved, err)
	}
	flat := make(map[string]string, len(fields))
	for name, values := range fields {
		flat[name] = values[0]
	}
	d := &Delivery{Body: body}
	if err := d.complete(flat); err != nil {
		return nil, err
	}
	return d, nil
}

// complete takes what the headers say, and checks that it is enough.
func (d *Delivery) complete(headers map[string]string) error {
	d.Headers = make(map[string]string, len(headers))
	for name, value := range headers {
		if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); repeatable(name) {
			d.Headers[name] = strings.TrimSpace(value)
		}
	}
	take := func(to *string, name string) {
		if *to == "" {
			*to = d.Headers[name]
		}
	}
	take(&d.Event, "X-Github-Event")
	take(&d.ID, "X-Github-Delivery")
	if d.Source == "" {
		switch {
		case d.Event != "":
			d.Source = GitHub
		case d.Headers["X-Slack-Request-Timestamp"] != "":
			d.Source = Slack
		}
	}
	switch {
	case len(d.Body) == 0:
		return fmt.Errorf("%w: its body is empty", ErrSaved)
	case d.Source == "":
		return fmt.Errorf(`%w: nothing says where it came from; add "source": "github" or "slack", or the headers`, ErrSaved)
	case d.Source != GitHub && d.Source != Slack:
		return fmt.Errorf("%w: its source %q is neither github nor slack", ErrSaved, d.Source)
	case d.Source == GitHub && d.Event == "":
		return fmt.Errorf(`%w: it has no "event" (the header X-GitHub-Event)`, ErrSaved)
	}
	for name, value := range d.Headers {
		if strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("%w: the header %s has a line break", ErrSaved, name)
		}
	}
	return nil
}

// repeatable reports whether a saved header may be sent again. Signatures are
// made anew, and tokens are nobody's business.
func repeatable(name string) bool {
	switch name {
	case "Content-Type", "User-Agent", "X-Slack-Request-Timestamp", "X-Slack-Retry-Num", "X-Slack-Retry-Reason":
		return true
	}
	rest, ok := strings.CutPrefix(name, "X-Github-")
	return ok && !strings.Contains(rest, "Signature") && !strings.Contains(rest, "Token")
}
