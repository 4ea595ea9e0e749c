package bridge

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// BenchmarkToolCallback is one call of a tool there and back, as bridges make it:
// a new id each time, JSON, HTTP/1.1 on loopback. bare is the same exchange with a
// handler that does nothing, so that the difference is ours.
func BenchmarkToolCallback(b *testing.B) {
	tool := MustTool("add", "Adds.", func(_ context.Context, in struct {
		A int `json:"a"`
		B int `json:"b"`
	}) (map[string]any, error) {
		return map[string]any{"sum": in.A + in.B}, nil
	})
	run := func(b *testing.B, client *http.Client, url string) {
		b.Helper()
		caller := sdkv1connect.NewSdkCustomToolCallbackServiceClient(client, url, connect.WithProtoJSON())
		call := func(id string) {
			res, err := caller.CallCustomTool(context.Background(), connect.NewRequest(toolRequest(b, "a", id, "add", `{"a":40,"b":2}`)))
			if err != nil || res.Msg.GetResult().GetFields()["sum"].GetNumberValue() != 42 {
				b.Fatalf("answer = %v, %v", res, err)
			}
		}
		call("first")
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i++
			call(strconv.Itoa(i))
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	}
	b.Run("bare", func(b *testing.B) {
		server := httptest.NewServer(bareTools())
		defer server.Close()
		client := newHTTPClient("")
		defer client.CloseIdleConnections()
		run(b, client, server.URL)
	})
	b.Run("tool", func(b *testing.B) {
		s := serve(b, nil, tool)
		run(b, s.caller(b, s.token), s.url)
	})
}

type bareTool struct{}

func (bareTool) CallCustomTool(context.Context, *connect.Request[sdkv1.CallCustomToolRequest]) (*connect.Response[sdkv1.CallCustomToolResponse], error) {
	result, err := encodeResult(ToolResult{Value: map[string]any{"sum": 42}})
	return connect.NewResponse(&sdkv1.CallCustomToolResponse{Result: result}), err
}

func bareTools() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(sdkv1connect.NewSdkCustomToolCallbackServiceHandler(bareTool{}))
	return mux
}
