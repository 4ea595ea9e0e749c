package chat

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
)

// Request is one message to an agent, and all that the agent has.
type Request struct {
	Model  string
	System string
	// History is what was said before.
	History Conversation
	Prompt  string
	Images  []Image
	Tools   []Tool
	// Window is how many tokens the model's context holds; 0 when nobody knows.
	Window int64
	// Steps is how many requests the run may make; 60 when zero.
	Steps int
	// Keep is given the conversation whenever it has grown and when the run ends,
	// however it ends: a valid one of at most about 128 KiB.
	Keep func(Conversation)
	// Watch is told what happens.
	Watch Observer
}

// Observer is told what happens in a run, one call at a time. Its functions may be nil.
type Observer struct {
	// Text and Thought receive every fragment as it arrives.
	Text, Thought func(fragment string)
	// Said and Thoughts receive the same by paragraphs.
	Said, Thoughts func(paragraph string)
	// ThoughtFor follows the last of the thoughts before something else.
	ThoughtFor func(time.Duration)
	// Waiting is told why the next request has to wait, and how long.
	Waiting func(reason string, d time.Duration)
	// Used receives what the run has used so far each time that it goes on.
	Used func(total Usage)
}

// Answer is how a run ended.
type Answer struct {
	// Text is what the model said after its last call of a tool.
	Text string
	// Usage is that of all requests, those that failed too.
	Usage Usage
	// Steps is how many of [Request.Steps] were used.
	Steps int
}

// Run answers a message. Its error is an [*Error] or that of ctx; the usage is
// valid with an error, too.
func (e *Endpoint) Run(ctx context.Context, q Request) (Answer, error) {
	q.Steps = cmp.Or(q.Steps, defaultSteps)
	r := &run{e: e, q: q, messages: settled(q.History.Messages), perToken: 3}
	r.said.give, r.thoughts.give = call(q.Watch.Said), call(q.Watch.Thoughts)
	if q.History.Model != q.Model {
		for i := range r.messages {
			r.messages[i].Reasoning = ""
			for j := range r.messages[i].Calls {
				r.messages[i].Calls[j].Extra = nil
			}
		}
	}
	r.before = len(r.messages)
	r.messages = append(r.messages, Message{Role: RoleUser, Text: q.Prompt, Images: q.Images})
	text, err := r.loop(ctx)
	r.keep()
	return Answer{Text: text, Usage: r.usage, Steps: r.steps}, err
}

// call is f, or nothing.
func call(f func(string)) func(string) {
	if f == nil {
		return func(string) {}
	}
	return f
}

// run is one run under way.
type run struct {
	e        *Endpoint
	q        Request
	messages []Message
	// before is how many messages there were before this run.
	before int
	// usage is that of all requests, told what the observer knows of it.
	usage, told Usage
	// answer is what the model said since its last call.
	answer string
	// calls counts the calls that were run; malformed the steps in a row without one,
	// empty the answers without content, continued the answers that were cut.
	calls, malformed, empty, continued int
	// steps is how many were begun.
	steps int
	// perToken is how many bytes a token has in this conversation, as far as is known.
	perToken float64

	said, thoughts paragraphs
	thinkingSince  time.Time
}

const (
	continueCut   = "Your message was cut off. Go on exactly where it stopped, without repeating anything."
	answerNow     = "\n\n(This was your last tool call in this run. Give your final answer now, with what you know.)"
	noteOutputEnd = "\n\n*(The answer ends here because the model reached its output limit.)*"
)

// loop asks and calls tools until there is an answer.
func (r *run) loop(ctx context.Context) (string, error) {
	for step := 1; ; step++ {
		r.steps = step
		last := step >= r.q.Steps
		rep, err := r.ask(ctx, last)
		if err != nil {
			return "", err
		}
		calls := prepare(rep.calls.list(), r.q.Tools, rep.finish == finishLength)
		if len(calls) == 0 {
			if done, err := r.answered(rep, last); done || err != nil {
				return r.answer, err
			}
			continue
		}
		if last {
			return "", &Error{Code: CodeStepLimit, Reason: fmt.Sprintf("the model has used all %d steps of a run without an answer; ask for less at once", r.q.Steps)}
		}
		r.answer = "" // what came before was said on the way
		if err := r.called(ctx, rep, calls, step+1 >= r.q.Steps); err != nil {
			return "", err
		}
	}
}

