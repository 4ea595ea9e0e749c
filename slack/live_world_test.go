package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/slack/web"
	"github.com/liaison-bot/liaison/state"
)

// calls is what calls people, as a reader of Slack's takes it.
var calls = regexp.MustCompile(`<!(?:channel|here|everyone|group|subteam|date)|<@[A-Z0-9]|(?:^|[^\w/])@(?:channel|here|everyone)\b`)

const turnID = "trn_1"

// following is one attempt at a turn that is being shown.
type following struct {
	t      *testing.T
	turn   string
	events chan state.Event
	end    context.CancelFunc
	done   sync.WaitGroup
}

func liveOn(stage *fakeStage, reply Reply) *live {
	return newLive(stage, reply, time.Now, slog.New(slog.DiscardHandler))
}

func asked() request {
	return request{
		address: address{Team: "T1", Channel: "C1", Thread: "1.000001"}, Trigger: byMention,
		ChannelType: "channel", TS: "1.000001", User: "U1",
	}
}

// follow begins to show an attempt at a turn.
func follow(t *testing.T, stage *fakeStage, l *live, turn string, edit ...func(*request)) *following {
	t.Helper()
	r := asked()
	for _, e := range edit {
		e(&r)
	}
	return startFollowing(t, turn, r, stage.remembered(), stage.remember, l.follow)
}

// startFollowing has a follower show an attempt at a turn.
func startFollowing(t *testing.T, turn string, r request, kept map[string]string,
	remember func(context.Context, map[string]string) error, with func(context.Context, sessions.Progress),
) *following {
	f := &following{t: t, turn: turn, events: make(chan state.Event)}
	ctx, end := context.WithCancel(t.Context())
	f.end = end
	p := sessions.Progress{
		Turn:     sessions.Turn{ID: turn, SessionID: "ses_1", Request: r.encode(), Surface: maps.Clone(kept)},
		Events:   f.yield(ctx),
		Remember: remember,
	}
	f.done.Go(func() { with(ctx, p) })
	t.Cleanup(f.stop)
	return f
}

func (f *following) yield(ctx context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case ev := <-f.events:
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// happen records an event of the turn.
func (f *following) happen(typ string, data any) {
	f.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		f.t.Fatal(err)
	}
	f.events <- state.Event{Type: typ, TurnID: f.turn, Data: raw}
}

func (f *following) says(text string) {
	f.t.Helper()
	f.happen(sessions.EventMessageAppended, map[string]string{"text": text})
}

func (f *following) said(text string) {
	f.t.Helper()
	f.happen(sessions.EventMessageCompleted, map[string]string{"text": text})
}

// stop ends the attempt and waits for its follower.
func (f *following) stop() {
	f.end()
	f.done.Wait()
}

// messagesOf are the messages of an answer as they are posted.
func messagesOf(text string) []web.Message {
	r := markup.Render(text, markup.Options{Suffix: "model · 2 s"})
	var all []web.Message
	for i, m := range r.Messages {
		all = append(all, web.Message{Text: m.Text, Blocks: m.Blocks(), Key: fmt.Sprintf("ses_1/answer/%d", i)})
	}
	return all
}

// deliverAnswer delivers the answer of a turn as the outbox has it done, and returns an
// error that asks for another try.
func deliverAnswer(t *testing.T, stage *fakeStage, l *live, p postPayload, attempts int) error {
	t.Helper()
	p.To = asked().address
	if p.Turn == "" {
		p.Turn = turnID
	}
	item := sessions.Item{ID: p.Turn + "/answer", SessionID: "ses_1", TurnID: p.Turn, Attempts: attempts, Surface: stage.remembered()}
	messages := messagesOf(p.Markdown)
	done, err := l.finish(t.Context(), item, p, messages)
	if err != nil {
		return err
	}
	for _, m := range messages[done.Parts:] {
		if _, err := stage.Post(t.Context(), p.To.place(), m); err != nil {
			return err
		}
	}
	return stage.remember(t.Context(), done.Remember)
}

// mustAnswer delivers an answer with as many tries as it takes.
func mustAnswer(t *testing.T, stage *fakeStage, l *live, p postPayload) {
	t.Helper()
	var err error
	for attempt := range 5 {
		if err = deliverAnswer(t, stage, l, p, attempt+1); err == nil {
			return
		}
		time.Sleep(time.Minute)
	}
	t.Fatal(err)
}

// owed delivers the effect that takes away what is left of a turn.
func owed(t *testing.T, stage *fakeStage, l *live, turn string) sessions.Receipt {
	t.Helper()
	item := sessions.Item{
		ID: turn + "/silence", SessionID: "ses_1", TurnID: turn, Attempts: 1,
		Payload: encode(statusPayload{To: asked().address, Turn: turn}), Surface: stage.remembered(),
	}
	receipt, err := perform(t.Context(), item, l.deliverStatus)
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.remember(t.Context(), receipt.Remember); err != nil {
		t.Fatal(err)
	}
	return receipt
}

// wantThread compares what people see with what they shall.
func wantThread(t *testing.T, stage *fakeStage, want ...string) {
	t.Helper()
	got := stage.thread()
	if strings.Join(got, "\n--\n") != strings.Join(want, "\n--\n") {
		t.Errorf("people see\n%q\nand not\n%q", got, want)
	}
}

// inTime runs a test in virtual time.
func inTime(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// belowOf are the kinds of the blocks of a message.
func kindsOf(blocks []slackgo.Block) string {
	var kinds []string
	for _, b := range blocks {
		kinds = append(kinds, string(b.BlockType()))
	}
	return strings.Join(kinds, " ")
}
