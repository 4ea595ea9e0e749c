package bridge

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// What the fake bridge of the other tests answers is made up; here the calls meet
// a bridge that keeps what it was told.
func TestRecordsOfOurOwnBridge(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	root, dir := t.TempDir(), t.TempDir()
	c := newClient(t, Options{StateRoot: root})
	options := AgentOptions{Name: "reviewer", Model: "liaison-echo", Local: &LocalOptions{Dir: dir}}
	a, err := c.Agents().Create(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	run, err := a.Send(ctx, Message{
		Text: "say Two images, I see.\nshow\nusage 12 3", Images: slices.Repeat([]Image{{Data: []byte("x"), MIMEType: "image/png"}}, 2),
	}, SendOptions{Mode: ModePlan})
	if err != nil {
		t.Fatal(err)
	}
	text, err := run.Text(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "Two images") || !strings.Contains(text, `"images":2`) || !strings.Contains(text, `"plan":true`) {
		t.Errorf("the agent was given %s", text)
	}

	conversation, err := c.Conversation(ctx, run.ID())
	if err != nil || !strings.Contains(string(conversation), "Two images, I see.") {
		t.Errorf("conversation = %s, %v", conversation, err)
	}
	if same, err := run.Conversation(ctx); err != nil || string(same) != string(conversation) {
		t.Errorf("the run's own conversation = %s, %v", same, err)
	}
	messages, err := collect(a.Messages(ctx, ListMessagesOptions{PageSize: 1}), -1)
	if err != nil || len(messages) < 2 || messages[0].Type != "user" || messages[0].AgentID != a.ID() || !json.Valid(messages[1].Message) {
		t.Errorf("messages = %+v, %v", messages, err)
	}
	used, err := c.Usage(ctx, a.ID(), run.ID())
	if err != nil || used.Usage.InputTokens != 12 || used.Usage.OutputTokens != 3 {
		t.Errorf("usage = %+v, %v", used, err)
	}
	runs, err := collect(a.Runs(ctx, ListRunsOptions{}), -1)
	if err != nil || len(runs) != 1 || runs[0].ID != run.ID() || runs[0].Status != RunFinished || runs[0].Created.IsZero() {
		t.Errorf("runs = %+v, %v", runs, err)
	}
	one, err := c.GetRun(ctx, a.ID(), run.ID())
	if err != nil || one.Text != text || one.Model != "liaison-echo" {
		t.Errorf("run = %+v, %v", one, err)
	}
	info, err := a.Info(ctx)
	if err != nil || info.Name != "reviewer" || info.Dir != dir || info.Created.IsZero() {
		t.Errorf("info = %+v, %v", info, err)
	}

	if err := a.Archive(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Send(ctx, Message{Text: "say x"}, SendOptions{}); !errors.Is(err, ErrAgentArchived) {
		t.Errorf("a message to an archived agent: %v", err)
	}
	listed := func(archived bool) int {
		t.Helper()
		all, err := collect(c.Agents().List(ctx, ListAgentsOptions{Dir: dir, IncludeArchived: archived}), -1)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if without, with := listed(false), listed(true); without != 0 || with != 1 {
		t.Errorf("%d agents listed, %d with archived ones", without, with)
	}
	if err := a.Unarchive(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Reload(ctx); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"artifacts": second(a.Artifacts(ctx)),
		"artifact":  second(a.Artifact(ctx, "a", new(logBuffer))),
		"cloud":     second(c.Agents().Create(ctx, AgentOptions{Model: "liaison-echo", Cloud: &CloudOptions{}})),
	} {
		if !errors.Is(err, ErrFeatureUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if me, err := c.Catalog().Me(ctx); err != nil || me.APIKeyName == "" {
		t.Errorf("me = %+v, %v", me, err)
	}
	if all, err := c.Catalog().Repositories(ctx); err != nil || len(all) != 0 {
		t.Errorf("repositories = %v, %v", all, err)
	}

	// Another program, later.
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	later := newClient(t, Options{StateRoot: root})
	if _, err := later.Agents().Resume(ctx, a.ID(), options); err != nil {
		t.Fatal(err)
	}
	if again, err := later.Conversation(ctx, run.ID()); err != nil || string(again) != string(conversation) {
		t.Errorf("the conversation is now %s, %v", again, err)
	}
	if err := later.Agents().Delete(ctx, a.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := later.Agents().Get(ctx, a.ID()); !errors.Is(err, ErrAgentNotFound) {
		t.Errorf("a deleted agent: %v", err)
	}
}
