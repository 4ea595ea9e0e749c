package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// askFor turns deltas and steps on.
func askFor(deltas, steps bool) func(*sdkv1.SendRequest) {
	return func(r *sdkv1.SendRequest) {
		r.Options = &sdkv1.SendOptions{EnableDeltas: deltas, EnableSteps: steps}
	}
}

// shown writes each message of a stream as a short line, deltas and steps with
// their content.
func shown(messages []*sdkv1.RunStreamMessage) []string {
	var out []string
	for _, m := range messages {
		switch e := m.GetEnvelope().(type) {
		case *sdkv1.RunStreamMessage_InteractionUpdate:
			f := e.InteractionUpdate.GetUpdate().GetFields()
			line := "~" + f["type"].GetStringValue()
			if text := f["text"].GetStringValue(); text != "" {
				line += " " + text
			}
			if id := f["callId"].GetStringValue(); id != "" {
				line += " " + id
			}
			out = append(out, line)
		case *sdkv1.RunStreamMessage_Step:
			f := e.Step.GetStep().GetFields()
			message := f["message"].GetStructValue().GetFields()
			out = append(out, strings.TrimSpace("="+f["type"].GetStringValue()+" "+message["text"].GetStringValue()+message["callId"].GetStringValue()))
		case *sdkv1.RunStreamMessage_SdkMessage:
			line := e.SdkMessage.GetType()
			if text := assistantText(e.SdkMessage); text != "" {
				line += " " + text
			}
			out = append(out, line)
		case *sdkv1.RunStreamMessage_Result:
			out = append(out, "result")
		case *sdkv1.RunStreamMessage_Done:
			out = append(out, "done")
		}
	}
	return out
}

// busy does one of everything that an engine can report.
func busy() scripted {
	return scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		emit(delta{deltaThinking, map[string]any{"text": "h"}})
		emit(delta{deltaThinking, map[string]any{"text": "m"}})
		emit(thought{Text: "hm"})
		emit(thought{Took: time.Second})
		emit(toolStart{CallID: "c1", Name: "read", Args: map[string]any{"path": "a"}})
		emit(toolEnd{CallID: "c1", Name: "read", Args: map[string]any{"path": "a"}, Result: map[string]any{"status": "success"}})
		emit(said{Text: "one "}) // nothing was told of it before
		emit(delta{deltaText, map[string]any{"text": "two"}})
		emit(said{Text: "two"})
		return answer{Text: "one two", Usage: usage{Input: 1, Output: 2}}, nil
	}}
}

// merged puts neighbours of one type of text together: how many there are
// depends on how fast the reader is.
func merged(lines []string) []string {
	var out []string
	for _, line := range lines {
		kind, text, ok := strings.Cut(line, " ")
		if n := len(out); ok && n > 0 && (kind == "~"+deltaText || kind == "~"+deltaThinking) && strings.HasPrefix(out[n-1], kind+" ") {
			out[n-1] += text
			continue
		}
		out = append(out, line)
	}
	return out
}

func TestDeltasAndStepsComeWhereTheyBelong(t *testing.T) {
	t.Parallel()
	whole := []string{"status", "system", "~thinking-delta hm", "thinking", "~thinking-completed", "thinking", "=thinkingMessage hm",
		"~tool-call-started c1", "tool_call", "~tool-call-completed c1", "tool_call", "=toolCall c1",
		"~text-delta one ", "assistant one ", "~text-delta two", "assistant two", "~turn-ended", "=assistantMessage one two",
		"usage", "status", "result", "done"}
	without := func(prefixes ...string) []string {
		return slices.DeleteFunc(slices.Clone(whole), func(line string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(line, p) })
		})
	}
	tests := []struct {
		deltas, steps bool
		want          []string
	}{
		{true, true, whole}, {true, false, without("=")}, {false, true, without("~")}, {false, false, without("~", "=")},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("deltas %v steps %v", tt.deltas, tt.steps), func(t *testing.T) {
			t.Parallel()
			b := startBridge(t, t.TempDir(), busy())
			live := rest(t, b.send(b.createAgent(), "go", askFor(tt.deltas, tt.steps)))
			if got := merged(shown(live)); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			for _, m := range live {
				if m.GetSdkMessage() == nil && m.Offset != nil {
					t.Errorf("%v has an offset", m)
				}
			}
			replay := shown(rest(t, b.observe(result(t, live).GetRunId(), nil)))
			if slices.ContainsFunc(replay, func(line string) bool { return line[0] == '~' || line[0] == '=' }) {
				t.Errorf("ObserveRun replays %q", replay)
			}
		})
	}
}

