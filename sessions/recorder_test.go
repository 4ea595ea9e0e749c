package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// line is an event as a reader sees it.
func (h *house) lines(key string) []string {
	h.t.Helper()
	var out []string
	for _, ev := range h.events(key) {
		if ev.Commit == 0 && !isStep(ev) { // what the run brought
			out = append(out, ev.Type+" "+string(ev.Data))
		}
	}
	return out
}

// record runs one turn whose agent brings these events, and returns what they
// became on record.
func record(t *testing.T, bring func(observe func(bridge.Payload))) (lines []string) {
	t.Helper()
	inHouse(t, func(h *house) {
		h.runner.run = func(_ context.Context, _ RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			bring(func(p bridge.Payload) { observe(bridge.Event{Payload: p}) })
			return bridge.Result{Status: bridge.RunFinished, Text: "ok"}, nil
		}
		h.send(push("a", "", 1))
		h.wait(time.Hour)
		lines = h.lines("k")
	})
	return lines
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the record says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRecordOfARun(t *testing.T) {
	got := record(t, func(bring func(bridge.Payload)) {
		bring(bridge.Status{Status: bridge.RunRunning})
		bring(bridge.System{Model: "m"})
		bring(bridge.Thinking{Text: "let me "})
		bring(bridge.Thinking{Text: "see "})
		bring(bridge.Thinking{Duration: 1500 * time.Millisecond})
		bring(bridge.ToolCall{CallID: "1", Name: "read", Status: bridge.ToolRunning, Args: json.RawMessage(`{"path":"pr/README.md"}`)})
		bring(bridge.ToolCall{CallID: "1", Name: "read", Status: bridge.ToolRunning})
		bring(bridge.ToolCall{CallID: "1", Name: "read", Status: bridge.ToolCompleted, Result: json.RawMessage(`{"lines":3}`)})
		bring(bridge.ToolCall{CallID: "2", Name: "grep", Status: bridge.ToolError, Result: json.RawMessage(`"no such file"`)})
		bring(bridge.Assistant{Text: "All "})
		bring(bridge.Assistant{Text: "is well."})
		bring(bridge.Unknown{Type: "novelty"})
		bring(bridge.Assistant{ToolUses: []bridge.ToolUse{{ID: "3", Name: "ls", Input: json.RawMessage(`{}`)}}})
	})
	wantLines(t, got,
		`reasoning.appended {"text":"let me see "}`,
		`reasoning.completed {"text":"let me see ","durationMs":1500}`,
		`actions.requested {"actions":[{"callId":"1","name":"read","args":{"path":"pr/README.md"}}]}`,
		`action.result {"callId":"1","name":"read","result":{"lines":3}}`,
		`actions.requested {"actions":[{"callId":"2","name":"grep"}]}`,
		`action.result {"callId":"2","name":"grep","isError":true,"result":"no such file"}`,
		`actions.requested {"actions":[{"callId":"3","name":"ls","args":{}}]}`,
		`message.appended {"text":"All is well."}`,
		`message.completed {"text":"All is well."}`,
		`action.result {"callId":"3","isError":true,"error":"the run ended before the action did"}`,
	)
}

func TestFastModelDoesNotFloodTheRecord(t *testing.T) {
	const fragments = 20_000
	got := record(t, func(bring func(bridge.Payload)) {
		for i := range fragments {
			bring(bridge.Assistant{Text: fmt.Sprintf("word%d ", i%10)})
			if i%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	})
	if n := len(got); n < 5 || n > 100 {
		t.Errorf("%d fragments became %d events", fragments, n)
	}
	var text strings.Builder
	for _, line := range got[:len(got)-1] {
		var data textAppended
		if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "message.appended ")), &data); err != nil {
			t.Fatal(err)
		}
		text.WriteString(data.Text)
	}
	if text.Len() != 6*fragments {
		t.Errorf("%d bytes of text came through, want %d", text.Len(), 6*fragments)
	}
}

func TestSlowModelIsSeenWhileItWrites(t *testing.T) {
	inHouse(t, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			observe(bridge.Event{Payload: bridge.Assistant{Text: "thinking aloud "}})
			return think(ctx, r, time.Minute)
		}
		h.send(push("a", "", 1))
		h.wait(time.Second)
		wantLines(t, h.lines("k"), `message.appended {"text":"thinking aloud "}`)
	})
}

func TestEndlessMessageIsBounded(t *testing.T) {
	got := record(t, func(bring func(bridge.Payload)) {
		for range 400 {
			bring(bridge.Assistant{Text: strings.Repeat("é ", 1000)})
		}
	})
	total := 0
	for _, line := range got {
		total += len(line)
	}
	if last := got[len(got)-1]; total > 3*maxMessageText || !strings.Contains(last, "(cut)") {
		t.Errorf("%d bytes on record, which end in %.40q", total, last[len(last)-40:])
	}
}

