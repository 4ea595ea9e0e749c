package bridge

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// recordBridge is a bridge with one run, "r", whose record ObserveRun streams by
// the offsets 1, 2, … and which no Send has started here.
type recordBridge struct {
	*fakeBridge
	record []*sdkv1.RunStreamMessage
	// pace is how long each message takes to come.
	pace time.Duration
	// each is how many messages a stream brings before it breaks; 0 means all.
	each   int
	refuse error // of ObserveRun
	// leftBehind is what ObserveRun ends with after the record.
	leftBehind error
	ended      atomic.Bool // what GetRun says

	mu       sync.Mutex
	observed []string // the offsets that were asked for
}

func (b *recordBridge) ObserveRun(ctx context.Context, r *connect.Request[sdkv1.ObserveRunRequest], out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	b.mu.Lock()
	b.observed = append(b.observed, r.Msg.GetAfterOffset())
	b.mu.Unlock()
	if b.refuse != nil {
		return b.refuse
	}
	after := 0
	if o := r.Msg.GetAfterOffset(); o != "" {
		n, err := strconv.Atoi(o)
		if err != nil || n < 1 || n > len(b.record) {
			return fakeRefusal(connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNSPECIFIED, "no such offset")
		}
		after = n
	}
	for i := after; i < len(b.record); i++ {
		if b.each > 0 && i == after+b.each {
			return connect.NewError(connect.CodeUnavailable, errors.New("going away"))
		}
		if err := sleep(ctx, b.pace); err != nil {
			return err
		}
		if err := out.Send(b.record[i]); err != nil {
			return err
		}
	}
	return b.leftBehind
}

func (b *recordBridge) GetRun(_ context.Context, r *connect.Request[sdkv1.GetRunRequest]) (*connect.Response[sdkv1.GetRunResponse], error) {
	if r.Msg.GetRunId() != "r" {
		return nil, fakeRefusal(connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND, "no such run")
	}
	status := sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_RUNNING
	if b.ended.Load() {
		status = finishedStatus
	}
	return connect.NewResponse(&sdkv1.GetRunResponse{Run: &sdkv1.RunSnapshot{RunId: "r", AgentId: r.Msg.GetOptions().GetAgentId(), Status: status}}), nil
}

// newRecordBridge has a run that thinks of the numbers from 0 up to messages and
// then fails with a reason.
func newRecordBridge(t testing.TB, messages int) *recordBridge {
	t.Helper()
	b := &recordBridge{fakeBridge: &fakeBridge{
		cancelled: make(chan struct{}, 64), known: map[string]bool{}, answered: map[string]int{},
	}}
	ids := func(pairs map[string]any) map[string]any {
		pairs["run_id"], pairs["agent_id"] = "r", "bc-1"
		return pairs
	}
	for i := range messages {
		b.record = append(b.record, sdkEnvelope(t, "thinking", ids(map[string]any{"text": strconv.Itoa(i)}), strconv.Itoa(i+1)))
	}
	b.record = append(b.record,
		sdkEnvelope(t, "status", ids(map[string]any{"status": "ERROR", "message": "the model refused"}), strconv.Itoa(messages+1)),
		resultEnvelope(sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_ERROR, ""), doneEnvelope())
	return b
}

// serve runs a test with a client of the bridge, in a bubble.
func (b *recordBridge) serve(t *testing.T, o Options, f func(t *testing.T, client *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { b.serveHere(t, o, f) })
}

// serveHere does so in the bubble that it is called in.
func (b *recordBridge) serveHere(t *testing.T, o Options, f func(t *testing.T, client *Client)) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(sdkv1connect.NewSdkAgentServiceHandler(b))
	mux.Handle(sdkv1connect.NewSdkBridgeControlServiceHandler(b))
	agent, end := pipedAgent(t, guarded(mux), o)
	defer end()
	f(t, agent.client)
}

