package bridge

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func deltaFrame(t *testing.T, kind string, data map[string]any) timedFrame {
	t.Helper()
	s, err := structpb.NewStruct(data)
	if err != nil {
		t.Fatal(err)
	}
	return timedFrame{frame: wireFrame(t, &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_InteractionUpdate{
		InteractionUpdate: &sdkv1.InteractionUpdate{Type: kind, Update: s},
	}})}
}

func stepFrame(t *testing.T, kind string, data map[string]any) timedFrame {
	t.Helper()
	s, err := structpb.NewStruct(data)
	if err != nil {
		t.Fatal(err)
	}
	return timedFrame{frame: wireFrame(t, &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Step{
		Step: &sdkv1.ConversationStep{Type: kind, Step: s},
	}})}
}

func TestDeltasAndSteps(t *testing.T) {
	t.Parallel()
	whole := wholeRun(t)
	live := []timedFrame{
		whole[0],
		deltaFrame(t, "text-delta", map[string]any{"text": "on"}),
		deltaFrame(t, "hologram-delta", map[string]any{"x": 1}),
		stepFrame(t, "assistantMessage", map[string]any{"text": "one"}),
	}
	want := []Payload{
		Thinking{Text: "one"},
		Delta{Type: "text-delta", Data: []byte(`{"text":"on"}`)},
		Delta{Type: "hologram-delta", Data: []byte(`{"x":1}`)},
		Step{Type: "assistantMessage", Data: []byte(`{"text":"one"}`)},
	}
	tests := []struct {
		name     string
		live     []timedFrame
		observed []timedFrame
		want     []Payload
	}{
		{"live", append(append([]timedFrame{}, live...), whole[1:]...), nil, append(append([]Payload{}, want...), Thinking{Text: "two"})},
		// A bridge cuts a stream with deltas that is read too slowly. Its record has
		// none, which the gap says.
		{"cut because of a slow reader", append(append([]timedFrame{}, live...), timedFrame{err: answered("resource_exhausted", "")}), whole,
			append(append([]Payload{}, want...), Gap{}, Thinking{Text: "two"})},
		// One that repeats them all the same is not believed before it is up to date.
		{"deltas in the record", append(append([]timedFrame{}, live...), timedFrame{err: errCut}),
			[]timedFrame{deltaFrame(t, "text-delta", map[string]any{"text": "on"}), whole[0], deltaFrame(t, "text-delta", map[string]any{"text": "tw"}), whole[1], whole[2], {}},
			append(append([]Payload{}, want...), Gap{}, Delta{Type: "text-delta", Data: []byte(`{"text":"tw"}`)}, Thinking{Text: "two"})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := &scriptedCalls{ctx: t.Context(), sends: [][]timedFrame{tt.live}}
				if tt.observed != nil {
					calls.observations = [][]timedFrame{tt.observed}
				}
				run := newScriptedRun(calls)
				run.follows.wantsMore = true
				go run.follow(calls.send)
				got, err := received(t, run)
				if err != nil || !reflect.DeepEqual(got, tt.want) {
					t.Errorf("events = %v, %v\nwant %v", got, err, tt.want)
				}
				if result, err := run.Wait(t.Context()); err != nil || result.Status != RunFinished {
					t.Errorf("wait = %+v, %v", result, err)
				}
			})
		})
	}
}

// The end of a run is known whatever a later version calls it.
func TestUnknownStatus(t *testing.T) {
	t.Parallel()
	status := func(word string) timedFrame {
		return timedFrame{frame: sdkMessage(t, "status", map[string]any{"run_id": "r", "status": word, "message": "because"})}
	}
	end := func(status, inner sdkv1.RunLifecycleStatus) timedFrame {
		m := resultEnvelope(status, "")
		m.GetResult().Result.Status = inner
		return timedFrame{frame: wireFrame(t, m)}
	}
	tests := []struct {
		name   string
		frames []timedFrame
		want   RunStatus
	}{
		{"of a later version", []timedFrame{status("RUNNING"), end(99, 99)}, RunUnknown},
		{"in the inner result only", []timedFrame{status("RUNNING"), end(0, 3)}, RunFinished},
		{"in the last status message only", []timedFrame{status("ERROR"), end(0, 0)}, RunError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := &scriptedCalls{ctx: t.Context(), sends: [][]timedFrame{append(tt.frames, timedFrame{})}}
				run := newScriptedRun(calls)
				run.follow(calls.send)
				result, err := run.Wait(t.Context())
				if err != nil || result.Status != tt.want || result.Reason != "because" || result.ErrorCode != "" {
					t.Errorf("result = %+v, %v, want status %q", result, err, tt.want)
				}
			})
		})
	}
}

