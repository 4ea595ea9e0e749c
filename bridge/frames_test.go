package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// wireFrame takes a message over the wire.
func wireFrame(t testing.TB, m *sdkv1.RunStreamMessage) *frame {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f := new(frame)
	if err := (frameCodec{}).Unmarshal(data, f); err != nil {
		t.Fatal(err)
	}
	return f
}

// wireMessage is a stream's message with an sdk_message.
func sdkEnvelope(t testing.TB, kind string, body map[string]any, offset string) *sdkv1.RunStreamMessage {
	t.Helper()
	s, err := structpb.NewStruct(body)
	if err != nil {
		t.Fatal(err)
	}
	m := &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_SdkMessage{SdkMessage: &sdkv1.SdkMessage{Type: kind, Message: s}}}
	if offset != "" {
		m.Offset = &offset
	}
	return m
}

func sdkMessage(t testing.TB, kind string, body map[string]any) *frame {
	t.Helper()
	return wireFrame(t, sdkEnvelope(t, kind, body, ""))
}

func resultEnvelope(status sdkv1.RunLifecycleStatus, text string) *sdkv1.RunStreamMessage {
	return &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Result{Result: &sdkv1.RunStreamResult{
		RunId: "r", AgentId: "a", Status: status, Result: &sdkv1.RunResult{RunId: "r", AgentId: "a", Status: status, Result: text},
	}}}
}

func doneEnvelope() *sdkv1.RunStreamMessage {
	return &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Done{Done: &sdkv1.RunStreamDone{RunId: "r", AgentId: "a"}}}
}

// scriptedFrames is a stream whose frames come at given times. After the last it
// hangs.
type scriptedFrames struct {
	ctx     context.Context
	script  []timedFrame
	current *frame
	err     error
}

type timedFrame struct {
	after time.Duration
	frame *frame // nil ends the stream
	err   error  // with this
}

func (s *scriptedFrames) Receive() bool {
	next := timedFrame{after: time.Hour * 24 * 365}
	if len(s.script) > 0 {
		next = s.script[0]
		s.script = s.script[1:]
	}
	timer := time.NewTimer(next.after)
	defer timer.Stop()
	select {
	case <-timer.C:
		s.current, s.err = next.frame, next.err
		return next.frame != nil
	case <-s.ctx.Done():
		s.err = s.ctx.Err()
		return false
	}
}

func (s *scriptedFrames) Msg() *frame  { return s.current }
func (s *scriptedFrames) Err() error   { return s.err }
func (s *scriptedFrames) Close() error { return nil }

// scriptedCalls is a bridge as far as following a run needs one. Its errors are
// the bridge's own answers.
type scriptedCalls struct {
	ctx context.Context
	// sends and observations are the streams, one after the other; a call beyond
	// the last is refused.
	sends, observations [][]timedFrame
	waits               []answer // of WaitLiveRun; the last one stays
	gets                []answer // of GetRun; the last one stays
	since               []string // of runSince; empty beyond the last
	pingErr             error
	pingTakes           time.Duration
	cancelErr           error

	mu  sync.Mutex
	log []string // of calls
}

type answer struct {
	result Result
	err    error
}

func running() []answer { return []answer{{result: Result{Status: RunRunning}}} }

func answered(code, sdk string) *Error {
	return &Error{Op: "test", Code: code, SDKCode: sdk, Message: "no", answered: true, detailed: sdk != ""}
}

func (s *scriptedCalls) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// count returns how many of the calls are such.
func (s *scriptedCalls) count(call string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.log {
		if c == call {
			n++
		}
	}
	return n
}

func (s *scriptedCalls) life() context.Context { return s.ctx }

func (s *scriptedCalls) cancelRun(context.Context, string, string) error {
	s.note("cancel")
	return s.cancelErr
}

func (s *scriptedCalls) open(ctx context.Context, streams *[][]timedFrame) (frames, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*streams) == 0 {
		return nil, answered("not_found", "")
	}
	stream := &scriptedFrames{ctx: ctx, script: (*streams)[0]}
	*streams = (*streams)[1:]
	return stream, nil
}

func (s *scriptedCalls) send(ctx context.Context) (frames, error) {
	s.note("send")
	return s.open(ctx, &s.sends)
}

func (s *scriptedCalls) observe(ctx context.Context, _, after string) (frames, error) {
	s.note("observe %s", after)
	return s.open(ctx, &s.observations)
}

func (s *scriptedCalls) next(answers *[]answer) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*answers) == 0 {
		return Result{}, answered("not_found", "")
	}
	a := (*answers)[0]
	if len(*answers) > 1 {
		*answers = (*answers)[1:]
	}
	return a.result, a.err
}

func (s *scriptedCalls) waitRun(context.Context, string) (Result, error) {
	s.note("wait")
	return s.next(&s.waits)
}

func (s *scriptedCalls) getRun(context.Context, string, string) (Result, error) {
	s.note("get")
	return s.next(&s.gets)
}

func (s *scriptedCalls) runSince(context.Context, string, time.Time, string) (string, error) {
	s.note("list")
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.since) == 0 {
		return "", nil
	}
	id := s.since[0]
	s.since = s.since[1:]
	return id, nil
}

func (s *scriptedCalls) ping(ctx context.Context) error {
	s.note("ping")
	if err := sleep(ctx, s.pingTakes); err != nil {
		return err
	}
	return s.pingErr
}

func (s *scriptedCalls) condemn(error) { s.note("condemn") }

func (s *scriptedCalls) explain(op string, err error) error { return explain(op, err, noMask) }

func (s *scriptedCalls) failure(_ context.Context, op string, err error) error {
	return s.explain(op, err)
}

// errCut is a connection that broke.
var errCut = errors.New("incomplete envelope: unexpected EOF")

// newScriptedRun makes a run whose waits have nothing random in them.
func newScriptedRun(calls *scriptedCalls) *Run {
	var retry Retry
	if err := retry.complete(); err != nil {
		panic(err)
	}
	return newRun("a", calls, runLimits{
		stall: 2 * time.Minute, toolStall: 10 * time.Minute, call: time.Minute, retry: retry,
		jitter: func() float64 { return 0 },
	}, func() {})
}

// received reads all events of a run and how they end.
func received(t testing.TB, run *Run) (got []Payload, err error) {
	t.Helper()
	for e, err := range run.Events(context.Background()) {
		if err != nil {
			return got, err
		}
		got = append(got, e.Payload)
	}
	return got, nil
}
