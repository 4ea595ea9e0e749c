package chat

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat/completions"
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

var errIdle = errors.New("it sent nothing for too long")

// complete makes one request. Its error is a [*fault], or that of ctx. The reply
// is never nil.
func (e *Endpoint) complete(ctx context.Context, q completions.Request, out sink) (*reply, error) {
	asked, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(e.idle, func() { cancel(errIdle) })
	defer idle.Stop()

	r := new(reply)
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
	stream, err := e.client.Stream(asked, q, heard)
	if err == nil {
		err = r.receive(stream, out, heard)
		_ = stream.Close() // whatever comes of it, the answer is read
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err == nil, r.finish != "":
		return r, nil // after the finish only the count of tokens is missing
	case errors.Is(context.Cause(asked), errIdle):
		err = errIdle
	}
	return r, e.requestFault(err)
}

// receive reads an answer to its end. It calls heard after each piece, when it is
// clear what it was.
func (r *reply) receive(stream *completions.Stream, out sink, heard func()) error {
	split := splitter{reply: r, out: out}
	defer split.end()
	for {
		chunk, err := stream.Next()
		if errors.Is(err, io.EOF) {
			r.finish = cmp.Or(r.finish, "stop")
			return nil
		}
		if err != nil {
			return err
		}
		if err := split.add(chunk); err != nil {
			return err
		}
		heard()
	}
}

// splitter sorts the pieces of a reply.
type splitter struct {
	reply *reply
	out   sink
	think thinking
}

func (s *splitter) add(chunk completions.Chunk) error {
	r := s.reply
	if u := chunk.Usage; u != nil {
		// Some count up with every piece, so that the last is the sum.
		r.usage = Usage{
			Input: u.PromptTokens.Value, Output: u.CompletionTokens.Value,
			CacheRead: u.PromptTokensDetails.CachedTokens.Value, Reasoning: u.CompletionTokensDetails.ReasoningTokens.Value,
		}
	}
	for _, c := range chunk.Choices {
		if c.Index.Value != 0 {
			continue // one was asked for
		}
		// Of the two names the first is wanted back, and only by those who use it.
		if t := c.Delta.ReasoningContent; t != "" {
			r.echoed = true
			s.thought(t)
		} else {
			s.thought(c.Delta.Reasoning)
		}
		if c.Delta.Content != "" {
			text, thought := s.think.split(string(c.Delta.Content))
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
		return completions.ErrTooLarge
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
