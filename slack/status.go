package slack

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

const (
	// statusHolds is how long a status is left alone. Slack drops it after two
	// minutes (https://docs.slack.dev/reference/methods/assistant.threads.setStatus).
	statusHolds = 90 * time.Second
	// statusPace is the least time between two statuses: who reads them wants to
	// know what takes long.
	statusPace = 3 * time.Second
)

// What a place may not support; see [refusals].
const (
	shownStatus  = "status"
	shownSession = "session"
	shownStream  = "stream"
)

// lines let one turn at a time speak below a thread, so that no call of one comes
// between those of another.
type lines struct {
	mu sync.Mutex
	of map[web.Place]*line
}

type line struct {
	// free has an element while nobody holds the line.
	free chan struct{}
	// holder is the turn that does, and users are who holds it or waits.
	holder string
	users  int
}

func newLines() *lines { return &lines{of: make(map[web.Place]*line)} }

// enter waits until a thread is free for a turn.
func (s *lines) enter(ctx context.Context, at web.Place, turn string) (leave func(), err error) {
	s.mu.Lock()
	l := s.of[at]
	if l == nil {
		l = &line{free: make(chan struct{}, 1)}
		l.free <- struct{}{}
		s.of[at] = l
	}
	l.users++
	s.mu.Unlock()
	left := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(s.of, at)
		}
	}
	select {
	case <-ctx.Done():
		left()
		return nil, ctx.Err()
	case <-l.free:
	}
	s.mu.Lock()
	l.holder = turn
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		l.holder = ""
		s.mu.Unlock()
		l.free <- struct{}{}
		left()
	}, nil
}

// holder is the turn that speaks below a thread, or nothing.
func (s *lines) holder(at web.Place) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.of[at]; l != nil {
		return l.holder
	}
	return ""
}

// teller says what goes on in one turn below its thread, one call after the other.
type teller struct {
	*live
	at        web.Place
	initiator string
	session   web.SessionStatus
	// spoke says that a status may stand there, and unsure that a call may still
	// have its effect after those that follow.
	spoke, unsure bool
}

// keepStatus shows the mood of a turn until ctx ends, and takes it away then.
func (l *live) keepStatus(ctx context.Context, s *showing) {
	if s.at.Thread == "" {
		s.cleared.Store(true)
		return // statuses stand below threads
	}
	leave, err := l.lines.enter(ctx, s.at, s.turn)
	if err != nil {
		s.cleared.Store(true)
		return
	}
	defer leave()
	t := &teller{live: l, at: s.at, initiator: s.to.User}
	calls, cancel := outliving(ctx, lastWrite)
	for {
		wait, ok := t.tell(calls, s.mood.view())
		if !ok || !pause(ctx, wait) {
			break
		}
		again := time.NewTimer(statusHolds - statusPace)
		select {
		case <-ctx.Done():
		case <-s.mood.changed:
		case <-again.C:
		}
		again.Stop()
		if ctx.Err() != nil {
			break
		}
	}
	<-ctx.Done()
	cancel()
	<-s.read // what was said before the end counts
	last, done := outliving(ctx, sessions.FollowGrace)
	defer done()
	rest := web.SessionActive
	if s.mood.leave() {
		rest = web.SessionSuspended
	}
	if err := t.clear(last, rest); err == nil && !t.unsure {
		s.cleared.Store(true)
	}
}

// tell says what goes on. It returns how long to leave it at that, and false where
// there is no use in saying more.
func (t *teller) tell(ctx context.Context, v statusView) (time.Duration, bool) {
	status := web.SessionProcessing
	if v.waits {
		status = web.SessionSuspended
	}
	hasSessions := t.tellSession(ctx, status)
	if t.unable.has(shownStatus, t.at.Team, t.at.Channel) {
		return statusPace, hasSessions
	}
	err := t.stage.SetStatus(ctx, t.at, v.text, idleTexts[v.idle])
	if err == nil {
		t.spoke = true
		return statusPace, true
	}
	wait := min(max(statusPace, comeBack(err)), longestPause)
	switch judge(err) {
	case notYet:
	case notKnown:
		t.spoke, t.unsure = true, true
	default:
		if ofThisCall(err) {
			return wait, false
		}
		t.unable.add(shownStatus, t.at.Team, t.at.Channel)
		t.logger.Debug("no status is shown in this channel for a while", "team", t.at.Team, "channel", t.at.Channel, "error", err)
		return wait, hasSessions
	}
	return wait, true
}

