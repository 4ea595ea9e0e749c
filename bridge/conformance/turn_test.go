package conformance

import (
	"errors"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge"
)

func turnBoxes() []box {
	return []box{
		{"turn: events arrive, the result is final, the text is the answer", aModel, oneTurn},
		{"turn: one prompt in one call", aModel, onePrompt},
		{"turn: events can be read bit by bit, or not at all", aModel, incrementalOrNot},
		{"turn: every event names its agent and its run", aModel, eventsAreNamed},
		{"turn: the agent remembers what was said", aModel, followUp},
		{"turn: silence of more than fifteen seconds breaks nothing", theScript, silence},
		{"turn: deltas and steps come when they are asked for, and only then", theScript, deltasAndSteps},
		{"turn: a cancelled run ends as cancelled", theScript, cancelled},
		{"turn: a failed run says why", theScript, failedRun},
		{"turn: the tokens that a run used are in its result", theScript, tokens},
		{"turn: a second message while a run is under way is refused as busy", theScript, busy},
		{"turn: runs that read a large message and give a large answer", theScript, large},
		{"turn: an unknown model is refused as such", anAccount, unknownModel},
	}
}

func oneTurn(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	run := send(t, agent, to.say("gopher"), bridge.SendOptions{})
	var text strings.Builder
	for e, err := range run.Events(testContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if said, ok := e.Payload.(bridge.Assistant); ok {
			text.WriteString(said.Text)
		}
	}
	result := finish(t, run)
	if !strings.Contains(result.Text, "gopher") || !strings.Contains(text.String(), "gopher") {
		t.Errorf("said %q, with the result %q", text.String(), result.Text)
	}
	if result.RunID != run.ID() || result.AgentID != agent.ID() || result.RunID == "" {
		t.Errorf("the result names run %q of agent %q", result.RunID, result.AgentID)
	}
}

func onePrompt(t *testing.T, to target) {
	dir := t.TempDir()
	result, err := bridge.Prompt(testContext(t), to.say("gopher"), bridge.PromptOptions{
		Bridge: to.options(t.TempDir()),
		Agent:  bridge.AgentOptions{Model: to.model, Local: &bridge.LocalOptions{Dir: dir}},
	})
	if err != nil || !strings.Contains(result.Text, "gopher") {
		t.Errorf("got %+v, %v", result, err)
	}
}

func incrementalOrNot(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	finish(t, send(t, agent, to.say("unread"), bridge.SendOptions{}))

	run := send(t, agent, to.say("read later"), bridge.SendOptions{})
	finish(t, run)
	read := 0
	for _, err := range run.Events(testContext(t)) { // one event, then the rest
		if err != nil {
			t.Fatal(err)
		}
		read++
		break
	}
	for _, err := range run.Events(testContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		read++
	}
	if read < 2 {
		t.Errorf("%d events could be read after the end", read)
	}
}

func eventsAreNamed(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	run := send(t, agent, to.say("named"), bridge.SendOptions{})
	for e, err := range run.Events(testContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.RunID != run.ID() || e.AgentID != agent.ID() {
			t.Errorf("an event of type %T names run %q of agent %q", e.Payload, e.RunID, e.AgentID)
		}
	}
}

func followUp(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	first, second := "Remember the word quokka. Answer with OK.", "Which word did I ask you to remember? Answer with it alone."
	if to.scripted {
		first, second = "remember quokka", "recall"
	}
	finish(t, send(t, agent, first, bridge.SendOptions{}))
	if result := finish(t, send(t, agent, second, bridge.SendOptions{})); !strings.Contains(result.Text, "quokka") {
		t.Errorf("the agent said %q", result.Text)
	}
}

func silence(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	result := finish(t, send(t, agent, "wait 17s\nsay still here", bridge.SendOptions{}))
	if !strings.Contains(result.Text, "still here") {
		t.Errorf("the agent said %q", result.Text)
	}
}

func deltasAndSteps(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	for _, asked := range []bool{false, true} {
		run := send(t, agent, "think hm\nsay one two three", bridge.SendOptions{Deltas: asked, Steps: asked})
		var deltas, steps int
		for e, err := range run.Events(testContext(t)) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Payload.(type) {
			case bridge.Delta:
				deltas++
			case bridge.Step:
				steps++
			}
		}
		if (deltas > 0) != asked || (steps > 0) != asked {
			t.Errorf("asked for: %v; %d deltas and %d steps came", asked, deltas, steps)
		}
	}
}

func cancelled(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	run := send(t, agent, "wait 1h", bridge.SendOptions{})
	if err := run.Cancel(testContext(t)); err != nil {
		t.Fatal(err)
	}
	result, err := run.Wait(testContext(t))
	if err != nil || result.Status != bridge.RunCancelled {
		t.Errorf("ended as %+v, %v", result, err)
	}
	if err := run.Cancel(testContext(t)); err != nil {
		t.Errorf("cancelling once more: %v", err)
	}
	finish(t, send(t, agent, "say free again", bridge.SendOptions{}))
}

func failedRun(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	run := send(t, agent, "fail the disk is on fire", bridge.SendOptions{})
	_, err := run.Text(testContext(t))
	var failed *bridge.RunFailedError
	if !errors.As(err, &failed) || failed.Result.Status != bridge.RunError || failed.Result.Reason != "the disk is on fire" {
		t.Errorf("got %v", err)
	}
}

func tokens(t *testing.T, to target) {
	client := to.client(t, nil)
	agent := to.agent(t, client, nil)
	result := finish(t, send(t, agent, "usage 120 30", bridge.SendOptions{}))
	if u := result.Usage; u.InputTokens != 120 || u.OutputTokens != 30 || u.TotalTokens != 150 {
		t.Errorf("the result says %+v", u)
	}
	used, err := client.Usage(testContext(t), agent.ID(), "")
	if err != nil || used.Usage.TotalTokens != 150 {
		t.Errorf("the agent used %+v, %v", used, err)
	}
}

func busy(t *testing.T, to target) {
	client := to.client(t, nil)
	dir := t.TempDir()
	agent := to.agent(t, client, func(o *bridge.AgentOptions) { o.Local.Dir = dir })
	run := send(t, agent, "wait 1h", bridge.SendOptions{})
	_, err := agent.Send(testContext(t), bridge.Message{Text: "say me first"}, bridge.SendOptions{})
	if !errors.Is(err, bridge.ErrAgentBusy) {
		t.Errorf("a second message: %v", err)
	}
	if err := run.Cancel(testContext(t)); err != nil {
		t.Error(err)
	}
	if _, err := run.Wait(testContext(t)); err != nil {
		t.Error(err)
	}
}

func large(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), nil)
	result := finish(t, send(t, agent, "fill 500000\nthink "+strings.Repeat("y", 500_000), bridge.SendOptions{}))
	if n := strings.Count(result.Text, "x"); n != 500_000 {
		t.Errorf("the answer has %d of 500000 characters", n)
	}
}

func unknownModel(t *testing.T, to target) {
	_, err := to.client(t, nil).Agents().Create(testContext(t), bridge.AgentOptions{
		Model: "no-such-model-anywhere", Local: &bridge.LocalOptions{Dir: t.TempDir()},
	})
	if err == nil || !errors.Is(err, bridge.ErrInvalidModel) {
		t.Errorf("got %v", err)
	}
}
