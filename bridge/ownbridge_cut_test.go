package bridge

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// cutter is a network between a client and its bridge that breaks the stream of
// each Send after some bytes.
type cutter struct {
	next http.RoundTripper

	mu    sync.Mutex
	after int // bytes; negative for never
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.next.RoundTrip(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.after >= 0 && strings.HasSuffix(r.URL.Path, sdkv1connect.SdkAgentServiceSendProcedure) {
		res.Body = &cutBody{ReadCloser: res.Body, left: c.after}
	}
	return res, err
}

type cutBody struct {
	io.ReadCloser
	left int
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// A run of our own bridge, whose record is what it really keeps, is the same to
// its consumer wherever its stream breaks.
func TestOurOwnBridgeIsCut(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	c := newClient(t, Options{StateRoot: t.TempDir()})
	network := &cutter{after: -1}
	open := c.supervisor.open
	c.supervisor.open = func(ctx context.Context, generation uint64) (*connection, error) {
		conn, err := open(ctx, generation)
		if err == nil {
			network.next = conn.http.Transport
			conn.http.Transport = network
		}
		return conn, err
	}
	a, err := c.Agents().Create(ctx, AgentOptions{Model: "liaison-echo", Local: &LocalOptions{Dir: t.TempDir()}, CustomTools: []Tool{{
		Name: "weather", Call: func(context.Context, ToolInvocation) (ToolResult, error) { return ToolResult{Value: "rain"}, nil },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var calls int
	run := func(cut int) (all []string, result Result) {
		t.Helper()
		network.mu.Lock()
		network.after = cut
		network.mu.Unlock()
		run, err := a.Send(ctx, Message{Text: "think first\nrepeat 3 say again\ncall weather {\"city\":\"Graz\"}\nusage 3 4\nsay last"}, SendOptions{})
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		for e, err := range run.Events(ctx) {
			if err != nil {
				t.Fatalf("cut after %d bytes: %v", cut, err)
			}
			switch p := e.Payload.(type) {
			case Request: // in the record only
			case ToolCall: // their ids are new for each run
				p.CallID = ""
				all = append(all, payloadText(t, p))
			default:
				all = append(all, payloadText(t, p))
			}
		}
		if result, err = run.Wait(ctx); err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		calls++
		return all, result
	}
	want, wantResult := run(-1)
	if len(want) < 8 || wantResult.Status != RunFinished {
		t.Fatalf("the run that is whole has the events %q and the result %+v", want, wantResult)
	}
	for _, cut := range []int{0, 3, 60, 150, 300, 450, 600, 800, 1000, 1300} {
		got, result := run(cut)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("cut after %d bytes: events =\n%s\nwant\n%s", cut, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		result.RunID, result.Duration = wantResult.RunID, wantResult.Duration
		if result != wantResult {
			t.Errorf("cut after %d bytes: result = %+v\nwant %+v", cut, result, wantResult)
		}
	}
	runs, err := collect(a.Runs(ctx, ListRunsOptions{}), -1)
	if err != nil || len(runs) != calls {
		t.Errorf("the bridge has made %d runs of %d messages (%v)", len(runs), calls, err)
	}
}

func payloadText(t *testing.T, p Payload) string {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return reflect.TypeOf(p).Name() + " " + string(b)
}