// tellSession sets the status of the agent's session, where the workspace has such
// sessions, and reports whether it has.
func (t *teller) tellSession(ctx context.Context, status web.SessionStatus) bool {
	if t.unable.has(shownSession, t.at.Team) {
		return false
	}
	if t.session == status {
		return true
	}
	err := t.stage.SetSessionStatus(ctx, t.at, status, "", t.initiator)
	switch {
	case err == nil:
		t.session = status
	case judge(err) == notYet, judge(err) == notKnown:
	case ofThisCall(err), judge(err) == goneAway:
		return false // which says nothing of the workspace
	default:
		t.unable.add(shownSession, t.at.Team)
		return false
	}
	return true
}

// clear takes away what was said, and leaves the agent's session as rest says.
func (t *teller) clear(ctx context.Context, rest web.SessionStatus) error {
	var failed error
	if t.session != "" && t.session != rest {
		failed = t.stage.SetSessionStatus(ctx, t.at, rest, "", t.initiator)
	}
	if t.spoke { // whatever the channel does not do by now
		failed = errors.Join(failed, t.stage.SetStatus(ctx, t.at, "", nil))
	}
	return failed
}

// deliverStatus performs what is owed as [statusPayload].
func (l *live) deliverStatus(ctx context.Context, item sessions.Item, p statusPayload) (sessions.Receipt, error) {
	at := p.To.place()
	var receipt sessions.Receipt
	if p.Text == "" {
		s, err := l.shown(ctx, item, p.To, p.Turn)
		if err != nil {
			return receipt, err
		}
		if s != nil {
			receipt.Remember, err = l.abandon(ctx, s, item)
			l.giveBack(s)
			if err != nil {
				return receipt, again("end what was shown of the turn", err)
			}
		}
	}
	switch other := l.lines.holder(at); {
	case at.Thread == "":
		receipt.Note = "no status: it is no thread"
		return receipt, nil
	case other != "" && other != p.Turn:
		receipt.Note = "no status: another turn shows its own"
		return receipt, nil
	case l.unable.has(shownStatus, at.Team, at.Channel):
		receipt.Note = "no status: this channel shows none"
		return receipt, nil
	}
	leave, err := l.lines.enter(ctx, at, p.Turn)
	if err != nil {
		return receipt, again("wait for the thread's status", err)
	}
	defer leave()
	if p.Text == "" && l.cleared(p.Turn) {
		receipt.Note = "the status was taken away already"
		return receipt, nil
	}
	note, err := l.say(ctx, at, p.Text)
	receipt.Note = note
	return receipt, err
}

// rest leaves the agent's session at rest when a call of a turn waits for no person
// any more: the turn may be over, and no other may follow.
func (l *live) rest(ctx context.Context, _ sessions.Item, p restPayload) (sessions.Receipt, error) {
	at := p.To.place()
	if at.Thread == "" || l.unable.has(shownSession, at.Team) {
		return sessions.Receipt{Note: "no status: there are no sessions here"}, nil
	}
	if s := l.showOf(p.Turn); s != nil {
		waits, late := s.mood.settle(p.Approval)
		switch {
		case waits:
			return sessions.Receipt{Note: "another call waits"}, nil
		case !late:
			return sessions.Receipt{Note: "the turn shows itself how it goes on"}, nil
		}
	}
	if other := l.lines.holder(at); other != "" && other != p.Turn {
		return sessions.Receipt{Note: "another turn shows its own"}, nil
	}
	leave, err := l.lines.enter(ctx, at, p.Turn)
	if err != nil {
		return sessions.Receipt{}, again("wait for the thread's status", err)
	}
	defer leave()
	return minor("left the session at rest", "status", l.stage.SetSessionStatus(ctx, at, web.SessionActive, "", p.User))
}

// again asks for another try, which counts unless nothing reached Slack.
func again(doing string, err error) error {
	return &sessions.RetryError{After: comeBack(err), Uncounted: judge(err) == notYet, Err: fmt.Errorf("%s: %w", doing, err)}
}

// say sets one status, or takes it away.
func (l *live) say(ctx context.Context, at web.Place, text string) (note string, err error) {
	t := &teller{live: l, at: at}
	if text == "" {
		t.tellSession(ctx, web.SessionActive)
	}
	err = l.stage.SetStatus(ctx, at, text, nil)
	switch {
	case err == nil && text == "":
		return "took the status away", nil
	case err == nil:
		return "showed a status", nil
	case judge(err) == notYet, judge(err) == notKnown:
		return "", again("set the status of a thread", err)
	}
	if !ofThisCall(err) {
		l.unable.add(shownStatus, at.Team, at.Channel)
	}
	return "no status: " + err.Error(), nil
}
