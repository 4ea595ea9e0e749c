package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/slack/web"
)

func TestStreamedAnswerIsThereOnceAndWhole(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		l := liveOn(stage, ReplyStream)
		f := follow(t, stage, l, turnID)
		f.says("It is ")
		time.Sleep(2 * time.Second)
		wantThread(t, stage, "It is")
		f.says("the cache. ")
		time.Sleep(2 * time.Second)
		f.says("And more")
		f.stop()
		mustAnswer(t, stage, l, postPayload{Markdown: "It is the cache. And more, too."})
		wantThread(t, stage, "It is the cache. And more, too.")
		m := stage.message(0)
		if m.streaming || m.key != "ses_1/answer/0/whole" || kindsOf(m.blocks) != "context" {
			t.Errorf("streaming %t, marked %q, with %q below", m.streaming, m.key, kindsOf(m.blocks))
		}
		if n := stage.count("update") + stage.count("post"); n != 0 {
			t.Errorf("%d calls that a stream does not need", n)
		}
	})
}

// What was said on the way is no part of the answer.
func TestStreamedNarrationGivesWayToTheAnswer(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		l := liveOn(stage, ReplyStream)
		f := follow(t, stage, l, turnID)
		f.says("Let me look. ")
		time.Sleep(2 * time.Second)
		f.said("Let me look. ")
		f.says("Found it.")
		time.Sleep(2 * time.Second)
		wantThread(t, stage, "Let me look.\n\nFound it.")
		f.stop()
		mustAnswer(t, stage, l, postPayload{Markdown: "Found it."})
		wantThread(t, stage, "Found it.")
	})
}

// Streams die after some five minutes, and with them what was not written yet:
// https://github.com/vercel/chat/issues/607.
func TestStreamThatSlackClosesGoesOnInTheNext(t *testing.T) {
	for at := range 8 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				stage.mishap = func(method string, n int) mishap {
					if method == "append" && n == at {
						stage.closeStreams()
					}
					return mishap{}
				}
				l := liveOn(stage, ReplyStream)
				f := follow(t, stage, l, turnID)
				var source strings.Builder
				for i := range 10 {
					text := fmt.Sprintf("Sentence %d. ", i)
					source.WriteString(text)
					f.says(text)
					time.Sleep(2 * time.Second)
				}
				f.stop()
				answer := strings.TrimSpace(source.String())
				mustAnswer(t, stage, l, postPayload{Markdown: answer})
				if got := strings.Join(stage.thread(), ""); got != answer || len(stage.thread()) != 2 {
					t.Errorf("people see %q", stage.thread())
				}
			})
		})
	}
}

// A stream that is closed within a fence of code goes on in one.
func TestStreamThatIsClosedWithinCode(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		stage.mishap = func(method string, n int) mishap {
			if method == "append" && n == 1 {
				stage.closeStreams()
			}
			return mishap{}
		}
		l := liveOn(stage, ReplyStream)
		f := follow(t, stage, l, turnID)
		for _, text := range []string{"So:\n\n````go\na := 1\n", "```\nb := 2\n", "c := 3\n````\nDone. "} {
			f.says(text)
			time.Sleep(2 * time.Second)
		}
		f.stop()
		mustAnswer(t, stage, l, postPayload{Markdown: "So:\n\n````go\na := 1\n```\nb := 2\nc := 3\n````\nDone."})
		wantThread(t, stage, "So:\n\n````go\na := 1\n```\nb := 2", "````go\n\nc := 3\n````\nDone.")
	})
}

