package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/sessions"
)

// toolView is a tool as the API shows it.
type toolView struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Effect       string          `json:"effect"`
	Approval     string          `json:"approval"`
	Risk         approvals.Risk  `json:"risk,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
}

// anyObject is the schema of a tool that takes any input.
const anyObject = `{"type":"object"}`

// listTools shows what can be called without an agent.
func (a *API) listTools(w http.ResponseWriter, r *http.Request, p Principal) error {
	session := r.URL.Query().Get("session")
	if r.URL.Query().Has("session") {
		if _, err := a.ownedSession(r.Context(), session, p); err != nil {
			return err
		}
	}
	all, err := a.runtime.DirectTools(r.Context(), session)
	if err != nil {
		return err
	}
	list := struct {
		OK    bool       `json:"ok"`
		Tools []toolView `json:"tools"`
	}{true, []toolView{}}
	for _, t := range all {
		v := toolView{t.Name, t.Description, t.Effect, t.Approval, t.Risk, t.InputSchema, t.OutputSchema}
		if len(v.InputSchema) == 0 {
			v.InputSchema = json.RawMessage(anyObject)
		}
		list.Tools = append(list.Tools, v)
	}
	answer.JSON(w, http.StatusOK, list)
	return nil
}

// callTool calls a tool as an agent would.
func (a *API) callTool(w http.ResponseWriter, r *http.Request, p Principal) error {
	c := sessions.ToolCall{Tool: r.PathValue("name"), Principal: p.Name, Operator: p.Operator}
	if err := decode(w, r, fields{"input": &c.Input, "sessionId": &c.SessionID, "dryRun": &c.DryRun}, "input"); err != nil {
		return err
	}
	if c.SessionID != "" {
		if _, err := a.ownedSession(r.Context(), c.SessionID, p); err != nil {
			return err
		}
	}
	// What was begun is not cut short because somebody hung up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), sessions.MaxToolCall+decideTimeout)
	defer cancel()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sessions.MaxToolCall + decideTimeout + writeTimeout))
	got, err := a.runtime.CallTool(ctx, c)
	if err != nil {
		return undecided(ctx, err)
	}
	if v := got.Approval; v != nil {
		answer.JSON(w, http.StatusAccepted, struct {
			OK         bool            `json:"ok"`
			ToolName   string          `json:"toolName"`
			CallID     string          `json:"callId"`
			ApprovalID string          `json:"approvalId"`
			SessionID  string          `json:"sessionId"`
			State      approvals.State `json:"state"`
			ExpiresAt  time.Time       `json:"expiresAt"`
		}{true, got.Tool, got.CallID, v.ID, v.SessionID, v.State, v.ExpiresAt})
		return nil
	}
	answer.JSON(w, http.StatusOK, struct {
		OK         bool            `json:"ok"`
		ToolName   string          `json:"toolName"`
		CallID     string          `json:"callId"`
		SessionID  string          `json:"sessionId,omitempty"`
		IsError    bool            `json:"isError"`
		Result     json.RawMessage `json:"result"`
		Stubbed    bool            `json:"stubbed,omitempty"`
		DurationMS int64           `json:"durationMs"`
	}{true, got.Tool, got.CallID, got.SessionID, got.IsError, got.Result, got.Stubbed, got.DurationMS})
	return nil
}
