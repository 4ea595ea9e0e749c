package chat

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
)

// long is a conversation of steps that read size bytes each, with a follow-up.
func long(steps, size int) []Message {
	out := []Message{{Role: RoleUser, Text: "First question."}}
	for i := range steps {
		id := fmt.Sprint("c", i)
		out = append(out,
			Message{Role: RoleAssistant, Text: fmt.Sprintf("Step %d.", i), Calls: []Call{{ID: id, Name: "read", Arguments: "{}"}}},
			Message{Role: RoleTool, CallID: id, Text: strings.Repeat("é", size/2)})
		if i == steps/2 {
			out = append(out, Message{Role: RoleAssistant, Text: "First answer."}, Message{Role: RoleUser, Text: "Second question."})
		}
	}
	return out
}

func TestCompactDropsWhatMattersLeast(t *testing.T) {
	t.Parallel()
	messages := long(20, 10_000)
	before := weight(messages)
	for _, budget := range []int{before, before / 2, before / 4, 15_000, 6_000, 1_500, 0} {
		got, smaller := compact(messages, budget)
		if smaller != (weight(got) < before) || budget >= 1_500 && weight(got) > budget {
			t.Errorf("for %d bytes it has %d of %d (%v)", budget, weight(got), before, smaller)
		}
		if weight(messages) != before {
			t.Fatalf("for %d bytes the conversation itself was changed", budget)
		}
		texts := make([]string, len(got))
		for i, m := range got {
			texts[i] = m.Text
		}
		all := strings.Join(texts, "\n")
		for _, want := range []string{"First question.", "Second question.", "Step 19."} {
			if !strings.Contains(all, want) {
				t.Errorf("for %d bytes %q is gone", budget, want)
			}
		}
		if budget >= 15_000 && !strings.Contains(got[len(got)-1].Text, strings.Repeat("é", 5_000)) {
			t.Errorf("for %d bytes the newest result is gone", budget)
		}
		if budget == 1_500 && (strings.Contains(all, "Step 3.") || !strings.Contains(all, noteDropped)) {
			t.Errorf("for %d bytes there is left\n%.2000s", budget, all)
		}
		if strings.Contains(all, "\uFFFD") {
			t.Errorf("for %d bytes a character was cut", budget)
		}
		checkValid(t, got)
	}
}

// checkValid checks that an endpoint takes the conversation, but for its end.
func checkValid(t *testing.T, messages []Message) {
	t.Helper()
	open := make(map[string]bool)
	for i, m := range messages {
		switch {
		case m.Role == RoleTool && open[m.CallID]:
			delete(open, m.CallID)
		case m.Role == RoleTool, len(open) > 0:
			t.Fatalf("message %d does not fit: %+v after the calls %v", i, m, open)
		}
		for _, c := range m.Calls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls without a result: %v", open)
	}
}

