package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

const (
	// maxOpenApprovals is how many calls of one session may wait for people at once.
	// More than a screen of cards is read by nobody.
	maxOpenApprovals = 20
	// maxApprovalInput bounds the input of a call that waits, in bytes. It leaves
	// room in [state.MaxApproval] for what is said about it.
	maxApprovalInput = 4 << 20
	// maxSummary bounds the line that says what a call does.
	maxSummary = 200
)

// Ask implements [tools.Ledger]. The approval is on record, with its cards owed,
// before anything is waited for. Whatever ends the wait, the record stays right.
func (l ledger) Ask(ctx context.Context, c tools.Call, t tools.Tool) (tools.Result, error) {
	rec, err := l.e.newRecord(c, t)
	if err != nil {
		return tools.Result{}, fmt.Errorf("ask people about tool %s: %w", t.Name, err)
	}
	if len(rec.Input) > maxApprovalInput {
		return refusal(fmt.Sprintf("The input has %d bytes. People decide about %d at most: hand in less.", len(rec.Input), maxApprovalInput)), nil
	}
	w := &waiter{heard: make(chan heard, 1)}
	now, err := ask(ctx, l.e, c.SessionID, func(a *actor) (*tools.Result, error) { return a.ask(c, rec, w) })
	if err != nil {
		l.e.actors.post(c.SessionID, func(a *actor) { a.abandon(w) }) // it may have been asked all the same
		return tools.Result{}, fmt.Errorf("ask people about tool %s: %w", t.Name, err)
	}
	if now != nil {
		return *now, nil
	}
	return l.e.await(ctx, c.SessionID, w, rec.Policy.HoldFor)
}

// newRecord describes a call to those who decide about it.
func (e *Engine) newRecord(c tools.Call, t tools.Tool) (approvals.Record, error) {
	id, err := approvals.NewID(e.random)
	if err != nil {
		return approvals.Record{}, err
	}
	input := approvals.Settle(c.Input)
	if !json.Valid(input) {
		input = json.RawMessage("{}")
	}
	summary, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	rec := approvals.Record{
		ID: id, SessionID: c.SessionID, TurnID: c.TurnID, Attempt: c.Attempt, AgentID: c.AgentID, CallID: cmp.Or(c.CallID, id),
		Tool: t.Name, Summary: clip(summary, maxSummary), Fingerprint: t.Fingerprint,
		Input: input, InputHash: approvals.HashInput(input),
		Channel: c.Channel, Request: c.Request, Requester: approvals.Identity{Principal: c.Principal},
	}
	if t.Gate != nil {
		rec.Risk = t.Gate.Risk
		err = guard("the policy of tool "+t.Name, e.redact, func() error {
			rec.Policy = t.Gate.Policy(c)
			return nil
		})
		e.logPanic("tool", t.Name, err)
	}
	rec.Policy = bounded(rec.Policy)
	return rec, err
}

// bounded is a policy with its times and its number of people filled in. Nobody
// becomes an approver by it.
func bounded(p approvals.Policy) approvals.Policy {
	p.MinApprovals = min(max(p.MinApprovals, 1), approvals.MaxMinApprovals)
	if p.ExpiresAfter <= 0 {
		p.ExpiresAfter = approvals.DefaultExpiresAfter
	}
	if p.HoldFor == 0 {
		p.HoldFor = approvals.DefaultHoldFor
	}
	p.ExpiresAfter = min(p.ExpiresAfter, approvals.MaxExpiresAfter)
	p.HoldFor = min(max(p.HoldFor, 0), approvals.MaxHoldFor)
	return p
}

// ask puts a call before people. A result is the answer at once; without one, w
// waits for it.
func (a *actor) ask(c tools.Call, rec approvals.Record, w *waiter) (*tools.Result, error) {
	var now *tools.Result
	err := a.decide(func(d *draft) error {
		now, w.id = nil, rec.ID
		if a.sess.Version == 0 {
			return state.ErrNotFound
		}
		if c.AgentID != "" {
			var err error
			if now, err = a.asked(d, c, rec, w); err != nil || now != nil || w.id != rec.ID {
				return err
			}
		}
		undone, err := a.undone()
		if err != nil {
			return err
		}
		open := 0
		for _, h := range undone {
			if h.rec.State.Open() {
				open++
			}
		}
		if open >= maxOpenApprovals {
			r := refusal(fmt.Sprintf("%d calls of this session wait for people already, and more are not taken. Wait until some of them are decided.", open))
			now = &r
			return errNothingNew
		}
		h := a.opened(d, c, rec)
		if c.AgentID == "" {
			d.park(h)
			r := pending(h.rec)
			now = &r
		}
		return nil
	})
	if err != nil && !isNothing(err) {
		return nil, err
	}
	if now == nil {
		a.e.waiters.add(w)
	}
	return now, nil
}

