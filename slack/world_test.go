package slack

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/workspace"
)

const (
	team    = "T0ACME"
	ann     = "U0ANN"
	general = "C0GENERAL"
)

// world is a simulated Slack with one workspace, and our channel on it.
type world struct {
	*sim.Slack
	t       *testing.T
	channel *Channel
	team    sim.Workspace
	logs    *logBuffer
	// transport carries what the channel sends.
	transport *http.Transport
	// root is a message of Ann's, which asked.
	root sim.SlackMessage
	// surface is what the session remembers, kept up as the engine does.
	surface map[string]string
}

// logBuffer collects log lines.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// tokens are those of the world's workspace.
type tokens struct{ of sim.Workspace }

func (t tokens) Workspace(_ context.Context, team, _ string) (workspace.Workspace, error) {
	if team != t.of.ID {
		return workspace.Workspace{}, workspace.ErrNotInstalled
	}
	return workspace.Workspace{
		Team: t.of.ID, BotUser: t.of.BotUser, BotID: t.of.BotID, Token: t.of.BotToken, URL: "https://acme.slack.com/",
	}, nil
}

func newWorld(t *testing.T, edit ...func(*Options)) *world {
	t.Helper()
	return newWorldOf(t, sim.SlackOptions{}, edit...)
}

func newWorldOf(t *testing.T, so sim.SlackOptions, edit ...func(*Options)) *world {
	t.Helper()
	so.SigningSecret, so.AckTimeout = "not-a-real-secret", time.Minute
	s := sim.NewSlack(so)
	if _, err := s.Start(); err != nil {
		t.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	w := &world{Slack: s, t: t, logs: &logBuffer{}, transport: transport, surface: map[string]string{}}
	w.team = s.AddWorkspace(sim.Workspace{ID: team, Name: "Acme"})
	s.AddUser(sim.SlackUser{ID: ann, Team: team, Name: "ann", RealName: "Ann Example"})
	s.AddChannel(sim.SlackChannel{ID: general, Team: team, Name: "general"})
	t.Cleanup(func() {
		w.everythingFits()
		transport.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	o := Options{
		Workspaces: tokens{w.team}, Settings: defaults(), APIURL: s.URL(), Transport: transport,
		Logger: slog.New(slog.NewTextHandler(w.logs, nil)),
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") },
	}
	for _, e := range edit {
		e(&o)
	}
	var err error
	if w.channel, err = New(o); err != nil {
		t.Fatal(err)
	}
	w.root = s.Post(sim.Saying{Channel: general, User: ann, Text: "what is this?"})
	return w
}

// thread is the place in which Ann asked.
func (w *world) thread() address { return address{Team: team, Channel: general, Thread: w.root.TS} }

// item is an effect as the outbox hands it over.
func (w *world) item(kind string, payload any) sessions.Item {
	return sessions.Item{
		ID: "turn_1/" + kind, SessionID: "ses_1", TurnID: "turn_1", Key: w.thread().key(),
		Kind: kind, Payload: encode(payload), Attempts: 1, Surface: w.surface,
	}
}

// deliver makes one attempt and remembers as the engine does.
func (w *world) deliver(item sessions.Item) (sessions.Receipt, error) {
	w.t.Helper()
	receipt, err := w.channel.Deliver(w.t.Context(), item)
	for k, v := range receipt.Remember {
		w.surface[k] = v
		if v == "" {
			delete(w.surface, k)
		}
	}
	return receipt, err
}

// must makes one attempt that succeeds.
func (w *world) must(item sessions.Item) sessions.Receipt {
	w.t.Helper()
	receipt, err := w.deliver(item)
	if err != nil {
		w.t.Fatal(err)
	}
	return receipt
}

// answers are the messages of ours in the thread, in order.
func (w *world) answers() []sim.SlackMessage {
	var ours []sim.SlackMessage
	for _, m := range w.Thread(general, w.root.TS) {
		if m.User == w.team.BotUser {
			ours = append(ours, m)
		}
	}
	return ours
}

// ours are our messages in a channel.
func (w *world) ours(channel string) []sim.SlackMessage {
	var ours []sim.SlackMessage
	for _, m := range w.Messages(channel) {
		if m.User == w.team.BotUser {
			ours = append(ours, m)
		}
	}
	return ours
}

func mustURL(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// alone is the source of an app that has one workspace, whatever is asked for.
type alone struct{ workspace.Source }

func (a alone) Workspace(ctx context.Context, _, _ string) (workspace.Workspace, error) {
	return a.Source.Workspace(ctx, team, "")
}

// unhurried has a clock that runs ahead, so that nothing waits for the pace.
func unhurried(o *Options) {
	var mu sync.Mutex
	now := time.Now()
	o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Minute)
		return now
	}
}

// nothingRefused fails where Slack did not take something.
func (w *world) nothingRefused() {
	w.t.Helper()
	for _, call := range w.Calls() {
		if call.Error != "" {
			w.t.Errorf("%s was refused: %s", call.Method, call.Error)
		}
	}
}

// everythingFits fails where Slack would have refused, split or cut what was said to
// it, or where that would have called everybody.
func (w *world) everythingFits() {
	w.t.Helper()
	for _, misfit := range w.Unfit() {
		w.t.Error(misfit)
	}
}

// nobodyCalled fails where a message of ours notifies somebody.
func (w *world) nobodyCalled() {
	w.t.Helper()
	for _, m := range w.answers() {
		if len(m.Pings) > 0 {
			w.t.Errorf("calls %v", m.Pings)
		}
	}
}

// defaults are the settings of an operator who sets none.
func defaults() Settings {
	return Settings{MentionInThreads: true, Reply: ReplyMessage, Reactions: true}
}
