package chat

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
)

func TestARunCallsToolsUntilItHasAnAnswer(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t,
		chattest.Call("read", `{"path":"a"}`, "read", `{"path":"b"}`, "grep", ``),
		chattest.Say("It is ", "fine.\n\nReally", "."))
	e, _ := connect(t, server)
	var got record
	answer, err := e.Run(testContext(t), got.watch(ask("Look.", echo("read"), echo("grep"))))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Text != "It is fine.\n\nReally." || got.text.String() != answer.Text {
		t.Errorf("the answer is %q, its fragments %q", answer.Text, got.text.String())
	}
	if want := []string{"It is fine.\n\n", "Really."}; !slices.Equal(got.said, want) {
		t.Errorf("the paragraphs are %q, want %q", got.said, want)
	}
	if want := (Usage{Input: 20, Output: 10, CacheRead: 8}); answer.Usage != want {
		t.Errorf("the usage is %+v, want %+v", answer.Usage, want)
	}
	asked := server.Asked()
	if first := asked[0]; first.Messages[0].Text() != "Be brief." || first.Last().Text() != "Look." || !slices.Equal(first.Offered(), []string{"read", "grep"}) {
		t.Errorf("the first request is %s", first.Body)
	}
	results := asked[1].Messages[3:]
	for i, want := range []string{"read map[path:a]", "read map[path:b]", "grep map[]"} {
		if results[i].Text() != want {
			t.Errorf("result %d is %q, want %q", i, results[i].Text(), want)
		}
	}
}

func TestToolsOfOneMessageRunAtOnceButNotAll(t *testing.T) {
	t.Parallel()
	var calls []string
	for range maxParallel + 3 {
		calls = append(calls, "wait", "{}")
	}
	server := chattest.Start(t, chattest.Call(calls...), chattest.Say("Done."))
	e, _ := connect(t, server)
	var mu sync.Mutex
	var ids []string
	running, most := 0, 0
	full := make(chan struct{}) // closed when as many run as may
	wait := Tool{Name: "wait", Call: func(ctx context.Context, c Invocation) Output {
		mu.Lock()
		running++
		most = max(most, running)
		ids = append(ids, c.ID)
		if len(ids) == maxParallel {
			close(full)
		}
		mu.Unlock()
		select {
		case <-full:
		case <-ctx.Done():
		}
		mu.Lock()
		running--
		mu.Unlock()
		return Output{Text: c.ID}
	}}
	if _, err := e.Run(testContext(t), ask("Go.", wait)); err != nil {
		t.Fatal(err)
	}
	if most != maxParallel {
		t.Errorf("%d tools ran at once, want %d", most, maxParallel)
	}
	for i, m := range server.Asked()[1].Messages[3:] {
		if want := strconv.Itoa(i + 1); m.Text() != want {
			t.Errorf("result %d is that of %s, want %s", i, m.Text(), want)
		}
	}
}

func TestWhatGoesWrongInAToolIsForTheModel(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t, chattest.Call("fail", "{}", "panic", "{}", "silent", "{}", "long", "{}"), chattest.Say("I see."))
	e, _ := connect(t, server)
	tool := func(name string, f func() Output) Tool {
		return Tool{Name: name, Call: func(context.Context, Invocation) Output { return f() }}
	}
	_, err := e.Run(testContext(t), ask("Go.",
		tool("fail", func() Output { return Output{Text: "no such file", Failed: true} }),
		tool("panic", func() Output { panic("planted") }),
		tool("silent", func() Output { return Output{} }),
		tool("long", func() Output { return Output{Text: strings.Repeat("é\xff", maxResultBytes)} }),
	))
	if err != nil {
		t.Fatal(err)
	}
	results := server.Asked()[1].Messages[3:]
	for i, want := range []string{"Error: no such file", "Error: the tool failed unexpectedly.", "(The tool returned nothing.)"} {
		if results[i].Text() != want {
			t.Errorf("result %d is %q, want %q", i, results[i].Text(), want)
		}
	}
	if long := results[3].Text(); len(long) > 2*maxResultBytes || !strings.Contains(long, "bytes were cut here") {
		t.Errorf("the long result has %d bytes", len(long))
	}
}

