package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	client "github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// The tokens of a world.
const (
	operatorToken = "the-operators-token"
	aliceToken    = "the-token-of-alice"
	bobToken      = "the-token-of-bob-bob"
)

// What a world holds from its beginning.
const (
	sessionID  = "ses_01"
	taskID     = "ses_02"
	turnID     = "trn_01"
	deliveryID = "d-done"
	deadID     = "d-dead"
	deadWrite  = "trn_01/comment:x"
	approvalID = "apr_00000000000000000000000000000001"
	toolName   = "deploy"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world is an API with everything around it.
type world struct {
	t       *testing.T
	runtime *runtime
	store   *store
	keeping *keeping
	logs    *api.Logs
	api     *api.API
	server  *httptest.Server
	judge   *judge
}

func newWorld(t *testing.T, change ...func(*api.Options)) *world {
	t.Helper()
	w := newQuietWorld(t, change...)
	w.server = httptest.NewServer(w.api)
	t.Cleanup(w.server.Close)
	t.Cleanup(w.api.Stop) // first, as a shutdown does
	return w
}

// newQuietWorld has no server; tests in virtual time use the handler.
func newQuietWorld(t *testing.T, change ...func(*api.Options)) *world {
	t.Helper()
	w := &world{
		t: t, runtime: newRuntime(), store: &store{Store: memstore.New(memstore.Options{Now: func() time.Time { return epoch }})},
		keeping: &keeping{}, logs: api.NewLogs(slog.LevelInfo), judge: newJudge(t),
	}
	w.seed()
	o := api.Options{
		Runtime: w.runtime, Store: w.store, Keeping: w.keeping, Logs: w.logs,
		Info: func() any {
			return map[string]any{
				"ok": true, "version": "test", "startedAt": epoch, "bridge": map[string]any{}, "channels": map[string]any{},
				"engine": sessions.Status{Running: true}, "disk": state.DiskUsage{},
			}
		},
		Token: operatorToken, Tokens: []api.Token{{Name: "alice", Token: aliceToken}, {Name: "bob", Token: bobToken}},
		Now: func() time.Time { return epoch },
	}
	for _, f := range change {
		f(&o)
	}
	w.api = api.New(o)
	return w
}

// seed stores a chat and a task of alice's, a delivery that led to the chat, a
// dead one, and a write that was given up.
func (w *world) seed() {
	ctx := w.t.Context()
	for _, id := range []string{deliveryID, deadID} {
		if _, err := w.store.Accept(ctx, state.Delivery{
			Source: "github", ID: id, Event: "pull_request", Headers: map[string]string{"X-Github-Event": "pull_request"},
			Body: []byte(`{"action":"opened"}`), ReceivedAt: epoch,
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.commit(state.Change{
		Sessions: []state.Session{
			{ID: sessionID, Channel: "github", Key: "github:repo:1:pull:2", Title: "Add a cart", Mode: state.ModeChat,
				Principal: "api:alice", Status: state.SessionActive, Revision: state.Revision{ID: "abc"}, CreatedAt: epoch, UpdatedAt: epoch},
			{ID: taskID, Channel: sessions.ChannelHTTP, Key: "http:task", Mode: state.ModeTask,
				Principal: "api:alice", Status: state.SessionActive, CreatedAt: epoch, UpdatedAt: epoch},
		},
		Keys: []state.KeyLink{{Key: "github:repo:1:pull:2", SessionID: sessionID}, {Key: "http:task", SessionID: taskID}},
		Turns: []state.Turn{
			{ID: turnID, SessionID: sessionID, Status: state.TurnCompleted, Channel: "github", Principal: "github:mona",
				Message: "Review it.", DeliveryID: "github:" + deliveryID, Attempts: 1, QueuedAt: epoch, StartedAt: epoch, EndedAt: epoch,
				Usage: state.Usage{InputTokens: 10, OutputTokens: 2, TotalTokens: 12}, CostUSD: 0.25, ToolCalls: 3, Model: "large"},
			{ID: "trn_02", SessionID: sessionID, Status: state.TurnQueued, Channel: "http", Principal: "api:alice", Message: "And now?",
				Gathered: []state.Gathered{{Message: "Hm?", At: epoch}}, NotBefore: epoch.Add(time.Hour), WaitsFor: "the model's rate limit",
				QueuedAt: epoch, Usage: state.Usage{InputTokens: 5, TotalTokens: 5}},
		},
		Deliveries: []state.DeliveryUpdate{
			{Seq: 1, Status: state.DeliveryDone, Decision: "ran as turn trn_01", SessionID: sessionID, TurnID: turnID},
			{Seq: 2, Status: state.DeliveryDead, Decision: "cannot be read", Attempts: 5},
		},
		Outbox: []state.OutboxItem{{ID: deadWrite, SessionID: sessionID, TurnID: turnID, Channel: "github", Kind: "comment", Payload: json.RawMessage(`{}`)}},
	})
	if _, err := w.store.ClaimOutbox(ctx, epoch, 10); err != nil {
		w.t.Fatal(err)
	}
	w.commit(state.Change{Settle: []state.OutboxSettlement{{ID: deadWrite, Result: state.OutboxDead, Note: "gave up"}}})
	w.runtime.ask(asking(approvalID, sessionID, "call-1"))
	w.commit(state.Change{Audit: []state.AuditEntry{{At: epoch, Entry: json.RawMessage(`{"at":"2026-01-02T03:04:05Z","action":"asked","tool":"deploy"}`)}}})
	w.runtime.append(sessionID, event(sessions.EventSessionStarted, `{"channel":"github"}`), event(sessions.EventMessageReceived, `{"text":"Review it."}`))
	w.runtime.append(taskID, event(sessions.EventSessionStarted, `{}`), event(sessions.EventSessionCompleted, `{}`))
}

func (w *world) commit(c state.Change) {
	w.t.Helper()
	if _, err := w.store.Store.Commit(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

func event(typ, data string) state.Event {
	return state.Event{Type: typ, At: epoch, Data: json.RawMessage(data), Commit: 7}
}

// as returns a client that sends a token, and whose answers are judged.
func (w *world) as(token string) *client.Client {
	w.t.Helper()
	transport := &http.Transport{}
	w.t.Cleanup(transport.CloseIdleConnections)
	c, err := client.NewClient(w.server.URL,
		client.WithHTTPClient(&http.Client{Transport: &judged{judge: w.judge, base: transport, t: w.t}}),
		client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			return nil
		}))
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// read returns an answer's body and fails on another status than want.
func read(t *testing.T, response *http.Response, err error, want int) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != want {
		t.Fatalf("answered %d, want %d: %s", response.StatusCode, want, body)
	}
	return body
}

// parse reads an answer of a status into a value.
func parse[T any](t *testing.T, response *http.Response, err error, want int) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(read(t, response, err, want), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// runtime is an engine that does what a test says.
type runtime struct {
	mu      sync.Mutex
	err     error
	records map[string][]state.Event
	grown   chan struct{}
	reading map[string]error
	sent    []sessions.Message
	stopped []sessions.StopRequest
	// asked are the approvals, newest first, and called the calls of tools.
	asked  []approvals.Record
	called []sessions.ToolCall
	// park lets calls of tools wait for a person.
	park bool
}

func newRuntime() *runtime {
	return &runtime{records: map[string][]state.Event{}, grown: make(chan struct{}), reading: map[string]error{}}
}

func (r *runtime) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// breakAfter makes a record unreadable behind what it has.
func (r *runtime) breakAfter(id string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading[id] = err
}

func (r *runtime) append(id string, events ...state.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range events {
		ev.SessionID, ev.Index = id, int64(len(r.records[id]))
		r.records[id] = append(r.records[id], ev)
	}
	close(r.grown)
	r.grown = make(chan struct{})
}

func (r *runtime) Send(_ context.Context, m sessions.Message) (sessions.Sent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return sessions.Sent{}, fmt.Errorf("send: %w", r.err)
	}
	r.sent = append(r.sent, m)
	id := m.SessionID
	if id == "" {
		id = "ses_new"
	}
	return sessions.Sent{SessionID: id, TurnID: "trn_new", Token: "http:next", Position: 2}, nil
}

func (r *runtime) Stop(_ context.Context, s sessions.StopRequest) (sessions.Stopped, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return sessions.Stopped{}, fmt.Errorf("stop: %w", r.err)
	}
	r.stopped = append(r.stopped, s)
	return sessions.Stopped{Interrupted: turnID, Dropped: []string{"trn_02"}}, nil
}

func (r *runtime) LastIndex(_ context.Context, id string) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.records[id])) - 1, r.err
}

