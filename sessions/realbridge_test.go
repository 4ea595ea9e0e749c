package sessions

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/bridge/local"
	"github.com/liaison-bot/liaison/state"
)

// patience bounds every wait for something real.
const patience = 3 * time.Minute

// address is where a bridge listens, and its token.
type address struct{ url, token string }

// serveBridge runs Liaison's own bridge, with its test model, over a state root
// until the test ends.
func serveBridge(t *testing.T, root string) address {
	t.Helper()
	stderr, w := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		args := []string{"--state-root", root, "--workspace", root, "--test-model"}
		ended <- local.Main(ctx, args, func(string) string { return "" }, w, "test")
		_ = w.Close()
	}()
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if line, ok := strings.CutPrefix(lines.Text(), "cursor-sdk-bridge ready "); ok {
				ready <- line
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("the bridge ended with %d", code)
		}
	})
	var at struct{ URL, AuthTokenFile string }
	select {
	case line := <-ready:
		if err := json.Unmarshal([]byte(line), &at); err != nil {
			t.Fatal(err)
		}
	case code := <-ended:
		ended <- code
		t.Fatalf("the bridge ended at once with %d", code)
	case <-time.After(patience):
		t.Fatal("the bridge does not get ready")
	}
	token, err := os.ReadFile(at.AuthTokenFile)
	if err != nil {
		t.Fatal(err)
	}
	return address{at.URL, strings.TrimSpace(string(token))}
}

// attach returns a client of its own, as each host has.
func (a address) attach(t *testing.T) *bridge.Client {
	t.Helper()
	client, err := bridge.New(bridge.Options{URL: a.url, Token: a.token, APIKey: "any"})
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

// lateHost sends a run as a host does that then dies: nobody follows it.
func lateHost(t *testing.T, client *bridge.Client, dir, prompt string) *bridge.Run {
	t.Helper()
	a, err := client.Agents().Create(t.Context(), bridge.AgentOptions{
		ID: "agt_1", Model: "liaison-echo", Local: &bridge.LocalOptions{Dir: dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := a.Send(t.Context(), bridge.Message{Text: prompt}, bridge.SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// goOn has the next host go on with the turn.
func goOn(t *testing.T, client *bridge.Client, dir string, sent state.Sending, observe func(bridge.Event)) bridge.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := NewBridgeRunner(client, nil).Run(ctx, RunRequest{
		SessionID: "s", TurnID: "t", AgentID: "agt_1", Dir: dir, Prompt: "say again", Model: "liaison-echo",
		Force: true, Sent: &sent, Note: func(context.Context, state.Sending) error { return nil },
	}, observe)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// wantListed checks how the agent's runs ended, the newest first.
func wantListed(t *testing.T, client *bridge.Client, want ...bridge.RunStatus) {
	t.Helper()
	var got []bridge.RunStatus
	for s, err := range client.Runs(t.Context(), "agt_1", bridge.ListRunsOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.Status)
	}
	if len(got) != len(want) {
		t.Fatalf("the bridge has runs %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the bridge has runs %q, want %q", got, want)
		}
	}
}

func TestALiveRunIsAdoptedFromARealBridge(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	at := serveBridge(t, root)
	before := lateHost(t, at.attach(t), dir, "say hello\nwait 1h")
	next := at.attach(t)
	heard := false
	result := goOn(t, next, dir, state.Sending{RunID: before.ID()}, func(ev bridge.Event) {
		if a, ok := ev.Payload.(bridge.Assistant); ok && strings.Contains(a.Text, "hello") && !heard {
			heard = true
			if err := before.Cancel(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	if !heard || result.RunID != before.ID() || result.Status != bridge.RunCancelled {
		t.Errorf("%+v, heard it: %v", result, heard)
	}
	wantListed(t, next, bridge.RunCancelled)
}

func TestAnEndedRunIsAdoptedFromARealBridge(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	at := serveBridge(t, root)
	before := lateHost(t, at.attach(t), dir, "say hello\nusage 3 4")
	if _, err := before.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, next := 0, at.attach(t)
	result := goOn(t, next, dir, state.Sending{}, func(bridge.Event) { events++ })
	if result.RunID != before.ID() || result.Status != bridge.RunFinished || !strings.Contains(result.Text, "hello") || result.Usage.InputTokens != 3 || events == 0 {
		t.Errorf("%+v after %d events", result, events)
	}
	wantListed(t, next, bridge.RunFinished)
}

// What a bridge that was killed leaves says running for ever. Nothing is waited
// for, and what stands in the way is ended once.
func TestARunLeftBehindIsSentAnew(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	before := lateHost(t, serveBridge(t, root).attach(t), dir, "say hello\nwait 1h")
	left := filepath.Join(t.TempDir(), "left")
	if err := os.CopyFS(left, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	after := serveBridge(t, left).attach(t)
	result := goOn(t, after, dir, state.Sending{RunID: before.ID()}, func(bridge.Event) {})
	if result.RunID == before.ID() || result.Status != bridge.RunFinished || !strings.Contains(result.Text, "again") {
		t.Errorf("%+v", result)
	}
	wantListed(t, after, bridge.RunFinished, bridge.RunCancelled)
}