func TestMalformedCallsAreToldToTheModel(t *testing.T) {
	t.Parallel()
	object := chattest.Piece(0, "", "read", "")
	object["function"] = map[string]any{"name": "read", "arguments": map[string]any{"path": "a"}}
	for name, tt := range map[string]struct {
		turn   chattest.Turn
		result string
	}{
		"no JSON":         {chattest.Call("read", `{"path":`), "Error: the arguments are not a JSON object"},
		"a list":          {chattest.Call("read", `[1]`), "Error: the arguments are not a JSON object"},
		"twice an object": {chattest.Call("read", `{"a":1}{"a":2}`), "Error: the arguments are not a JSON object"},
		"an unknown tool": {chattest.Call("shell", `{}`), `Error: there is no tool "shell". The tools are: read.`},
		"a bad name":      {chattest.Call("read file!", `{}`), `Error: there is no tool "read file!"`},
		"no name":         {chattest.Stream(chattest.Pieces(chattest.Piece(0, "x", "", "{}")), chattest.Finish("tool_calls"), chattest.Done), "Error: the call has no tool name."},
		"cut off": {chattest.Stream(chattest.Pieces(chattest.Piece(0, "x", "read", `{"pa`)), chattest.Finish("length"), chattest.Done),
			"Error: the call was cut off by the output limit"},
		"too large": {chattest.Call("read", `{"path":"`+strings.Repeat("x", 2*maxArgumentBytes)+`"}`), "Error: the arguments have more than the"},
		"nested": {chattest.Call("read", `{"path":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`),
			"Error: the arguments are nested more than 100 levels deep"},
		// These are no mistakes that the model must know of.
		"no id":               {chattest.Stream(chattest.Pieces(chattest.Piece(0, "", "read", `{"path":"a"}`)), chattest.Finish("tool_calls"), chattest.Done), "read map[path:a]"},
		"an object":           {chattest.Stream(chattest.Pieces(object), chattest.Finish("tool_calls"), chattest.Done), "read map[path:a]"},
		"an object in a text": {chattest.Call("read", `"{\"path\":\"a\"}"`), "read map[path:a]"},
		"null":                {chattest.Call("read", `null`), "read map[]"},
		"after spaces": {chattest.Stream(chattest.Text("\n\n"), chattest.Pieces(chattest.Piece(0, "x", "read", `{"path":"a"}`)), chattest.Finish("tool_calls"), chattest.Done),
			"read map[path:a]"},
		"finished with a stop": {chattest.Stream(chattest.Pieces(chattest.Piece(0, "x", "read", `{"path":"a"}`)), chattest.Finish("stop"), chattest.Done), "read map[path:a]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := chattest.Start(t, tt.turn, chattest.Say("Sorry."))
			e, _ := connect(t, server)
			if _, err := e.Run(testContext(t), ask("Go.", echo("read"))); err != nil {
				t.Fatal(err)
			}
			if got := server.Asked()[1].Last().Text(); !strings.HasPrefix(got, tt.result) {
				t.Errorf("the model is told %q, want %q", got, tt.result)
			}
		})
	}
}

func TestMalformedCallsDoNotGoOnForever(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t)
	for range maxMalformed {
		server.Then(chattest.Call("shell", `{}`))
	}
	e, _ := connect(t, server)
	_, err := e.Run(testContext(t), ask("Go.", echo("read")))
	wantError(t, err, CodeMalformedCalls, "5 steps in a row", `there is no tool "shell"`)

	// One good call is enough to begin counting anew.
	server = chattest.Start(t)
	for range 2 {
		for range maxMalformed - 1 {
			server.Then(chattest.Call("shell", `{}`))
		}
		server.Then(chattest.Call("shell", `{}`, "read", `{}`))
	}
	server.Then(chattest.Say("Done."))
	e, _ = connect(t, server)
	if _, err := e.Run(testContext(t), ask("Go.", echo("read"))); err != nil {
		t.Error(err)
	}
}

