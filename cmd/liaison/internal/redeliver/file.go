package redeliver

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ParseFile reads a delivery from one file in any of the forms in which people
// keep them: what [Parse] reads; an HTTP message, with the headers, an empty line
// and the body; or the body alone, for which event says what it is, such as
// pull_request. event replaces what the file says where it is not empty.
func ParseFile(data []byte, event string) (*Delivery, error) {
	d, err := parseFile(data, event)
	if err != nil {
		return nil, err
	}
	if event != "" {
		d.Event = event
	}
	return d, nil
}

func parseFile(data []byte, event string) (*Delivery, error) {
	// No event of GitHub's has a body of its own.
	var file struct{ Body json.RawMessage }
	switch err := json.Unmarshal(data, &file); {
	case err == nil && file.Body != nil:
		return Parse(data)
	case err == nil && event == "":
		return nil, fmt.Errorf("%w: it is a body without headers; say which event it is, such as --event pull_request", ErrSaved)
	case err == nil:
		return &Delivery{Source: GitHub, Event: event, Headers: map[string]string{}, Body: data}, nil
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return nil, fmt.Errorf("%w: %w", ErrSaved, err)
	}
	headers, body, found := bytes.Cut(data, []byte("\r\n\r\n"))
	if before, after, ok := bytes.Cut(data, []byte("\n\n")); ok && (!found || len(before) < len(headers)) {
		headers, body, found = before, after, true
	}
	if !found {
		return nil, fmt.Errorf("%w: it has no empty line between headers and body", ErrSaved)
	}
	return ParseParts(headers, body)
}
