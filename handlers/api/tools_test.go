package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

func TestToolsAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as(aliceToken).ListTools(t.Context(), nil)
	got := parse[client.ToolList](t, response, err, 200)
	if len(got.Tools) != 2 || got.Tools[0].Name != toolName || got.Tools[0].Effect != "write" || got.Tools[0].Approval != "always" ||
		*got.Tools[0].Risk != client.ToolRiskHigh || string(got.Tools[1].InputSchema) != `{"type":"object"}` || got.Tools[1].Risk != nil {
		t.Errorf("got %+v", got.Tools)
	}
	response, err = w.as(bobToken).ListTools(t.Context(), &client.ListToolsParams{Session: new(sessionID)})
	read(t, response, err, 403)
}

func TestAToolIsCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	input := json.RawMessage(`{"size":12345678901234567890,"html":"<b>"}`)
	response, err := w.as(aliceToken).CallTool(t.Context(), toolName, client.ToolCallRequest{Input: input, SessionId: new(sessionID), DryRun: new(true)})
	got := parse[client.ToolCallResult](t, response, err, 200)
	if got.ToolName != toolName || got.CallId != "tool_deploy_1" || got.IsError || string(got.Result) != `{"deployed":true}` || !*got.Stubbed || got.DurationMs != 7 {
		t.Errorf("got %+v", got)
	}
	called := w.runtime.called[0]
	var sent, handed map[string]json.RawMessage
	if json.Unmarshal(input, &sent) != nil || json.Unmarshal(called.Input, &handed) != nil || string(sent["size"]) != string(handed["size"]) {
		t.Errorf("the tool was handed %s", called.Input)
	}
	if called.Principal != "api:alice" || called.Operator || called.SessionID != sessionID || !called.DryRun {
		t.Errorf("called as %+v", called)
	}
	w.runtime.park = true
	response, err = w.as(operatorToken).CallTool(t.Context(), toolName, client.ToolCallRequest{Input: input})
	if got := parse[client.ToolCallPending](t, response, err, 202); got.ApprovalId != approvalID || got.SessionId != sessionID || got.State != client.ApprovalStatePending {
		t.Errorf("got %+v", got)
	}
}

func TestCallsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool, body string
		err        error
		status     int
		code, says string
	}{
		"unknown":         {tool: "nothing", status: 404, code: "unknown_tool", says: "deploy, weather"},
		"wrong input":     {err: fmt.Errorf("%w: at /size: got text, want a number", sessions.ErrToolInput), status: 400, code: "bad_input", says: "/size"},
		"the agent's own": {err: sessions.ErrAgentTool, status: 400, code: "agent_tool", says: "agent"},
		"busy":            {err: sessions.ErrSessionBusy, status: 409, code: "session_busy", says: "turn"},
		"a task":          {err: sessions.ErrTask, status: 409, code: "task_session"},
		"no input":        {body: `{}`, status: 400, code: "bad_request", says: `"input"`},
		"a number":        {body: `{"input":{},"dryRun":1}`, status: 400, code: "bad_request", says: "dryRun"},
		"misspelt":        {body: `{"input":{},"dryrun":true}`, status: 400, code: "bad_request", says: "dryrun"},
		"no such session": {body: `{"input":{},"sessionId":"ses_nothing"}`, status: 404, code: "not_found"},
		"no session":      {body: `{"input":{},"sessionId":"../x"}`, status: 404, code: "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.err != nil {
				w.runtime.fail(c.err)
			}
			if c.tool == "" {
				c.tool = toolName
			}
			if c.body == "" {
				c.body = `{"input":{"size":"large"}}`
			}
			response, err := w.as(aliceToken).CallToolWithBody(t.Context(), c.tool, "application/json", strings.NewReader(c.body))
			got := string(read(t, response, err, c.status))
			if !strings.Contains(got, `"error":"`+c.code+`"`) || !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), c.says) {
				t.Errorf("answered %s", got)
			}
		})
	}
}

func TestTheAuditLogIsSentWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var more []state.AuditEntry
	for i := range 450 { // more than two pages
		at := epoch.Add(time.Duration(i) * time.Second)
		entry, err := json.Marshal(map[string]any{"at": at, "action": "called", "tool": fmt.Sprint(i), "durationMs": i})
		if err != nil {
			t.Fatal(err)
		}
		more = append(more, state.AuditEntry{At: at, Entry: entry})
	}
	w.commit(state.Change{Audit: more})
	get := func(p client.GetAuditParams) (seqs []int64) {
		response, err := w.as(operatorToken).GetAudit(t.Context(), &p)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			if err := w.judge.check(lines.Bytes(), "components", "schemas", "AuditEntry"); err != nil {
				t.Errorf("%v: %s", err, lines.Bytes())
			}
			var e client.AuditEntry
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			seqs = append(seqs, e.Seq)
		}
		return seqs
	}
	all := get(client.GetAuditParams{})
	if len(all) != 451 || all[0] != 1 || all[450] != 451 {
		t.Errorf("%d entries from %v", len(all), all[:min(3, len(all))])
	}
	if got := get(client.GetAuditParams{After: new(int64(450))}); len(got) != 1 || got[0] != 451 {
		t.Errorf("after 450 come %v", got)
	}
	if got := get(client.GetAuditParams{Since: new(epoch.Add(449 * time.Second))}); len(got) != 1 {
		t.Errorf("of the last second are %v", got)
	}
	if got := get(client.GetAuditParams{After: new(int64(451))}); len(got) != 0 {
		t.Errorf("after the last come %v", got)
	}
	for _, bad := range []string{"since=yesterday", "after=-1", "since=", "follow=true"} {
		response, err := w.as(operatorToken).GetAudit(t.Context(), nil, query(bad))
		read(t, response, err, 400)
	}
}
