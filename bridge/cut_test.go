package bridge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// cutBridge is a bridge whose streams are bytes that end where a test wants. It
// runs one run, "r", over and over.
type cutBridge struct {
	*fakeBridge
	send, record []byte

	mu       sync.Mutex
	cutSend  int   // bytes of Send that arrive
	cutNext  []int // bytes of the next ObserveRun streams; all of those beyond
	orderly  bool  // the response ends in order, though the stream in it does not
	observed []string
	created  time.Time
}

// cutMessages is how many messages the run has.
const cutMessages = 4

func newCutBridge(t testing.TB) *cutBridge {
	t.Helper()
	bridge := &cutBridge{fakeBridge: &fakeBridge{
		cancelled: make(chan struct{}, 64), known: map[string]bool{}, answered: map[string]int{},
	}}
	add := func(wire []byte, m *sdkv1.RunStreamMessage) []byte {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return appendEnvelope(wire, 0, data)
	}
	for i := range cutMessages {
		text := map[string]any{"run_id": "r", "agent_id": "agent-1", "text": strconv.Itoa(i)}
		bridge.send = add(bridge.send, sdkEnvelope(t, "thinking", text, strconv.Itoa(i)))
		bridge.record = add(bridge.record, sdkEnvelope(t, "request", map[string]any{"run_id": "r", "request_id": strconv.Itoa(i)}, strconv.Itoa(2*i)))
		bridge.record = add(bridge.record, sdkEnvelope(t, "thinking", text, strconv.Itoa(2*i+1)))
	}
	for _, wire := range []*[]byte{&bridge.send, &bridge.record} {
		*wire = add(*wire, new(sdkv1.RunStreamMessage))
		*wire = add(*wire, resultEnvelope(finishedStatus, "text"))
		*wire = add(*wire, doneEnvelope())
		*wire = appendEnvelope(*wire, 2, []byte("{}"))
	}
	return bridge
}

func (b *cutBridge) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", b.fakeBridge.handler())
	mux.HandleFunc(sdkv1connect.SdkAgentServiceSendProcedure, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		b.mu.Lock()
		cut, orderly := b.cutSend, b.orderly
		b.created = time.Now()
		b.mu.Unlock()
		write(w, b.send, cut, orderly)
	})
	mux.HandleFunc(sdkv1connect.SdkAgentServiceObserveRunProcedure, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		req := new(sdkv1.ObserveRunRequest)
		if len(body) < 5 || proto.Unmarshal(body[5:], req) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		b.mu.Lock()
		b.observed = append(b.observed, req.GetAfterOffset())
		cut := len(b.record)
		if len(b.cutNext) > 0 {
			cut, b.cutNext = b.cutNext[0], b.cutNext[1:]
		}
		orderly := b.orderly
		b.mu.Unlock()
		write(w, b.after(req.GetAfterOffset()), cut, orderly)
	})
	mux.Handle(sdkv1connect.SdkAgentServiceListRunsProcedure, connect.NewUnaryHandler(sdkv1connect.SdkAgentServiceListRunsProcedure, b.ListRuns))
	return mux
}

func (b *cutBridge) ListRuns(context.Context, *connect.Request[sdkv1.ListRunsRequest]) (*connect.Response[sdkv1.ListRunsResponse], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return connect.NewResponse(&sdkv1.ListRunsResponse{Items: []*sdkv1.RunSnapshot{
		{RunId: "old", CreatedAt: timestamppb.New(b.created.Add(-time.Hour))},
		{RunId: "r", CreatedAt: timestamppb.New(b.created)},
	}}), nil
}

// after skips the envelopes of the record up to an offset.
func (b *cutBridge) after(offset string) []byte {
	rest := b.record
	for offset != "" && len(rest) > 5 {
		size := 5 + int(rest[1])<<24 + int(rest[2])<<16 + int(rest[3])<<8 + int(rest[4])
		f := new(frame)
		if err := f.unmarshal(rest[5:size]); err != nil {
			break
		}
		rest = rest[size:]
		if f.offset == offset {
			break
		}
	}
	return rest
}