// tellUsage says what was used before more is.
func (r *run) tellUsage() {
	if r.q.Watch.Used != nil && r.usage != r.told {
		r.told = r.usage
		r.q.Watch.Used(r.usage)
	}
}

// called runs the tools that the model called. Before the last step the model
// is told that it is the last.
func (r *run) called(ctx context.Context, rep *reply, calls []pending, lastIsNext bool) error {
	r.append(rep, calls)
	r.tellUsage()
	results := r.callTools(ctx, calls)
	r.messages = append(r.messages, results...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if lastIsNext {
		r.messages[len(r.messages)-1].Text += answerNow
	}
	r.keep()
	if r.malformed++; anyRun(calls) {
		r.malformed = 0
	}
	if r.malformed >= maxMalformed {
		return &Error{Code: CodeMalformedCalls, Reason: fmt.Sprintf("the model made malformed tool calls in %d steps in a row, the last one: %s; "+
			"use a model that is trained for tool calls", r.malformed, r.e.mask(results[len(results)-1].Text))}
	}
	return nil
}

// answered takes a reply without calls: all of the answer, a part of one that is
// continued, or nothing at all.
func (r *run) answered(rep *reply, last bool) (done bool, err error) {
	text := rep.text.String()
	switch {
	case rep.finish == finishFilter:
		return false, &Error{Code: CodeContentFilter, Reason: "the content filter of the model endpoint stopped the answer"}
	case text == "" && rep.finish == finishLength:
		return false, &Error{Code: CodeOutputLimit, Reason: "the model reached its output limit before it said anything; use a model with a larger one, or one that thinks less"}
	case !spoken(text) && !spoken(r.answer):
		if r.empty++; r.empty > maxEmpty || last {
			return false, &Error{Code: CodeEmptyAnswer, Reason: fmt.Sprintf("the model gave an empty answer %d times", r.empty)}
		}
		return false, nil
	}
	r.answer += text
	r.append(rep, nil)
	if rep.finish != finishLength {
		return true, nil
	}
	if r.continued++; r.continued > maxContinued || last {
		r.say(noteOutputEnd)
		r.said.end()
		r.answer += noteOutputEnd
		return true, nil
	}
	r.messages = append(r.messages, Message{Role: RoleUser, Text: continueCut})
	return false, nil
}

// The reasons for which a model stops that need something to be done.
const (
	finishLength = "length"
	finishFilter = "content_filter"
)

// append adds what the model said to the conversation.
func (r *run) append(rep *reply, calls []pending) {
	m := Message{Role: RoleAssistant, Text: rep.text.String()}
	if rep.echoed {
		m.Reasoning = rep.reasoning.String()
	}
	for _, p := range calls {
		m.Calls = append(m.Calls, p.call)
	}
	if spoken(m.Text) || len(m.Calls) > 0 {
		r.messages = append(r.messages, m)
	}
}

// keep passes on the conversation as it can be continued. A run that came to
// nothing leaves no trace, so that asking again does not ask twice.
func (r *run) keep() {
	if r.q.Keep == nil {
		return
	}
	messages := r.messages
	if len(messages) == r.before+1 {
		messages = messages[:r.before]
	}
	messages = settled(messages)
	for i := range messages {
		if len(messages[i].Images) > 0 {
			messages[i].Images = nil
			messages[i].Text = strings.TrimPrefix(messages[i].Text+"\n"+noteNoImage, "\n")
		}
	}
	messages, _ = compact(messages, maxMemoryBytes)
	r.q.Keep(Conversation{Model: r.q.Model, Messages: messages})
}

func (r *run) say(text string) {
	r.endThoughts()
	if f := r.q.Watch.Text; f != nil {
		f(text)
	}
	r.said.add(text)
}

func (r *run) think(text string) {
	if r.thinkingSince.IsZero() {
		r.thinkingSince = r.e.now()
	}
	if f := r.q.Watch.Thought; f != nil {
		f(text)
	}
	r.thoughts.add(text)
}

func (r *run) endThoughts() {
	if r.thinkingSince.IsZero() {
		return
	}
	r.thoughts.end()
	if f := r.q.Watch.ThoughtFor; f != nil {
		f(r.e.now().Sub(r.thinkingSince))
	}
	r.thinkingSince = time.Time{}
}

func (r *run) endParagraphs() {
	r.endThoughts()
	r.said.end()
}
