package chat

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	"github.com/liaison-bot/liaison/bridge/local/chat/completions"
)

// pieces reads tool call pieces as a stream brings them.
func pieces(t testing.TB, list string) []completions.ToolCallPiece {
	t.Helper()
	var out []completions.ToolCallPiece
	if err := json.Unmarshal([]byte(list), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCallsAreAssembledFromWhateverPiecesCome(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pieces string
		want   string // id name arguments, one call a line
	}{
		"by the specification": {`[{"index":0,"id":"a","function":{"name":"read","arguments":""}},{"index":0,"function":{"arguments":"{\"p\""}},
			{"index":1,"id":"b","function":{"name":"grep","arguments":""}},{"index":1,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":":1}"}}]`,
			"a read {\"p\":1}\nb grep {}\n"},
		"every call at index 0": {`[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}},{"index":0,"id":"b","function":{"name":"read","arguments":"{\"p\":2}"}}]`,
			"a read {\"p\":1}\nb read {\"p\":2}\n"},
		"every call at index 0, in pieces": {`[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}},{"index":0,"function":{"arguments":":1}"}},
			{"index":0,"id":"b","function":{"name":"read","arguments":"{\"p\""}},{"index":0,"function":{"arguments":":2}"}}]`,
			"a read {\"p\":1}\nb read {\"p\":2}\n"},
		"no index": {`[{"id":"a","function":{"name":"read","arguments":"{\"p\""}},{"function":{"arguments":":1}"}},{"id":"b","function":{"name":"read","arguments":"{}"}}]`,
			"a read {\"p\":1}\nb read {}\n"},
		"no index and no id": {`[{"function":{"name":"read","arguments":"{\"p\":1}"}},{"function":{"name":"read","arguments":"{\"p\":2}"}},{"function":{"name":"grep","arguments":"{}"}}]`,
			" read {\"p\":1}\n read {\"p\":2}\n grep {}\n"},
		"id and name in every piece": {`[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}},{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}]`,
			"a read {\"p\":1}\n"},
		"the same id for two calls": {`[{"index":0,"id":"x","function":{"name":"read","arguments":"{\"p\":1}"}},{"index":1,"id":"x","function":{"name":"read","arguments":"{\"p\":2}"}}]`,
			"x read {\"p\":1}\nx read {\"p\":2}\n"},
		"the rest under another index": {`[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}},{"index":1,"function":{"arguments":":1}"}}]`,
			"a read {\"p\":1}\n"},
		"the name after the arguments": {`[{"index":0,"id":"a","function":{"arguments":"{}"}},{"index":0,"function":{"name":"read","arguments":""}}]`,
			"a read {}\n"},
		"nulls": {`[{"index":0,"id":"a","function":{"name":"read","arguments":null}},{"index":0,"id":null,"function":{"name":null,"arguments":"{}"}}]`,
			"a read {}\n"},
		"an object": {`[{"index":0,"id":"a","function":{"name":"read","arguments":{"p":1}}}]`, "a read {\"p\":1}\n"},
		"no more than are answered": {"[" + strings.TrimSuffix(strings.Repeat(`{"id":"","function":{"name":"read","arguments":"{}"}},`, 1000), ",") + "]",
			strings.Repeat(" read {}\n", 2*maxCalls)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a assembly
			for _, p := range pieces(t, tt.pieces) {
				a.add(p)
			}
			var got strings.Builder
			for _, c := range a.list() {
				fmt.Fprintf(&got, "%s %s %s\n", c.id, c.name, c.arguments.String())
			}
			if got.String() != tt.want {
				t.Errorf("got\n%swant\n%s", got.String(), tt.want)
			}
		})
	}
}

// FuzzStream feeds an endpoint's answer of any bytes to a run, and looks at
// whether the next request is one that a strict endpoint takes.
func FuzzStream(f *testing.F) {
	f.Add(chattest.Text("Hello.") + chattest.Finish("stop") + chattest.Done)
	f.Add(chattest.Pieces(chattest.Piece(0, "a", "read", `{"p":1}`), chattest.Piece(0, "", "gr ep", `[`)) + chattest.Finish("tool_calls") + chattest.Done)
	f.Add(chattest.Pieces(chattest.Piece(3, "", "", "{}"), chattest.Piece(3, "", "", `"{}"`)) + chattest.Done)
	f.Add("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"extra_content\":{},\"function\":{\"arguments\":{}}}],\"reasoning_content\":\"r\"}}]}\n\ndata: [DONE]\n\n")
	f.Add("data: {\"error\":[]}\r\n\r\n: c\r\ndata")
	f.Add("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":[\"x\"],\"tool_calls\":{}},\"finish_reason\":3}],\"usage\":[]}\n\n")
	tools := []Tool{echo("read"), echo("grep")}
	f.Fuzz(func(t *testing.T, stream string) {
		r := &run{q: Request{Model: "test-model"}, messages: []Message{{Role: RoleUser, Text: "Go."}}}
		rep := new(reply)
		res := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(stream))}
		_ = rep.receive(completions.NewStream(res, limits, nil), sink{text: func(string) {}, thought: func(string) {}}, func() {}) // what came before an error counts, too
		calls := prepare(rep.calls.list(), tools, false)
		r.append(rep, calls)
		r.messages = append(r.messages, r.callTools(t.Context(), calls)...)
		for _, messages := range [][]Message{r.messages, append(settled(r.messages), Message{Role: RoleUser, Text: "Go on."})} {
			if messages[len(messages)-1].Role == RoleAssistant {
				continue // that was an answer
			}
			body, err := json.Marshal(params("test-model", "Be brief.", messages, tools, false, true))
			if err != nil {
				t.Fatal(err)
			}
			body = append([]byte(`{"stream":true,`), body[1:]...)
			if err := chattest.Check(body); err != nil {
				t.Errorf("the next request is refused: %v\n%s", err, body)
			}
		}
	})
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"a":[1,null]}`, `"{\"a\":1}"`, `"\"{}\""`, "{}{}", "[", "\xff", `{"a":1e999}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := parseArguments(raw)
		if (args == nil) != (err != nil) {
			t.Errorf("%q gives %v, %v", raw, args, err)
		}
		if data, err := json.Marshal(args); err != nil {
			t.Errorf("%q gives what is no JSON: %s, %v", raw, data, err)
		}
	})
}

func FuzzThinking(f *testing.F) {
	f.Add("<think>a</think>b", 3)
	f.Add(" <thin", 1)
	f.Add("<think>never ended </thi", 2)
	f.Fuzz(func(t *testing.T, s string, size int) {
		var whole, parts thinking
		text, thought := whole.split(s)
		a, b := whole.end()
		text, thought = text+a, thought+b
		var gotText, gotThought strings.Builder
		for rest := s; rest != ""; {
			n := min(max(size, 1), len(rest))
			a, b := parts.split(rest[:n])
			gotText.WriteString(a)
			gotThought.WriteString(b)
			rest = rest[n:]
		}
		a, b = parts.end()
		if gotText.String()+a != text || gotThought.String()+b != thought {
			t.Errorf("%q in pieces of %d gives %q and %q, whole %q and %q", s, size, gotText.String()+a, gotThought.String()+b, text, thought)
		}
	})
}
