package slack

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/slack/web"
)

// clocksApart is how far our clock may be from Slack's. It is less than half of what
// a stream lives, so that one which Slack closed in an earlier turn, and which has no
// marker either, is not taken for the one that is looked for.
const clocksApart = 2 * time.Minute

// findLost looks in the thread for a message of the show whose ts was never
// learned: one that carries the show's marker or, as streams carry none until they
// are stopped, one of ours that carries none at all. Slack is given some time to show
// it. Afterwards nothing is starting.
func (l *live) findLost(ctx context.Context, s *showing) error {
	oldest := strconv.FormatInt(s.since.Add(-clocksApart).Unix(), 10)
	had := len(s.pieces)
	err := l.own(ctx, s, func(r web.Reply) {
		unmarked := s.streamed && r.Key == "" && len(r.FileNames) == 0 && (r.Subtype == "" || r.Subtype == "bot_message") &&
			compareTS(r.TS, oldest) > 0
		if r.Key != s.key() && !unmarked {
			return
		}
		if !slices.ContainsFunc(s.pieces, func(p piece) bool { return p.TS == r.TS }) {
			s.pieces = append(s.pieces, piece{TS: r.TS})
			s.known, s.open = false, r.Key == ""
		}
	})
	if err != nil {
		return err
	}
	if wait := settles - l.now().Sub(s.unsureAt); len(s.pieces) == had && wait > 0 {
		return &web.Error{Class: web.ErrUnsent, Method: "look for what Slack may have taken", After: wait, Err: errors.New("it is not there yet")}
	}
	slices.SortFunc(s.pieces, func(a, b piece) int { return compareTS(a.TS, b.TS) })
	s.starting = false
	return nil
}

// astray reports whether what was streamed is not in its thread. Slack streams into
// the channel where the root of a thread was deleted, and does not say so. A thread
// that cannot be read now is believed to be there.
func (l *live) astray(ctx context.Context, s *showing) bool {
	found := s.at.Thread == ""
	err := l.own(ctx, s, func(r web.Reply) { found = found || r.TS == s.pieces[0].TS })
	return err == nil && !found
}

// hasMarker reports whether the app has posted a message with a marker since the
// turn was asked for.
func (l *live) hasMarker(ctx context.Context, s *showing, key string) (bool, error) {
	found := false
	err := l.own(ctx, s, func(r web.Reply) { found = found || r.Key == key })
	return found, err
}

// own goes through what the app has written since the turn was asked for.
func (l *live) own(ctx context.Context, s *showing, each func(web.Reply)) error {
	for r, err := range l.stage.Own(ctx, s.at, s.asked) {
		switch {
		case err != nil && judge(err) == goneAway:
			return nil
		case err != nil:
			return err
		case compareTS(r.TS, s.asked) > 0:
			each(r)
		}
	}
	return nil
}

// compareTS tells which of two messages is older. A ts is a name; its digits are
// compared as digits.
func compareTS(a, b string) int {
	aWhole, aPart, _ := strings.Cut(a, ".")
	bWhole, bPart, _ := strings.Cut(b, ".")
	aSeconds, _ := strconv.ParseInt(aWhole, 10, 64) // one that is no number is older than all
	bSeconds, _ := strconv.ParseInt(bWhole, 10, 64)
	if aSeconds != bSeconds {
		if aSeconds < bSeconds {
			return -1
		}
		return 1
	}
	return strings.Compare(aPart, bPart)
}
