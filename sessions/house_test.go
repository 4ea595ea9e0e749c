package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// house is an engine with everything around it, inside a synctest bubble.
type house struct {
	t      *testing.T
	dir    string
	store  *memstore.Store
	log    *memstore.EventLog
	world  *world
	runner *scriptedRunner
	logs   *logBuffer
	adjust func(*Options)

	engine *Engine
	cancel context.CancelFunc
	ended  chan error
	next   int
}

// inHouse runs f in a bubble with a started engine, and stops it afterwards.
func inHouse(t *testing.T, f func(h *house)) { inHouseWith(t, nil, f) }

func inHouseWith(t *testing.T, adjust func(*Options), f func(h *house)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &house{
			t: t, dir: dir, store: memstore.New(memstore.Options{}), log: memstore.NewEventLog(),
			world: newWorld(), runner: &scriptedRunner{}, logs: &logBuffer{}, adjust: adjust,
		}
		h.start()
		f(h)
		h.stop()
	})
}

func (h *house) options() Options {
	o := Options{
		Store: h.store, Log: h.log, Channels: []Channel{h.world, direct{}}, Runner: h.runner, Dir: h.dir,
		Logger: slog.New(slog.NewTextHandler(h.logs, nil)),
		Redact: func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") },
		Rand:   func() float64 { return 0.5 },
	}
	if h.adjust != nil {
		h.adjust(&o)
	}
	return o
}

// secret must appear nowhere.
const secret = "hunter2-hunter2"

func (h *house) start() {
	h.t.Helper()
	e, err := New(h.options())
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.engine, h.cancel, h.ended = e, cancel, make(chan error, 1)
	go func() { h.ended <- e.Run(ctx) }()
	synctest.Wait()
}

