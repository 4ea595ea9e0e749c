package conformance

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
)

// patience is far above what any box needs; only a hang reaches it.
const patience = 5 * time.Minute

// target is a bridge that the boxes are run against.
type target struct {
	executable string
	args       []string
	env        []string
	key        string
	// model takes part in turns; empty when there is none to be had.
	model string
	// scripted says that the model does what the lines of a message say.
	scripted bool
}

// own is Liaison's bridge with its test model, played by the test binary.
func own(t *testing.T) target {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return target{
		executable: self, args: []string{"--test-model"}, env: []string{bridgeVariable + "=1"},
		key: "any-key-will-do", model: "liaison-echo", scripted: true,
	}
}

// vendors is the bridge that the environment names. Without a key nothing that
// needs an account is run against it.
func vendors(t *testing.T) target {
	t.Helper()
	executable := os.Getenv("CURSOR_SDK_BRIDGE_BIN")
	if executable == "" {
		t.Skip("CURSOR_SDK_BRIDGE_BIN names no bridge")
	}
	to := target{executable: executable, key: os.Getenv("CURSOR_API_KEY")}
	if to.key == "" {
		return to
	}
	to.env = []string{"CURSOR_API_KEY=" + to.key}
	client := to.client(t, nil)
	models, err := client.Models(testContext(t))
	if err != nil || len(models) == 0 {
		t.Fatalf("CURSOR_API_KEY is set, but no model can be had: %v, %v", models, err)
	}
	to.model = models[0].ID
	return to
}

func (to target) options(dir string) bridge.Options {
	return bridge.Options{
		Executable: to.executable, Args: to.args, Env: to.env, StateRoot: dir, APIKey: to.key,
		StartTimeout: patience, CallTimeout: patience,
	}
}

// client starts a bridge of its own and closes it with the test.
func (to target) client(t *testing.T, change func(*bridge.Options)) *bridge.Client {
	t.Helper()
	o := to.options(t.TempDir())
	if change != nil {
		change(&o)
	}
	client, err := bridge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return client
}

// agent makes an agent with the target's model in a directory of its own.
func (to target) agent(t *testing.T, client *bridge.Client, change func(*bridge.AgentOptions)) *bridge.Agent {
	t.Helper()
	o := bridge.AgentOptions{Model: to.model, Local: &bridge.LocalOptions{Dir: t.TempDir()}}
	if change != nil {
		change(&o)
	}
	agent, err := client.Agents().Create(testContext(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// send starts a run.
func send(t *testing.T, agent *bridge.Agent, text string, o bridge.SendOptions) *bridge.Run {
	t.Helper()
	run, err := agent.Send(testContext(t), bridge.Message{Text: text}, o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// finish waits for a run that shall end well.
func finish(t *testing.T, run *bridge.Run) bridge.Result {
	t.Helper()
	result, err := run.Wait(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != bridge.RunFinished {
		t.Fatalf("the run ended as %s: %s %s", result.Status, result.ErrorCode, result.Reason)
	}
	return result
}

// say is a message that asks any model for one short text.
func (to target) say(text string) string {
	if to.scripted {
		return "say " + text
	}
	return "Answer with exactly this text and nothing else: " + text
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
