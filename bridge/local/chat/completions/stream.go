package completions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// ErrCut is returned for a stream that ended before it said that it is over. Not
// every endpoint says it: an answer with a reason for its finish may be whole.
var ErrCut = errors.New("the connection was closed before the answer was complete")

// Stream is an answer that is being read. It is for one goroutine.
type Stream struct {
	body   io.Closer
	in     io.Reader
	events *events // nil for an answer in one piece
	limit  int
	over   bool
}

// NewStream reads a response: events, or one JSON answer from endpoints that do
// not stream. For heard see [Client.Stream].
func NewStream(res *http.Response, limits Limits, heard func()) *Stream {
	s := &Stream{body: res.Body, in: &meter{in: res.Body, left: limits.Stream, heard: heard}, limit: limits.Event}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "application/json" {
		s.events = newEvents(s.in, limits.Event)
	}
	return s
}

// Close ends the request.
func (s *Stream) Close() error { return s.body.Close() }

// Next is the next piece. After the last one the error is [io.EOF]; [ErrCut] when
// the stream ended without saying so; [ErrTooLarge] beyond the limits; an [*Error]
// without a status when the endpoint reports one in its answer.
func (s *Stream) Next() (Chunk, error) {
	switch {
	case s.over:
		return Chunk{}, io.EOF
	case s.events == nil:
		s.over = true
		return s.whole()
	}
	for {
		data, err := s.events.next()
		if errors.Is(err, io.EOF) {
			return Chunk{}, ErrCut
		}
		if err != nil {
			return Chunk{}, fmt.Errorf("read the stream of an answer: %w", err)
		}
		switch data = bytes.TrimSpace(data); string(data) {
		case "":
		case "[DONE]":
			s.over = true
			return Chunk{}, io.EOF
		default:
			return readEvent(data)
		}
	}
}

// readEvent reads one event of a stream.
func readEvent(data []byte) (Chunk, error) {
	var event struct {
		Chunk
		Error json.RawMessage `json:"error"`
	}
	if decode(data, &event) != nil {
		// What it is instead could hold anything, and is not repeated.
		return Chunk{}, errors.New("read the stream of an answer: the endpoint sent an event that is not JSON")
	}
	if given(event.Error) {
		return Chunk{}, readRefusal(data)
	}
	return event.Chunk, nil
}

// whole reads an answer in one piece, whose messages are where a stream has deltas.
func (s *Stream) whole() (Chunk, error) {
	body, err := readAll(s.in, s.limit)
	if err != nil {
		return Chunk{}, fmt.Errorf("read an answer: %w", err)
	}
	var answer struct {
		Choices []struct {
			Choice
			Message Delta `json:"message"`
		} `json:"choices"`
		Usage *Usage          `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	// An answer without its choices would look like one that says nothing.
	var shape *struct {
		Choices []struct{} `json:"choices"`
	}
	if err := json.Unmarshal(body, &shape); err != nil {
		return Chunk{}, fmt.Errorf("read an answer: %w", err)
	}
	if shape == nil {
		return Chunk{}, errors.New("read an answer: the endpoint sent null")
	}
	if err := decode(body, &answer); err != nil {
		return Chunk{}, fmt.Errorf("read an answer: %w", err)
	}
	if given(answer.Error) {
		return Chunk{}, readRefusal(body)
	}
	chunk := Chunk{Usage: answer.Usage}
	for _, c := range answer.Choices {
		c.Delta = c.Message
		chunk.Choices = append(chunk.Choices, c.Choice)
	}
	return chunk, nil
}

// given reports whether a field is there and not null.
func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// meter says when something came, and ends somewhere.
type meter struct {
	in    io.Reader
	left  int
	heard func()
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	if n > 0 && m.heard != nil {
		m.heard()
	}
	if m.left -= n; m.left < 0 {
		return n, ErrTooLarge
	}
	return n, err
}
