package sessions

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

func TestAMessageStartsASession(t *testing.T) {
	inHouse(t, func(h *house) {
		sent := h.talk(Message{Text: "hello " + secret, Title: "greeting", DryRun: true})
		sess, turns := h.stored(sent.SessionID) // durable before the agent has begun
		if sess.Channel != ChannelHTTP || sess.Title != "greeting" || sess.Principal != "api:alice" ||
			sess.Mode != state.ModeChat || !sess.DryRun || sess.Key != sent.Token {
			t.Errorf("session is %+v", sess)
		}
		if len(turns) != 1 || turns[0].ID != sent.TurnID || turns[0].Channel != ChannelHTTP || turns[0].Principal != "api:alice" {
			t.Errorf("turns are %+v", turns)
		}
		h.wait(2 * time.Second)
		h.wantAsked(sent.SessionID, "hello [redacted]:completed")
		record := h.recordOf(sent.SessionID)
		for _, want := range []string{
			`session.started {"channel":"http","title":"greeting","mode":"chat","principal":"api:alice","dryRun":true}`,
			`message.received {"text":"hello [redacted]","principal":"api:alice","channel":"http"}`,
			`turn.queued {"position":0}`, "turn.completed", "session.waiting {}",
		} {
			if !strings.Contains(record, want) {
				t.Errorf("the record lacks %s:\n%s", want, record)
			}
		}
		h.wantSaid()
	})
}

func TestTokensAreSecretAndRotate(t *testing.T) {
	inHouse(t, func(h *house) {
		first := h.talk(Message{Text: "one"})
		h.wait(2 * time.Second)
		second := h.talk(first.reply("two"))
		h.wait(2 * time.Second)
		_, err := h.tryTalk(first.reply("again"))
		if !errors.Is(err, ErrStaleToken) {
			t.Errorf("a used token gives %v", err)
		}
		third := h.talk(second.reply("three"))
		h.wait(2 * time.Second)
		h.wantAsked(first.SessionID, "one:completed", "two:completed", "three:completed")
		for _, sent := range []Sent{first, second, third} {
			secretPart, ok := strings.CutPrefix(sent.Token, "http:")
			if !ok || len(secretPart) < 22 { // 128 bits in base64
				t.Errorf("token %q is too short", sent.Token)
			}
			if strings.Contains(h.logs.String(), secretPart) || strings.Contains(h.recordOf(sent.SessionID), secretPart) {
				t.Error("a token is in the log or the record")
			}
			found, err := h.store.SessionByKey(context.Background(), sent.Token)
			if present := sent == third; present != (err == nil && found.ID == sent.SessionID) {
				t.Errorf("key %s names %q, %v", sent.Token, found.ID, err)
			}
		}
	})
}

func TestTokensComeFromTheGivenSource(t *testing.T) {
	source := func(o *Options) { o.Random = bytes.NewReader(slices.Repeat([]byte{0xff}, tokenBytes)) }
	inHouseWith(t, source, func(h *house) {
		if sent := h.talk(Message{Text: "one"}); sent.Token != "http:"+strings.Repeat("_", 26)+"8" {
			t.Errorf("token is %s", sent.Token)
		}
		if sent, err := h.tryTalk(Message{Text: "two"}); err == nil {
			t.Errorf("without randomness the token is %q", sent.Token)
		}
	})
}

func TestRefusedMessages(t *testing.T) {
	inHouse(t, func(h *house) {
		chat := h.talk(Message{Text: "one"})
		task := h.talk(Message{Text: "once", Mode: state.ModeTask})
		h.wait(2 * time.Second)
		stranger := func(m Message) Message { m.Principal = "api:mallory"; return m }
		for name, c := range map[string]struct {
			m    Message
			want error
		}{
			"unknown session":              {Message{SessionID: "ses_nobody", Token: chat.Token, Text: "x"}, state.ErrNotFound},
			"impossible session":           {Message{SessionID: "../../etc", Token: chat.Token, Text: "x"}, state.ErrNotFound},
			"somebody else's":              {stranger(chat.reply("x")), ErrNotAllowed},
			"somebody else's, wrong token": {stranger(Message{SessionID: chat.SessionID, Text: "x"}), ErrNotAllowed},
			"task":                         {task.reply("x"), ErrTask},
			"no token":                     {Message{SessionID: chat.SessionID, Text: "x"}, ErrStaleToken},
			"the token of another session": {Message{SessionID: chat.SessionID, Token: task.Token, Text: "x"}, ErrStaleToken},
			"empty":                        {chat.reply(""), state.ErrInvalid},
			"not UTF-8":                    {chat.reply("\xff"), state.ErrInvalid},
			"too large":                    {chat.reply(strings.Repeat("x", MaxMessage+1)), state.ErrInvalid},
			"request that is not JSON":     {Message{Text: "x", Request: []byte("{")}, state.ErrInvalid},
			"unknown mode":                 {Message{Text: "x", Mode: "both"}, state.ErrInvalid},
			"unknown admission":            {Message{Text: "x", Admission: 9}, state.ErrInvalid},
		} {
			if _, err := h.tryTalk(c.m); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		if _, err := h.engine.Send(context.Background(), Message{Channel: "pigeon", Text: "x"}); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("unknown channel: %v", err)
		}
		h.wait(2 * time.Second)
		h.wantAsked(chat.SessionID, "one:completed")
		h.wantAsked(task.SessionID, "once:completed")
		byOperator := chat.reply("two")
		byOperator.Principal, byOperator.Operator = "api:operator", true
		h.talk(byOperator)
		h.wait(2 * time.Second)
		h.wantAsked(chat.SessionID, "one:completed", "two:completed")
	})
}

