package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

func TestEditedAnswerGrowsInOneMessage(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		l := liveOn(stage, ReplyEdit)
		f := follow(t, stage, l, turnID)
		f.says("It is")
		time.Sleep(2 * time.Second)
		wantThread(t, stage, "It is")
		if turn, ok := hasButton(stage.message(0), actionStop); !ok || turn != turnID {
			t.Errorf("there is no button to stop the turn: %q", turn)
		}
		f.says(" the cache.")
		time.Sleep(2 * time.Second)
		wantThread(t, stage, "It is the cache.")
		f.said("It is the cache.")
		f.stop()
		mustAnswer(t, stage, l, postPayload{Markdown: "It is the cache."})
		wantThread(t, stage, "It is the cache.")
		if _, ok := hasButton(stage.message(0), actionStop); ok {
			t.Error("a button stops what is over")
		}
		if m := stage.message(0); m.key != "ses_1/answer/0" || kindsOf(m.blocks) != "markdown context" {
			t.Errorf("the answer is marked %q and made of %s", m.key, kindsOf(m.blocks))
		}
		if len(stage.remembered()) != 0 {
			t.Errorf("the session still remembers %v", stage.remembered())
		}
	})
}

// What the agent says on its way is replaced by what it says next.
func TestEditedAnswerShowsTheLatestMessage(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		l := liveOn(stage, ReplyEdit)
		f := follow(t, stage, l, turnID)
		f.says("Let me look.")
		f.said("Let me look.")
		time.Sleep(2 * time.Second)
		wantThread(t, stage, "Let me look.")
		f.happen(sessions.EventActionsRequested, map[string]any{})
		f.says("Found it.")
		time.Sleep(2 * time.Second)
		wantThread(t, stage, "Found it.")
		f.stop()
		mustAnswer(t, stage, l, postPayload{Markdown: "Found it. Done."})
		wantThread(t, stage, "Found it. Done.")
	})
}

func TestFloodOfDeltasMakesFewCalls(t *testing.T) {
	for _, reply := range []Reply{ReplyEdit, ReplyStream, ReplyMessage} {
		t.Run(string(reply), func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				l := liveOn(stage, reply)
				f := follow(t, stage, l, turnID)
				var text strings.Builder
				for i := range 60 * 200 {
					word := fmt.Sprintf("w%d ", i%10)
					text.WriteString(word)
					f.says(word)
					time.Sleep(time.Second / 200)
				}
				f.said(text.String())
				f.stop()
				writes := stage.count("post") + stage.count("update") + stage.count("start") + stage.count("append") + stage.count("stop")
				if most := 60; writes > most || reply != ReplyMessage && writes < 20 {
					t.Errorf("%d writes in a minute", writes)
				}
				answer := strings.TrimSpace(text.String())
				mustAnswer(t, stage, l, postPayload{Markdown: answer})
				if got := strings.Join(stage.thread(), ""); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(answer, " ", "") {
					t.Errorf("the thread holds %d bytes of an answer of %d", len(got), len(answer))
				}
			})
		})
	}
}

// An answer that is there at once is posted at once, and nothing before it.
func TestQuickAnswerIsOneMessage(t *testing.T) {
	for _, reply := range []Reply{ReplyEdit, ReplyStream} {
		t.Run(string(reply), func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				l := liveOn(stage, reply)
				f := follow(t, stage, l, turnID)
				f.says("Yes.")
				time.Sleep(500 * time.Millisecond)
				f.stop()
				mustAnswer(t, stage, l, postPayload{Markdown: "Yes."})
				wantThread(t, stage, "Yes.")
				if n := stage.count("update") + stage.count("start"); n != 0 {
					t.Errorf("%d calls too many", n)
				}
			})
		})
	}
}