func write(w http.ResponseWriter, wire []byte, cut int, orderly bool) {
	w.Header().Set("Content-Type", "application/connect+proto")
	whole := cut >= len(wire)
	if !whole {
		wire = wire[:cut]
	}
	_, _ = w.Write(wire) // whoever is gone has seen enough
	if !whole && !orderly {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// follow sends once, with streams that are cut as said, and checks that the
// consumer gets all messages once, in order, and the result.
func (b *cutBridge) follow(t *testing.T, orderly bool, cutSend int, cutObserved ...int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b.cutSend, b.cutNext, b.orderly, b.observed = cutSend, cutObserved, orderly, nil
		agent, end := pipedAgent(t, b.handler(), Options{})
		defer end()
		if err := b.check(agent); err != nil {
			t.Fatalf("Send cut after %d of %d bytes, ObserveRun after %d of %d: %v", cutSend, len(b.send), cutObserved, len(b.record), err)
		}
	})
}

func (b *cutBridge) check(agent *Agent) error {
	ctx := context.Background()
	run, err := agent.Send(ctx, Message{Text: "go"}, SendOptions{})
	if err != nil {
		return err
	}
	next, lastRequest := 0, -1
	for e, err := range run.Events(ctx) {
		if err != nil {
			return err
		}
		switch p := e.Payload.(type) {
		case Thinking:
			if p.Text != strconv.Itoa(next) {
				return fmt.Errorf("message %s came in the place of %d", p.Text, next)
			}
			next++
		case Request:
			n, err := strconv.Atoi(p.RequestID)
			if err != nil || n <= lastRequest || n != next {
				return fmt.Errorf("request %s came before message %d", p.RequestID, next)
			}
			lastRequest = n
		default:
			return fmt.Errorf("a %T came", p)
		}
		if e.RunID != "r" || e.AgentID != "agent-1" {
			return fmt.Errorf("event = %+v", e)
		}
	}
	if next != cutMessages {
		return fmt.Errorf("%d messages came, of %d", next, cutMessages)
	}
	result, err := run.Wait(ctx)
	if err != nil {
		return err
	}
	if result.Status != RunFinished || result.Text != "text" {
		return fmt.Errorf("result = %+v", result)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, after := range b.observed {
		if n, err := strconv.Atoi(after); after != "" && (err != nil || n > 2*cutMessages) {
			return fmt.Errorf("observed after %q", after)
		}
	}
	return nil
}

// The Send stream is cut after each of its bytes, and then the first ObserveRun
// stream.
func TestStreamIsCutAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, orderly := range []bool{false, true} {
		t.Run(fmt.Sprintf("Send, orderly %t", orderly), func(t *testing.T) {
			t.Parallel()
			b := newCutBridge(t)
			for cut := range len(b.send) + 1 {
				b.follow(t, orderly, cut)
			}
		})
		t.Run(fmt.Sprintf("ObserveRun, orderly %t", orderly), func(t *testing.T) {
			t.Parallel()
			b := newCutBridge(t)
			for cut := range len(b.record) + 1 {
				b.follow(t, orderly, len(b.send)/3, cut, cut*7%len(b.record))
			}
		})
	}
}

func FuzzStreamCut(f *testing.F) {
	b := newCutBridge(f)
	f.Add(uint16(0), uint16(0), uint16(0), false)
	f.Add(uint16(4), uint16(5), uint16(6), true)
	f.Add(uint16(len(b.send)-1), uint16(0), uint16(0), false)
	f.Add(uint16(100), uint16(len(b.record)-3), uint16(9), true)
	f.Fuzz(func(t *testing.T, send, first, second uint16, orderly bool) {
		newCutBridge(t).follow(t, orderly, int(send), int(first), int(second))
	})
}