func TestNothingIsTakenWhileTheEngineIsDown(t *testing.T) {
	inHouse(t, func(h *house) {
		sent := h.talk(Message{Text: "one"})
		h.wait(2 * time.Second)
		h.stop()
		if _, err := h.tryTalk(sent.reply("two")); !errors.Is(err, state.ErrUnavailable) {
			t.Errorf("Send on a stopped engine: %v", err)
		}
		if _, err := h.engine.Stop(context.Background(), StopRequest{SessionID: sent.SessionID, Operator: true}); !errors.Is(err, state.ErrUnavailable) {
			t.Errorf("Stop on a stopped engine: %v", err)
		}
	})
}

// Somebody who waits for an answer hears at once that the store takes nothing.
func TestAFullStoreRefusesMessagesAtOnce(t *testing.T) {
	faulty := &faultyStore{}
	inHouseWith(t, faulty.around, func(h *house) {
		faulty.fail.Store(true)
		began := time.Now()
		_, err := h.tryTalk(Message{Text: "one"})
		if !errors.Is(err, state.ErrUnavailable) || time.Since(began) > time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		faulty.fail.Store(false)
		sent := h.talk(Message{Text: "one"})
		h.wait(2 * time.Second)
		h.wantAsked(sent.SessionID, "one:completed")
	})
}

func TestAFollowUpInterruptsAndRunsNext(t *testing.T) {
	inHouse(t, func(h *house) {
		first := h.talk(Message{Text: "one"})
		h.wait(500 * time.Millisecond)
		second := h.talk(first.reply("two"))
		if second.Position != 1 {
			t.Errorf("position is %d while a turn has to settle first", second.Position)
		}
		h.wait(3 * time.Second)
		h.wantAsked(first.SessionID, "one:interrupted", "two:completed")
		if record := h.recordOf(first.SessionID); !strings.Contains(record, `"error":"turn interrupted"`) ||
			!strings.Contains(record, `"reason":"a newer message took its place"`) {
			t.Errorf("the record says\n%s", record)
		}
	})
}

// The owner of a session of another surface talks into it, and the surface hears
// nothing of that.
func TestASessionOfAnotherChannelIsContinued(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		said := h.world.said()
		sess := h.session("k")
		sent := h.talk(Message{SessionID: sess.ID, Token: sess.Key, Principal: "mona", Text: "why?"})
		if sent.Token != sess.Key {
			t.Errorf("the key rotated to %s", sent.Token)
		}
		h.wait(2 * time.Second)
		h.wantSaid(said...)
		h.wantAsked(sess.ID, "review a:completed", "why?:completed")
		if a, b := h.runner.requests[0], h.runner.requests[1]; a.AgentID != b.AgentID || a.Dir != b.Dir {
			t.Errorf("the follow-up is another conversation: %+v and %+v", a, b)
		}
		if h.session("k").Revision.ID != "a" {
			t.Error("the session forgot its revision")
		}
	})
}

func TestAnArchivedSessionIsOpenedByAFollowUp(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.send(request{Do: "archive", Key: "k", Rev: "a", At: 2})
		h.wait(2 * time.Second)
		sess := h.session("k")
		h.talk(Message{SessionID: sess.ID, Token: sess.Key, Operator: true, Text: "why?"})
		h.wait(2 * time.Second)
		if s := h.session("k"); s.Status != state.SessionActive {
			t.Errorf("session is %s", s.Status)
		}
		if record := h.recordOf(sess.ID); !strings.Contains(record, `"reopened":true`) {
			t.Errorf("the record does not say that it was opened again:\n%s", record)
		}
	})
}

func TestManySendersContinueOneSession(t *testing.T) {
	inHouse(t, func(h *house) {
		first := h.talk(Message{Text: "one"})
		results := make(chan error, 20)
		for range 20 {
			go func() {
				_, err := h.tryTalk(first.reply("two"))
				results <- err
			}()
		}
		won := 0
		for range 20 {
			if err := <-results; err == nil {
				won++
			} else if !errors.Is(err, ErrStaleToken) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d of 20 senders with one token were heard", won)
		}
	})
}

func TestASenderWhoGaveUp(t *testing.T) {
	inHouse(t, func(h *house) {
		ctx, cancel := context.WithCancelCause(context.Background())
		gone := errors.New("the client hung up")
		cancel(gone)
		if _, err := h.engine.Send(ctx, Message{Channel: ChannelHTTP, Text: "x"}); !errors.Is(err, gone) {
			t.Errorf("Send returned %v", err)
		}
	})
}
