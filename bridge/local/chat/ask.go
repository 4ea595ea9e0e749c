package chat

import (
	"context"
	"errors"
)

// ask makes one request until it has an answer, or until that is of no use.
func (r *run) ask(ctx context.Context, noTools bool) (*reply, error) {
	var said string // before the stream broke off
	tries, compacted := 0, 0
	for {
		r.tellUsage()
		if ctx.Err() != nil {
			return nil, r.giveUp(said, ctx.Err())
		}
		r.fit()
		messages := r.messages
		if spoken(said) {
			messages = append(messages[:len(messages):len(messages)],
				Message{Role: RoleAssistant, Text: said}, Message{Role: RoleUser, Text: continueCut})
		}
		usage := !r.e.plain.Load()
		rep, err := r.e.complete(ctx, params(r.q.Model, r.q.System, messages, r.q.Tools, noTools, usage), sink{text: r.say, thought: r.think})
		r.endParagraphs()
		r.usage = r.usage.Add(rep.usage)
		if err == nil {
			r.learn(messages, rep.usage)
			if said != "" {
				rest := rep.text.String()
				rep.text.Reset()
				rep.text.WriteString(said + rest)
			}
			return rep, nil
		}
		said += rep.text.String()
		if ctx.Err() != nil {
			return nil, r.giveUp(said, ctx.Err())
		}
		var f *fault
		if !errors.As(err, &f) {
			f = r.e.requestFault(err)
		}
		switch f.kind {
		case faultFinal:
			return nil, r.giveUp(said, f.final(tries+1, r.e.now()))
		case faultNoUsage:
			if !usage {
				return nil, r.giveUp(said, f.final(tries+1, r.e.now()))
			}
			r.e.plain.Store(true)
			continue
		case faultTooLong:
			if compacted++; compacted > maxCompactions || !r.shrink() {
				return nil, r.giveUp(said, f.final(tries+1, r.e.now()))
			}
			continue
		}
		tries++
		wait, worthIt := r.e.wait(f, tries)
		if tries >= f.tries() || !worthIt {
			return nil, r.giveUp(said, f.final(tries, r.e.now()))
		}
		r.e.logger.Warn("a request to the model endpoint is tried again", "reason", f.reason, "tries", tries, "wait", wait)
		if r.q.Watch.Waiting != nil {
			r.q.Watch.Waiting(f.reason, wait)
		}
		if err := r.e.sleep(ctx, wait); err != nil {
			return nil, r.giveUp(said, err)
		}
	}
}

// giveUp ends the wait for an answer, of which the conversation keeps what was said.
func (r *run) giveUp(said string, err error) error {
	if spoken(said) {
		r.messages = append(r.messages, Message{Role: RoleAssistant, Text: said})
	}
	return err
}

// fit makes the conversation fit the model's context as far as that is known.
func (r *run) fit() {
	budget := maxConversationBytes
	if r.q.Window > 0 {
		room := r.q.Window - min(r.q.Window/4, 16<<10) // for the answer
		budget = min(budget, int(float64(room)*r.perToken)-r.fixed())
	}
	r.messages, _ = compact(r.messages, max(budget, 0))
}

// shrink makes the conversation clearly smaller, or reports that it cannot.
func (r *run) shrink() bool {
	smaller, ok := compact(r.messages, weight(r.messages)*6/10)
	r.messages = smaller
	return ok
}

// fixed is about how many bytes of a request are not its messages.
func (r *run) fixed() int {
	n := len(r.q.System)
	for _, t := range r.q.Tools {
		n += len(t.Name) + len(t.Description) + 400
	}
	return n
}

// learn corrects the guess of how long a token is.
func (r *run) learn(messages []Message, u Usage) {
	if u.Input > 100 {
		r.perToken = min(max(float64(weight(messages)+r.fixed())/float64(u.Input), 1), 6)
	}
}