// The reason of a failure is known though only the record of the run is left, be
// it in the run's messages or in what was said before the stream broke.
func TestReasonSurvives(t *testing.T) {
	t.Parallel()
	failed := timedFrame{frame: sdkMessage(t, "status", map[string]any{"run_id": "r", "status": "ERROR", "message": "the model refused"})}
	first := wholeRun(t)[0]
	broken := timedFrame{err: errCut}
	failure := sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_ERROR
	tests := []struct {
		name     string
		send     []timedFrame
		observed [][]timedFrame
		gets     []answer
	}{
		{"said live", []timedFrame{first, failed, broken}, nil, []answer{{result: Result{Status: RunError}}}},
		{"said in the record", []timedFrame{first, broken},
			[][]timedFrame{{first, failed, {frame: wireFrame(t, resultEnvelope(failure, ""))}, {}}}, nil},
		{"said in the record, whose end is missing", []timedFrame{first, broken},
			[][]timedFrame{{first, failed, broken}}, []answer{{result: Result{Status: RunError}}}},
		{"said in both", []timedFrame{first, failed, broken},
			[][]timedFrame{{first, failed, {frame: wireFrame(t, resultEnvelope(failure, ""))}, {}}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := &scriptedCalls{ctx: t.Context(), sends: [][]timedFrame{tt.send}, observations: tt.observed, gets: tt.gets}
				run := newScriptedRun(calls)
				run.follow(calls.send)
				_, err := run.Text(t.Context())
				if err == nil || !strings.Contains(err.Error(), "the model refused") {
					t.Errorf("text = %v, want the reason", err)
				}
			})
		})
	}
}

// Messages of a megabyte come whole, and once, though their stream is cut.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		large := strings.Repeat("0123456789abcdef", 1<<16)
		b := newRecordBridge(t, 0)
		var record []*sdkv1.RunStreamMessage
		for i, offset := range []string{"1", "2", "3"} {
			record = append(record, sdkEnvelope(t, "thinking", map[string]any{"run_id": "r", "agent_id": "bc-1", "text": large, "n": i}, offset))
		}
		b.record = append(record, b.record...)
		b.each = 2
		b.serveHere(t, Options{}, func(t *testing.T, client *Client) {
			run, err := client.AttachRun(t.Context(), "bc-1", "r")
			if err != nil {
				t.Fatal(err)
			}
			got, err := received(t, run)
			if err != nil || len(got) != 4 {
				t.Fatalf("%d events, %v", len(got), err)
			}
			for _, p := range got[:3] {
				if p != (Thinking{Text: large}) {
					t.Errorf("a large message came as %.80v", p)
				}
			}
		})
	})
}

// Where the record differs from what was sent live the consumer is told, before
// what comes next or before the end, and nothing comes twice.
func TestGapWhereTheRecordDiffers(t *testing.T) {
	t.Parallel()
	thought := func(text string) timedFrame {
		return timedFrame{frame: sdkMessage(t, "thinking", map[string]any{"run_id": "r", "text": text})}
	}
	end := []timedFrame{{frame: wireFrame(t, resultEnvelope(finishedStatus, "text"))}, {}}
	tests := []struct {
		name   string
		record []timedFrame
		want   []Payload
	}{
		{"before the next", []timedFrame{thought("a"), thought("X"), thought("b"), thought("c")}, []Payload{Gap{Events: 1}, Thinking{Text: "c"}}},
		{"before the end", []timedFrame{thought("a"), thought("X"), thought("b")}, []Payload{Gap{Events: 1}}},
		{"not at all", []timedFrame{thought("a"), thought("b"), thought("c")}, []Payload{Thinking{Text: "c"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := &scriptedCalls{
					ctx:          t.Context(),
					sends:        [][]timedFrame{{thought("a"), thought("b"), {err: errCut}}},
					observations: [][]timedFrame{append(tt.record, end...)},
				}
				run := newScriptedRun(calls)
				run.follow(calls.send)
				got, err := received(t, run)
				want := append([]Payload{Thinking{Text: "a"}, Thinking{Text: "b"}}, tt.want...)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("events = %v, %v, want %v", got, err, want)
				}
				if result, err := run.Wait(t.Context()); err != nil || result.Text != "text" {
					t.Errorf("wait = %+v, %v", result, err)
				}
			})
		})
	}
}
