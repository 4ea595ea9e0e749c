package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// direct calls the simulator without a socket, so that tests run in virtual time.
type direct struct{ *sim.Slack }

func (d direct) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if gone := recover(); gone != nil {
			err = errors.New("connection reset by peer")
		}
	}()
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	in.RequestURI, in.Host = req.URL.RequestURI(), req.URL.Host
	w := httptest.NewRecorder()
	d.ServeHTTP(w, in)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// liveWorld is a simulated Slack in virtual time, with a question in it.
type liveWorld struct {
	*world
	reply Reply
}

func inLiveWorld(t *testing.T, reply Reply, test func(t *testing.T, w *liveWorld)) {
	t.Helper()
	inTime(t, func(t *testing.T) {
		s := sim.NewSlack(sim.SlackOptions{SigningSecret: "not-a-real-secret"})
		w := &liveWorld{world: &world{Slack: s, t: t, logs: &logBuffer{}, surface: map[string]string{}}, reply: reply}
		w.team = s.AddWorkspace(sim.Workspace{ID: team, Name: "Acme"})
		s.AddUser(sim.SlackUser{ID: ann, Team: team, Name: "ann"})
		s.AddChannel(sim.SlackChannel{ID: general, Team: team, Name: "general"})
		w.root = s.Post(sim.Saying{Channel: general, User: ann, Text: "what is this?"})
		w.restart()
		test(t, w)
		w.everythingFits()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// restart begins a new process, which knows what the session remembers.
func (w *liveWorld) restart() {
	w.t.Helper()
	settings := defaults()
	settings.Reply = w.reply
	var err error
	w.channel, err = New(Options{
		Workspaces: tokens{w.team}, Settings: settings, APIURL: w.URL(), Transport: direct{w.Slack},
		Logger: slog.New(slog.NewTextHandler(w.logs, nil)), Random: func() float64 { return 0 },
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// request is Ann's question.
func (w *liveWorld) request() request {
	return request{address: w.thread(), Trigger: byMention, ChannelType: "channel", TS: w.root.TS, User: ann}
}

// begin follows a turn about a request, as the engine does. Remembering fails
// while forget says so.
func (w *liveWorld) begin(r request, forget func(n int) bool) *following {
	w.t.Helper()
	n := 0
	f := startFollowing(w.t, "turn_1", r, w.surface, func(ctx context.Context, values map[string]string) error {
		if n++; forget != nil && forget(n) {
			return errors.New("the process is gone")
		}
		maps.Copy(w.surface, values)
		return ctx.Err()
	}, w.channel.Follow)
	return f
}

// answer delivers the answer of the turn with as many attempts as it takes.
func (w *liveWorld) answer(to address, markdown string) {
	w.t.Helper()
	item := w.item(kindPost, postPayload{
		To: to, Key: "answer", Markdown: markdown, Turn: "turn_1", Feedback: true, User: ann, Since: w.root.TS, Model: "m",
	})
	for ; item.Attempts < 6; item.Attempts++ {
		item.Surface = maps.Clone(w.surface)
		_, err := w.deliver(item)
		var again *sessions.RetryError
		switch {
		case err == nil:
			return
		case !errors.As(err, &again):
			w.t.Fatal(err)
		}
		time.Sleep(max(again.After, time.Second))
	}
	w.t.Fatal("the answer is not delivered")
}

// texts are what people read of our messages.
func (w *liveWorld) texts() []string {
	var all []string
	for _, m := range w.answers() {
		text := strings.TrimSuffix(strings.TrimSuffix(m.Shown, "\nm"), "\nStop") // what stands below it
		all = append(all, strings.TrimRight(text, "\n"))
	}
	return all
}

func (w *liveWorld) want(texts ...string) {
	w.t.Helper()
	if got := w.texts(); strings.Join(got, "\n--\n") != strings.Join(texts, "\n--\n") {
		w.t.Errorf("people read\n%q\nand not\n%q\n%s", got, texts, w.logs)
	}
	all := w.answers()
	for i, m := range all {
		// A stream that Slack closed cannot be marked any more.
		if m.Streaming || m.Metadata == nil && i == len(all)-1 || len(m.Pings) > 0 {
			w.t.Errorf("%q: streaming %t, metadata %s, pings %q", m.Shown, m.Streaming, m.Metadata, m.Pings)
		}
	}
}

func TestLateStatusAtSlackItself(t *testing.T) {
	inLiveWorld(t, ReplyMessage, func(t *testing.T, w *liveWorld) {
		gate := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(gate) })
		w.Fail(sim.SlackFault{Method: "assistant.threads.setStatus", Gate: gate})
		f := w.begin(w.request(), nil)
		time.Sleep(200 * time.Millisecond)
		f.stop()
		calls := w.Calls("assistant.threads.setStatus")
		if len(calls) != 2 || calls[1].Args["status"] != "" {
			t.Errorf("the calls were %v", calls)
		}
		if s := w.Status(general, w.root.TS); s.Status != "" || s.Session != "active" {
			t.Errorf("the thread shows %q, %q", s.Status, s.Session)
		}
	})
}

// When the service is stopped, nothing stays that says it works.
func TestStopOfTheServiceClearsTheStatus(t *testing.T) {
	inLiveWorld(t, ReplyMessage, func(t *testing.T, w *liveWorld) {
		f := w.begin(w.request(), nil)
		f.happen(sessions.EventStepStarted, map[string]string{"step": "model"})
		time.Sleep(10 * time.Second)
		if s := w.Status(general, w.root.TS); s.Status != "is thinking…" || s.Session != "processing" || len(s.Loading) < 3 {
			t.Errorf("meanwhile the thread shows %+v", s)
		}
		f.stop()
		if s := w.Status(general, w.root.TS); s.Status != "" || s.Session != "active" {
			t.Errorf("afterwards the thread shows %+v", s)
		}
	})
}

// The simulated Slack closes streams after five minutes, as the real one does.
func TestStreamOfTwelveMinutes(t *testing.T) {
	inLiveWorld(t, ReplyStream, func(t *testing.T, w *liveWorld) {
		f := w.begin(w.request(), nil)
		var source strings.Builder
		for i := range 72 {
			text := fmt.Sprintf("Sentence %d says something. ", i)
			source.WriteString(text)
			f.says(text)
			time.Sleep(10 * time.Second)
		}
		f.stop()
		answer := source.String() + "The end."
		w.answer(w.thread(), answer)
		texts := w.texts()
		if got := strings.Join(texts, ""); got != answer || len(texts) != 3 {
			t.Errorf("people read %q", texts)
		}
		w.want(texts...)
		last := w.answers()[len(texts)-1]
		if !strings.Contains(string(last.Blocks), "feedback_buttons") {
			t.Errorf("nobody is asked what they think of it: %s", last.Blocks)
		}
		if len(w.surface) != 0 {
			t.Errorf("the session still remembers %v", w.surface)
		}
	})
}

func TestStopOfAStreamThatFails(t *testing.T) {
	for name, fault := range map[string]sim.SlackFault{
		"refused":        {Error: "invalid_blocks"},
		"closed":         {Error: "message_not_in_streaming_state"},
		"half done":      {Error: "internal_error", AfterEffect: true},
		"not done":       {Error: "internal_error"},
		"no answer":      {DropConnection: true, AfterEffect: true},
		"a page":         {Body: "<html>", AfterEffect: true},
		"limited":        sim.SlackRateLimit("", 7*time.Second),
		"always refused": {Error: "invalid_blocks", Times: -1},
	} {
		t.Run(name, func(t *testing.T) {
			inLiveWorld(t, ReplyStream, func(_ *testing.T, w *liveWorld) {
				fault.Method = "chat.stopStream"
				f := w.begin(w.request(), nil)
				f.says("One, two, ")
				time.Sleep(5 * time.Second)
				f.stop()
				w.Fail(fault)
				w.answer(w.thread(), "One, two, three")
				w.want("One, two, three")
			})
		})
	}
}

func TestKilledWhileAnAnswerGrows(t *testing.T) {
	for _, reply := range []Reply{ReplyStream, ReplyEdit} {
		for name, forget := range map[string]func(int) bool{
			"after it is remembered": nil,
			"before":                 func(n int) bool { return n > 1 },
		} {
			t.Run(fmt.Sprintf("%s %s", reply, name), func(t *testing.T) {
				inLiveWorld(t, reply, func(_ *testing.T, w *liveWorld) {
					f := w.begin(w.request(), forget)
					f.says("One, two, ")
					time.Sleep(5 * time.Second)
					f.stop()
					w.restart()
					w.answer(w.thread(), "One, two, three")
					w.want("One, two, three")
				})
			})
		}
	}
}

func TestFloodOfDeltasAtSlackItself(t *testing.T) {
	const flood = 15 * 200
	for _, reply := range []Reply{ReplyStream, ReplyEdit} {
		t.Run(string(reply), func(t *testing.T) {
			inLiveWorld(t, reply, func(t *testing.T, w *liveWorld) {
				f := w.begin(w.request(), nil)
				for range flood {
					f.says("word ")
					time.Sleep(time.Second / 200)
				}
				f.stop()
				if n := len(w.Calls("chat.*")) + len(w.Calls("assistant.*")); n > 30 {
					t.Errorf("%d calls in 15 seconds", n)
				}
				w.answer(w.thread(), strings.TrimSpace(strings.Repeat("word ", flood)))
				if got := len(strings.Fields(strings.Join(w.texts(), " "))); got != flood {
					t.Errorf("%d words of %d", got, flood)
				}
			})
		})
	}
}

// A group of people takes no streams; the answer is edited there.
func TestStreamWhereSlackHasNone(t *testing.T) {
	inLiveWorld(t, ReplyStream, func(t *testing.T, w *liveWorld) {
		w.EditChannel(general, func(c *sim.SlackChannel) { c.Kind = sim.GroupDirect })
		f := w.begin(w.request(), nil)
		f.says("One, ")
		time.Sleep(5 * time.Second)
		w.want("One,")
		f.says("two")
		time.Sleep(5 * time.Second)
		f.stop()
		if n := len(w.Calls("chat.startStream")); n != 1 {
			t.Errorf("%d tries", n)
		}
		w.answer(w.thread(), "One, two, three")
		w.want("One, two, three")
	})
}

// What is streamed into a thread whose root is gone lands in the channel, where it
// does not belong.
func TestStreamIntoADeletedThread(t *testing.T) {
	inLiveWorld(t, ReplyStream, func(t *testing.T, w *liveWorld) {
		r := w.request()
		w.Delete(general, w.root.TS)
		f := w.begin(r, nil)
		f.says("One, two, ")
		time.Sleep(5 * time.Second)
		f.stop()
		w.answer(r.address, "One, two, three")
		for _, m := range w.ours(general) {
			t.Errorf("%q is in the channel", m.Shown)
		}
	})
}

// The button that stops a turn names it, and goes away with it.
func TestStopButtonAtSlackItself(t *testing.T) {
	inLiveWorld(t, ReplyEdit, func(t *testing.T, w *liveWorld) {
		f := w.begin(w.request(), nil)
		f.says("One, two, ")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		var blocks []struct {
			Elements []struct {
				Action string `json:"action_id"`
				Value  string `json:"value"`
			} `json:"elements"`
		}
		if err := json.Unmarshal(w.answers()[0].Blocks, &blocks); err != nil {
			t.Fatal(err)
		}
		if last := blocks[len(blocks)-1].Elements; len(last) != 1 || last[0].Action != actionStop || last[0].Value != "turn_1" {
			t.Errorf("the message ends with %+v", last)
		}
		f.stop()
		w.answer(w.thread(), "One, two, three")
		if strings.Contains(string(w.answers()[0].Blocks), actionStop) {
			t.Error("a button stops what is over")
		}
	})
}

// The effects of a turn's end, one after the other, leave nothing that looks as if
// it went on.
func TestEndsOfATurn(t *testing.T) {
	for name, tt := range map[string]struct {
		report sessions.Report
		want   string
	}{
		"answered": {sessions.Report{Moment: sessions.MomentCompleted, Text: "One, two, three"}, "One, two, three"},
		"stopped":  {sessions.Report{Moment: sessions.MomentInterrupted, Stopped: true}, "One, two,\n\nStopped."},
		"overtaken": {
			sessions.Report{Moment: sessions.MomentInterrupted, Superseded: true}, "One, two,\n\n" + cutShort,
		},
	} {
		for _, reply := range []Reply{ReplyStream, ReplyEdit} {
			t.Run(fmt.Sprintf("%s %s", reply, name), func(t *testing.T) {
				inLiveWorld(t, reply, func(t *testing.T, w *liveWorld) {
					f := w.begin(w.request(), nil)
					f.says("One, two, ")
					time.Sleep(5 * time.Second)
					f.stop()
					turn := sessions.Turn{ID: "turn_1", SessionID: "ses_1", Request: w.request().encode()}
					effects, err := w.channel.Effects(turn, tt.report)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range effects {
						item := w.item(e.Kind, e.Payload)
						item.ID, item.Surface = "turn_1/"+e.Name, maps.Clone(w.surface)
						w.must(item)
					}
					w.want(tt.want)
					if s := w.Status(general, w.root.TS); s.Status != "" || s.Session != "active" || len(w.surface) != 0 {
						t.Errorf("the thread shows %+v, and the session remembers %v", s, w.surface)
					}
				})
			})
		}
	}
}

// Who is called by name is so below what was streamed, too.
func TestMentionBelowAStream(t *testing.T) {
	inLiveWorld(t, ReplyStream, func(t *testing.T, w *liveWorld) {
		f := w.begin(w.request(), nil)
		f.says("One, two, ")
		time.Sleep(5 * time.Second)
		f.stop()
		w.must(w.item(kindPost, postPayload{To: w.thread(), Key: "answer", Markdown: "One, two, three", Turn: "turn_1", Mention: ann}))
		if m := w.answers()[0]; len(w.answers()) != 1 || m.Text != "One, two, three" || len(m.Pings) != 1 {
			t.Errorf("people read %q and are called: %q", m.Shown, m.Pings)
		}
	})
}

// What Slack refuses in one thread, or to one token, says nothing of the others in
// the channel: their status is shown, and taken away.
func TestStatusBesideAThreadThatRefusesIt(t *testing.T) {
	for name, refuse := range map[string]func(*liveWorld){
		"its root is deleted": func(w *liveWorld) { w.Delete(general, w.root.TS) },
		"a token was revoked": func(w *liveWorld) { w.Fail(sim.SlackFault{Method: "*.setStatus", Error: "token_revoked", Times: 2}) },
	} {
		t.Run(name, func(t *testing.T) {
			inLiveWorld(t, ReplyMessage, func(t *testing.T, w *liveWorld) {
				other := w.Post(sim.Saying{Channel: general, User: ann, Text: "and this?"})
				r := w.request()
				r.Thread, r.TS = other.TS, other.TS
				remember := func(context.Context, map[string]string) error { return nil }

				refuse(w)
				first := w.begin(w.request(), nil)
				time.Sleep(time.Second)
				first.stop()
				second := startFollowing(w.t, "turn_2", r, nil, remember, w.channel.Follow)
				second.happen(sessions.EventStepStarted, map[string]string{"step": "model"})
				time.Sleep(10 * time.Second)
				if s := w.Status(general, other.TS); s.Status == "" || s.Session != "processing" {
					t.Errorf("the other thread shows %q, %q", s.Status, s.Session)
				}
				third := startFollowing(w.t, "turn_1", w.request(), nil, remember, w.channel.Follow)
				time.Sleep(10 * time.Second)
				third.stop()
				second.stop()
				if s := w.Status(general, other.TS); s.Status != "" || s.Session != "active" {
					t.Errorf("afterwards the other thread shows %q, %q", s.Status, s.Session)
				}
			})
		})
	}
}

// A message that Slack shows only after it has failed to say so becomes the answer,
// and is not left beside it.
func TestAnswerBegunLate(t *testing.T) {
	for reply, method := range map[Reply]string{ReplyStream: "chat.startStream", ReplyEdit: "chat.postMessage"} {
		for name, turn := range map[string]time.Duration{"while it grows": 30 * time.Second, "at its end": 1500 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s %s", reply, name), func(t *testing.T) {
				inLiveWorld(t, reply, func(_ *testing.T, w *liveWorld) {
					late := make(chan struct{})
					w.Fail(sim.SlackFault{Method: method, Status: 503, LateEffect: late})
					time.AfterFunc(4*time.Second, func() { close(late) })
					f := w.begin(w.request(), nil)
					f.says("One, two, ")
					time.Sleep(turn)
					f.stop()
					w.answer(w.thread(), "One, two, three")
					time.Sleep(10 * time.Second)
					w.want("One, two, three")
				})
			})
		}
	}
}