func TestStreamsThatFail(t *testing.T) {
	for name, tt := range map[string]struct {
		method string
		n      int
		mishap mishap
		before func(*fakeStage)
	}{
		"start is not supported":            {"start", 0, mishap{err: refusal(web.ErrRefused, "unknown_method")}, nil},
		"start lacks a scope":               {"start", 0, mishap{err: refusal(web.ErrAuth, "missing_scope")}, nil},
		"start refused":                     {"start", 0, mishap{err: refusal(web.ErrRefused, "invalid_arguments")}, nil},
		"start limited":                     {"start", 0, mishap{err: &web.Error{Class: web.ErrLimited, After: 5 * time.Second}}, nil},
		"start late":                        {"start", 0, mishap{err: web.ErrLate}, nil},
		"start lost, but made":              {"start", 0, mishap{err: errLostAnswer, done: true}, nil},
		"start lost":                        {"start", 0, mishap{err: errLostAnswer}, nil},
		"start not remembered before":       {"remember", 0, mishap{err: errLostAnswer}, nil},
		"start not remembered after":        {"remember", 1, mishap{err: errLostAnswer}, nil},
		"append lost, but made":             {"append", 1, mishap{err: errLostAnswer, done: true}, nil},
		"append lost":                       {"append", 1, mishap{err: errLostAnswer}, nil},
		"append late":                       {"append", 1, mishap{err: web.ErrLate}, nil},
		"append limited":                    {"append", 1, mishap{err: &web.Error{Class: web.ErrLimited, After: 5 * time.Second}}, nil},
		"append refused":                    {"append", 1, mishap{err: refusal(web.ErrRefused, "msg_too_long")}, nil},
		"stop finds it closed":              {"stop", 0, mishap{}, (*fakeStage).closeStreams},
		"stop lost, but made":               {"stop", 0, mishap{err: errLostAnswer, done: true}, nil},
		"stop lost":                         {"stop", 0, mishap{err: errLostAnswer}, nil},
		"stop refused":                      {"stop", 0, mishap{err: refusal(web.ErrRefused, "invalid_blocks")}, nil},
		"stop limited":                      {"stop", 0, mishap{err: &web.Error{Class: web.ErrLimited, After: 5 * time.Second}}, nil},
		"stop closed, and no edit is taken": {"update", 0, mishap{err: refusal(web.ErrGone, "cant_update_message")}, (*fakeStage).closeStreams},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				l := liveOn(stage, ReplyStream)
				stage.mishap = func(method string, n int) mishap {
					if tt.before != nil && method == "stop" {
						tt.before(stage)
					}
					if method == tt.method && n == tt.n {
						return tt.mishap
					}
					return mishap{}
				}
				f := follow(t, stage, l, turnID)
				for _, text := range []string{"One, ", "two, ", "three, "} {
					f.says(text)
					time.Sleep(10 * time.Second)
				}
				f.stop()
				mustAnswer(t, stage, l, postPayload{Markdown: "One, two, three, four"})
				wantThread(t, stage, "One, two, three, four")
				for i := range stage.thread() {
					m := stage.message(i)
					if m.streaming || m.key == "" {
						t.Errorf("the message %q is streaming: %t, and marked %q", m.text, m.streaming, m.key)
					}
				}
				if len(stage.remembered()) != 0 {
					t.Errorf("the session still remembers %v", stage.remembered())
				}
			})
		})
	}
}

// Where streams are not supported, that is asked once.
func TestStreamsAreNotTriedAgainWhereThereAreNone(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		stage.mishap = func(method string, _ int) mishap {
			if method == "start" {
				return mishap{err: refusal(web.ErrRefused, "unknown_method")}
			}
			return mishap{}
		}
		l := liveOn(stage, ReplyStream)
		for i := range 3 {
			turn := fmt.Sprint("trn_", i)
			f := follow(t, stage, l, turn)
			f.says("One ")
			time.Sleep(5 * time.Second)
			f.stop()
			mustAnswer(t, stage, l, postPayload{Turn: turn, Markdown: "One two"})
		}
		wantThread(t, stage, "One two", "One two", "One two")
		if n := stage.count("start"); n != 1 {
			t.Errorf("%d tries", n)
		}
	})
}

// A process that is killed between Slack's answer and its own record leaves a
// stream that nobody knows of. It becomes the answer, as does nothing else.
func TestKilledBeforeTheStreamIsRemembered(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		stage.add(stageMessage{text: "what another turn has said", key: "ses_1/another"})
		first := liveOn(stage, ReplyStream)
		stage.mishap = func(method string, n int) mishap {
			if method == "remember" && n > 0 {
				return mishap{err: errLostAnswer}
			}
			return mishap{}
		}
		f := follow(t, stage, first, turnID)
		f.says("One, two ")
		time.Sleep(2 * time.Second)
		f.stop()
		stage.mishap = nil
		second := liveOn(stage, ReplyStream)
		mustAnswer(t, stage, second, postPayload{Markdown: "One, two, three"})
		wantThread(t, stage, "what another turn has said", "One, two, three")
	})
}