func TestObserve(t *testing.T) {
	t.Parallel()
	// texts reads the thoughts from an offset on, and stops after a number of them.
	texts := func(t *testing.T, client *Client, after string, stop int) (all []string, last string) {
		t.Helper()
		for e, err := range client.Observe(t.Context(), "r", after) {
			if err != nil {
				t.Fatal(err)
			}
			if e.RunID != "r" || e.AgentID != "bc-1" {
				t.Errorf("event = %+v", e)
			}
			if p, ok := e.Payload.(Thinking); ok {
				all, last = append(all, p.Text), e.Offset
				if len(all) == stop {
					break
				}
			}
		}
		return all, last
	}
	want := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

	t.Run("whole", func(t *testing.T) {
		t.Parallel()
		newRecordBridge(t, 10).serve(t, Options{}, func(t *testing.T, client *Client) {
			if got, _ := texts(t, client, "", 0); !reflect.DeepEqual(got, want) {
				t.Errorf("thoughts = %q", got)
			}
		})
	})
	t.Run("in two parts", func(t *testing.T) {
		t.Parallel()
		newRecordBridge(t, 10).serve(t, Options{}, func(t *testing.T, client *Client) {
			first, after := texts(t, client, "", 4)
			rest, _ := texts(t, client, after, 0)
			if got := append(first, rest...); !reflect.DeepEqual(got, want) {
				t.Errorf("thoughts = %q", got)
			}
		})
	})
	t.Run("streams that break", func(t *testing.T) {
		t.Parallel()
		b := newRecordBridge(t, 10)
		b.each = 3
		b.serve(t, Options{}, func(t *testing.T, client *Client) {
			if got, _ := texts(t, client, "2", 0); !reflect.DeepEqual(got, want[2:]) {
				t.Errorf("thoughts = %q", got)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if !reflect.DeepEqual(b.observed, []string{"2", "5", "8", "11"}) {
				t.Errorf("observed after %q", b.observed)
			}
		})
	})
	t.Run("a reader that takes its time", func(t *testing.T) {
		t.Parallel()
		newRecordBridge(t, 10).serve(t, Options{}, func(t *testing.T, client *Client) {
			n := 0
			for _, err := range client.Observe(t.Context(), "r", "") {
				if err != nil {
					t.Fatal(err)
				}
				n++
				time.Sleep(time.Hour) // of virtual time
			}
			if n != 11 {
				t.Errorf("%d events came", n)
			}
		})
	})
	t.Run("an offset that was never given", func(t *testing.T) {
		t.Parallel()
		newRecordBridge(t, 10).serve(t, Options{}, func(t *testing.T, client *Client) {
			for e, err := range client.Observe(t.Context(), "r", "live-3") {
				if !errors.Is(err, ErrInvalid) {
					t.Errorf("observe gives %+v, %v, want ErrInvalid alone", e, err)
				}
			}
		})
	})
	t.Run("a run that brings nothing any more", func(t *testing.T) {
		t.Parallel()
		b := newRecordBridge(t, 1)
		b.record, b.pace = b.record[:1], time.Second
		b.record = append(b.record, make([]*sdkv1.RunStreamMessage, 10_000)...)
		for i := range b.record[1:] {
			b.record[i+1] = new(sdkv1.RunStreamMessage)
		}
		b.serve(t, Options{}, func(t *testing.T, client *Client) {
			began := time.Now()
			var last error
			for _, err := range client.Observe(t.Context(), "r", "") {
				last = err
			}
			if took := time.Since(began); !errors.Is(last, ErrStalled) || took > 11*time.Minute {
				t.Errorf("observe ends with %v after %s, want ErrStalled", last, took)
			}
		})
	})
	t.Run("a context that ends", func(t *testing.T) {
		t.Parallel()
		b := newRecordBridge(t, 10)
		b.pace = time.Second
		b.serve(t, Options{}, func(t *testing.T, client *Client) {
			ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
			defer cancel()
			n, last := 0, error(nil)
			for _, err := range client.Observe(ctx, "r", "") {
				if last = err; err == nil {
					n++
				}
			}
			if n != 3 || !errors.Is(last, context.DeadlineExceeded) {
				t.Errorf("%d events and %v", n, last)
			}
		})
	})
}

func TestAttachRun(t *testing.T) {
	t.Parallel()
	t.Run("to its end", func(t *testing.T) {
		t.Parallel()
		b := newRecordBridge(t, 10)
		b.each, b.pace = 4, time.Second
		b.serve(t, Options{}, func(t *testing.T, client *Client) {
			run, err := client.AttachRun(t.Context(), "bc-1", "r")
			if err != nil {
				t.Fatal(err)
			}
			if !client.isBusy("bc-1") {
				t.Error("the agent is free while its run goes on")
			}
			if _, err := client.AttachRun(t.Context(), "bc-1", "r"); !errors.Is(err, ErrAgentBusy) {
				t.Errorf("attaching twice = %v, want ErrAgentBusy", err)
			}
			n := 0
			for e, err := range run.Events(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				if run.Offset() != e.Offset || e.Offset != strconv.Itoa(n) {
					t.Errorf("event %d has the offset %q, and the run %q", n, e.Offset, run.Offset())
				}
			}
			result, err := run.Wait(t.Context())
			if err != nil || n != 11 || result.Status != RunError || result.Reason != "the model refused" || result.RunID != "r" || result.AgentID != "bc-1" {
				t.Errorf("%d events, result = %+v, %v", n, result, err)
			}
			if client.isBusy("bc-1") {
				t.Error("the agent is taken though its run is over")
			}
			rest := 0
			for _, err := range run.Observe(t.Context(), "9") {
				if err != nil {
					t.Fatal(err)
				}
				rest++
			}
			if rest != 2 {
				t.Errorf("%d events after the ninth", rest)
			}
		})
	})
	t.Run("that cannot be observed", func(t *testing.T) {
		t.Parallel()
		b := newRecordBridge(t, 0)
		b.refuse = fakeRefusal(connect.CodeUnimplemented, sdkv1.SdkErrorCode_SDK_ERROR_CODE_FEATURE_UNAVAILABLE, "not here")
		b.serve(t, Options{}, func(t *testing.T, client *Client) {
			run, err := client.AttachRun(t.Context(), "bc-1", "r")
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(5*time.Minute, func() { b.ended.Store(true) })
			result, err := run.Wait(t.Context())
			if err != nil || result.Status != RunFinished {
				t.Errorf("wait = %+v, %v", result, err)
			}
			if got, err := received(t, run); err != nil || !reflect.DeepEqual(got, []Payload{Gap{}}) {
				t.Errorf("events = %v, %v, want a gap", got, err)
			}
		})
	})
	t.Run("that nobody knows", func(t *testing.T) {
		t.Parallel()
		newRecordBridge(t, 0).serve(t, Options{}, func(t *testing.T, client *Client) {
			if _, err := client.AttachRun(t.Context(), "bc-1", "other"); !errors.Is(err, ErrRunNotFound) {
				t.Errorf("attach = %v, want ErrRunNotFound", err)
			}
			if client.isBusy("bc-1") {
				t.Error("the agent is taken by a run that does not exist")
			}
		})
	})
}

// The text of a run, as a newcomer would print it.
func TestTextStream(t *testing.T) {
	t.Parallel()
	part := func(text string) timedFrame {
		return timedFrame{frame: sdkMessage(t, "assistant", map[string]any{"run_id": "r", "message": map[string]any{"content": text}})}
	}
	thought := timedFrame{frame: sdkMessage(t, "thinking", map[string]any{"run_id": "r", "text": "hm"})}
	end := func(status sdkv1.RunLifecycleStatus) []timedFrame {
		return []timedFrame{{frame: wireFrame(t, resultEnvelope(status, "Hello"))}, {}}
	}
	tests := []struct {
		name   string
		frames []timedFrame
		want   string
		failed bool
	}{
		{"in parts", append([]timedFrame{thought, part("Hel"), part(""), thought, part("lo")}, end(finishedStatus)...), "Hel|lo", false},
		{"at the end only", append([]timedFrame{thought}, end(finishedStatus)...), "Hello", false},
		{"of a run that failed", append([]timedFrame{part("Hel")}, end(sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_ERROR)...), "Hel", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := &scriptedCalls{ctx: t.Context(), sends: [][]timedFrame{tt.frames}}
				run := newScriptedRun(calls)
				go run.follow(calls.send)
				var parts []string
				var failed *RunFailedError
				for text, err := range run.TextStream(t.Context()) {
					if err != nil {
						if !errors.As(err, &failed) {
							t.Errorf("the text ends with %v", err)
						}
						break
					}
					parts = append(parts, text)
				}
				if got := strings.Join(parts, "|"); got != tt.want || (failed != nil) != tt.failed {
					t.Errorf("text = %q, failed: %v", got, failed)
				}
				<-run.done
			})
		})
	}
}

// A bridge that has said all of a run's record, and that it does not run it any
// more, is not asked the same again.
func TestObserveOfARunLeftBehindEndsAtOnce(t *testing.T) {
	t.Parallel()
	b := newRecordBridge(t, 3)
	b.record, b.leftBehind = b.record[:3], fakeRefusal(connect.CodeFailedPrecondition,
		sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNSPECIFIED, "the run is not live")
	b.serve(t, Options{}, func(t *testing.T, client *Client) {
		began, events := time.Now(), 0
		var last error
		for _, err := range client.Observe(t.Context(), "r", "") {
			if last = err; err == nil {
				events++
			}
		}
		var answer *Error
		if !errors.As(last, &answer) || answer.Code != "failed_precondition" || events != 3 || len(b.observed) != 1 {
			t.Errorf("%d events, then %v after %q", events, last, b.observed)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %s", took)
		}
	})
}