func (r *runtime) Events(ctx context.Context, id string, from int64, follow bool) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for next := from; ; {
			r.mu.Lock()
			record, grown, err := r.records[id], r.grown, r.reading[id]
			if r.err != nil {
				record, err = nil, r.err
			}
			r.mu.Unlock()
			for ; next < int64(len(record)); next++ {
				if !yield(record[next], nil) {
					return
				}
				if follow && record[next].Type == sessions.EventSessionCompleted {
					return
				}
			}
			if err != nil {
				yield(state.Event{}, err)
				return
			}
			if !follow {
				return
			}
			select {
			case <-ctx.Done():
				yield(state.Event{}, fmt.Errorf("follow: %w", context.Cause(ctx)))
				return
			case <-grown:
			}
		}
	}
}

// store is a store whose disk can go.
type store struct {
	*memstore.Store
	mu  sync.Mutex
	err error
	// conflict makes every commit come too late.
	conflict bool
}

func (s *store) Commit(ctx context.Context, c state.Change) (uint64, error) {
	if s.conflict {
		return 0, state.ErrConflict
	}
	return s.Store.Commit(ctx, c)
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *store) Session(ctx context.Context, id string) (state.Session, error) {
	if err := s.failure(); err != nil {
		return state.Session{}, err
	}
	return s.Store.Session(ctx, id)
}