func TestTheLastStepHasNoTools(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]chattest.Turn{"answers": chattest.Say("That is all."), "goes on": chattest.Call("read", "{}")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := chattest.Start(t, chattest.Call("read", "{}"), chattest.Call("read", "{}"), turn)
			e, _ := connect(t, server)
			q := ask("Go.", echo("read"))
			q.Steps = 3
			answer, err := e.Run(testContext(t), q)
			if name == "goes on" {
				wantError(t, err, CodeStepLimit, "3 steps")
			} else if err != nil || answer.Text != "That is all." {
				t.Errorf("got %q, %v", answer.Text, err)
			}
			last := server.Asked()[2]
			if last.ToolChoice != "none" || !strings.Contains(last.Last().Text(), "final answer now") {
				t.Errorf("the last request is %s", last.Body)
			}
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	empty := chattest.Stream(chattest.Finish("stop"), chattest.Done)
	for name, tt := range map[string]struct {
		script []chattest.Turn
		code   string
	}{
		"a content filter":              {[]chattest.Turn{chattest.Stream(chattest.Text("I will"), chattest.Finish("content_filter"), chattest.Done)}, CodeContentFilter},
		"nothing before the limit":      {[]chattest.Turn{chattest.Stream(chattest.Finish("length"), chattest.Done)}, CodeOutputLimit},
		"empty again and again":         {[]chattest.Turn{empty, empty, empty}, CodeEmptyAnswer},
		"empty once":                    {[]chattest.Turn{empty, chattest.Say("Now.")}, ""},
		"a refusal is an answer":        {[]chattest.Turn{chattest.Stream(chattest.Delta(map[string]any{"refusal": "No."}), chattest.Finish("stop"), chattest.Done)}, ""},
		"another choice is not counted": {[]chattest.Turn{chattest.Raw("text/event-stream", `data: {"choices":[{"index":1,"delta":{"content":"B"}},{"index":0,"delta":{"content":"A"},"finish_reason":"stop"}]}`+"\n\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := connect(t, chattest.Start(t, tt.script...))
			answer, err := e.Run(testContext(t), ask("Go."))
			if tt.code != "" {
				wantError(t, err, tt.code)
			} else if err != nil || answer.Text == "" || strings.Contains(answer.Text, "B") {
				t.Errorf("got %q, %v", answer.Text, err)
			}
		})
	}
}

func TestAnAnswerGoesOnAfterTheOutputLimit(t *testing.T) {
	t.Parallel()
	part := func(s string) chattest.Turn {
		return chattest.Stream(chattest.Text(s), chattest.Finish("length"), chattest.Done)
	}
	server := chattest.Start(t, part("one "), part("two "), chattest.Say("three"))
	e, _ := connect(t, server)
	answer, err := e.Run(testContext(t), ask("Count."))
	if err != nil || answer.Text != "one two three" {
		t.Errorf("got %q, %v", answer.Text, err)
	}
	if last := server.Asked()[2].Last(); !strings.Contains(last.Text(), "exactly where it stopped") {
		t.Errorf("the model is told %q", last.Text())
	}

	e, _ = connect(t, chattest.Start(t, part("1"), part("2"), part("3"), part("4")))
	answer, err = e.Run(testContext(t), ask("Count."))
	if err != nil || !strings.HasPrefix(answer.Text, "1234\n") || !strings.Contains(answer.Text, "output limit") {
		t.Errorf("got %q, %v; want all of it with a note", answer.Text, err)
	}
}

func TestAConversationGoesOnInTheNextRun(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t, chattest.Call("read", `{"path":"a"}`), chattest.Say("It is blue."), chattest.Say("I said blue."))
	e, _ := connect(t, server)
	var first, second record
	q := first.watch(ask("What colour?", echo("read")))
	q.Images = []Image{{URL: "data:image/png;base64,AAAA"}}
	if _, err := e.Run(testContext(t), q); err != nil {
		t.Fatal(err)
	}
	if got := string(server.Asked()[0].Last().Content); !strings.Contains(got, `"image_url"`) || !strings.Contains(got, "base64,AAAA") {
		t.Errorf("the image is missing in %s", got)
	}
	// Between two runs, also of two processes, it is bytes.
	data, err := first.kept.Encode()
	if err != nil {
		t.Fatal(err)
	}
	q = second.watch(ask("What did you say?", echo("read")))
	if q.History, err = Decode(data); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(testContext(t), q); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range server.Asked()[2].Messages {
		roles = append(roles, m.Role)
	}
	if want := []string{"system", "user", "assistant", "tool", "assistant", "user"}; !slices.Equal(roles, want) {
		t.Errorf("the second run begins with %v, want %v", roles, want)
	}
	if got := server.Asked()[2].Messages[1].Text(); got != "What colour?\n(An image was here.)" {
		t.Errorf("of the image is left %q", got)
	}
}

