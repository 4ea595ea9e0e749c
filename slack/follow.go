package slack

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

const (
	// lastWrite is how long a call may go on that was under way when its turn ended.
	// What is cleared up afterwards has the rest of [sessions.FollowGrace].
	lastWrite = 3 * time.Second
	// pace is the time between two writes of a text that grows. Slack takes about
	// one message a second in a channel (https://docs.slack.dev/apis/web-api/rate-limits),
	// and others write there too. An answer that is there within it is posted at once.
	pace = 1200 * time.Millisecond
	// longestPause bounds what a rate limit puts the next write off by.
	longestPause = time.Minute
)

// Follow implements [sessions.Follower].
func (c *Channel) Follow(ctx context.Context, p sessions.Progress) { c.live.follow(ctx, p) }

// follow shows one attempt at a turn: a status below its thread and, if it shall
// be seen growing, the answer.
func (l *live) follow(ctx context.Context, p sessions.Progress) {
	r, err := parseRequest(p.Turn.Request)
	if err != nil {
		return // Prepare says so where a person sees it
	}
	s := l.begin(r, p)
	var writers sync.WaitGroup
	writers.Go(func() {
		defer close(s.written)
		l.write(ctx, s)
	})
	writers.Go(func() { l.keepStatus(ctx, s) })
	l.watch(ctx, s, p)
	writers.Wait()
}

// watch takes what people see of a turn from its events, until ctx ends.
func (l *live) watch(ctx context.Context, s *showing, p sessions.Progress) {
	defer close(s.read)
	for ev, err := range p.Events {
		if err != nil {
			if ctx.Err() == nil {
				l.logger.Warn("a turn is not shown any further", "session", s.session, "turn", s.turn, "error", err)
			}
			return
		}
		if ev.TurnID == s.turn {
			s.observe(ev)
		}
	}
}

// observe takes from an event what people see of it.
func (s *showing) observe(ev state.Event) {
	s.mood.observe(ev)
	switch ev.Type {
	case sessions.EventMessageAppended:
		s.script.add(textOf(ev))
	case sessions.EventMessageCompleted:
		s.script.complete(textOf(ev))
	}
}

func textOf(ev state.Event) string {
	var d struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(ev.Data, &d) // what cannot be read is not shown
	return d.Text
}

// write shows the text as it grows, until ctx ends.
func (l *live) write(ctx context.Context, s *showing) {
	if s.mode != ReplyStream && s.mode != ReplyEdit {
		return
	}
	wait := pace
	for !s.lost {
		select {
		case <-ctx.Done():
			return
		case <-s.script.changed:
		}
		if !pause(ctx, wait) {
			return
		}
		call, cancel := outliving(ctx, lastWrite)
		err := l.step(call, s)
		cancel()
		wait = pace
		if err != nil {
			wait = min(max(pace, comeBack(err)), longestPause)
			l.logger.Debug("what is there of an answer is not shown yet", "session", s.session, "turn", s.turn, "error", err)
			s.script.touch()
		}
	}
}

// step brings what people see up to the text that is there. An error means that it
// is worth another try.
func (l *live) step(ctx context.Context, s *showing) error {
	if s.mode == ReplyStream {
		whole := s.script.whole()
		if err := l.grow(ctx, s, whole[:settled(whole)]); err != nil || s.mode == ReplyStream {
			return err
		}
	}
	return l.draw(ctx, s, s.script.latest())
}
