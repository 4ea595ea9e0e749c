package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// StopAuthorizer is implemented by channels that can vouch for people who own
// neither a session nor its turns, such as those who may write to a repository.
type StopAuthorizer interface {
	// MayStop reports whether the one who asks may end all that the session does.
	// An error means no, and is told in the decision. It may take ten seconds.
	MayStop(ctx context.Context, q StopQuestion) (bool, error)
}

// StopWitness is implemented by channels that tell whoever asked for a stop what
// came of it.
type StopWitness interface {
	// StopEffects returns what is owed for a stop with this request. It is pure.
	StopEffects(request json.RawMessage, v StopVerdict) []Effect
}

// StopVerdict is what came of a wish to stop a session.
type StopVerdict struct {
	// Ended is set when something was stopped, Refused when something goes on that
	// whoever asked may not stop. With neither there was nothing to stop.
	Ended, Refused bool
}

// StopQuestion is a wish to stop a session that its channel shall judge.
type StopQuestion struct {
	SessionID string
	Key       string
	// Principal is who wants to stop it; Request is the intent's own.
	Principal string
	Request   json.RawMessage
	// Turns are those that would end, in the order in which they run.
	Turns []Turn
	// Surface is what the channel asked to remember of the session.
	Surface map[string]string
}

// vouchTimeout is how long a channel may take to say who may stop.
const vouchTimeout = 10 * time.Second

// Stop ends what a session does: the running turn is interrupted and those that
// wait are dropped, whatever stands in the turn queue. What was stopped is on
// record when it returns. A session's owner and an operator stop all turns, and
// somebody who asked for turns stops those. A stop that finds nothing to end
// returns a zero [Stopped].
//
// Errors: [state.ErrNotFound], [ErrNotAllowed] and [state.ErrUnavailable]; after
// them nothing was changed. When ctx ends first, the session may have been stopped.
func (e *Engine) Stop(ctx context.Context, r StopRequest) (Stopped, error) {
	if !state.ValidSessionID(r.SessionID) {
		return Stopped{}, fmt.Errorf("stop session %.80q: %w", r.SessionID, state.ErrNotFound)
	}
	stopped, err := ask(ctx, e, r.SessionID, func(a *actor) (Stopped, error) { return a.stopped(r) })
	if err != nil {
		return Stopped{}, fmt.Errorf("stop session %s: %w", r.SessionID, err)
	}
	return stopped, nil
}

// stopped decides a stop that came directly.
func (a *actor) stopped(r StopRequest) (Stopped, error) {
	var done Stopped
	err := a.decideAtOnce(func(d *draft) error {
		if a.sess.Version == 0 {
			return state.ErrNotFound
		}
		all := r.Operator || a.owns(r.Principal)
		s := a.stop(d, stopOrder{principal: r.Principal, all: all, reason: r.Reason})
		switch none := len(s.ended())+len(s.Cancelled) == 0; {
		case !all && none:
			return ErrNotAllowed
		case none:
			return errNothingNew
		}
		done = s.Stopped
		return nil
	})
	if errors.Is(err, errNothingNew) {
		return Stopped{}, nil
	}
	if err != nil {
		return Stopped{}, err
	}
	a.schedule()
	return done, nil
}

// stopOrder says what may be stopped.
type stopOrder struct {
	principal string
	// all is set when the principal may stop every turn, and not only their own.
	all bool
	// among are the turns that were open when the stop was asked for; nil means
	// that it is decided at once.
	among  []string
	reason string
	// nothing is set when what was to be stopped is over.
	nothing bool
}

// stopResult is what a stop ended, and what it had to leave.
type stopResult struct {
	Stopped
	// left are turns, and others approvals, of other people.
	left   []string
	others int
}

func (s stopResult) ended() []string {
	if s.Interrupted == "" {
		return s.Dropped
	}
	return append([]string{s.Interrupted}, s.Dropped...)
}

// stop drafts the end of all open turns that the order reaches.
func (a *actor) stop(d *draft, o stopOrder) stopResult {
	var s stopResult
	if o.among == nil {
		a.interruptDirect(o.principal, o.all)
	}
	reason := o.reason
	if reason == "" {
		reason = "stopped by " + o.principal
	}
	open := 0
	for _, t := range a.open() {
		open++
		switch {
		case o.nothing, o.among != nil && !slices.Contains(o.among, t.ID):
		case !o.all && (o.principal == "" || t.Principal != o.principal):
			s.left = append(s.left, t.ID)
		default:
			if t.Status == state.TurnRunning {
				s.Interrupted = t.ID
			} else {
				s.Dropped = append(s.Dropped, t.ID)
			}
			d.interruptAs(t, Report{Reason: reason, Stopped: true})
		}
	}
	if !o.nothing {
		s.Cancelled, s.others = d.cancelApprovals(reason, o.principal, func(r approvals.Record) bool {
			return o.all || o.principal != "" && r.Requester.Principal == o.principal
		})
	}
	if n := len(s.ended()); n > 0 && n == open {
		a.rest(d, EventSessionFailed, reason)
	}
	return s
}

