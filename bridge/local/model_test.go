package local

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"pgregory.net/rapid"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// Whatever is called, in whatever order, and wherever the bridge dies in
// between: it says what a simple model of it says, whoever keeps its state.
func TestRandomCallsAndCrashes(t *testing.T) {
	for name, keep := range map[string]keeper{"files": fileKeeper{}, "a custom store": &storeKeeper{}} {
		t.Run(name, func(t *testing.T) {
			fewChecks(t)
			rapid.Check(t, func(rt *rapid.T) {
				scope := &checkScope{TB: t}
				defer scope.end()
				m := &bridgeModel{scope: scope, keep: keep.fresh(scope), agents: map[string]*agentModel{}}
				m.start()
				rt.Repeat(m.actions())
			})
		})
	}
}

// actions are what may happen, each as often as its number says.
func (m *bridgeModel) actions() map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){"": m.check}
	for _, a := range []struct {
		name   string
		times  int
		action func(*rapid.T)
	}{
		{"send", 9, m.send}, {"resume", 5, m.resume}, {"create", 3, m.create}, {"block", 2, m.block}, {"cancel", 2, m.cancel},
		{"unarchive", 2, m.unarchive}, {"archive", 1, m.archive}, {"close", 1, m.close}, {"delete", 1, m.delete}, {"crash", 1, m.crash}, {"stop", 1, m.stop},
	} {
		for i := range a.times {
			all[fmt.Sprint(a.name, i)] = a.action
		}
	}
	return all
}

// fewChecks lets the sequences be few, since each step is put on disk: ask for
// more with -rapid.checks or LIAISON_SOAK=1.
func fewChecks(t *testing.T) {
	t.Helper()
	given := os.Getenv("LIAISON_SOAK") != ""
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if given {
		return
	}
	if err := flag.Set("rapid.checks", "10"); err != nil {
		t.Fatal(err)
	}
}

// checkScope is a test that ends with one sequence.
type checkScope struct {
	testing.TB
	cleanups []func()
}

func (s *checkScope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *checkScope) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

func (s *checkScope) TempDir() string {
	dir, err := os.MkdirTemp("", "liaison-model-*")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) }) // the system's temporary directory is swept anyway
	return dir
}

// keeper is where a bridge under test keeps its state.
type keeper interface {
	fresh(t testing.TB) keeper
	// start starts a bridge on the state.
	start(t testing.TB, e engine) *testBridge
	// crashed is the state as kill -9 would leave it now.
	crashed(t testing.TB) keeper
}

type fileKeeper struct{ root string }

func (k fileKeeper) fresh(t testing.TB) keeper                { return fileKeeper{t.TempDir()} }
func (k fileKeeper) start(t testing.TB, e engine) *testBridge { return startBridge(t, k.root, e) }
func (k fileKeeper) crashed(t testing.TB) keeper              { return fileKeeper{copyState(t, k.root)} }

type storeKeeper struct{ store *storeDouble }

func (k *storeKeeper) fresh(testing.TB) keeper { return &storeKeeper{newStoreDouble()} }

func (k *storeKeeper) start(t testing.TB, e engine) *testBridge { return onCustomStore(t, k.store, e) }

func (k *storeKeeper) crashed(t testing.TB) keeper { return &storeKeeper{k.store.snapshot(t)} }

// agentModel is what a caller may expect of an agent.
type agentModel struct {
	attached, archived bool
	memory             string
	runs               []runModel // oldest first
}

type runModel struct {
	id, text string
	status   sdkv1.RunLifecycleStatus
	// blocked is true for a run that is under way in this process.
	blocked bool
}

const (
	running   = sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_RUNNING
	finished  = sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED
	cancelled = sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_CANCELLED
	expired   = sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_EXPIRED
)

// active is the run that keeps the agent busy, live or left behind.
func (a *agentModel) active() *runModel {
	for i := range a.runs {
		if a.runs[i].status == running {
			return &a.runs[i]
		}
	}
	return nil
}

// bridgeModel drives a bridge and knows what it must answer.
type bridgeModel struct {
	scope  *checkScope
	keep   keeper
	bridge *testBridge
	agents map[string]*agentModel
}

// blockPrompt makes the engine say so and then wait for its end.
const blockPrompt = "block"

// modelEngine answers with what it was asked so far.
func modelEngine() scripted {
	return scripted{run: func(ctx context.Context, t task, emit func(event)) (answer, error) {
		if t.Prompt == blockPrompt {
			emit(said{Text: blockPrompt})
			<-ctx.Done()
			return answer{}, ctx.Err()
		}
		before, err := t.Memory.Recall()
		if err != nil {
			return answer{}, err
		}
		text := string(before) + t.Prompt
		t.Memory.Keep([]byte(text))
		emit(said{Text: text})
		return answer{Text: text}, nil
	}}
}

func (m *bridgeModel) start() { m.bridge = m.keep.start(m.scope, modelEngine()) }

