package chat

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
)

func TestStreamsAsTheyCome(t *testing.T) {
	t.Parallel()
	text, finish := chattest.Text("Hel")+chattest.Text("lo."), chattest.Finish("stop")
	for name, turn := range map[string]chattest.Turn{
		"by the specification":     chattest.Stream(text, finish, chattest.Tokens(1, 1, 0), chattest.Done),
		"comments as keepalives":   chattest.Stream(": OPENROUTER PROCESSING\n\n", text, ": \n\n", finish, chattest.Done),
		"line ends of Windows":     chattest.Stream(strings.ReplaceAll(text+finish+chattest.Done, "\n", "\r\n")),
		"no space after the colon": chattest.Stream(strings.ReplaceAll(text+finish+chattest.Done, "data: ", "data:")),
		"no DONE":                  chattest.Stream(text, finish),
		"no finish":                chattest.Stream(text, chattest.Done),
		"fields of events":         chattest.Stream("event: message\nid: 7\nretry: 10\n", text, finish, chattest.Done),
		"an error that is null":    chattest.Stream(strings.ReplaceAll(text+finish, `"object":`, `"error":null,"object":`), chattest.Done),
		"an empty event":           chattest.Stream("data:\n\n", text, finish, chattest.Done),
		"cut after the finish":     chattest.Cut(text + finish),
		"one JSON answer": chattest.Raw("application/json; charset=utf-8",
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`),
		"usage that counts up":     chattest.Stream(text, chattest.Tokens(1, 1, 0), finish, chattest.Tokens(1, 2, 0), chattest.Done),
		"fields of the wrong type": chattest.Stream(strings.ReplaceAll(text+finish, `"created":1`, `"created":"now","service_tier":7,"usage":null`), chattest.Done),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, slept := connect(t, chattest.Start(t, turn))
			answer, err := e.Run(testContext(t), ask("Go."))
			if err != nil || answer.Text != "Hello." || len(slept.list) > 0 {
				t.Errorf("got %q, %v after %d waits", answer.Text, err, len(slept.list))
			}
		})
	}
}

func TestBytesOfOneCharacterMayComeApart(t *testing.T) {
	t.Parallel()
	want := "Grüße 🙂 ✓."
	stream := chattest.Text(want) + chattest.Finish("stop") + chattest.Done
	e, _ := connect(t, chattest.Start(t, func(w http.ResponseWriter, _ *http.Request, _ chattest.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range len(stream) {
			_, _ = w.Write([]byte{stream[i]}) // the client may have gone
			_ = http.NewResponseController(w).Flush()
		}
	}))
	if answer, err := e.Run(testContext(t), ask("Go.")); err != nil || answer.Text != want {
		t.Errorf("got %q, %v", answer.Text, err)
	}
}

func TestALongStreamComesWhole(t *testing.T) {
	t.Parallel()
	const pieces = 10_000
	line := strings.Repeat("x", 1023) + "\n"
	e, _ := connect(t, chattest.Start(t, func(w http.ResponseWriter, r *http.Request, asked chattest.Request) {
		chattest.Stream(strings.Repeat(chattest.Text(line), pieces), chattest.Finish("stop"), chattest.Done)(w, r, asked)
	}))
	var got record
	answer, err := e.Run(testContext(t), got.watch(ask("Go.")))
	if err != nil || len(answer.Text) != pieces*len(line) || strings.Join(got.said, "") != answer.Text {
		t.Fatalf("got %d bytes, %v; want %d", len(answer.Text), err, pieces*len(line))
	}
	for i, p := range got.said {
		if len(p) > 2*longSentence {
			t.Fatalf("paragraph %d has %d bytes", i, len(p))
		}
	}
}

func TestAnAnswerHasABound(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]string{
		"text":                   strings.Repeat(chattest.Text(strings.Repeat("x", 1<<20)), maxTextBytes>>20+1),
		"an event of many lines": strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", maxEventBytes>>20+1) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, slept := connect(t, chattest.Start(t, chattest.Stream(stream)))
			_, err := e.Run(testContext(t), ask("Go."))
			wantError(t, err, CodeUpstream, "more than one answer may have")
			if len(slept.list) > 0 {
				t.Error("it was tried again")
			}
		})
	}
}

func TestAStreamThatBreaksOffIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]chattest.Turn{
		"before anything":           chattest.Cut(""),
		"an end that is none":       chattest.Stream(chattest.Delta(map[string]any{"role": "assistant"})),
		"in a call":                 chattest.Cut(chattest.Pieces(chattest.Piece(0, "x", "read", `{"path":`))),
		"in an event":               chattest.Cut(chattest.Text("Hello")[:40]),
		"an event that is not JSON": chattest.Stream("data: {oops\n\n"),
		"a page instead":            chattest.Raw("text/html", "<html>busy</html>"),
		"an overload in the stream": chattest.Stream("data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := chattest.Start(t, turn, chattest.Say("Hello."))
			e, slept := connect(t, server)
			var got record
			answer, err := e.Run(testContext(t), got.watch(ask("Go.", echo("read"))))
			if err != nil || answer.Text != "Hello." || got.text.String() != "Hello." || len(slept.list) != 1 || len(got.waiting) != 1 {
				t.Errorf("got %q, %v after the waits %v, %q", answer.Text, err, slept.list, got.waiting)
			}
			if first, second := server.Asked()[0], server.Asked()[1]; string(first.Body) != string(second.Body) {
				t.Errorf("the second request is another: %s", second.Body)
			}
		})
	}
}

func TestAnAnswerThatBreaksOffIsContinued(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t, chattest.Cut(chattest.Text("One, two")), chattest.Cut(chattest.Text(", three")), chattest.Say(", four."))
	e, _ := connect(t, server)
	var got record
	answer, err := e.Run(testContext(t), got.watch(ask("Count.")))
	if want := "One, two, three, four."; err != nil || answer.Text != want || got.text.String() != want || strings.Join(got.said, "") != want {
		t.Errorf("got %q, shown as %q, %v; want %q", answer.Text, got.text.String(), err, want)
	}
	last := server.Asked()[2]
	if said := last.Messages[2].Text(); said != "One, two, three" || !strings.Contains(last.Last().Text(), "cut off") {
		t.Errorf("the last request is %s", last.Body)
	}
	// What is remembered is one answer.
	if m := got.kept.Messages; len(m) != 2 || m[1].Text != answer.Text {
		t.Errorf("it is remembered as %+v", m)
	}
}

// inBubble runs a test against an endpoint in virtual time, over a network that
// is in memory.
func inBubble(t *testing.T, script []chattest.Turn, test func(t *testing.T, e *Endpoint)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: chattest.New(t, script...).Handler()}
		served := make(chan error, 1)
		go func() { served <- server.Serve(network) }()
		e, err := New(Options{BaseURL: "http://model.test/v1", APIKey: chattest.Key})
		if err != nil {
			t.Fatal(err)
		}
		e.transport.Proxy, e.transport.DialContext = nil, network.dial
		test(t, e)
		e.Close()
		_ = server.Close() // its listener has no error
		<-served
	})
}

// pipes is a network of one listener.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestSilenceEndsARequest(t *testing.T) {
	t.Parallel()
	inBubble(t, []chattest.Turn{chattest.Hang("", nil), chattest.Say("Here.")}, func(t *testing.T, e *Endpoint) {
		began := time.Now()
		answer, err := e.Run(t.Context(), ask("Go."))
		if took := time.Since(began); err != nil || answer.Text != "Here." || took < defaultIdle || took > defaultIdle+firstWait {
			t.Errorf("got %q, %v after %v", answer.Text, err, took)
		}
	})
	inBubble(t, []chattest.Turn{chattest.Hang("", nil), chattest.Hang(": still here\n\n", nil)}, func(t *testing.T, e *Endpoint) {
		_, err := e.Run(t.Context(), ask("Go."))
		wantError(t, err, CodeUpstream, "sent nothing for 5m0s", "tried 2 times")
	})
}

func TestKeepalivesAreNoSilence(t *testing.T) {
	t.Parallel()
	slow := func(w http.ResponseWriter, r *http.Request, asked chattest.Request) {
		for range 60 {
			chattest.Raw("text/event-stream", ": thinking\n\n")(w, r, asked)
			_ = http.NewResponseController(w).Flush() // the client may have gone
			time.Sleep(time.Minute)                   // virtual
		}
		chattest.Say("An hour later.")(w, r, asked)
	}
	inBubble(t, []chattest.Turn{slow}, func(t *testing.T, e *Endpoint) {
		if answer, err := e.Run(t.Context(), ask("Go.")); err != nil || answer.Text != "An hour later." {
			t.Errorf("got %q, %v", answer.Text, err)
		}
	})
}

func TestTheRestAfterTheFinishIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	inBubble(t, []chattest.Turn{chattest.Hang(chattest.Text("Hello.")+chattest.Finish("stop"), nil)}, func(t *testing.T, e *Endpoint) {
		began := time.Now()
		answer, err := e.Run(t.Context(), ask("Go."))
		if took := time.Since(began); err != nil || answer.Text != "Hello." || took > afterFinish {
			t.Errorf("got %q, %v after %v", answer.Text, err, took)
		}
	})
}

func TestKeepalivesAfterTheFinishDoNotHoldTheAnswerBack(t *testing.T) {
	t.Parallel()
	chatty := func(w http.ResponseWriter, r *http.Request, asked chattest.Request) {
		chattest.Raw("text/event-stream", chattest.Text("Hello.")+chattest.Finish("stop"))(w, r, asked)
		for r.Context().Err() == nil {
			chattest.Raw("text/event-stream", ": still here\n\n")(w, r, asked)
			_ = http.NewResponseController(w).Flush() // the client may have gone
			select {
			case <-time.After(time.Second): // virtual
			case <-r.Context().Done():
			}
		}
	}
	inBubble(t, []chattest.Turn{chatty}, func(t *testing.T, e *Endpoint) {
		began := time.Now()
		answer, err := e.Run(t.Context(), ask("Go."))
		if took := time.Since(began); err != nil || answer.Text != "Hello." || took > afterFinish {
			t.Errorf("got %q, %v after %v", answer.Text, err, took)
		}
	})
}

func TestAnswersOfOtherShapesEndTheRunWithAReason(t *testing.T) {
	t.Parallel()
	for body, code := range map[string]string{
		`null`: CodeUpstream, `[]`: CodeUpstream, `"Hello."`: CodeUpstream, `{"choices":{}}`: CodeUpstream, `{"choices":[7]}`: CodeUpstream,
		`{}`: CodeEmptyAnswer, `{"choices":null}`: CodeEmptyAnswer, `{"choices":[null]}`: CodeEmptyAnswer, `{"choices":[{"message":null}]}`: CodeEmptyAnswer,
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			server := chattest.Start(t)
			server.Decide(func(chattest.Request) chattest.Turn { return chattest.Raw("application/json", body) })
			e, _ := connect(t, server)
			_, err := e.Run(testContext(t), ask("Go."))
			wantError(t, err, code)
		})
	}
}

func TestTheCountOfTokensIsNotInsistedOn(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t,
		chattest.Refuse(422, "", `[{"type":"extra_forbidden","loc":["body","stream_options"]}]`),
		chattest.Stream(chattest.Text("One."), chattest.Finish("stop"), chattest.Done),
		chattest.Say("Two."))
	e, slept := connect(t, server)
	for _, want := range []string{"One.", "Two."} {
		if answer, err := e.Run(testContext(t), ask("Go.")); err != nil || answer.Text != want {
			t.Fatalf("got %q, %v", answer.Text, err)
		}
	}
	asked := server.Asked()
	if asked[0].StreamOptions == nil || asked[1].StreamOptions != nil || asked[2].StreamOptions != nil || len(slept.list) > 0 {
		t.Errorf("the option was sent as %s, %s, %s", asked[0].StreamOptions, asked[1].StreamOptions, asked[2].StreamOptions)
	}
}