// heedStop decides about a delivery that asks for a stop. Whom the session does
// not know, its channel is asked about, outside the actor; what is queued
// meanwhile is not stopped.
func (a *actor) heedStop(del state.StoredDelivery, in Intent, settled func()) {
	q, unsure := a.stopQuestion(in)
	if !unsure {
		defer settled()
		a.settleStop(del, in, stopOrder{all: a.owns(in.Principal)}, "")
		return
	}
	authorizer, ok := a.e.channels[del.Source].(StopAuthorizer)
	if !ok {
		defer settled()
		a.settleStop(del, in, stopOrder{}, "")
		return
	}
	o := stopOrder{among: make([]string, 0, len(q.Turns))}
	for _, t := range q.Turns {
		o.among = append(o.among, t.ID)
	}
	go func() {
		may, err := a.e.vouch(authorizer, del.Source, q)
		if a.e.actors.turns.Err() != nil {
			a.e.logger.Warn("a stop is not decided; it will be at the next start", "delivery", ref(del))
			settled()
			return
		}
		o.all = may
		doubt := ""
		if err != nil {
			doubt = fmt.Sprintf(" (nobody could say whether they may: %v)", err)
		}
		a.e.actors.post(a.id, func(a *actor) {
			defer settled()
			a.settleStop(del, in, o, doubt)
		})
	}()
}

// stopQuestion returns what the channel has to be asked, and whether it has to
// be: not where the owner asks, or one who asked for all that would end.
func (a *actor) stopQuestion(in Intent) (StopQuestion, bool) {
	if err := a.ready(); err != nil || a.sess.Version == 0 || a.owns(in.Principal) {
		return StopQuestion{}, false
	}
	waiting, err := a.undone()
	if err != nil {
		return StopQuestion{}, false
	}
	q := StopQuestion{SessionID: a.id, Key: a.sess.Key, Principal: in.Principal, Request: in.Request, Surface: a.surface()}
	others := false
	for _, t := range a.open() {
		q.Turns = append(q.Turns, a.view(t))
		others = others || in.Principal == "" || t.Principal != in.Principal
	}
	for _, h := range waiting {
		others = others || h.rec.State.Open() && (in.Principal == "" || h.rec.Requester.Principal != in.Principal)
	}
	return q, others
}

// vouch asks the channel, at most until the engine stops.
func (e *Engine) vouch(s StopAuthorizer, channel string, q StopQuestion) (bool, error) {
	ctx, cancel := context.WithTimeout(e.actors.turns, vouchTimeout)
	defer cancel()
	type verdict struct {
		may bool
		err error
	}
	judged := make(chan verdict, 1)
	go func() {
		var v verdict
		v.err = guard("MayStop of channel "+channel, e.redact, func() (err error) {
			v.may, err = s.MayStop(ctx, q)
			return err
		})
		judged <- v
	}()
	select {
	case v := <-judged:
		return v.may && v.err == nil, v.err
	case <-ctx.Done():
		return false, fmt.Errorf("no answer within %s", vouchTimeout)
	}
}

// settleStop commits a stop together with the decision about its delivery.
func (a *actor) settleStop(del state.StoredDelivery, in Intent, o stopOrder, doubt string) {
	o.principal, o.reason = in.Principal, in.Reason
	a.settleBy(del, in, func(d *draft) error {
		if a.sess.Version == 0 {
			d.settle(del, state.DeliveryIgnored, "no session to stop: "+in.Reason, "")
			a.witness(d, del, in, StopVerdict{})
			return nil
		}
		if in.TurnID != "" && !slices.ContainsFunc(a.open(), func(t state.Turn) bool { return t.ID == in.TurnID }) {
			o.nothing = true
		}
		s := a.stop(d, o)
		a.witness(d, del, in, StopVerdict{
			Ended: len(s.ended())+len(s.Cancelled) > 0, Refused: len(s.left)+s.others > 0,
		})
		switch ended := s.ended(); {
		case len(ended) == 0 && len(s.left) == 0 && len(s.Cancelled) > 0:
			d.settle(del, state.DeliveryDone, fmt.Sprintf("cancelled %s: %s", strings.Join(s.Cancelled, ", "), in.Reason), "")
		case len(ended) == 0 && len(s.left) == 0 && s.others > 0:
			d.settle(del, state.DeliveryIgnored, fmt.Sprintf("%s may not stop what waits for approval%s: %s",
				orSomebody(in.Principal), doubt, in.Reason), "")
		case len(ended) == 0 && len(s.left) == 0:
			d.settle(del, state.DeliveryIgnored, "nothing to stop: "+in.Reason, "")
		case len(ended) == 0:
			d.settle(del, state.DeliveryIgnored, fmt.Sprintf("%s may not stop %s%s: %s",
				orSomebody(in.Principal), turnsText(s.left), doubt, in.Reason), "")
		case len(s.left) > 0:
			d.settle(del, state.DeliveryDone, fmt.Sprintf("stopped %s; %s may not stop %s%s: %s",
				turnsText(ended), orSomebody(in.Principal), turnsText(s.left), doubt, in.Reason), ended[0])
		default:
			d.settle(del, state.DeliveryDone, fmt.Sprintf("stopped %s: %s", turnsText(ended), in.Reason), ended[0])
		}
		return nil
	})
}

// witness drafts what whoever asked for a stop is told of it.
func (a *actor) witness(d *draft, del state.StoredDelivery, in Intent, v StopVerdict) {
	w, ok := a.e.channels[del.Source].(StopWitness)
	if !ok {
		return
	}
	var told []Effect
	err := guard("StopEffects of channel "+del.Source, a.e.redact, func() error {
		told = w.StopEffects(in.Request, v)
		return nil
	})
	if err != nil {
		a.logPanic(err)
		return
	}
	d.oweTo(owedFor(del, in), del.Source, told)
}

func orSomebody(principal string) string {
	if principal == "" {
		return "somebody unknown"
	}
	return principal
}

func turnsText(ids []string) string {
	if len(ids) == 1 {
		return "turn " + ids[0]
	}
	return "turns " + strings.Join(ids, ", ")
}
