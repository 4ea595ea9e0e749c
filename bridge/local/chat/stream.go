package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// Usage counts tokens. Input includes what was read from a cache, Output the reasoning.
type Usage struct {
	Input, Output, CacheRead, Reasoning int64
}

// Add is the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.Reasoning + v.Reasoning}
}

// Sub returns what u has more than v.
func (u Usage) Sub(v Usage) Usage {
	return Usage{u.Input - v.Input, u.Output - v.Output, u.CacheRead - v.CacheRead, u.Reasoning - v.Reasoning}
}

// reply is what one request brought, all of it or what came before a fault.
type reply struct {
	text      strings.Builder
	reasoning strings.Builder
	// echoed is set when the reasoning came under the name under which it is wanted back.
	echoed bool
	calls  assembly
	finish string
	usage  Usage
}

// sink receives a reply as it arrives.
type sink struct {
	text    func(string)
	thought func(string)
}

var (
	errIdle    = errors.New("it sent nothing for too long")
	errCut     = errors.New("the connection was closed before the answer was complete")
	errTooMuch = errors.New("it sent more than one answer may have")
)

// complete makes one request. Its error is a [*fault], or that of ctx. The reply
// is never nil.
func (e *Endpoint) complete(ctx context.Context, p openai.ChatCompletionNewParams, out sink) (*reply, error) {
	asked, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(e.idle, func() { cancel(errIdle) })
	defer idle.Stop()

	r := new(reply)
	var res *http.Response
	_, err := e.chat.New(asked, p, option.WithJSONSet("stream", true),
		option.WithHeader("Accept", "text/event-stream"), option.WithResponseBodyInto(&res))
	if err == nil {
		finished := false
		heard := func() {
			switch {
			case r.finish == "":
				idle.Reset(e.idle)
			case !finished:
				// Once: keepalives that go on and on must not hold a finished answer back.
				finished = true
				idle.Reset(min(e.idle, afterFinish))
			}
		}
		body := &watched{in: res.Body, heard: heard, left: maxStreamBytes}
		res.Body = body
		err = e.receive(res, r, out, func() {
			body.event = 0
			heard()
		})
		_ = res.Body.Close() // whatever comes of it, the answer is read
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err == nil, r.finish != "":
		return r, nil // after the finish only the count of tokens is missing
	case errors.Is(context.Cause(asked), errIdle):
		err = errIdle
	}
	return r, e.transportFault(err)
}

// watched is a body that says when something came, and that ends somewhere.
type watched struct {
	in    io.ReadCloser
	heard func()
	left  int64
	event int64 // what came since the last event; an event is put together in memory
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	if n > 0 {
		w.heard()
	}
	w.left -= int64(n)
	if w.event += int64(n); w.left < 0 || w.event > maxEventBytes {
		return n, errTooMuch
	}
	return n, err
}

func (w *watched) Close() error { return w.in.Close() }

// receive reads the answer, a stream or, from endpoints that do not stream, one
// piece. It calls heard after each event, when it is clear what it was.
func (e *Endpoint) receive(res *http.Response, r *reply, out sink, heard func()) error {
	split := splitter{reply: r, out: out}
	defer split.end()
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/json" {
		whole, err := io.ReadAll(io.LimitReader(res.Body, maxTextBytes))
		if err != nil {
			return err
		}
		chunk, err := asChunk(whole)
		if err != nil {
			return err
		}
		_, err = e.take(chunk, &split)
		return err
	}
	events := ssestream.NewDecoder(res)
	for events.Next() {
		done, err := e.take(events.Event().Data, &split)
		if done || err != nil {
			return err
		}
		heard()
	}
	if err := events.Err(); err != nil {
		return err
	}
	if r.finish == "" {
		return errCut
	}
	return nil
}

// asChunk makes the one piece of a stream out of a whole answer.
func asChunk(whole []byte) ([]byte, error) {
	var answer map[string]json.RawMessage
	var choices []map[string]json.RawMessage
	if err := json.Unmarshal(whole, &answer); err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, errors.New("it sent null")
	}
	if raw, ok := answer["choices"]; ok {
		if err := json.Unmarshal(raw, &choices); err != nil {
			return nil, err
		}
	}
	for _, c := range choices {
		if c != nil {
			c["delta"] = c["message"]
		}
	}
	raw, err := json.Marshal(choices)
	if err != nil {
		return nil, err
	}
	answer["choices"] = raw
	return json.Marshal(answer)
}

// take reads one event; done says that the stream says it is over.
func (e *Endpoint) take(data []byte, split *splitter) (done bool, err error) {
	text := strings.TrimSpace(string(data))
	switch text {
	case "":
		return false, nil
	case "[DONE]":
		if split.reply.finish == "" {
			split.reply.finish = "stop"
		}
		return true, nil
	}
	var failed struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(text), &failed) == nil && len(failed.Error) > 0 && string(failed.Error) != "null" {
		return false, e.streamFault([]byte(text))
	}
	var chunk openai.ChatCompletionChunk
	if err := json.Unmarshal([]byte(text), &chunk); err != nil {
		return false, errors.New("it sent an event that is not JSON")
	}
	return false, split.add(chunk)
}

// splitter sorts the pieces of a reply.
type splitter struct {
	reply *reply
	out   sink
	think thinking
}

func (s *splitter) add(chunk openai.ChatCompletionChunk) error {
	r := s.reply
	if u := chunk.Usage; chunk.JSON.Usage.Valid() {
		// Some count up with every piece, so that the last is the sum.
		r.usage = Usage{
			Input: u.PromptTokens, Output: u.CompletionTokens,
			CacheRead: u.PromptTokensDetails.CachedTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens,
		}
	}
	for _, c := range chunk.Choices {
		if c.Index != 0 {
			continue // one was asked for
		}
		// Of the two names the first is wanted back, and only by those who use it.
		if t := textOf(c.Delta.JSON.ExtraFields["reasoning_content"]); t != "" {
			r.echoed = true
			s.thought(t)
		} else if t := textOf(c.Delta.JSON.ExtraFields["reasoning"]); t != "" {
			s.thought(t)
		}
		if c.Delta.Content != "" {
			text, thought := s.think.split(c.Delta.Content)
			s.thought(thought)
			s.text(text)
		}
		s.text(c.Delta.Refusal)
		for _, piece := range c.Delta.ToolCalls {
			r.calls.add(piece)
		}
		if c.FinishReason != "" {
			r.finish = c.FinishReason
		}
	}
	if r.text.Len() > maxTextBytes {
		return errTooMuch
	}
	return nil
}

// end passes on what was held back.
func (s *splitter) end() {
	text, thought := s.think.end()
	s.thought(thought)
	s.text(text)
}

func (s *splitter) text(t string) {
	if t != "" {
		s.reply.text.WriteString(t)
		s.out.text(t)
	}
}

func (s *splitter) thought(t string) {
	if t == "" {
		return
	}
	if s.reply.reasoning.Len()+len(t) <= maxReasoningBytes {
		s.reply.reasoning.WriteString(t)
	}
	s.out.thought(t)
}

// textOf is a field that the client does not know, if it is text.
func textOf(f respjson.Field) string {
	var s string
	if raw := f.Raw(); raw == "" || json.Unmarshal([]byte(raw), &s) != nil {
		return ""
	}
	return s
}