func (s *store) RecentSessions(ctx context.Context, f state.SessionFilter, limit int) ([]state.Session, error) {
	if err := s.failure(); err != nil {
		return nil, err
	}
	return s.Store.RecentSessions(ctx, f, limit)
}

func (s *store) Delivery(ctx context.Context, source, id string) (state.StoredDelivery, error) {
	if err := s.failure(); err != nil {
		return state.StoredDelivery{}, err
	}
	return s.Store.Delivery(ctx, source, id)
}

func (s *store) Deliveries(ctx context.Context, f state.DeliveryFilter, limit int) ([]state.StoredDelivery, uint64, error) {
	if err := s.failure(); err != nil {
		return nil, 0, err
	}
	return s.Store.Deliveries(ctx, f, limit)
}

func (s *store) AuditEntries(ctx context.Context, since time.Time, after uint64, limit int) ([]state.AuditEntry, error) {
	if err := s.failure(); err != nil {
		return nil, err
	}
	return s.Store.AuditEntries(ctx, since, after, limit)
}

func (s *store) DeadLetters(ctx context.Context, after string, limit int) ([]state.DeadLetter, error) {
	if err := s.failure(); err != nil {
		return nil, err
	}
	return s.Store.DeadLetters(ctx, after, limit)
}

// keeping compacts nothing and backs up a few bytes.
type keeping struct {
	err error
	// cut is how many bytes of a backup are written before err.
	cut int
}

func (k *keeping) Compact(context.Context) (state.Compaction, error) {
	return state.Compaction{Before: 200, After: 100, Took: time.Second}, k.err
}

func (k *keeping) Backup(_ context.Context, w io.Writer) (state.BackupInfo, error) {
	archive := []byte("an archive")
	if k.err != nil {
		archive = archive[:k.cut]
	}
	if len(archive) > 0 {
		if _, err := w.Write(archive); err != nil {
			return state.BackupInfo{}, err
		}
	}
	return state.BackupInfo{Files: 1, Bytes: int64(len(archive))}, k.err
}

func (k *keeping) Usage(context.Context) (state.DiskUsage, error) { return state.DiskUsage{}, k.err }