func TestEditsThatFail(t *testing.T) {
	for name, tt := range map[string]struct {
		method string
		n      int
		mishap mishap
	}{
		"limited while it grows":           {"update", 0, mishap{err: &web.Error{Class: web.ErrLimited, After: 5 * time.Second}}},
		"late while it grows":              {"update", 0, mishap{err: web.ErrLate}},
		"lost while it grows":              {"update", 0, mishap{err: errLostAnswer, done: true}},
		"refused while it grows":           {"update", 0, mishap{err: refusal(web.ErrRefused, "invalid_blocks")}},
		"first post lost, but made":        {"post", 0, mishap{err: errLostAnswer, done: true}},
		"first post lost":                  {"post", 0, mishap{err: errLostAnswer}},
		"first post limited":               {"post", 0, mishap{err: &web.Error{Class: web.ErrLimited, After: 5 * time.Second}}},
		"not remembered before":            {"remember", 0, mishap{err: errLostAnswer}},
		"not remembered after":             {"remember", 1, mishap{err: errLostAnswer}},
		"last edit limited":                {"update", 2, mishap{err: &web.Error{Class: web.ErrLimited, After: 5 * time.Second}}},
		"last edit lost":                   {"update", 2, mishap{err: errLostAnswer, done: true}},
		"last edit refused":                {"update", 2, mishap{err: refusal(web.ErrRefused, "msg_too_long")}},
		"last edit after its time":         {"update", 2, mishap{err: refusal(web.ErrGone, "edit_window_closed")}},
		"only post is not where it may be": {"post", 0, mishap{err: refusal(web.ErrAuth, "missing_scope")}},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				stage.mishap = func(method string, n int) mishap {
					if method == tt.method && n == tt.n {
						return tt.mishap
					}
					return mishap{}
				}
				l := liveOn(stage, ReplyEdit)
				f := follow(t, stage, l, turnID)
				for _, text := range []string{"One", ", two", ", three"} {
					f.says(text)
					time.Sleep(10 * time.Second)
				}
				f.stop()
				mustAnswer(t, stage, l, postPayload{Markdown: "One, two, three, four"})
				wantThread(t, stage, "One, two, three, four")
			})
		})
	}
}

// Who deletes the message does not want to see it grow; the answer comes all the same.
func TestDeletedWhileItGrows(t *testing.T) {
	for _, reply := range []Reply{ReplyEdit, ReplyStream} {
		t.Run(string(reply), func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				l := liveOn(stage, reply)
				f := follow(t, stage, l, turnID)
				f.says("One")
				time.Sleep(2 * time.Second)
				if err := stage.Delete(t.Context(), web.Place{}, stage.message(0).ts); err != nil {
					t.Fatal(err)
				}
				f.says(", two")
				time.Sleep(5 * time.Second)
				wantThread(t, stage)
				f.says(", three")
				time.Sleep(5 * time.Second)
				f.stop()
				mustAnswer(t, stage, l, postPayload{Markdown: "One, two, three"})
				wantThread(t, stage, "One, two, three")
			})
		})
	}
}

// A failed turn leaves what there was of an answer, and the reason.
func TestFailedTurnEndsWhatWasShown(t *testing.T) {
	for _, reply := range []Reply{ReplyEdit, ReplyStream, ReplyMessage} {
		t.Run(string(reply), func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				l := liveOn(stage, reply)
				f := follow(t, stage, l, turnID)
				f.says("So:\n\n```go\nfunc main() {")
				time.Sleep(2 * time.Second)
				f.stop()
				mustAnswer(t, stage, l, postPayload{Markdown: "The model's quota is used up.", Failed: true})
				want := "So:\n\n```go\nfunc main() {\n```\n\nThe model's quota is used up."
				if reply == ReplyMessage {
					want = "The model's quota is used up."
				}
				wantThread(t, stage, want)
				if _, ok := hasButton(stage.message(0), actionStop); ok || stage.message(0).streaming {
					t.Error("it looks as if it went on")
				}
			})
		})
	}
}