func TestAConversationThatIsTooLongIsShortened(t *testing.T) {
	t.Parallel()
	big := Tool{Name: "read", Call: func(context.Context, Invocation) Output { return Output{Text: strings.Repeat("x", 60_000)} }}
	for name, refusal := range map[string]chattest.Turn{
		"by the specification": chattest.Refuse(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens."),
		"without a code":       chattest.Refuse(400, "", "This endpoint's maximum context length is 8192 tokens. However, you requested about 20000 tokens"),
		"of a gateway":         chattest.RefuseRaw(413, "<html>Too large</html>"),
		"as a rate":            chattest.Refuse(429, "rate_limit_exceeded", "Request too large for test-model on tokens per min (TPM): Limit 30000, Requested 40000."),
		"in the stream":        chattest.Stream(`data: {"error":{"message":"the request exceeds the available context size","type":"exceed_context_size_error","code":400}}` + "\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := chattest.Start(t, chattest.Call("read", "{}"), chattest.Call("read", "{}"), refusal, refusal, chattest.Say("Fits."))
			e, slept := connect(t, server)
			answer, err := e.Run(testContext(t), ask("Go.", big))
			if err != nil || answer.Text != "Fits." || len(slept.list) > 0 {
				t.Fatalf("got %q, %v", answer.Text, err)
			}
			asked := server.Asked()
			if a, b, c := len(asked[2].Body), len(asked[3].Body), len(asked[4].Body); b >= a || c >= b {
				t.Errorf("the requests have %d, %d, %d bytes", a, b, c)
			}
		})
	}
	t.Run("in vain", func(t *testing.T) {
		t.Parallel()
		server := chattest.Start(t)
		server.Decide(func(chattest.Request) chattest.Turn {
			return chattest.Refuse(400, "context_length_exceeded", "too long")
		})
		e, _ := connect(t, server)
		_, err := e.Run(testContext(t), ask(strings.Repeat("x", 10_000)))
		wantError(t, err, CodeContextTooLong, "larger")
		if n := len(server.Asked()); n > maxCompactions+1 {
			t.Errorf("it was tried %d times", n)
		}
	})
	t.Run("before it is refused", func(t *testing.T) {
		t.Parallel()
		server := chattest.Start(t)
		for range 6 {
			server.Then(chattest.Call("read", "{}"))
		}
		server.Then(chattest.Say("Fits."))
		e, _ := connect(t, server)
		q := ask("Go.", big)
		q.Window = 40_000
		if _, err := e.Run(testContext(t), q); err != nil {
			t.Fatal(err)
		}
		for i, r := range server.Asked() {
			if len(r.Body) > 6*40_000 {
				t.Errorf("request %d has %d bytes", i, len(r.Body))
			}
		}
	})
}

func TestALongIDOfACallIsNotRepeated(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("x", maxMemoryBytes)
	e, _ := connect(t, chattest.Start(t,
		chattest.Stream(chattest.Pieces(chattest.Piece(0, id, "read", "{}")), chattest.Finish("tool_calls"), chattest.Done), chattest.Say("Done.")))
	var got record
	_, err := e.Run(testContext(t), got.watch(ask("Go.", echo("read"))))
	data, encodeErr := got.kept.Encode()
	if err != nil || encodeErr != nil || len(data) > 1000 {
		t.Errorf("%d bytes are kept, %v, %v", len(data), err, encodeErr)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	big := Tool{Name: "read", Call: func(context.Context, Invocation) Output { return Output{Text: strings.Repeat("x", 100_000)} }}
	server := chattest.Start(t)
	for range 20 {
		server.Then(chattest.Call("read", "{}"))
	}
	server.Then(chattest.Say("Done."))
	e, _ := connect(t, server)
	var got record
	if _, err := e.Run(testContext(t), got.watch(ask("Go.", big))); err != nil {
		t.Fatal(err)
	}
	data, err := got.kept.Encode()
	if err != nil || len(data) > 2*maxMemoryBytes {
		t.Errorf("%d bytes are kept, %v", len(data), err)
	}
	checkValid(t, got.kept.Messages)
}

// FuzzDecode reads any bytes as a conversation, which must be valid then.
func FuzzDecode(f *testing.F) {
	for _, c := range []Conversation{{}, {Model: "m", Messages: long(2, 10)}, {Messages: []Message{{Role: RoleTool, CallID: "x"}, {Role: RoleAssistant, Calls: []Call{{ID: "x"}}}}}} {
		data, err := c.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"messages":[{"role":"user"},{"role":"assistant","calls":[{"id":"a","name":"n","arguments":"{}"},{"id":"a","name":"n","arguments":"{}"}]},{"role":"tool","call_id":"b"},{"role":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			return
		}
		checkValid(t, c.Messages)
		if n := len(c.Messages); n > 0 && (c.Messages[0].Role != RoleUser || c.Messages[n-1].Role != RoleAssistant) {
			t.Errorf("it begins or ends with the wrong role: %+v", c.Messages)
		}
		again := settled(c.Messages)
		if fmt.Sprint(again) != fmt.Sprint(c.Messages) {
			t.Errorf("settled twice is another conversation:\n%+v\n%+v", c.Messages, again)
		}
	})
}
