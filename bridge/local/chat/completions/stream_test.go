package completions

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// read reads a body to its end.
func read(contentType string, body io.Reader) ([]Chunk, error) {
	res := &http.Response{Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body)}
	s := NewStream(res, testLimits, nil)
	var chunks []Chunk
	for {
		c, err := s.Next()
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
}

// said is what chunks add up to, written down.
func said(chunks []Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		for _, choice := range c.Choices {
			d := choice.Delta
			fmt.Fprintf(&b, "%d%q%q%q%q%q", choice.Index.Value, d.Content, d.Refusal, d.ReasoningContent, d.Reasoning, choice.FinishReason)
			for _, p := range d.ToolCalls {
				fmt.Fprintf(&b, "[%v %q %q %q %s]", p.Index, p.ID, p.Function.Name, p.Function.Arguments, p.ExtraContent)
			}
		}
		if u := c.Usage; u != nil {
			fmt.Fprint(&b, "{", u.PromptTokens.Value, u.CompletionTokens.Value, u.PromptTokensDetails.CachedTokens.Value, u.CompletionTokensDetails.ReasoningTokens.Value, "}")
		}
		b.WriteByte(';')
	}
	return b.String()
}

func TestPiecesAreReadAsTheyAreSent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ event, want string }{
		"text":                       {`{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}`, `0"Hi""""""""";`},
		"no text":                    {`{"choices":[{"delta":{"content":null,"role":"assistant"},"finish_reason":"stop"}]}`, `0"""""""""stop";`},
		"text in parts":              {`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"image"},7,{"text":"b"}]}}]}`, `0"ab""""""""";`},
		"text that is none":          {`{"choices":[{"delta":{"content":{"a":1},"refusal":7}}]}`, `0"""""""""";`},
		"reasoning":                  {`{"choices":[{"delta":{"reasoning_content":"a","reasoning":"b"}}]}`, `0"""""a""b""";`},
		"a call":                     {`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c","function":{"name":"f","arguments":"{\"a\""},"extra_content":{"s":1}}]}}]}`, `0""""""""""[{1 true} "c" "f" "{\"a\"" {"s":1}];`},
		"a call without an index":    {`{"choices":[{"delta":{"tool_calls":[{"index":null,"id":7,"function":null},{"index":"2"}]}}]}`, `0""""""""""[{0 false} "" "" "" ][{2 true} "" "" "" ];`},
		"arguments as an object":     {`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a": [1]}}}]}}]}`, `0""""""""""[{0 false} "" "" "{\"a\": [1]}" ];`},
		"calls that are none":        {`{"choices":[{"delta":{"tool_calls":{},"content":"x"},"finish_reason":3}]}`, `0"x""""""""";`},
		"usage":                      {`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5.0,"prompt_tokens_details":{"cached_tokens":"4"},"completion_tokens_details":null}}`, `{9 5 4 0};`},
		"usage that is null":         {`{"choices":null,"usage":null}`, `;`},
		"choices of the wrong shape": {`{"choices":{},"usage":{"prompt_tokens":{}}}`, `{0 0 0 0};`},
		"an error that is null":      {`{"error":null,"choices":[{"delta":{"content":"x"}}]}`, `0"x""""""""";`},
		"null":                       {`null`, `;`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks, err := read("text/event-stream", strings.NewReader("data: "+tt.event+"\n\ndata: [DONE]\n\n"))
			if got := said(chunks); !errors.Is(err, io.EOF) || got != tt.want {
				t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestEventsAreFramedAsTheFormatSays(t *testing.T) {
	t.Parallel()
	const x, y = `data: {"choices":[{"delta":{"content":"x"}}]}`, `data: {"choices":[{"delta":{"content":"y"}}]}`
	const gotX = `0"x""""""""";`
	const gotXY = gotX + `0"y""""""""";`
	long := `data: {"choices":[{"delta":{"content":"x"}}],"padding":"` + strings.Repeat("p", 2*bufferBytes) + `"}`
	for name, tt := range map[string]struct {
		stream, want string
		err          error
	}{
		"LF":                       {x + "\n\n" + y + "\n\ndata: [DONE]\n\n", gotXY, io.EOF},
		"CRLF":                     {x + "\r\n\r\n" + y + "\r\n\r\ndata: [DONE]\r\n\r\n", gotXY, io.EOF},
		"a byte order mark":        {"\uFEFF" + x + "\n\ndata:[DONE]\n\n", gotX, io.EOF},
		"other fields":             {"event: message\nid: 1\n" + x + "\nretry: 7\ndatabase: no\n\ndata: [DONE]\n\n", gotX, io.EOF},
		"comments":                 {": a\n\n:\n" + x + "\n: b\n\n" + "data: [DONE]\n\n", gotX, io.EOF},
		"an event of many lines":   {strings.ReplaceAll(x, ",", ",\ndata: ") + "\n\ndata: {\"choices\":\ndata:[]}\n\ndata: [DONE]\n\n", gotX + ";", io.EOF},
		"empty events":             {"data\n\ndata:\n\ndata: \n\n\n\n" + x + "\n\ndata: [DONE]\n\n", gotX, io.EOF},
		"a line beyond the buffer": {long + "\n\n" + y + "\n\ndata: [DONE]\n\n", gotXY, io.EOF},
		"more after the end":       {"data: [DONE]\n\n" + x + "\n\n", "", io.EOF},
		"no end":                   {x + "\n\n", gotX, ErrCut},
		"cut in an event":          {x + "\n\n" + y + "\n", gotX, ErrCut},
		"cut in a line":            {x + "\n\n" + y[:20], gotX, ErrCut},
		"nothing":                  {"", "", ErrCut},
		"a long line":              {"data: " + strings.Repeat("x", testLimits.Event+bufferBytes), "", ErrTooLarge},
		"a long comment":           {":" + strings.Repeat("x", testLimits.Event+bufferBytes), "", ErrTooLarge},
		"many lines":               {strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", testLimits.Event/1000+1), "", ErrTooLarge},
		"many comments":            {strings.Repeat(": still here\n\n", testLimits.Stream), "", ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks, err := read("text/event-stream", strings.NewReader(tt.stream))
			if got := said(chunks); !errors.Is(err, tt.err) || got != tt.want {
				t.Errorf("got %s, %v\nwant %s, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestAFailingConnectionIsNoEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, kind := range []string{"text/event-stream", "application/json"} {
		if _, err := read(kind, io.MultiReader(strings.NewReader(`{"choices":[]}`), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

func TestAnAnswerInOnePiece(t *testing.T) {
	t.Parallel()
	chunks, err := read("application/json; charset=utf-8", strings.NewReader(
		`{"created":"now","choices":[{"index":0,"message":{"content":"Hi","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`))
	if got, want := said(chunks), `0"Hi""""""""stop"[{0 false} "c" "f" "{}" ]{1 0 0 0};`; !errors.Is(err, io.EOF) || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	for _, body := range []string{"", "null", "[]", `"Hi"`, `{"choices":{}}`, `{"choices":[7]}`, `{"choices":[`} {
		if chunks, err := read("application/json", strings.NewReader(body)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q is read as %v", body, chunks)
		}
	}
	if _, err := read("application/json", strings.NewReader(strings.Repeat(" ", testLimits.Event+1))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a long answer ends with %v", err)
	}
}

func TestAnErrorInAnAnswer(t *testing.T) {
	t.Parallel()
	const body = `{"error":{"message":"slow down","type":"rate_limit_error","code":429},"choices":null}`
	for kind, answer := range map[string]string{"text/event-stream": "data: " + body + "\n\n", "application/json": body} {
		_, err := read(kind, strings.NewReader(answer))
		var e *Error
		if !errors.As(err, &e) || *e != (Error{Message: "slow down", Type: "rate_limit_error", Code: "429", RetryAfter: -1}) {
			t.Errorf("%s: got %+v", kind, err)
		}
	}
}

// FuzzStream reads any bytes as an answer. However they are cut up on their way,
// what comes of them is the same, and nothing in it is longer than it was.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\r\n\r\ndata: [DONE]\n\n",
		"\uFEFFdata: {\"error\":[]}\n\n: c\ndata",
		"data: {\"choices\":[{\"delta\":{\"content\":[{\"text\":\"x\"}],\"tool_calls\":[{\"index\":1e3,\"function\":{\"arguments\":{}}}]}}],\"usage\":[]}\n\n",
		`{"choices":[{"message":{"content":"x","tool_calls":[{"index":"1"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1.5}}`,
		`[{"error":{"code":null,"message":7}}]`,
		"data: " + strings.Repeat("x", bufferBytes) + "\r\n\n",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, body string, events bool) {
		kind := "application/json"
		if events {
			kind = "text/event-stream"
		}
		whole, err := read(kind, strings.NewReader(body))
		parts, again := read(kind, iotest.OneByteReader(strings.NewReader(body)))
		if said(whole) != said(parts) || err.Error() != again.Error() {
			t.Errorf("%q in one piece gives %s, %v; byte by byte %s, %v", body, said(whole), err, said(parts), again)
		}
		var refused *Error
		if errors.As(err, &refused) && (refused.Status != 0 || refused.RetryAfter >= 0) {
			t.Errorf("%q gives an error with a status or a time to wait: %+v", body, refused)
		}
		text := 0
		for _, c := range whole {
			for _, choice := range c.Choices {
				text += len(choice.Delta.Content) + len(choice.FinishReason)
			}
		}
		// What is no UTF-8 becomes U+FFFD, three bytes for one.
		if text > 3*len(body) {
			t.Errorf("%d bytes became %d of text", len(body), text)
		}
	})
}

// BenchmarkStream reads an answer of 1,000 pieces.
func BenchmarkStream(b *testing.B) {
	const piece = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"about as much as comes at once "},"finish_reason":null}]}` + "\n\n"
	stream := strings.Repeat(piece, 1000) + "data: [DONE]\n\n"
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		if chunks, err := read("text/event-stream", strings.NewReader(stream)); len(chunks) != 1000 || !errors.Is(err, io.EOF) {
			b.Fatalf("got %d pieces, %v", len(chunks), err)
		}
	}
}