func TestLargeActionDataIsBounded(t *testing.T) {
	huge, _ := json.Marshal(map[string]string{"content": strings.Repeat("x", 1<<20)})
	got := record(t, func(bring func(bridge.Payload)) {
		bring(bridge.ToolCall{CallID: "1", Name: "read", Status: bridge.ToolCompleted, Args: huge, Result: huge})
	})
	for _, line := range got {
		if len(line) > 2*maxActionData || !strings.Contains(line, `"truncated":true`) || !strings.Contains(line, "(cut)") {
			t.Errorf("%d bytes: %.60s", len(line), line)
		}
	}
}

func TestNoSecretReachesTheRecord(t *testing.T) {
	half := len(secret) / 2
	raw := json.RawMessage(`{"` + secret + `":["` + secret + `",{"deep":"x` + secret + `y"}],"n":1.50}`)
	got := record(t, func(bring func(bridge.Payload)) {
		bring(bridge.Thinking{Text: "the key is " + secret[:half]})
		time.Sleep(time.Second) // long enough to let text go
		bring(bridge.Thinking{Text: secret[half:] + " I think"})
		bring(bridge.Assistant{Text: "your key: " + secret[:3]})
		time.Sleep(time.Second)
		bring(bridge.Assistant{Text: secret[3:]})
		bring(bridge.ToolCall{CallID: "1", Name: "read", Status: bridge.ToolCompleted, Args: raw, Result: json.RawMessage(`broken ` + secret)})
		bring(bridge.Task{Status: "running", Text: secret})
	})
	wantLines(t, got,
		`reasoning.appended {"text":"the key is "}`,
		`reasoning.appended {"text":"[redacted] I think"}`,
		`reasoning.completed {"text":"the key is [redacted] I think"}`,
		`message.appended {"text":"your key: "}`,
		`message.appended {"text":"[redacted]"}`,
		`message.completed {"text":"your key: [redacted]"}`,
		`actions.requested {"actions":[{"callId":"1","name":"read","args":{"[redacted]":["[redacted]",{"deep":"x[redacted]y"}],"n":1.50}}]}`,
		`action.result {"callId":"1","name":"read","result":"broken [redacted]"}`,
		`subagent.called {"status":"running","text":"[redacted]"}`,
	)
}

func TestEvidenceIsAStep(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.prepare = func(ctx context.Context, _ Turn, _ string) (Brief, error) {
			select {
			case <-time.After(1500 * time.Millisecond):
			case <-ctx.Done():
			}
			return Brief{Prompt: "review", Note: "4 files; key " + secret}, nil
		}
		h.send(push("a", "", 1))
		h.wait(time.Hour)
		var got []string
		for _, ev := range h.events("k") {
			if isStep(ev) {
				got = append(got, ev.Type+" "+string(ev.Data))
			}
		}
		wantLines(t, got,
			`step.started {"step":"evidence"}`,
			`step.completed {"step":"evidence","note":"4 files; key [redacted]","durationMs":1500}`)
	})
}

func TestNothingIsRecordedAfterTheInterruption(t *testing.T) {
	inHouse(t, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			if r.Prompt != "review a" {
				return think(ctx, r, time.Second)
			}
			observe(bridge.Event{Payload: bridge.Assistant{Text: "half a "}})
			<-ctx.Done()
			observe(bridge.Event{Payload: bridge.Assistant{Text: "word"}})
			return bridge.Result{Status: bridge.RunCancelled}, nil
		}
		h.send(push("a", "", 1))
		h.wait(100 * time.Millisecond)
		h.send(push("b", "a", 2))
		h.wait(3 * time.Second)
		wantLines(t, h.lines("k"), `message.appended {"text":"half a "}`, `message.completed {"text":"half a "}`)
	})
}

// fullDisk is a log that takes decided events only.
type fullDisk struct{ state.EventLog }

func (d fullDisk) Append(ctx context.Context, id string, sync bool, events ...state.Event) error {
	if len(events) > 0 && events[0].Commit == 0 {
		return errors.New("no space left on device")
	}
	return d.EventLog.Append(ctx, id, sync, events...)
}

func TestFullDiskCostsTheRecordNotTheReview(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.Log = fullDisk{o.Log} }, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			for range 100 {
				observe(bridge.Event{Payload: bridge.Task{Status: "running", Text: "x"}})
			}
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.wait(3 * time.Second)
		h.wantTurns("k", "a:completed")
		if n := strings.Count(h.logs.String(), "no space left"); n != 1 {
			t.Errorf("%d lines of log about it", n)
		}
	})
}
