package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/liaison-bot/liaison/state"
)

// Note is something that people said about a session, without asking for
// anything: what they thought of an answer.
type Note struct {
	// Event is the type of the event that records it, such as [EventFeedbackReceived].
	Event string
	// TurnID is the turn that it is about; empty where it is about none.
	TurnID string
	Data   json.RawMessage
}

// Feedback is the data of [EventFeedbackReceived]: what somebody thought of a turn's answer.
type Feedback struct {
	Principal string `json:"principal"`
	// Verdict is "good" or "bad".
	Verdict string `json:"verdict"`
}

// note drafts what somebody said about the session, or about one of its turns.
func (a *actor) note(d *draft, del state.StoredDelivery, in Intent) error {
	if in.Note.TurnID != "" {
		turns, err := read(a.e.actors.ctx, a.e, func(ctx context.Context) ([]state.Turn, error) {
			return a.e.store.Turns(ctx, a.id)
		})
		if err != nil {
			return fmt.Errorf("read turns of session %s: %w", a.id, err)
		}
		if !slices.ContainsFunc(turns, func(t state.Turn) bool { return t.ID == in.Note.TurnID }) {
			d.settle(del, state.DeliveryIgnored, fmt.Sprintf("the session has no turn %.80q: %s", in.Note.TurnID, in.Reason), "")
			return nil
		}
	}
	d.event(in.Note.Event, in.Note.TurnID, recordable(in.Note.Data, a.e.redact))
	d.settle(del, state.DeliveryDone, "noted: "+in.Reason, in.Note.TurnID)
	return nil
}