func TestACancelledRunLeavesAConversation(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]chattest.Turn{
		"in the stream": {chattest.Call("read", "{}"), chattest.Hang(chattest.Text("Half an answ"), nil)},
		"in a tool":     {chattest.Call("wait", "{}", "read", "{}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			wait := Tool{Name: "wait", Call: func(ctx context.Context, _ Invocation) Output {
				cancel()
				<-ctx.Done()
				return Output{Text: "interrupted", Failed: true}
			}}
			server := chattest.Start(t, script...)
			e, _ := connect(t, server)
			var got record
			q := got.watch(ask("Go.", echo("read"), wait))
			q.Watch.Text = func(string) { cancel() }
			if _, err := e.Run(ctx, q); !errors.Is(err, context.Canceled) {
				t.Fatalf("the run ended with %v", err)
			}
			server.Then(chattest.Say("I go on."))
			q = ask("Go on.", echo("read"), wait)
			q.History = got.kept
			if answer, err := e.Run(testContext(t), q); err != nil || answer.Text != "I go on." {
				t.Errorf("the next run gave %q, %v", answer.Text, err)
			}
			if name == "in the stream" && !strings.Contains(string(server.Asked()[2].Body), "Half an answ") {
				t.Error("what was said before the end is forgotten")
			}
		})
	}
}

func TestARunThatCameToNothingLeavesNoTrace(t *testing.T) {
	t.Parallel()
	e, _ := connect(t, chattest.Start(t, chattest.Refuse(400, "bad", "no")))
	got := record{kept: Conversation{Model: "untouched"}}
	if _, err := e.Run(testContext(t), got.watch(ask("Go."))); err == nil {
		t.Fatal("the refusal is not an error")
	}
	if len(got.kept.Messages) != 0 {
		t.Errorf("it is remembered as %+v", got.kept)
	}
}

func TestReasoningIsShownAndGivenBackOnlyToItsModel(t *testing.T) {
	t.Parallel()
	signed := chattest.Piece(0, "x", "read", "{}")
	signed["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": "c2ln"}}
	server := chattest.Start(t,
		chattest.Stream(chattest.Delta(map[string]any{"reasoning_content": "I must "}), chattest.Delta(map[string]any{"reasoning_content": "read."}),
			chattest.Pieces(signed), chattest.Finish("tool_calls"), chattest.Done),
		chattest.Say("Read."), chattest.Say("Again."), chattest.Say("Other."))
	e, _ := connect(t, server)
	var got record
	q := got.watch(ask("Go.", echo("read")))
	if _, err := e.Run(testContext(t), q); err != nil {
		t.Fatal(err)
	}
	if got.thought.String() != "I must read." || !slices.Equal(got.thoughts, []string{"I must read."}) {
		t.Errorf("the thoughts are %q and %q", got.thought.String(), got.thoughts)
	}
	if strings.Contains(got.text.String(), "must") {
		t.Error("the thoughts are part of the answer")
	}
	q.History, q.Prompt = got.kept, "Again."
	if _, err := e.Run(testContext(t), q); err != nil {
		t.Fatal(err)
	}
	q.History, q.Model = got.kept, "other-model"
	if _, err := e.Run(testContext(t), q); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]bool{1: true, 2: true, 3: false} {
		m := server.Asked()[i].Messages[2]
		has := m.Reasoning == "I must read." && strings.Contains(string(m.ToolCalls[0].Extra), "c2ln")
		if has != want {
			t.Errorf("request %d gives the reasoning back: %v, want %v", i, has, want)
		}
	}
}

func TestWhiteSpaceIsNotHeldBackForLong(t *testing.T) {
	t.Parallel()
	e, _ := connect(t, chattest.Start(t, chattest.Say(append(strings.Split(strings.Repeat("\n", 500), ""), "Fine.")...)))
	q, fragments := ask("Go."), 0
	q.Watch.Text = func(string) { fragments++ }
	answer, err := e.Run(testContext(t), q)
	if err != nil || answer.Text != strings.Repeat("\n", 500)+"Fine." || fragments < 400 {
		t.Errorf("got %q in %d fragments, %v", answer.Text, fragments, err)
	}
}

func TestReasoningInTheTextIsNoPartOfTheAnswer(t *testing.T) {
	t.Parallel()
	e, _ := connect(t, chattest.Start(t, chattest.Say("\n<th", "ink>Let me", " see.</thi", "nk>", "\n\n", "Fine: a <think> tag.")))
	var got record
	answer, err := e.Run(testContext(t), got.watch(ask("Go.")))
	if err != nil || answer.Text != "Fine: a <think> tag." || got.thought.String() != "Let me see." {
		t.Errorf("the answer is %q, the thoughts %q, %v", answer.Text, got.thought.String(), err)
	}
}