func TestOffsetsAreTheSameWithDeltas(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), busy())
	agent := b.createAgent()
	offsets := func(deltas bool) (out []string) {
		for _, m := range rest(t, b.send(agent, "go", askFor(deltas, deltas))) {
			if m.Offset != nil {
				out = append(out, m.GetOffset())
			}
		}
		return out
	}
	if with, without := offsets(true), offsets(false); !slices.Equal(with, without) {
		t.Errorf("got %q with deltas and %q without", with, without)
	}
}

// A reader that does not read must not cost memory, and is told what it missed.
func TestDeltasThatNobodyReadsAreDropped(t *testing.T) {
	t.Parallel()
	f := newDeltaFeed()
	const pieces = 1000
	piece := strings.Repeat("x", deltaPiece)
	for i := range pieces {
		f.report(i, delta{deltaText, map[string]any{"text": piece}})
		if f.bytes > maxDeltaBytes || len(f.waiting) > maxDeltas {
			t.Fatalf("%d bytes wait in %d pieces", f.bytes, len(f.waiting))
		}
	}
	got := f.take(pieces)
	if got[0].kind != deltaDropped {
		t.Fatalf("the first is %v", got[0].kind)
	}
	m, err := got[0].proto()
	if err != nil {
		t.Fatal(err)
	}
	dropped := int(m.GetInteractionUpdate().GetUpdate().GetFields()["count"].GetNumberValue())
	if dropped == 0 || dropped+len(got)-1 != pieces {
		t.Errorf("%d dropped and %d delivered are not %d", dropped, len(got)-1, pieces)
	}
	if len(f.take(pieces)) != 0 || f.bytes != 0 {
		t.Errorf("%d bytes are left", f.bytes)
	}
}

func TestFragmentsThatWaitArePutTogether(t *testing.T) {
	t.Parallel()
	f := newDeltaFeed()
	for range 100 {
		f.report(3, delta{deltaText, map[string]any{"text": "ab"}})
	}
	f.report(4, delta{deltaText, map[string]any{"text": "later"}})
	if got := f.take(4); len(got) != 1 || got[0].text != strings.Repeat("ab", 100) {
		t.Errorf("got %d pieces", len(got))
	}
	if got := f.take(5); len(got) != 1 || got[0].text != "later" {
		t.Errorf("got %v", got)
	}
}

func TestAClosedFeedKeepsNothing(t *testing.T) {
	t.Parallel()
	f := newDeltaFeed()
	f.report(1, said{Text: "x"})
	f.close()
	f.report(1, said{Text: "y"})
	if got := f.take(9); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestUpdatesThatAreNotUTF8AreRepaired(t *testing.T) {
	t.Parallel()
	f := newDeltaFeed()
	for _, part := range []string{"\xe4\xb8", "\x96"} { // one character in two fragments
		f.report(1, delta{deltaText, map[string]any{"text": part}})
	}
	f.report(1, delta{"odd", map[string]any{"x": "\xff"}})
	got := f.take(2)
	want := []string{"世", "\uFFFD"}
	for i, u := range got {
		m, err := u.proto()
		if err != nil {
			t.Fatal(err)
		}
		fields := m.GetInteractionUpdate().GetUpdate().GetFields()
		if text := fields["text"].GetStringValue() + fields["x"].GetStringValue(); text != want[i] {
			t.Errorf("got %q, want %q", text, want[i])
		}
	}
}