// A turn that is stopped has no answer; what is owed at its end says so.
func TestStoppedTurnEndsWhatWasShown(t *testing.T) {
	for _, reply := range []Reply{ReplyEdit, ReplyStream} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, another process %t", reply, restarted), func(t *testing.T) {
				inTime(t, func(t *testing.T) {
					stage := newFakeStage(t)
					l := liveOn(stage, reply)
					f := follow(t, stage, l, turnID)
					f.says("One")
					time.Sleep(2 * time.Second)
					f.stop()
					want := "One\n\n" + cutShort
					if restarted {
						l, want = liveOn(stage, reply), cutShort
					}
					owed(t, stage, l, turnID)
					wantThread(t, stage, want)
					if stage.message(0).streaming || len(stage.remembered()) != 0 {
						t.Errorf("it looks as if it went on; the session remembers %v", stage.remembered())
					}
				})
			})
		}
	}
}

// The effect that ends the status leaves an answer alone.
func TestOwedStatusLeavesTheAnswerAlone(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		l := liveOn(stage, ReplyEdit)
		f := follow(t, stage, l, turnID)
		f.says("One")
		time.Sleep(2 * time.Second)
		f.stop()
		mustAnswer(t, stage, l, postPayload{Markdown: "One."})
		before := stage.count("status")
		if note := owed(t, stage, l, turnID).Note; !strings.Contains(note, "already") || stage.count("status") != before {
			t.Errorf("the effect says %q and calls again", note)
		}
		wantThread(t, stage, "One.")
	})
}

// A turn that another process takes up goes on in the message that is there.
func TestRestartGoesOnInTheSameMessage(t *testing.T) {
	for _, reply := range []Reply{ReplyEdit, ReplyStream} {
		t.Run(string(reply), func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				f := follow(t, stage, liveOn(stage, reply), turnID)
				f.says("One, two")
				time.Sleep(2 * time.Second)
				f.stop() // as after a kill: nothing but the record is left
				l := liveOn(stage, reply)
				f = follow(t, stage, l, turnID)
				f.says("Un")
				time.Sleep(2 * time.Second)
				wantThread(t, stage, "Un")
				f.stop()
				// Another attempt in the same process.
				f = follow(t, stage, l, turnID)
				f.says("Eins")
				time.Sleep(2 * time.Second)
				wantThread(t, stage, "Eins")
				f.stop()
				mustAnswer(t, stage, l, postPayload{Markdown: "Eins, zwei"})
				wantThread(t, stage, "Eins, zwei")
			})
		})
	}
}

// An answer that is posted twice, because the first time is not on record, is there once.
func TestAnswerIsThereOnceHoweverOftenItIsDelivered(t *testing.T) {
	for _, reply := range []Reply{ReplyEdit, ReplyStream} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, another process %t", reply, restarted), func(t *testing.T) {
				inTime(t, func(t *testing.T) {
					stage := newFakeStage(t)
					l := liveOn(stage, reply)
					f := follow(t, stage, l, turnID)
					long := strings.Repeat("A sentence of some length. ", 600)
					f.says(long)
					time.Sleep(time.Minute)
					f.stop()
					item := sessions.Item{ID: "i", SessionID: "ses_1", TurnID: turnID, Attempts: 1, Surface: stage.remembered()}
					p := postPayload{To: asked().address, Turn: turnID, Markdown: strings.TrimSpace(long) + " The end."}
					messages := messagesOf(p.Markdown)
					done, err := l.finish(t.Context(), item, p, messages)
					if err != nil || done.Parts < 1 || done.Whole != (reply == ReplyStream) {
						t.Fatalf("%d of %d messages are there: %v", done.Parts, len(messages), err)
					}
					want := stage.thread()
					if restarted {
						l = liveOn(stage, reply)
					}
					item.Attempts++
					again, err := l.finish(t.Context(), item, p, messages)
					if err != nil || again.Parts != done.Parts {
						t.Fatalf("then %d of %d messages are there: %v", again.Parts, len(messages), err)
					}
					wantThread(t, stage, want...)
				})
			})
		}
	}
}