func (m *bridgeModel) ctx() context.Context { return testContext(m.scope) }

// pick draws an id, and the agent with it if there is one.
func (m *bridgeModel) pick(t *rapid.T) (string, *agentModel) {
	id := fmt.Sprint("agent-", rapid.IntRange(0, 1).Draw(t, "agent"))
	return id, m.agents[id]
}

// expect compares how a call ended with what the model says.
func expect(t *rapid.T, call string, err error, want connect.Code) {
	t.Helper()
	got := connect.Code(0)
	if err != nil {
		got = connect.CodeOf(err)
	}
	if got != want {
		t.Fatalf("%s: %v, want the code %v", call, err, want)
	}
}

func (m *bridgeModel) create(t *rapid.T) {
	id, a := m.pick(t)
	o := options(m.scope.TempDir())
	o.AgentId = id
	_, err := m.bridge.agents.CreateAgent(m.ctx(), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
	if a != nil {
		expect(t, "create", err, connect.CodeInternal)
		return
	}
	expect(t, "create", err, 0)
	m.agents[id] = &agentModel{attached: true}
}

func (m *bridgeModel) resume(t *rapid.T) {
	id, a := m.pick(t)
	_, err := m.bridge.agents.ResumeAgent(m.ctx(), connect.NewRequest(&sdkv1.ResumeAgentRequest{
		AgentId: id, Options: &sdkv1.AgentOptions{ApiKey: "any"},
	}))
	if a == nil {
		expect(t, "resume", err, connect.CodeNotFound)
		return
	}
	expect(t, "resume", err, 0)
	a.attached = true
}

func (m *bridgeModel) close(t *rapid.T) {
	id, a := m.pick(t)
	_, err := m.bridge.agents.CloseAgent(m.ctx(), connect.NewRequest(&sdkv1.CloseAgentRequest{AgentId: id}))
	if a == nil || !a.attached {
		expect(t, "close", err, connect.CodeNotFound)
		return
	}
	expect(t, "close", err, 0)
	a.attached = false
}

// begin sends, and returns the stream, or nil when that was refused as it must be.
func (m *bridgeModel) begin(t *rapid.T, text string) (*agentModel, *stream) {
	id, a := m.pick(t)
	force := rapid.Bool().Draw(t, "force")
	s, err := m.bridge.agents.Send(m.ctx(), connect.NewRequest(&sdkv1.SendRequest{
		AgentId: id, Message: &sdkv1.UserMessage{Text: text},
		Options: &sdkv1.SendOptions{Local: &sdkv1.LocalSendOptions{Force: &force}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	m.scope.Cleanup(func() { _ = s.Close() })
	refused := connect.Code(0)
	switch {
	case a == nil || !a.attached:
		refused = connect.CodeNotFound
	case a.archived, a.active() != nil && !force:
		refused = connect.CodeFailedPrecondition
	}
	if refused != 0 {
		if s.Receive() {
			t.Fatalf("a send that must be refused says %v", s.Msg())
		}
		expect(t, "send", s.Err(), refused)
		return nil, nil
	}
	if old := a.active(); old != nil {
		old.status, old.blocked = expired, false
	}
	return a, s
}

func (m *bridgeModel) send(t *rapid.T) {
	text := rapid.StringMatching(`[a-z]{1,3};`).Draw(t, "text")
	a, s := m.begin(t, text)
	if s == nil {
		return
	}
	r := result(m.scope, rest(m.scope, s))
	want := a.memory + text
	if r.GetStatus() != finished || r.GetResult().GetResult() != want {
		t.Fatalf("the run ended as %v, want the answer %q", r, want)
	}
	a.memory = want
	a.runs = append(a.runs, runModel{id: r.GetRunId(), text: want, status: finished})
}

func (m *bridgeModel) block(t *rapid.T) {
	a, s := m.begin(t, blockPrompt)
	if s == nil {
		return
	}
	a.runs = append(a.runs, runModel{id: until(m.scope, s, blockPrompt), status: running, blocked: true})
}

func (m *bridgeModel) cancel(t *rapid.T) {
	_, a := m.pick(t)
	if a == nil || len(a.runs) == 0 {
		_, err := m.bridge.agents.CancelRun(m.ctx(), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: "run-none"}))
		expect(t, "cancel of no run", err, connect.CodeNotFound)
		return
	}
	r := &a.runs[rapid.IntRange(0, len(a.runs)-1).Draw(t, "run")]
	_, err := m.bridge.agents.CancelRun(m.ctx(), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: r.id}))
	expect(t, "cancel", err, 0)
	if r.status == running {
		r.status, r.blocked = cancelled, false
	}
}

func (m *bridgeModel) archive(t *rapid.T)   { m.setArchived(t, true) }
func (m *bridgeModel) unarchive(t *rapid.T) { m.setArchived(t, false) }

func (m *bridgeModel) setArchived(t *rapid.T, on bool) {
	id, a := m.pick(t)
	var err error
	if on {
		_, err = m.bridge.agents.ArchiveAgent(m.ctx(), connect.NewRequest(&sdkv1.ArchiveAgentRequest{AgentId: id}))
	} else {
		_, err = m.bridge.agents.UnarchiveAgent(m.ctx(), connect.NewRequest(&sdkv1.UnarchiveAgentRequest{AgentId: id}))
	}
	if a == nil {
		expect(t, "archive", err, connect.CodeNotFound)
		return
	}
	expect(t, "archive", err, 0)
	a.archived = on
}

func (m *bridgeModel) delete(t *rapid.T) {
	id, a := m.pick(t)
	_, err := m.bridge.agents.DeleteAgent(m.ctx(), connect.NewRequest(&sdkv1.DeleteAgentRequest{AgentId: id}))
	switch {
	case a == nil:
		expect(t, "delete", err, connect.CodeNotFound)
	case a.active() != nil && a.active().blocked:
		expect(t, "delete", err, connect.CodeFailedPrecondition)
	default:
		expect(t, "delete", err, 0)
		for _, r := range a.runs {
			_, err := m.bridge.agents.GetRun(m.ctx(), connect.NewRequest(&sdkv1.GetRunRequest{RunId: r.id}))
			expect(t, "get a run of a deleted agent", err, connect.CodeNotFound)
		}
		delete(m.agents, id)
	}
}

// crash goes on from what a kill of the bridge would leave.
func (m *bridgeModel) crash(*rapid.T) {
	m.keep = m.keep.crashed(m.scope)
	m.restart()
}

// stop goes on from a bridge that was told to stop.
func (m *bridgeModel) stop(*rapid.T) {
	m.bridge.server.stop(atOnce(), m.bridge.front)
	for _, a := range m.agents {
		if r := a.active(); r != nil && r.blocked {
			r.status = cancelled
		}
	}
	m.keep = m.keep.crashed(m.scope)
	m.restart()
}

func (m *bridgeModel) restart() {
	m.start()
	for _, a := range m.agents {
		a.attached = false
		for i := range a.runs {
			a.runs[i].blocked = false
		}
	}
}

// check compares all that can be read.
func (m *bridgeModel) check(t *rapid.T) {
	archivedToo := true
	var listed []string
	for cursor := ""; ; {
		res, err := m.bridge.agents.ListAgents(m.ctx(), connect.NewRequest(&sdkv1.ListAgentsRequest{
			Options: &sdkv1.ListAgentsOptions{IncludeArchived: &archivedToo, Limit: 2, Cursor: cursor},
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range res.Msg.GetItems() {
			listed = append(listed, info.GetAgentId())
			if a := m.agents[info.GetAgentId()]; a == nil || a.archived != info.GetArchived() {
				t.Fatalf("listed is %v, want %+v", info, a)
			}
		}
		if cursor = res.Msg.GetNextCursor(); cursor == "" {
			break
		}
	}
	slices.Sort(listed)
	if want := slices.Sorted(maps.Keys(m.agents)); !slices.Equal(listed, want) {
		t.Fatalf("the agents are %v, want %v", listed, want)
	}
	for id, a := range m.agents {
		if err := m.checkRuns(id, a); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
}

func (m *bridgeModel) checkRuns(id string, a *agentModel) error {
	res, err := m.bridge.agents.ListRuns(m.ctx(), connect.NewRequest(&sdkv1.ListRunsRequest{AgentId: id}))
	if err != nil {
		return err
	}
	var got, want []string
	for _, r := range res.Msg.GetItems() {
		got = append(got, fmt.Sprint(r.GetRunId(), " ", r.GetStatus(), " ", r.GetResult()))
	}
	for _, r := range slices.Backward(a.runs) {
		want = append(want, fmt.Sprint(r.id, " ", r.status, " ", r.text))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("the runs are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(a.runs) == 0 {
		return nil
	}
	// The newest is replayed, whatever became of it.
	newest := a.runs[len(a.runs)-1]
	s, err := m.bridge.agents.ObserveRun(m.ctx(), connect.NewRequest(&sdkv1.ObserveRunRequest{RunId: newest.id}))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	for s.Receive() {
		switch text := assistantText(s.Msg().GetSdkMessage()); {
		case text == blockPrompt && newest.blocked:
			return nil // it would go on for ever
		case text != "" && text != newest.text && text != blockPrompt:
			return fmt.Errorf("run %s is replayed with %q", newest.id, text)
		}
		if r := s.Msg().GetResult(); r != nil && r.GetStatus() != newest.status {
			return fmt.Errorf("run %s is replayed as %v, want %v", newest.id, r, newest.status)
		}
	}
	if newest.status == running {
		if connect.CodeOf(s.Err()) == connect.CodeFailedPrecondition {
			return nil
		}
		return errors.Join(fmt.Errorf("the record of run %s, which was left behind, has an end", newest.id), s.Err())
	}
	return s.Err()
}