// stop stops the engine if it runs, and checks that it keeps its bound.
func (h *house) stop() {
	h.t.Helper()
	if h.cancel == nil {
		return
	}
	began := time.Now()
	h.cancel()
	if err := <-h.ended; err != nil && !errors.Is(err, ErrStoreFailed) {
		h.t.Errorf("Run returned %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		h.t.Errorf("Run took %s to return", took)
	}
	h.cancel = nil
}

// restart is a graceful stop and a new process on the same store.
func (h *house) restart() {
	h.t.Helper()
	h.stop()
	h.store = h.store.Reopen()
	h.start()
}

// crash ends the process without its having a chance to write anything more.
func (h *house) crash() {
	h.t.Helper()
	_ = h.store.Close()
	h.stop()
}

// request is the body of a delivery on the test channel.
type request struct {
	Do       string     `json:"do,omitempty"` // run, archive, stop, ignore, panic, error, odd
	By       string     `json:"by,omitempty"` // the principal; "-" is nobody, empty is mona
	Key      string     `json:"key,omitempty"`
	Aliases  []string   `json:"aliases,omitempty"`
	Rev      string     `json:"rev,omitempty"`
	Prev     string     `json:"prev,omitempty"`
	At       int        `json:"at,omitempty"` // minutes
	Fact     string     `json:"fact,omitempty"`
	Coalesce bool       `json:"coalesce,omitempty"`
	Force    bool       `json:"force,omitempty"`
	Mode     state.Mode `json:"mode,omitempty"`
	Text     string     `json:"text,omitempty"`
	Weigh    bool       `json:"weigh,omitempty"`
	Say      []string   `json:"say,omitempty"`      // effects of the delivery
	Budget   string     `json:"budget,omitempty"`   // of two
	Prefixes []string   `json:"prefixes,omitempty"` // with archive

	Name     string        `json:"name,omitempty"` // of the message
	Quiet    time.Duration `json:"quiet,omitempty"`
	Existing bool          `json:"existing,omitempty"`
	Urgent   bool          `json:"urgent,omitempty"`
	Title    string        `json:"title,omitempty"` // that is kept
	Note     Note          `json:"note,omitzero"`
}

// send stores a delivery under a new id and returns the id.
func (h *house) send(r request) string {
	h.t.Helper()
	h.next++
	id := fmt.Sprintf("d%d", h.next)
	h.sendAs(id, r)
	return id
}

func (h *house) sendAs(id string, r request) {
	h.t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.store.Accept(context.Background(), state.Delivery{Source: "test", ID: id, Event: "e", Body: body}); err != nil {
		h.t.Fatal(err)
	}
}

// push is a new revision of subject k, at the given minute.
func push(rev, prev string, at int) request {
	return request{Key: "k", Rev: rev, Prev: prev, At: at, Text: "review " + rev}
}

// settle lets everything happen that happens without the clock moving.
func (h *house) settle() { synctest.Wait() }

// wait moves the clock.
func (h *house) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *house) delivery(id string) state.StoredDelivery {
	h.t.Helper()
	d, err := h.store.Delivery(context.Background(), "test", id)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

// wantDelivery checks how a delivery was settled.
func (h *house) wantDelivery(id string, status state.DeliveryStatus, decision string) {
	h.t.Helper()
	d := h.delivery(id)
	if d.Status != status || !strings.Contains(d.Decision, decision) {
		h.t.Errorf("delivery %s is %s (%q), want %s (…%s…)", id, d.Status, d.Decision, status, decision)
	}
}

func (h *house) session(key string) state.Session {
	h.t.Helper()
	s, err := h.store.SessionByKey(context.Background(), key)
	if err != nil {
		h.t.Fatalf("session of %s: %v", key, err)
	}
	return s
}

// turns returns "revision:status" of a session's turns in order.
func (h *house) turns(key string) []string {
	h.t.Helper()
	rows, err := h.store.Turns(context.Background(), h.session(key).ID)
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, t := range rows {
		out = append(out, t.Revision.ID+":"+string(t.Status))
	}
	return out
}

func (h *house) wantTurns(key string, want ...string) {
	h.t.Helper()
	if got := h.turns(key); !slices.Equal(got, want) {
		h.t.Errorf("turns of %s are %v, want %v", key, got, want)
	}
}

// lastTurn returns the newest turn of a session.
func (h *house) lastTurn(key string) state.Turn {
	h.t.Helper()
	rows, err := h.store.Turns(context.Background(), h.session(key).ID)
	if err != nil || len(rows) == 0 {
		h.t.Fatalf("turns of %s: %v, %v", key, rows, err)
	}
	return rows[len(rows)-1]
}

func (h *house) events(key string) []state.Event {
	h.t.Helper()
	var out []state.Event
	for ev, err := range h.log.Read(context.Background(), h.session(key).ID, 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		out = append(out, ev)
	}
	return out
}

// eventTypes leaves out the host's steps, which every turn has.
func (h *house) eventTypes(key string) []string {
	h.t.Helper()
	var out []string
	for _, ev := range h.events(key) {
		if !isStep(ev) {
			out = append(out, ev.Type)
		}
	}
	return out
}

func isStep(ev state.Event) bool { return ev.Type == EventStepStarted || ev.Type == EventStepCompleted }

func (h *house) wantEvents(key string, want ...string) {
	h.t.Helper()
	if got := h.eventTypes(key); !slices.Equal(got, want) {
		h.t.Errorf("events of %s are\n%v, want\n%v", key, got, want)
	}
}

// world is the test channel together with what it wrote to the world.
type world struct {
	mu sync.Mutex
	// writes counts the effects in the world by item id, in order of first write.
	writes map[string]int
	order  []string
	text   map[string]string
	// prepare and deliver replace the usual behaviour where set.
	prepare func(ctx context.Context, t Turn, dir string) (Brief, error)
	deliver func(ctx context.Context, item Item) (Receipt, error)
	effects func(t Turn, r Report) ([]Effect, error)
	// weigh is asked about what has to be weighed; nil leaves it as it is.
	weigh func(ctx context.Context, in Intent) (Intent, error)
	// surfaces are the surfaces that items came with.
	surfaces map[string]map[string]string
}

func newWorld() *world {
	return &world{writes: map[string]int{}, text: map[string]string{}, surfaces: map[string]map[string]string{}}
}

func (w *world) Name() string { return "test" }

func (w *world) Map(d Delivery) (Intent, error) {
	var r request
	if err := json.Unmarshal(d.Body, &r); err != nil {
		return Intent{}, err
	}
	in := Intent{
		Action: ActionRun, Reason: "because of " + d.ID, Key: r.Key, Aliases: r.Aliases, Fact: r.Fact,
		Title: "about " + r.Key, Principal: "mona", Mode: r.Mode, Admission: AdmitPreempt,
		Force: r.Force, Message: r.Text,
		Revision: state.Revision{ID: r.Rev, Previous: r.Prev},
		Request:  json.RawMessage(fmt.Sprintf(`{"rev":%q}`, r.Rev)),
	}
	if r.At > 0 {
		in.Revision.At = time.Unix(1_700_000_000, 0).Add(time.Duration(r.At) * time.Minute)
	}
	if r.Coalesce {
		in.Admission = AdmitCoalesce
	}
	switch r.By {
	case "":
	case "-":
		in.Principal = ""
	default:
		in.Principal = r.By
	}
	in.Weigh, in.KeyPrefixes = r.Weigh, r.Prefixes
	if r.Title != "" {
		in.Title, in.NameOnce = r.Title, true
	}
	in.MessageID, in.Quiet, in.Existing, in.Urgent, in.Note = r.Name, r.Quiet, r.Existing, r.Urgent, r.Note
	for _, text := range r.Say {
		in.Effects = append(in.Effects, say(text, text))
	}
	if r.Budget != "" {
		in.Budgets = []Budget{{Key: r.Budget, Limit: 2, Expires: time.Now().Add(time.Hour), What: "reviews"}}
		in.OverBudget = []Effect{say("over", r.Budget+" is used up")}
	}
	switch r.Do {
	case "stop":
		in.Action, in.TurnID = ActionStop, r.Note.TurnID
	case "archive":
		in.Action = ActionArchive
	case "wake":
		in.Action = ActionWake
	case "amend":
		in.Action = ActionAmend
	case "note":
		in.Action = ActionNote
	case "ignore":
		in.Action, in.Reason = ActionIgnore, "draft"
	case "panic":
		panic("unexpected shape " + secret)
	case "error":
		return Intent{}, errors.New("no pull request in it")
	case "odd":
		return Intent{Action: 99, Key: "k"}, nil
	case "nokey":
		in.Key = ""
	}
	return in, nil
}

// say is an effect that says something to the world.
func say(name, text string) Effect {
	payload, _ := json.Marshal(text)
	return Effect{Name: name, Kind: "say", Payload: payload}
}

func (w *world) Weigh(ctx context.Context, in Intent) (Intent, error) {
	if w.weigh == nil {
		return in, nil
	}
	return w.weigh(ctx, in)
}

func (w *world) Prepare(ctx context.Context, t Turn, dir string) (Brief, error) {
	if w.prepare != nil {
		return w.prepare(ctx, t, dir)
	}
	return Brief{Prompt: strings.Join(t.Messages(), "\n")}, nil
}

func (w *world) Effects(t Turn, r Report) ([]Effect, error) {
	if w.effects != nil {
		return w.effects(t, r)
	}
	switch r.Moment {
	case MomentAccepted, MomentDropped:
		return nil, nil
	case MomentStarted:
		return []Effect{say("check", t.Revision.ID+" in progress")}, nil
	case MomentWaiting:
		text := fmt.Sprintf("%s waits for %s until %s: %s", t.Revision.ID, r.WaitsFor, r.Until.UTC().Format("15:04:05"), r.Reason)
		return []Effect{say(fmt.Sprint("waiting-", t.Attempt), text)}, nil
	case MomentResumed:
		return []Effect{say(fmt.Sprint("resumed-", t.Attempt), t.Revision.ID+" goes on")}, nil
	case MomentCompleted:
		return []Effect{say("conclusion", t.Revision.ID+" success"), say("comment", r.Text)}, nil
	case MomentFailed:
		return []Effect{say("conclusion", t.Revision.ID+" failure: "+r.Reason)}, nil
	default:
		return []Effect{say("conclusion", t.Revision.ID+" cancelled: "+r.Reason)}, nil
	}
}

func (w *world) Deliver(ctx context.Context, item Item) (Receipt, error) {
	if w.deliver != nil {
		return w.deliver(ctx, item)
	}
	return w.write(item), nil
}

// write takes effect once, as a channel does that looks for its mark first.
func (w *world) write(item Item) Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.surfaces[item.ID] = item.Surface
	if item.Attempts > 1 && w.writes[item.ID] > 0 {
		return Receipt{Note: "adopted"}
	}
	if w.writes[item.ID] == 0 {
		w.order = append(w.order, item.ID)
	}
	w.writes[item.ID]++
	var text string
	_ = json.Unmarshal(item.Payload, &text)
	w.text[item.ID] = text
	_, name, _ := strings.Cut(item.ID, "/")
	return Receipt{Note: "written", Remember: map[string]string{name: item.TurnID}}
}

