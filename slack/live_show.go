package slack

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/slack/web"
)

// showing is one turn as people see it while it goes on. One goroutine writes it
// until written is closed.
type showing struct {
	turn, session string
	at            web.Place
	// asked is the ts of the message that asks; to is who asks, and direct says that
	// nobody else reads it.
	asked  string
	to     web.Recipient
	direct bool
	mode   Reply

	// pieces are the messages that hold the text, in order; open says that the last
	// of them is a stream that takes more, and sent how much of the script's text
	// has been streamed. lost says that somebody deleted a message, which is no
	// place to go on.
	pieces []piece
	open   bool
	sent   int
	lost   bool
	// known says that what the pieces hold is known: no call about them has an
	// outcome that is not.
	known bool
	// starting is set while a message may be there whose ts is not known, since a
	// time of ours; streamed says that it may be a stream.
	starting bool
	since    time.Time
	streamed bool
	// unsureAt is when the call that may have made that message failed.
	unsureAt time.Time
	// ended says that the answer has taken its place.
	ended bool
	// drawn is the text in the first piece, where it is edited.
	drawn string

	remember func(ctx context.Context, values map[string]string) error
	script   *script
	mood     *mood
	// read is closed when no event comes any more, and written when nobody writes.
	read, written chan struct{}
	// cleared says that the status of the turn was taken away.
	cleared atomic.Bool
}

// piece is one message of a show.
type piece struct {
	TS string
	// from is where in the script's text it begins, behind lead, which opens a
	// fence again that the piece before has left open.
	from int
	lead string
	// text is what Slack has of it.
	text string
}

// over reports whether nobody writes any more.
func (s *showing) over() bool {
	select {
	case <-s.written:
		return true
	default:
		return false
	}
}

func (s *showing) last() *piece { return &s.pieces[len(s.pieces)-1] }

// key marks the messages that show a turn which is not over.
func (s *showing) key() string { return "live/" + s.session + "/" + s.turn }

// record is what the session remembers of a show, so that another process finds
// what it may have to end.
type record struct {
	Mode Reply `json:"mode"`
	// TS are the messages, in order.
	TS []string `json:"ts,omitempty"`
	// Starting says that there may be one more, begun at Since.
	Starting bool      `json:"starting,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

// recordKey is where the session remembers the show of a turn.
func recordKey(turn string) string { return "live:" + turn }

func parseRecord(text string) (record, bool) {
	var r record
	err := json.Unmarshal([]byte(text), &r)
	return r, err == nil && (r.Starting || len(r.TS) > 0)
}

func (s *showing) record() record {
	r := record{Mode: s.mode, Starting: s.starting}
	if s.starting {
		r.Since = s.since
	}
	if s.starting && s.streamed {
		r.Mode = ReplyStream
	}
	for _, p := range s.pieces {
		r.TS = append(r.TS, p.TS)
	}
	return r
}

// adopt goes on with messages of an earlier attempt. What they hold is not known,
// so they can only be edited.
func (s *showing) adopt(r record) {
	s.known, s.starting, s.since = false, r.Starting, r.Since
	for _, ts := range r.TS {
		s.pieces = append(s.pieces, piece{TS: ts})
	}
	s.streamed = r.Mode == ReplyStream
	s.open = s.streamed && len(r.TS) > 0
	if s.mode == ReplyStream {
		s.mode = ReplyEdit
	}
}

// store has the session remember the show as it is.
func (s *showing) store(ctx context.Context) error {
	return s.remember(ctx, map[string]string{recordKey(s.turn): string(encode(s.record()))})
}

// announce has the session remember that a message is about to be there.
func (s *showing) announce(ctx context.Context, now time.Time, streamed bool) error {
	s.starting, s.since, s.streamed = true, now, streamed
	err := s.store(ctx)
	if err != nil {
		s.starting = false
		err = &web.Error{Class: web.ErrUnsent, Method: "remember what is shown of the turn", Err: err}
	}
	return err
}

// started notes a message that is there.
func (s *showing) started(p piece) {
	s.pieces = append(s.pieces, p)
	s.starting = false
}

// forget leaves the messages alone, as somebody has deleted one.
func (s *showing) forget() {
	s.pieces, s.open, s.starting, s.lost = nil, false, false, true
}

// recipient is who asks.
func (r request) recipient() web.Recipient {
	team := r.UserTeam
	if team == "" {
		team = r.Team
	}
	return web.Recipient{User: r.User, Team: team}
}