// opened drafts a new approval.
func (a *actor) opened(d *draft, c tools.Call, rec approvals.Record) *held {
	switch {
	case a.running != nil && a.running.row.ID == c.TurnID:
		rec.Requester, rec.Authors, rec.Subject = a.requesting(c, a.view(a.running.row))
	case a.direct != nil && a.direct.call.TurnID == c.TurnID:
		// Whoever calls asks for it, whoever asked for the work that the session is about.
		who, authors, subject := a.requesting(c, a.direct.view)
		rec.Authors, rec.Subject = authors, subject
		if who.Principal == c.Principal {
			rec.Requester = who
		}
	}
	h := &held{}
	step := approvals.Open(rec, a.e.now())
	step.Record.Cards = a.e.cardsOf(a.e.shown(step.Record))
	d.step(h, step)
	return h
}

// requesting says for whom a turn works.
func (a *actor) requesting(c tools.Call, t Turn) (who approvals.Identity, authors []approvals.Identity, subject string) {
	if r, ok := a.e.channels[c.Channel].(Requesting); ok {
		err := guard("Requester of channel "+c.Channel, a.e.redact, func() error {
			who, authors, subject = r.Requester(t)
			return nil
		})
		a.logPanic(err)
	}
	who.Principal = cmp.Or(who.Principal, c.Principal)
	return who, authors, subject
}

// await waits for what becomes of an approval: for a short time while people may
// decide, and once they have for as long as the call runs.
func (e *Engine) await(ctx context.Context, sessionID string, w *waiter, holdFor time.Duration) (tools.Result, error) {
	timer := time.NewTimer(holdFor)
	defer timer.Stop()
	for {
		select {
		case h := <-w.heard:
			e.actors.post(sessionID, func(a *actor) { a.noteHeard(w) })
			return h.answer(), nil
		case <-timer.C:
			told, err := ask(ctx, e, sessionID, func(a *actor) (*tools.Result, error) { return a.letGo(w) })
			if err != nil {
				e.actors.post(sessionID, func(a *actor) { a.abandon(w) })
				return tools.Result{}, fmt.Errorf("let a call go on without an answer: %w", err)
			}
			if told != nil {
				return *told, nil
			}
		case <-ctx.Done():
			e.actors.post(sessionID, func(a *actor) { a.abandon(w) })
			return tools.Result{}, ctx.Err()
		}
	}
}

// letGo tells an agent to go on without an answer, unless there is a decision: it
// then waits for what comes of it.
func (a *actor) letGo(w *waiter) (*tools.Result, error) {
	var told *tools.Result
	err := a.decide(func(d *draft) error {
		told = nil
		h, err := a.approval(w.id)
		if err != nil {
			return err
		}
		if !h.rec.State.Open() {
			return errNothingNew
		}
		d.park(h)
		r := pending(h.rec)
		told = &r
		return nil
	})
	if err != nil && !isNothing(err) {
		return nil, err
	}
	if told != nil {
		a.e.waiters.remove(w)
	}
	return told, nil
}

// abandon is told that a call is over before it had an answer.
func (a *actor) abandon(w *waiter) {
	if w.id == "" || !a.e.waiters.remove(w) || a.e.actors.isStopping() {
		return // the next process finds the approval without anybody who waits
	}
	err := a.decide(func(d *draft) error {
		h, err := a.approval(w.id)
		if err != nil {
			return err
		}
		if h.rec.Parked || h.row.Ended {
			return errNothingNew
		}
		d.park(h)
		return nil
	})
	a.afterwards("an approval is not parked", err)
}

// noteHeard notes that the agent has its answer.
func (a *actor) noteHeard(w *waiter) {
	if !a.e.waiters.remove(w) {
		return
	}
	err := a.decide(func(d *draft) error {
		h, err := a.approval(w.id)
		if err != nil {
			return err
		}
		if h.row.Ended || !h.rec.State.Ended() {
			return errNothingNew
		}
		h.row.Ended = true
		d.hold(h)
		return nil
	})
	a.afterwards("that an agent was told is not noted", err)
}

func isNothing(err error) bool { return errors.Is(err, errNothingNew) }

// answer is what the call answers.
func (h heard) answer() tools.Result {
	if h.result != nil {
		return *h.result
	}
	r := outcomeOf(h.view)
	r.Final = h.final
	return r
}

// outcomeOf is what the agent reads of an approval that has ended.
func outcomeOf(v approvals.View) tools.Result {
	return tools.Result{Text: v.ForAgent(), IsError: v.State != approvals.Done}
}

// pending tells an agent that its call waits for people.
func pending(r approvals.Record) tools.Result {
	answer := encoded(struct {
		Status     string `json:"status"`
		ApprovalID string `json:"approval_id"`
		Message    string `json:"message"`
	}{"pending", r.ID, "People have to approve this call first, which takes a while. Nothing was done yet. " +
		"Do not make the call again and do not wait: say in a sentence that it waits for approval, and end your turn. " +
		"You are told what came of it in a later message."})
	return tools.Result{Text: string(answer), Structured: answer}
}

func refusal(text string) tools.Result { return tools.Result{Text: text, IsError: true} }