// said returns what was written to the world, in order.
func (w *world) said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, id := range w.order {
		out = append(out, w.text[id])
	}
	return out
}

func (h *house) wantSaid(want ...string) {
	h.t.Helper()
	if got := h.world.said(); !slices.Equal(got, want) {
		h.t.Errorf("the world was told\n%q, want\n%q", got, want)
	}
	for id, n := range h.world.writes {
		if n != 1 {
			h.t.Errorf("effect %s happened %d times", id, n)
		}
	}
}

// scriptedRunner is an agent that thinks for a second and then answers.
type scriptedRunner struct {
	mu       sync.Mutex
	requests []RunRequest
	live     map[string]bool
	run      func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error)
	overlap  bool
	most     int
}

func (s *scriptedRunner) Run(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
	s.mu.Lock()
	if s.live == nil {
		s.live = map[string]bool{}
	}
	s.overlap = s.overlap || s.live[r.SessionID]
	s.live[r.SessionID] = true
	s.most = max(s.most, len(s.live))
	s.requests = append(s.requests, r)
	run := s.run
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.live, r.SessionID)
		s.mu.Unlock()
	}()
	if run != nil {
		return run(ctx, r, observe)
	}
	return think(ctx, r, time.Second)
}

func (s *scriptedRunner) prompts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.requests {
		out = append(out, r.Prompt)
	}
	return out
}

func think(ctx context.Context, r RunRequest, d time.Duration) (bridge.Result, error) {
	select {
	case <-ctx.Done():
		return bridge.Result{RunID: "run-" + r.TurnID, Status: bridge.RunCancelled}, nil
	case <-time.After(d):
		return bridge.Result{
			RunID: "run-" + r.TurnID, Status: bridge.RunFinished, Text: "done: " + r.Prompt,
			Model: cmp.Or(r.Model, "m"), Usage: bridge.Usage{InputTokens: 3, OutputTokens: 4, TotalTokens: 7},
		}, nil
	}
}

type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
