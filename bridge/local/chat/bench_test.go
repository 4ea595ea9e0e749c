package chat

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	"github.com/liaison-bot/liaison/bridge/local/chat/completions"
)

// BenchmarkReceive reads an answer of 1,000 pieces from a stream.
func BenchmarkReceive(b *testing.B) {
	stream := strings.Repeat(chattest.Text("about as much as comes at once "), 1000) + chattest.Finish("stop") + chattest.Tokens(1, 1, 0) + chattest.Done
	nothing := func(string) {}
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		res := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(stream))}
		rep := new(reply)
		if err := rep.receive(completions.NewStream(res, limits, nil), sink{text: nothing, thought: nothing}, func() {}); err != nil || rep.text.Len() != 31_000 {
			b.Fatalf("got %d bytes, %v", rep.text.Len(), err)
		}
	}
}
