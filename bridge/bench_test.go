package bridge

import (
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// benchEvents is how many messages the measured stream has.
const benchEvents = 5000

// BenchmarkStream reads the same stream over loopback with the generated client,
// which counts the messages, and through this package, whose events are counted.
// The server only writes bytes that were made before, so that the reader is what
// is measured. Compare the ns/event of the two.
func BenchmarkStream(b *testing.B) {
	server := httptest.NewServer(benchBridge(b, benchStream(b)))
	defer server.Close()

	b.Run("bare", func(b *testing.B) { measure(b, bareReader(b, server.URL)) })
	b.Run("adapter", func(b *testing.B) { measure(b, adapterReader(b, server.URL)) })
	// The two in turns, so that whatever else the machine does slows both.
	b.Run("ratio", func(b *testing.B) {
		readers := []func() int{bareReader(b, server.URL), adapterReader(b, server.URL)}
		var took [2]time.Duration
		for b.Loop() {
			for i, read := range readers {
				began := time.Now()
				read()
				took[i] += time.Since(began)
			}
		}
		b.ReportMetric(float64(took[1])/float64(took[0]), "adapter/bare")
	})
}

// What the two cost in time depends on the machine and its other work. What they
// allocate does not, and is most of the time.
func TestStreamCostsLessThanABareClient(t *testing.T) {
	server := httptest.NewServer(benchBridge(t, benchStream(t)))
	defer server.Close()
	allocated := func(read func() int) float64 {
		read() // connects, and fills the pools
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if n := read(); n != benchEvents {
			t.Fatalf("%d events, want %d", n, benchEvents)
		}
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs-before.Mallocs) / benchEvents
	}
	bare, adapter := allocated(bareReader(t, server.URL)), allocated(adapterReader(t, server.URL))
	t.Logf("allocations per event: bare %.1f, adapter %.1f", bare, adapter)
	if adapter > bare {
		t.Errorf("the adapter makes %.1f allocations per event, a bare client %.1f", adapter, bare)
	}
}

// bareReader counts the messages of a stream with the generated client.
func bareReader(t testing.TB, url string) func() int {
	ctx := context.Background()
	conn := newConnection(url, fakeToken, noMask, &Options{})
	t.Cleanup(func() { conn.close(ctx, 0) })
	return func() int {
		stream, err := conn.agents.Send(ctx, connect.NewRequest(&sdkv1.SendRequest{AgentId: "a"}))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for stream.Receive() {
			if stream.Msg().GetSdkMessage() != nil {
				n++
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// adapterReader counts the events of a run.
func adapterReader(t testing.TB, url string) func() int {
	ctx := context.Background()
	client, err := New(Options{URL: url, Token: fakeToken, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(ctx) })
	agent, err := client.Agents().Create(ctx, AgentOptions{Model: "m", Local: &LocalOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return func() int {
		run, err := agent.Send(ctx, Message{Text: "go"}, SendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range run.Events(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
}

func measure(b *testing.B, read func() int) {
	read() // connects
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rounds := 0
	for b.Loop() {
		if n := read(); n != benchEvents {
			b.Fatalf("%d events, want %d", n, benchEvents)
		}
		rounds++
	}
	runtime.ReadMemStats(&after)
	events := float64(benchEvents) * float64(rounds)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
	b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/events, "allocs/event")
}

// benchStream is a busy run on the wire: mostly fragments of text and of thought,
// some tools with arguments and results.
func benchStream(b testing.TB) []byte {
	var wire []byte
	add := func(m *sdkv1.RunStreamMessage) {
		data, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		wire = appendEnvelope(wire, 0, data)
	}
	for i := range benchEvents {
		body := map[string]any{"agent_id": "agent-0123456789", "run_id": "run-0123456789"}
		kind := "assistant"
		switch i % 10 {
		case 0:
			kind = "tool_call"
			body["call_id"], body["name"], body["status"] = "call-"+strconv.Itoa(i), "read", "running"
			body["args"] = map[string]any{"path": "internal/app/server.go", "offset": 100, "limit": 200}
		case 1:
			kind = "tool_call"
			body["call_id"], body["name"], body["status"] = "call-"+strconv.Itoa(i-1), "read", "completed"
			body["result"] = map[string]any{"content": strings.Repeat("line of a file that was read\n", 20), "lines": 20}
		case 2, 3, 4:
			kind = "thinking"
			body["text"] = "a thought about what " + strconv.Itoa(i) + " could mean"
		default:
			body["message"] = map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "text", "text": "part " + strconv.Itoa(i) + " of the answer, "},
			}}
		}
		add(sdkEnvelope(b, kind, body, strconv.Itoa(i)))
	}
	add(resultEnvelope(finishedStatus, "the answer"))
	add(doneEnvelope())
	return appendEnvelope(wire, 2, []byte("{}"))
}

// appendEnvelope frames a message of a Connect stream.
func appendEnvelope(wire []byte, flags byte, data []byte) []byte {
	wire = append(wire, flags)
	wire = binary.BigEndian.AppendUint32(wire, uint32(len(data)))
	return append(wire, data...)
}

// benchBridge answers every Send with the same bytes.
func benchBridge(b testing.TB, wire []byte) http.Handler {
	f := &fakeBridge{cancelled: make(chan struct{}, 1), known: map[string]bool{}, answered: map[string]int{}}
	rest := f.handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != sdkv1connect.SdkAgentServiceSendProcedure {
			rest.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/connect+proto")
		if _, err := w.Write(wire); err != nil {
			b.Error(err)
		}
	})
}
