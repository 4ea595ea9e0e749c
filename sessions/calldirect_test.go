package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// forPeople is a tool that people may call: it answers what run does.
func forPeople(name string, effect tools.Effect, run func(context.Context, tools.Call) (tools.Result, error)) tools.Tool {
	return tools.Tool{
		Name: name, InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"token":{"type":"string"}},"additionalProperties":false}`),
		Direct: func() bool { return true }, Effect: func(json.RawMessage) tools.Effect { return effect }, Run: run,
	}
}

func says(text string) func(context.Context, tools.Call) (tools.Result, error) {
	return func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{Text: text}, nil }
}

// call calls a tool as the operator and fails the test when it is refused.
func (h *house) call(c ToolCall) ToolAnswer {
	h.t.Helper()
	answer, err := h.tryCall(c)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer
}

func (h *house) tryCall(c ToolCall) (ToolAnswer, error) {
	if c.Principal == "" {
		c.Principal, c.Operator = "api:operator", true
	}
	if c.Input == nil {
		c.Input = json.RawMessage(`{}`)
	}
	return h.engine.CallTool(context.Background(), c)
}

// audit returns the actions in the audit log.
func (h *house) audit() (actions []string, entries []approvals.Entry) {
	h.t.Helper()
	rows, err := h.store.AuditEntries(context.Background(), time.Time{}, 0, 1000)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, row := range rows {
		var e approvals.Entry
		if err := json.Unmarshal(row.Entry, &e); err != nil {
			h.t.Fatal(err)
		}
		actions, entries = append(actions, e.Action), append(entries, e)
	}
	return actions, entries
}

func TestACallOutsideOfSessions(t *testing.T) {
	var seen tools.Call
	look := forPeople("look", tools.Read, func(_ context.Context, c tools.Call) (tools.Result, error) {
		seen = c
		text, err := os.ReadFile(filepath.Join(c.Dir, "AGENTS.md"))
		if err != nil {
			return tools.Result{}, err
		}
		// What it leaves is gone although nobody may write there.
		locked := filepath.Join(c.Dir, "locked")
		if err := errors.Join(os.Mkdir(locked, 0o700), os.WriteFile(filepath.Join(locked, "f"), nil, 0o400), os.Chmod(locked, 0o500)); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: string(text) + secret}, nil
	})
	inHouseWith(t, func(o *Options) {
		registry, err := tools.New(look)
		if err != nil {
			t.Fatal(err)
		}
		o.Agent = func() Agent {
			return Agent{Tools: registry, LayOut: func(_ context.Context, dir string) error {
				return os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("Be kind. "), 0o600)
			}}
		}
	}, func(h *house) {
		got := h.call(ToolCall{Tool: "look", Input: json.RawMessage(`{"n":1}`)})
		if string(got.Result) != `"Be kind. [redacted]"` || got.IsError || got.Approval != nil || got.SessionID != "" || !strings.HasPrefix(got.CallID, "tool_look_") {
			t.Errorf("answered %+v: %s", got, got.Result)
		}
		if seen.Dir != filepath.Join(h.dir, "tool-calls", got.CallID) || seen.AgentID != "" || seen.CallID != got.CallID || seen.TurnID == "" ||
			seen.Channel != ChannelHTTP || seen.Principal != "api:operator" || seen.Mode != "task" || string(seen.Input) != `{"n":1}` {
			t.Errorf("made with %+v", seen)
		}
		if left, err := os.ReadDir(filepath.Join(h.dir, "tool-calls")); err != nil || len(left) > 0 {
			t.Errorf("left is %v, %v", left, err)
		}
		if actions, _ := h.audit(); len(actions) > 0 {
			t.Errorf("a call that reads is audited as %v", actions)
		}
		if all, err := h.store.ListSessions(context.Background(), "", 9); err != nil || len(all) > 0 {
			t.Errorf("it made sessions: %v, %v", all, err)
		}
	})
}

func TestAWriteWithoutAnAgentIsAuditedBeforeItIsMade(t *testing.T) {
	var h *house
	write := forPeople("write", tools.Write, func(context.Context, tools.Call) (tools.Result, error) {
		if actions, _ := h.audit(); strings.Join(actions, " ") != "called" {
			t.Errorf("while it writes the audit log has %v", actions)
		}
		time.Sleep(3 * time.Second)
		return tools.Result{Text: "no: " + secret, IsError: true}, nil
	})
	withTools(t, func(in *house) {
		h = in
		got := h.call(ToolCall{Tool: "write", Input: json.RawMessage(`{"token":"` + secret + `"}`)})
		if !got.IsError || got.DurationMS != 3000 {
			t.Errorf("answered %+v", got)
		}
		actions, entries := h.audit()
		if strings.Join(actions, " ") != "called failed" {
			t.Fatalf("the audit log has %v", actions)
		}
		for _, e := range entries {
			if e.By != "api:operator" || e.Place != "http" || e.Tool != "write" || e.CallID != got.CallID ||
				e.Input != `{"token":"[redacted]"}` || e.InputHash != approvals.HashInput(json.RawMessage(`{"token":"`+secret+`"}`)) {
				t.Errorf("entry %+v", e)
			}
		}
		if e := entries[1]; e.DurationMS != 3000 || !strings.Contains(e.Reason, "no: [redacted]") {
			t.Errorf("the end is %+v", e)
		}
	}, write)
}

// What cannot be audited is not done.
func TestAWriteThatCannotBeAuditedIsNotMade(t *testing.T) {
	made := false
	write := forPeople("write", tools.Write, func(context.Context, tools.Call) (tools.Result, error) {
		made = true
		return tools.Result{}, nil
	})
	withTools(t, func(h *house) {
		_ = h.store.Close()
		_, err := h.tryCall(ToolCall{Tool: "write"})
		if err == nil || made {
			t.Errorf("made: %t, %v", made, err)
		}
	}, write)
}

func TestCallsThatAreRefused(t *testing.T) {
	hidden := tools.Tool{Name: "hidden", Run: says("never")}
	elsewhere := forPeople("elsewhere", tools.Read, says("never"))
	elsewhere.Offered = func(t tools.Turn) bool { return t.Channel == "test" }
	withTools(t, func(h *house) {
		sent := h.talk(Message{Text: "hello"})
		task := h.talk(Message{Text: "once", Mode: state.ModeTask})
		h.wait(time.Minute)
		for name, c := range map[string]struct {
			call ToolCall
			want error
			says string
		}{
			"unknown":            {ToolCall{Tool: "nothing"}, ErrNoSuchTool, "nothing"},
			"for agents only":    {ToolCall{Tool: "hidden"}, ErrNoSuchTool, ""},
			"of another place":   {ToolCall{Tool: "elsewhere"}, ErrNoSuchTool, ""},
			"wrong input":        {ToolCall{Tool: "look", Input: json.RawMessage(`{"n":"one"}`)}, ErrToolInput, "/n"},
			"no JSON":            {ToolCall{Tool: "look", Input: json.RawMessage(`{`)}, ErrToolInput, ""},
			"no session":         {ToolCall{Tool: "look", SessionID: "ses_nothing"}, state.ErrNotFound, ""},
			"no session's id":    {ToolCall{Tool: "look", SessionID: "../x"}, state.ErrNotFound, ""},
			"somebody else's":    {ToolCall{Tool: "look", SessionID: sent.SessionID, Principal: "api:bob"}, ErrNotAllowed, ""},
			"a task":             {ToolCall{Tool: "look", SessionID: task.SessionID}, ErrTask, ""},
			"input in a session": {ToolCall{Tool: "look", SessionID: sent.SessionID, Input: json.RawMessage(`{"m":1}`)}, ErrToolInput, "'m'"},
		} {
			if _, err := h.tryCall(c.call); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err := h.tryCall(ToolCall{Tool: "nothing"})
		if e, ok := errors.AsType[*UnknownToolError](err); !ok || strings.Join(e.Names, " ") != "look" {
			t.Errorf("it names %v", err)
		}
		all, err := h.engine.DirectTools(context.Background(), "")
		if err != nil || len(all) != 1 || all[0].Name != "look" || all[0].Effect != "read" || all[0].Approval != "never" || all[0].Risk != "" {
			t.Errorf("listed are %+v, %v", all, err)
		}
		h.wantAsked(sent.SessionID, "hello:completed")
		if record := h.recordOf(sent.SessionID); strings.Contains(record, "tool_") {
			t.Errorf("a refused call is on record:\n%s", record)
		}
		h.stop()
		if _, err := h.tryCall(ToolCall{Tool: "look"}); !errors.Is(err, state.ErrUnavailable) {
			t.Errorf("after the stop: %v", err)
		}
	}, forPeople("look", tools.Read, says("fine")), hidden, elsewhere)
}

// A call in a session sees its workspace and what it is about, and is on its record.
func TestACallInASession(t *testing.T) {
	var seen tools.Call
	label := forPeople("label", tools.Write, func(_ context.Context, c tools.Call) (tools.Result, error) {
		seen = c
		return tools.Result{Text: "labelled", Structured: json.RawMessage(`{"labels":["` + secret + `"]}`)}, nil
	})
	label.Offered = func(t tools.Turn) bool { return t.Channel == "test" }
	withTools(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(time.Minute)
		sess := h.session("k")
		got := h.call(ToolCall{Tool: "label", SessionID: sess.ID})
		if string(got.Result) != `{"labels":["[redacted]"]}` || got.SessionID != sess.ID {
			t.Errorf("answered %+v: %s", got, got.Result)
		}
		if seen.Dir != h.engine.Workspace(sess.ID) || string(seen.Request) != `{"rev":"a"}` || seen.Channel != "test" || seen.SessionID != sess.ID || seen.Mode != "chat" {
			t.Errorf("made with %+v", seen)
		}
		record := h.recordOf(sess.ID)
		request, result := strings.Index(record, `actions.requested {"actions":[{"callId":"`+got.CallID+`","name":"label","args":{}`),
			strings.Index(record, `action.result {"callId":"`+got.CallID+`","name":"label","result":{"labels":["[redacted]"]}`)
		if request < 0 || result < request {
			t.Errorf("the record is\n%s", record)
		}
		if _, turns := h.stored(sess.ID); len(turns) != 1 {
			t.Errorf("it made turns: %+v", turns)
		}
		if _, entries := h.audit(); len(entries) != 2 || entries[1].SessionID != sess.ID || entries[1].TurnID != seen.TurnID || entries[1].Action != "done" {
			t.Errorf("audited as %+v", entries)
		}
	}, label)
}

// The session is the call's until its end: turns wait for it, and it for turns.
func TestACallHasItsSessionForItself(t *testing.T) {
	slow := forPeople("slow", tools.Read, func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		select {
		case <-time.After(time.Minute):
			return tools.Result{Text: "done"}, nil
		case <-ctx.Done():
			return tools.Result{}, ctx.Err()
		}
	})
	withTools(t, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			return think(ctx, r, 10*time.Second)
		}
		sent := h.talk(Message{Text: "hello"})
		h.wait(time.Second)
		if _, err := h.tryCall(ToolCall{Tool: "slow", SessionID: sent.SessionID}); !errors.Is(err, ErrSessionBusy) {
			t.Errorf("while a turn runs: %v", err)
		}
		h.wait(time.Minute)
		answers := make(chan ToolAnswer)
		go func() { answers <- h.call(ToolCall{Tool: "slow", SessionID: sent.SessionID}) }()
		h.wait(time.Second)
		if _, err := h.tryCall(ToolCall{Tool: "slow", SessionID: sent.SessionID}); !errors.Is(err, ErrSessionBusy) {
			t.Errorf("while another call runs: %v", err)
		}
		h.talk(sent.reply("and now"))
		h.wait(30 * time.Second)
		h.wantAsked(sent.SessionID, "hello:completed", "and now:queued")
		if got := <-answers; got.IsError || string(got.Result) != `"done"` {
			t.Errorf("answered %+v", got)
		}
		h.wait(11 * time.Second)
		h.wantAsked(sent.SessionID, "hello:completed", "and now:completed")
	}, slow)
}

// What a direct call ends with when its time, its session or the service is over.
func TestACallThatIsCutShort(t *testing.T) {
	for name, c := range map[string]struct {
		session bool
		effect  tools.Effect
		end     func(h *house, sessionID string)
		says    string
	}{
		"by its time":               {effect: tools.Read, says: "has not answered within 2m0s"},
		"by its time, in a session": {session: true, effect: tools.Write, says: "nobody knows whether it did its work"},
		"by a stop": {session: true, effect: tools.Read, says: "was stopped", end: func(h *house, id string) {
			if _, err := h.engine.Stop(context.Background(), StopRequest{SessionID: id, Principal: "api:alice"}); err != nil {
				h.t.Error(err)
			}
		}},
		"by the service's end": {session: true, effect: tools.Read, says: "service", end: func(h *house, _ string) { h.cancel() }},
	} {
		t.Run(name, func(t *testing.T) {
			hang := forPeople("hang", c.effect, func(ctx context.Context, _ tools.Call) (tools.Result, error) {
				<-ctx.Done()
				return tools.Result{}, ctx.Err()
			})
			withTools(t, func(h *house) {
				call := ToolCall{Tool: "hang"}
				if c.session {
					sent := h.talk(Message{Text: "hello"})
					h.wait(time.Minute)
					call.SessionID = sent.SessionID
				}
				type ended struct {
					answer ToolAnswer
					err    error
				}
				end := make(chan ended, 1)
				go func() {
					answer, err := h.tryCall(call)
					end <- ended{answer, err}
				}()
				h.wait(time.Second)
				if c.end != nil {
					c.end(h, call.SessionID)
				}
				got := <-end
				if got.err != nil || !got.answer.IsError || !strings.Contains(string(got.answer.Result), c.says) {
					t.Errorf("answered %s, %v", got.answer.Result, got.err)
				}
				if c.session {
					h.settle()
					if record := h.recordOf(call.SessionID); !strings.Contains(record, `action.result {"callId":"`+got.answer.CallID+`","name":"hang","isError":true`) {
						t.Errorf("the record is\n%s", record)
					}
				}
			}, hang)
		})
	}
}

func TestWhoHangsUpDoesNotCutACallShort(t *testing.T) {
	ended := false
	slow := forPeople("slow", tools.Write, func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		select {
		case <-time.After(time.Minute):
			ended = true
		case <-ctx.Done():
		}
		return tools.Result{}, ctx.Err()
	})
	withTools(t, func(h *house) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := h.engine.CallTool(ctx, ToolCall{Tool: "slow", Input: json.RawMessage(`{}`), Principal: "api:alice"})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it answered %v", err)
		}
		h.wait(2 * time.Minute)
		if actions, _ := h.audit(); !ended || strings.Join(actions, " ") != "called done" {
			t.Errorf("ended: %t, audited as %v", ended, actions)
		}
	}, slow)
}

func TestOnlySoManyCallsRunAtOnce(t *testing.T) {
	slow := forPeople("slow", tools.Read, func(context.Context, tools.Call) (tools.Result, error) {
		time.Sleep(time.Minute)
		return tools.Result{}, nil
	})
	withTools(t, func(h *house) {
		for range maxDirectCalls {
			go func() { _, _ = h.tryCall(ToolCall{Tool: "slow"}) }()
		}
		synctest.Wait()
		if _, err := h.tryCall(ToolCall{Tool: "slow"}); !errors.Is(err, state.ErrUnavailable) {
			t.Errorf("one more: %v", err)
		}
		h.wait(2 * time.Minute)
		for range 2 * maxDirectCalls { // refusals take no place
			if _, err := h.tryCall(ToolCall{Tool: "nothing"}); !errors.Is(err, ErrNoSuchTool) {
				t.Fatal(err)
			}
		}
		h.call(ToolCall{Tool: "slow"})
	}, slow)
}

func TestADryCallWritesNothing(t *testing.T) {
	write := forPeople("write", tools.Write, func(context.Context, tools.Call) (tools.Result, error) {
		t.Error("it was run")
		return tools.Result{}, nil
	})
	write.DryRun = json.RawMessage(`{"would":"write"}`)
	withTools(t, func(h *house) {
		if got := h.call(ToolCall{Tool: "write", DryRun: true}); !got.Stubbed || got.IsError || !strings.Contains(string(got.Result), "would") {
			t.Errorf("answered %+v: %s", got, got.Result)
		}
		if got := h.call(ToolCall{Tool: "look", DryRun: true}); got.Stubbed || string(got.Result) != `"fine"` {
			t.Errorf("a read answered %+v", got)
		}
		sent := h.talk(Message{Text: "hello", DryRun: true})
		h.wait(time.Minute)
		got := h.call(ToolCall{Tool: "write", SessionID: sent.SessionID})
		if !got.Stubbed || !strings.Contains(h.recordOf(sent.SessionID), `"stubbed":true`) {
			t.Errorf("in a session that is one: %+v\n%s", got, h.recordOf(sent.SessionID))
		}
		if actions, _ := h.audit(); len(actions) > 0 {
			t.Errorf("audited as %v", actions)
		}
	}, write, forPeople("look", tools.Read, says("fine")))
}

func TestAToolThatBreaks(t *testing.T) {
	panics := forPeople("panics", tools.Read, func(context.Context, tools.Call) (tools.Result, error) { panic(secret) })
	fails := forPeople("fails", tools.Read, func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{}, fmt.Errorf("no route to %s", secret)
	})
	draws := forPeople("draws", tools.Read, func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{Text: "a dot", Images: []tools.Image{{Data: []byte("png"), MIMEType: "image/png"}}}, nil
	})
	withTools(t, func(h *house) {
		if got := h.call(ToolCall{Tool: "panics"}); !got.IsError || string(got.Result) != `"tool panics failed unexpectedly"` {
			t.Errorf("a panic answered %s", got.Result)
		}
		if got := h.call(ToolCall{Tool: "fails"}); !got.IsError || string(got.Result) != `"no route to [redacted]"` {
			t.Errorf("a failure answered %s", got.Result)
		}
		want := `{"content":[{"type":"text","text":"a dot"},{"type":"image","data":"cG5n","mimeType":"image/png"}]}`
		if got := h.call(ToolCall{Tool: "draws"}); string(got.Result) != want {
			t.Errorf("an image is %s", got.Result)
		}
		if log := h.logs.String(); strings.Contains(log, secret) || !strings.Contains(log, "a tool panicked") {
			t.Errorf("the log is %s", log)
		}
	}, panics, fails, draws)
}

func TestWhatACrashLeftOfCallsIsRemoved(t *testing.T) {
	withTools(t, func(h *house) {
		h.stop()
		left := filepath.Join(h.dir, "tool-calls", "tool_look_1")
		if err := errors.Join(os.MkdirAll(left, 0o700), os.WriteFile(filepath.Join(left, "f"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		h.store = h.store.Reopen()
		h.start()
		if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it is still there: %v", err)
		}
	}, forPeople("look", tools.Read, says("fine")))
}
