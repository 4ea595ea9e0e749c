package sessions

import (
	"context"
	"errors"
	"strings"

	"github.com/liaison-bot/liaison/state"
)

// direct is the channel of messages that are sent directly: its answers are in
// the record only.
type direct struct{}

func (direct) Name() string { return ChannelHTTP }

func (direct) Map(Delivery) (Intent, error) { return Intent{}, errors.New("takes no webhooks") }

func (direct) Prepare(_ context.Context, t Turn, _ string) (Brief, error) {
	return Brief{Prompt: strings.Join(t.Messages(), "\n")}, nil
}

func (direct) Effects(Turn, Report) ([]Effect, error) { return nil, nil }

func (direct) Deliver(context.Context, Item) (Receipt, error) {
	return Receipt{}, errors.New("owes nothing")
}

// talk sends a message of alice's by HTTP and fails the test when it is refused.
func (h *house) talk(m Message) Sent {
	h.t.Helper()
	sent, err := h.tryTalk(m)
	if err != nil {
		h.t.Fatal(err)
	}
	return sent
}

func (h *house) tryTalk(m Message) (Sent, error) {
	m.Channel = ChannelHTTP
	if m.Principal == "" {
		m.Principal = "api:alice"
	}
	return h.engine.Send(context.Background(), m)
}

// reply continues what was sent.
func (s Sent) reply(text string) Message {
	return Message{SessionID: s.SessionID, Token: s.Token, Text: text}
}

// stored returns a session and its turns by id.
func (h *house) stored(id string) (state.Session, []state.Turn) {
	h.t.Helper()
	sess, err := h.store.Session(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	turns, err := h.store.Turns(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return sess, turns
}

// wantAsked checks a session's turns, as "message+gathered:status".
func (h *house) wantAsked(id string, want ...string) {
	h.t.Helper()
	_, turns := h.stored(id)
	var got []string
	for _, t := range turns {
		v := Turn{Message: t.Message, Gathered: t.Gathered}
		got = append(got, strings.Join(v.Messages(), "+")+":"+string(t.Status))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		h.t.Errorf("turns are %v, want %v", got, want)
	}
}

// recordOf returns the record of a session as one text.
func (h *house) recordOf(id string) string {
	h.t.Helper()
	var b strings.Builder
	for ev, err := range h.log.Read(context.Background(), id, 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		b.WriteString(ev.Type + " " + string(ev.Data) + "\n")
	}
	return b.String()
}
