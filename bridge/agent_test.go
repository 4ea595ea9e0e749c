package bridge

import (
	"errors"
	"fmt"
	"testing"
)

func TestAgentRecords(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Answers: answers("GetAgent", `{"agent":{"agentId":"a-1","name":"n"}}`, `{}`)}))
	ctx := testContext(t)
	dir := t.TempDir()
	a, err := c.Agents().Create(ctx, AgentOptions{ID: "a-1", Model: "m-1", Local: &LocalOptions{Dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	info, err := a.Info(ctx)
	if err != nil || info.ID != "a-1" || info.Name != "n" {
		t.Errorf("info = %+v, %v", info, err)
	}
	if _, err := c.Agents().Get(ctx, "a-1"); !errors.Is(err, ErrInternal) {
		t.Errorf("an answer without the agent: %v", err)
	}
	for name, do := range map[string]func() error{
		"archive": func() error { return a.Archive(ctx) }, "unarchive": func() error { return a.Unarchive(ctx) },
		"archive by id": func() error { return c.Agents().Archive(ctx, "a-1") }, "unarchive by id": func() error { return c.Agents().Unarchive(ctx, "a-1") },
		"reload": func() error { return a.Reload(ctx) },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	known := fmt.Sprintf(`{"agentId":"a-1","options":{"cwd":%q,"apiKey":"api-key-0123456789"}}`, dir)
	unknown := `{"agentId":"a-1","options":{"apiKey":"api-key-0123456789"}}`
	expect(t, recorded(t, record, "GetAgent"), []string{known, unknown})
	for _, method := range []string{"ArchiveAgent", "UnarchiveAgent"} {
		if got := recorded(t, record, method); len(got) != 2 || got[0] == got[1] || (got[0] != known && got[1] != known) {
			t.Errorf("%s got %s", method, got)
		}
	}
	for name, err := range map[string]error{
		"get":       second(c.Agents().Get(ctx, "")),
		"archive":   c.Agents().Archive(ctx, ""),
		"unarchive": c.Agents().Unarchive(ctx, ""),
		"delete":    c.Agents().Delete(ctx, ""),
		"usage":     second(c.Usage(ctx, "", "")),
		"run":       second(c.GetRun(ctx, "", "r")),
	} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s without an id: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestDeletedAgent(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: []fakeStep{message("status", "status", "RUNNING"), {Cancelled: true}, {Result: "CANCELLED"}, {Done: true}}}))
	ctx := testContext(t)
	a := newAgent(t, c)
	run, err := a.Send(ctx, Message{Text: "go"}, SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"the handle": a.Delete(ctx), "the id": c.Agents().Delete(ctx, a.ID())} {
		if !errors.Is(err, ErrAgentBusy) {
			t.Errorf("deleted by %s while it runs: %v", name, err)
		}
	}
	if err := run.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(ctx); err != nil {
		t.Fatal(err)
	}
	for name, use := range everyUse(t, a) {
		if err := use(); !errors.Is(err, ErrAgentNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := a.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	for _, method := range []string{"CloseAgent", "ArchiveAgent", "GetAgent", "ResumeAgent", "ListRuns", "ListAgentMessages", "ListArtifacts"} {
		if got := recorded(t, record, method); len(got) != 0 {
			t.Errorf("%s was called for an agent that was deleted", method)
		}
	}
	if got := recorded(t, record, "DeleteAgent"); len(got) != 1 {
		t.Errorf("DeleteAgent was called %d times", len(got))
	}
}

// everyUse is all that can be done with a handle, but to close it.
func everyUse(t *testing.T, a *Agent) map[string]func() error {
	ctx := testContext(t)
	return map[string]func() error{
		"archive":   func() error { return a.Archive(ctx) },
		"unarchive": func() error { return a.Unarchive(ctx) },
		"delete":    func() error { return a.Delete(ctx) },
		"info":      func() error { return second(a.Info(ctx)) },
		"runs":      func() error { return second(collect(a.Runs(ctx, ListRunsOptions{}), -1)) },
		"messages":  func() error { return second(collect(a.Messages(ctx, ListMessagesOptions{}), -1)) },
		"send":      func() error { return second(a.Send(ctx, Message{Text: "again"}, SendOptions{})) },
		"reload":    func() error { return a.Reload(ctx) },
		"artifacts": func() error { return second(a.Artifacts(ctx)) },
		"artifact":  func() error { return second(a.Artifact(ctx, "p", new(logBuffer))) },
	}
}

// A closed agent takes no work; what its record says can still be read.
func TestClosedAgent(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Answers: answers("GetAgent", `{"agent":{"agentId":"agent-1"}}`)}))
	ctx := testContext(t)
	a := newAgent(t, c)
	for range 2 {
		if err := a.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := recorded(t, record, "CloseAgent"); len(got) != 1 {
		t.Errorf("CloseAgent was called %d times", len(got))
	}
	uses := everyUse(t, a)
	for _, name := range []string{"send", "reload", "artifacts", "artifact"} {
		if err := uses[name](); !errors.Is(err, ErrAgentClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"archive", "unarchive", "info", "runs", "messages", "delete"} {
		if err := uses[name](); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := recorded(t, record, "ResumeAgent"); len(got) != 0 {
		t.Error("a closed agent was resumed")
	}
}

// An agent that the bridge did not let go of can be closed again.
func TestCloseFails(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Fail: &fakeFailure{Method: "CloseAgent", Code: 13, Bare: true}}))
	ctx := testContext(t)
	a := newAgent(t, c)
	for range 2 {
		if err := a.Close(ctx); !errors.Is(err, ErrInternal) {
			t.Errorf("close: %v", err)
		}
	}
	if got := recorded(t, record, "CloseAgent"); len(got) != 2 {
		t.Errorf("CloseAgent was called %d times", len(got))
	}
}
