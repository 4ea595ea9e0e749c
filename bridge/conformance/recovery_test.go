package conformance

import (
	"errors"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge"
)

func recoveryBoxes() []box {
	return []box{
		{"recovery: a run that has ended can be observed from its start, and from an offset", aModel, observeEnded},
		{"recovery: a live run can be followed by another client", theScript, followElsewhere},
		{"recovery: an agent can be resumed by the next bridge", aModel, resumed},
		{"recovery: an agent that nobody knows is not found", nothing, unknownAgent},
		{"recovery: a run that a killed bridge left is expired by force", theScript, forced},
	}
}

func observeEnded(t *testing.T, to target) {
	client := to.client(t, nil)
	agent := to.agent(t, client, nil)
	run := send(t, agent, to.say("again"), bridge.SendOptions{})
	finish(t, run)
	var offsets []string
	for e, err := range client.Observe(testContext(t), run.ID(), "") {
		if err != nil {
			t.Fatal(err)
		}
		offsets = append(offsets, e.Offset)
	}
	if len(offsets) < 2 {
		t.Fatalf("%d events were replayed", len(offsets))
	}
	rest := 0
	for e, err := range client.Observe(testContext(t), run.ID(), offsets[0]) {
		if err != nil {
			t.Fatal(err)
		}
		rest++
		if e.Offset == offsets[0] {
			t.Error("an offset is exclusive, yet its event came again")
		}
	}
	if rest != len(offsets)-1 {
		t.Errorf("%d events follow the first of %d", rest, len(offsets))
	}
}

func followElsewhere(t *testing.T, to target) {
	raw := startRaw(t, to)
	ctx := testContext(t)
	attach := func() *bridge.Client {
		client, err := bridge.New(bridge.Options{URL: raw.url, Token: raw.token, APIKey: to.key})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close(ctx) })
		return client
	}
	agent := to.agent(t, attach(), nil)
	run := send(t, agent, "say before\nwait 1h", bridge.SendOptions{})
	other := attach()
	followed, err := other.AttachRun(ctx, agent.ID(), run.ID())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for e, err := range followed.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if said, ok := e.Payload.(bridge.Assistant); ok {
			text.WriteString(said.Text)
			// Not before: the run would end with nothing said.
			if err := other.CancelRun(ctx, agent.ID(), run.ID()); err != nil {
				t.Error(err)
			}
		}
	}
	for _, r := range []*bridge.Run{run, followed} {
		if result, err := r.Wait(ctx); err != nil || result.Status != bridge.RunCancelled {
			t.Errorf("ended as %+v, %v", result, err)
		}
	}
	if !strings.Contains(text.String(), "before") {
		t.Errorf("the other client saw %q", text.String())
	}
}

func resumed(t *testing.T, to target) {
	root, dir := t.TempDir(), t.TempDir()
	ctx := testContext(t)
	options := bridge.AgentOptions{Model: to.model, Local: &bridge.LocalOptions{Dir: dir}}
	first, err := bridge.New(to.options(root))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := first.Agents().Create(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	earlier := send(t, agent, to.say("once"), bridge.SendOptions{})
	finish(t, earlier)
	if err := first.Close(ctx); err != nil {
		t.Fatal(err)
	}

	second := to.client(t, func(o *bridge.Options) { o.StateRoot = root })
	again, err := second.Agents().Resume(ctx, agent.ID(), options)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, send(t, again, to.say("twice"), bridge.SendOptions{}))
	found := false
	for run, err := range again.Runs(ctx, bridge.ListRunsOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		found = found || run.ID == earlier.ID()
	}
	if !found {
		t.Errorf("run %s of the earlier bridge is not listed", earlier.ID())
	}
}

func unknownAgent(t *testing.T, to target) {
	_, err := to.client(t, nil).Agents().Resume(testContext(t), "agent-that-nobody-made", bridge.AgentOptions{
		Model: "any", Local: &bridge.LocalOptions{Dir: t.TempDir()},
	})
	if err == nil {
		t.Error("an agent that nobody made was resumed")
	}
	if to.key != "" && to.scripted && !errors.Is(err, bridge.ErrNotFound) && !errors.Is(err, bridge.ErrInvalidModel) {
		t.Errorf("got %v", err)
	}
}

func forced(t *testing.T, to target) {
	root := t.TempDir()
	client := to.client(t, func(o *bridge.Options) { o.StateRoot = root })
	ctx := testContext(t)
	agent := to.agent(t, client, nil)
	run := send(t, agent, "wait 1h", bridge.SendOptions{})
	killBridge(t, client, root)
	var died *bridge.ProcessError
	if _, err := run.Wait(ctx); !errors.As(err, &died) {
		t.Fatalf("the run of a killed bridge ended with %v", err)
	}
	if _, err := agent.Send(ctx, bridge.Message{Text: "say hello"}, bridge.SendOptions{}); err == nil {
		t.Error("the run that was left behind stands in nobody's way")
	}
	finish(t, send(t, agent, "say hello", bridge.SendOptions{Force: true}))
	left, err := client.GetRun(ctx, agent.ID(), run.ID())
	if err != nil || left.Status != bridge.RunExpired {
		t.Errorf("the run that was left behind is %+v, %v", left, err)
	}
}
