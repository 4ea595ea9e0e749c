package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// conversation is a session that somebody talks into directly.
type conversation struct {
	id, token string
	// doubt is set when a message got no answer: it may have been taken.
	doubt bool
}

// talking is what people say beside the deliveries, and what they were answered.
type talking struct {
	conversations []*conversation
	// heard are the messages that were accepted, by text, with their turns.
	heard map[string]string
	// stopped are the turns that stops ended.
	stopped []string
	said    int
}

// answerWithin is how long a sender waits. A process that dies answers nobody.
const answerWithin = time.Minute

// chatter lets people talk, stop and replay at random.
func (s *simulation) chatter(e *Engine, chance func(int) bool, pick func(int) int) {
	switch {
	case chance(15) || len(s.talk.conversations) == 0:
		s.say(e, &conversation{}, 0)
	case chance(30):
		s.say(e, s.talk.conversations[pick(len(s.talk.conversations))], Admission(pick(3)))
	case chance(20):
		s.halt(e, s.talk.conversations[pick(len(s.talk.conversations))])
	}
	if chance(20) && len(s.acked) > 0 {
		s.replay(s.acked[pick(len(s.acked))])
	}
}

func (s *simulation) say(e *Engine, c *conversation, how Admission) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	s.talk.said++
	text := fmt.Sprint("message ", s.talk.said)
	sent, err := e.Send(ctx, Message{
		Channel: ChannelHTTP, SessionID: c.id, Token: c.token, Principal: "api:alice", Text: text, Admission: how,
	})
	switch {
	case err == nil:
		if c.id == "" {
			s.talk.conversations = append(s.talk.conversations, c)
		}
		c.id, c.token = sent.SessionID, sent.Token
		s.talk.heard[text] = sent.TurnID
	case c.doubt && errors.Is(err, ErrStaleToken): // it was taken
		s.talk.conversations = slices.DeleteFunc(s.talk.conversations, func(o *conversation) bool { return o == c })
	case errors.Is(err, state.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		c.doubt = true
	default:
		s.t.Errorf("%s was refused: %v", text, err)
	}
}

func (s *simulation) halt(e *Engine, c *conversation) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	done, err := e.Stop(ctx, StopRequest{SessionID: c.id, Principal: "api:alice"})
	switch {
	case err == nil:
		s.talk.stopped = append(s.talk.stopped, done.Dropped...)
		if done.Interrupted != "" {
			s.talk.stopped = append(s.talk.stopped, done.Interrupted)
		}
	case errors.Is(err, state.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
	default:
		s.t.Errorf("a stop was refused: %v", err)
	}
}

// replay has a delivery decided anew, if it is decided.
func (s *simulation) replay(id string) {
	d, err := s.store.Delivery(context.Background(), "test", id)
	if err != nil || d.Status == state.DeliveryPending {
		return
	}
	u := state.DeliveryUpdate{Seq: d.Seq, Status: state.DeliveryPending, Replay: true}
	_, err = s.store.Commit(context.Background(), state.Change{Deliveries: []state.DeliveryUpdate{u}})
	if err != nil && !errors.Is(err, state.ErrUnavailable) && !errors.Is(err, state.ErrConflict) {
		s.t.Errorf("replay of %s: %v", id, err)
	}
}

// checkTalk looks whether every message that was accepted is in one turn that has
// ended, and whether stops ended what they said.
func (s *simulation) checkTalk(ctx context.Context) {
	at := map[string][]string{} // the turns of each message
	all, err := s.store.ListSessions(ctx, "", 10_000)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, sess := range all {
		if sess.Channel != ChannelHTTP {
			continue
		}
		turns, _ := s.store.Turns(ctx, sess.ID)
		s.checkRecord(sess, turns)
		for _, t := range turns {
			if !t.Status.Ended() {
				s.t.Errorf("turn %s is %s", t.ID, t.Status)
			}
			for _, text := range (Turn{Message: t.Message, Gathered: t.Gathered}).Messages() {
				at[text] = append(at[text], t.ID)
			}
		}
		for _, ev := range s.log.events[sess.ID] {
			if strings.Contains(string(ev.Data), "http:") {
				s.t.Errorf("a token is in the record: %s", ev.Data)
			}
		}
	}
	for text, turnID := range s.talk.heard {
		if got := at[text]; len(got) != 1 || got[0] != turnID {
			s.t.Errorf("%s was accepted for turn %s, and is in %v", text, turnID, got)
		}
	}
	for _, id := range s.talk.stopped {
		if t, err := s.store.Turn(ctx, id); err != nil || t.Status != state.TurnInterrupted {
			s.t.Errorf("turn %s was stopped, and is %s, %v", id, t.Status, err)
		}
	}
}

// thread makes up deliveries of people who ask one after another and stop: the
// first is the session's owner, whose stops are heeded.
func (s *simulation) thread(add func(request)) {
	for i := range 3 + s.rng.IntN(8) {
		r := request{Key: threadKey, Text: fmt.Sprint("question ", i), Coalesce: s.rng.IntN(4) > 0}
		if i > 0 && s.rng.IntN(4) == 0 {
			r = request{Do: "stop", Key: threadKey}
		}
		add(r)
	}
}

const threadKey = "thread"

// checkThread looks whether each question is in as many turns as it was asked:
// once, and once more for each replay and each delivery of it.
func (s *simulation) checkThread(ctx context.Context) {
	sess, err := s.store.SessionByKey(ctx, threadKey)
	if errors.Is(err, state.ErrNotFound) {
		return // stops only
	}
	if err != nil {
		s.t.Fatal(err)
	}
	turns, _ := s.store.Turns(ctx, sess.ID)
	s.checkRecord(sess, turns)
	at := map[string]int{}
	for _, t := range turns {
		if !t.Status.Ended() {
			s.t.Errorf("turn %s is %s", t.ID, t.Status)
		}
		at[t.DeliveryID]++
		for _, g := range t.Gathered {
			at[g.DeliveryID]++
		}
	}
	for _, id := range s.acked {
		d, err := s.store.Delivery(ctx, "test", id)
		if err != nil || d.SessionID != sess.ID || d.TurnID == "" || !strings.Contains(string(d.Body), "question") {
			continue
		}
		if got := at[ref(d)]; got != 1+d.Replays {
			s.t.Errorf("delivery %s is in %d turns after %d replays", id, got, d.Replays)
		}
	}
}