// The pieces of a mention are harmless, and so is what they make together, at
// every moment.
func TestMentionInTwoDeltasCallsNobody(t *testing.T) {
	for _, reply := range []Reply{ReplyStream, ReplyEdit} {
		for _, pieces := range [][]string{
			{"Hello <!chan", "nel> all"}, {"Hello <", "!here", "> all"}, {"Ask <@U", "123", "> now"},
			{"Hello @chan", "nel, all"}, {"Hello @", "everyone"}, {"See &lt;!chan", "nel&gt; there"},
			{"<!date^1^{date} a", "nd <!here|x> y> z"}, {"[x](", "!channel) y"}, {"`<!sub", "team^S1>` z"},
			{strings.Repeat("long", 200) + "<!chan", "nel> all"},
		} {
			t.Run(fmt.Sprintf("%s %.20q", reply, pieces[0]), func(t *testing.T) {
				inTime(t, func(t *testing.T) {
					stage := newFakeStage(t) // which judges every state
					l := liveOn(stage, reply)
					f := follow(t, stage, l, turnID)
					for _, piece := range pieces {
						f.says(piece)
						time.Sleep(2 * time.Second)
					}
					f.stop()
					mustAnswer(t, stage, l, postPayload{Markdown: strings.Join(pieces, "") + " Done."})
					if all := stage.thread(); len(all) != 1 || !strings.HasSuffix(all[0], "Done.") {
						t.Errorf("people see %q", all)
					}
				})
			})
		}
	}
}

// A long answer is several messages, none longer than Slack takes, and no more of
// them than anybody reads.
func TestLongStream(t *testing.T) {
	for name, size := range map[string]int{"two messages": 14_000, "too many": 120_000} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				l := liveOn(stage, ReplyStream)
				f := follow(t, stage, l, turnID)
				var source strings.Builder
				for i := 0; source.Len() < size; i++ {
					text := fmt.Sprintf("Line %d says @here what it says. 🤖\n\n", i)
					source.WriteString(text)
					f.says(text)
					time.Sleep(time.Second / 10)
				}
				f.stop()
				answer := strings.TrimSpace(source.String())
				mustAnswer(t, stage, l, postPayload{Markdown: answer})
				all := stage.thread()
				if len(all) > 5 || len(all) < 2 {
					t.Errorf("%d messages", len(all))
				}
				for _, text := range all {
					if n := len([]rune(text)); n > 12_000 {
						t.Errorf("a message of %d characters", n)
					}
				}
				if size < 50_000 {
					got := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(all, "\n"), "\u200b", "")), " ")
					if want := strings.Join(strings.Fields(answer), " "); got != want {
						t.Errorf("the thread holds %d bytes of an answer of %d", len(got), len(want))
					}
				}
			})
		})
	}
}

// In a direct message nobody is named as the recipient; in a channel somebody is.
func TestStreamsNameTheirRecipient(t *testing.T) {
	for name, tt := range map[string]struct {
		edit    func(*request)
		streams bool
	}{
		"channel":                 {func(*request) {}, true},
		"direct message":          {func(r *request) { r.Channel, r.ChannelType = "D1", "im" }, true},
		"by an app":               {func(r *request) { r.User = "" }, false},
		"conversation, no thread": {func(r *request) { r.Channel, r.ChannelType, r.Thread = "D1", "im", "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				f := follow(t, stage, liveOn(stage, ReplyStream), turnID, tt.edit)
				f.says("One ")
				time.Sleep(2 * time.Second)
				f.stop()
				if got := stage.count("start") > 0; got != tt.streams {
					t.Errorf("streamed: %t", got)
				}
				wantThread(t, stage, "One")
			})
		})
	}
}
