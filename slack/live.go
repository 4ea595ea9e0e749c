package slack

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// stage is what showing a turn needs of Slack; [*web.Client] is one.
type stage interface {
	StartStream(ctx context.Context, at web.Place, to web.Recipient, markdown string) (ts string, err error)
	AppendStream(ctx context.Context, at web.Place, ts, markdown string) error
	StopStream(ctx context.Context, at web.Place, ts string, m web.Message) error
	Post(ctx context.Context, at web.Place, m web.Message) (ts string, err error)
	Update(ctx context.Context, at web.Place, ts string, m web.Message, p web.Priority) error
	Delete(ctx context.Context, at web.Place, ts string) error
	SetStatus(ctx context.Context, at web.Place, text string, loading []string) error
	SetSessionStatus(ctx context.Context, at web.Place, status web.SessionStatus, title, initiator string) error
	Own(ctx context.Context, at web.Place, oldest string) iter.Seq2[web.Reply, error]
}

// live shows turns while they go on, and gives what it showed of them its end.
type live struct {
	stage  stage
	reply  Reply
	now    func() time.Time
	logger *slog.Logger
	// unable are places where Slack does not do something, and lines the threads
	// below which a status stands.
	unable *refusals
	lines  *lines

	mu    sync.Mutex
	shows map[string]*showing // by turn
}

func newLive(s stage, reply Reply, now func() time.Time, logger *slog.Logger) *live {
	return &live{
		stage: s, reply: reply, now: now, logger: logger,
		unable: newRefusals(now), lines: newLines(), shows: make(map[string]*showing),
	}
}

// maxShows bounds how many turns are remembered whose end was not heard of. What
// is forgotten of a turn is read in its session, and in its thread.
const maxShows = 1000

// begin takes up a turn, with what an earlier attempt at it left in its thread.
func (l *live) begin(r request, p sessions.Progress) *showing {
	s := &showing{
		turn: p.Turn.ID, session: p.Turn.SessionID, at: r.place(), asked: r.TS, mode: l.reply, known: true,
		to: r.recipient(), direct: isDirect(r.ChannelType, r.Channel), remember: p.Remember,
		script: newScript(), mood: newMood(),
		read: make(chan struct{}), written: make(chan struct{}),
	}
	left, ok := parseRecord(p.Turn.Surface[recordKey(s.turn)])
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.shows[s.turn]; old != nil && old.over() {
		left, ok = old.record(), old.starting || len(old.pieces) > 0
	}
	if ok {
		s.adopt(left)
	}
	if len(l.shows) >= maxShows {
		for turn, other := range l.shows {
			if other.over() {
				delete(l.shows, turn)
			}
		}
	}
	l.shows[s.turn] = s
	return s
}

// showOf is what is shown of a turn, or nil.
func (l *live) showOf(turn string) *showing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shows[turn]
}

// take returns what was shown of a turn once nobody writes there any more, and
// nil where this process has shown nothing. It is the caller's alone then.
func (l *live) take(ctx context.Context, turn string) (*showing, error) {
	s := l.showOf(turn)
	if s == nil {
		return nil, nil
	}
	select {
	case <-s.written:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shows[turn] != s {
		return nil, nil
	}
	delete(l.shows, turn)
	return s, nil
}

// giveBack keeps what is to be tried again.
func (l *live) giveBack(s *showing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shows[s.turn] == nil {
		l.shows[s.turn] = s
	}
}

// cleared reports whether the status of a turn was taken away for sure by who showed
// it, and forgets the turn.
func (l *live) cleared(turn string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shows[turn]
	if s == nil || !s.over() {
		return false
	}
	delete(l.shows, turn)
	return s.cleared.Load()
}

// outliving is a context that goes on for a while when ctx has ended: a call that
// is cut off may have its effect all the same, unseen.
func outliving(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	return out, func() { stop(); cancel() }
}

// pause waits, and reports whether ctx is still going on.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
