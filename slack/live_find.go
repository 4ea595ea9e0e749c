package slack

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/web"
)

// clocksApart bounds how far our clock is from Slack's, which takes no request of
// ours, nor we one of its, beyond that.
const clocksApart = limits.ReplayWindow

// findLost looks in the thread for a message of the show whose ts was never
// learned: one that carries the show's marker or, as streams carry none until they
// are stopped, one of ours that carries none at all. Afterwards nothing is starting.
func (l *live) findLost(ctx context.Context, s *showing) error {
	oldest := strconv.FormatInt(s.since.Add(-clocksApart).Unix(), 10)
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
	slices.SortFunc(s.pieces, func(a, b piece) int { return compareTS(a.TS, b.TS) })
	s.starting = false
	return nil
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
