package bridge

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A misspelt restriction would be ignored and leave the agent with everything:
// what counts is what the bridge received.
func TestRestrictionsAreOnTheWire(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct {
		name    string
		options AgentOptions
		want    string // the options as the bridge received them, in JSON
	}{
		{"everything", AgentOptions{
			Name: "reviewer", Model: "m-1", Local: &LocalOptions{Dir: dir}, Tools: []string{"read", "mcp"}, DisallowedTools: []string{"shell"},
		}, `{"model":{"id":"m-1"},"apiKey":"api-key-0123456789","name":"reviewer","local":{"cwd":["` + dir + `"]},AGENT"tools":{"names":["read","mcp"]},"disallowedTools":["shell"]}`},
		{"no tools at all", AgentOptions{Model: "m-1", Local: &LocalOptions{Dir: dir}, Tools: []string{}},
			`{"model":{"id":"m-1"},"apiKey":"api-key-0123456789","local":{"cwd":["` + dir + `"]},AGENT"tools":{}}`},
		{"no restriction", AgentOptions{Model: "m-1", Local: &LocalOptions{Dir: dir}},
			`{"model":{"id":"m-1"},"apiKey":"api-key-0123456789","local":{"cwd":["` + dir + `"]}AGENT}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			record := recordFile(t)
			c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: finished("ok")}))
			ctx := testContext(t)
			tt.options.ID = "ours-1"
			a, err := c.Agents().Create(ctx, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if a.ID() != "ours-1" || a.Model() != "m-1" {
				t.Errorf("agent = %q, model %q", a.ID(), a.Model())
			}
			if _, err := c.Agents().Resume(ctx, "ours-1", tt.options); err != nil {
				t.Fatal(err)
			}
			created := strings.NewReplacer("},AGENT", `},"agentId":"ours-1",`, "AGENT", `,"agentId":"ours-1"`).Replace(tt.want)
			resumed := strings.NewReplacer("},AGENT", "},", "AGENT", "").Replace(tt.want)
			if got := recorded(t, record, "CreateAgent"); len(got) != 1 || got[0] != `{"options":`+created+`}` {
				t.Errorf("CreateAgent got %s\nwant %s", got, created)
			}
			if got := recorded(t, record, "ResumeAgent"); len(got) != 1 || got[0] != `{"agentId":"ours-1","options":`+resumed+`}` {
				t.Errorf("ResumeAgent got %s\nwant %s", got, resumed)
			}
		})
	}
}

func TestSendOnTheWire(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: finished("ok")}))
	ctx := testContext(t)
	a := newAgent(t, c)
	for _, o := range []SendOptions{{}, {Model: "m-2", Force: true}} {
		run, err := a.Send(ctx, Message{Text: "hello"}, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`{"agentId":"agent-1","message":{"text":"hello"},"options":{}}`,
		`{"agentId":"agent-1","message":{"text":"hello"},"options":{"model":{"id":"m-2"},"local":{"force":true}}}`,
	}
	if got := recorded(t, record, "Send"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("Send got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if got := recorded(t, record, "CloseAgent"); len(got) != 1 || got[0] != `{"agentId":"agent-1"}` {
		t.Errorf("CloseAgent got %s", got)
	}
}

func TestRefusedBeforeTheCall(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Ready: map[string]any{"maxMessageBytes": 100}}))
	ctx := testContext(t)
	good := testAgent(t)
	with := func(change func(*AgentOptions)) AgentOptions { o := good; change(&o); return o }
	tests := []struct {
		name string
		call func() error
		want error
	}{
		{"no directory", func() error {
			_, err := c.Agents().Create(ctx, with(func(o *AgentOptions) { o.Local = &LocalOptions{} }))
			return err
		}, ErrInvalid},
		{"relative directory", func() error {
			_, err := c.Agents().Create(ctx, with(func(o *AgentOptions) { o.Local = &LocalOptions{Dir: "."} }))
			return err
		}, ErrInvalid},
		{"a cloud agent's id", func() error {
			_, err := c.Agents().Create(ctx, with(func(o *AgentOptions) { o.ID = "bc-1" }))
			return err
		}, ErrInvalid},
		{"no id", func() error { _, err := c.Agents().Resume(ctx, "", good); return err }, ErrInvalid},
		{"message too large", func() error {
			a, err := c.Agents().Create(ctx, good)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = a.Send(ctx, Message{Text: strings.Repeat("x", 101)}, SendOptions{}); errors.Is(err, ErrAgentBusy) {
				t.Fatal(err)
			}
			return err
		}, ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.call(); !errors.Is(err, tt.want) {
				t.Errorf("error = %v, want %v", err, tt.want)
			}
		})
	}
	if got := recorded(t, record, "Send"); len(got) != 0 {
		t.Errorf("a message that is too large was sent: %.80s", got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"both":            {Executable: "x", StateRoot: "s", URL: "http://127.0.0.1:1"},
		"bad url":         {URL: "127.0.0.1:80"},
		"url with a user": {URL: "http://u:p@127.0.0.1:80"},
		"negative time":   {URL: "http://127.0.0.1:1", StopGrace: -time.Second},
		"negative runs":   {URL: "http://127.0.0.1:1", MaxConcurrentRuns: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
