package sessions

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
)

// A call without an agent does not wait; what it comes to is on its session's record.
func TestADirectCallThatWaitsForAPerson(t *testing.T) {
	inOffice(t, func(o *office) {
		o.direct = true
		got, err := o.engine.CallTool(context.Background(), ToolCall{Tool: "set_labels", Input: json.RawMessage(`{"label":"x"}`), Principal: "api:ci"})
		if err != nil || got.Approval == nil || !got.Approval.Parked {
			t.Fatalf("%+v, %v", got, err)
		}
		id := got.Approval.ID
		o.settle()
		o.wantState(id, approvals.Pending)
		o.wait(time.Hour)
		if _, err := o.decide(id, approvals.Approve, operator()); err != nil {
			t.Error(err)
		}
		v := o.wantState(id, approvals.Done)
		o.wantMade(`{"label":"x"}`)
		o.wait(48 * time.Hour)
		if turns, _ := o.store.Turns(context.Background(), v.SessionID); len(turns) > 0 {
			t.Errorf("turns were begun for it: %+v", turns)
		}
		if s, err := o.store.Session(context.Background(), v.SessionID); err != nil || s.Status != "archived" {
			t.Errorf("its session is %s, %v", s.Status, err)
		}
		var types []string
		for ev := range o.log.Read(context.Background(), v.SessionID, 0) {
			types = append(types, ev.Type)
		}
		want := []string{EventSessionStarted, EventActionsRequested, EventApprovalRequested, EventApprovalResolved, EventActionResult, EventSessionCompleted}
		if !slices.Equal(types, want) {
			t.Errorf("its record is %v", types)
		}
	})
}
