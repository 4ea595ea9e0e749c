package sessions

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// What people think of an answer is on the session's record, and asks for nothing.
func TestNotes(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(request{Key: "k", Text: "one"})
		h.wait(2 * time.Second)
		turn := h.lastTurn("k").ID
		note := func(key, turnID string) request {
			return request{Do: "note", Key: key, Note: Note{
				Event: EventFeedbackReceived, TurnID: turnID, Data: json.RawMessage(`{"principal":"mona","verdict":"` + secret + `"}`),
			}}
		}
		good, foreign, none := h.send(note("k", turn)), h.send(note("k", "trn_other")), h.send(note("nobody", ""))
		h.settle()
		h.wantDelivery(good, state.DeliveryDone, "noted: ")
		h.wantDelivery(foreign, state.DeliveryIgnored, "the session has no turn")
		h.wantDelivery(none, state.DeliveryIgnored, "there is no such session")
		events := h.events("k")
		last := events[len(events)-1]
		if last.Type != EventFeedbackReceived || last.TurnID != turn || !strings.Contains(string(last.Data), "[redacted]") {
			t.Errorf("recorded last: %+v %s", last, last.Data)
		}
		h.wantTurns("k", ":completed")
	})
}

// What is only for a session that exists begins none, asks nobody, and does not
// stand in the way of what does.
func TestOnlyInASessionThatExists(t *testing.T) {
	inHouse(t, func(h *house) {
		weighed := h.slowly(time.Second)
		reply := request{Key: "k", Text: "reply", Fact: "f", Weigh: true, Existing: true, Coalesce: true}
		first := h.send(reply)
		h.wait(2 * time.Second)
		h.wantDelivery(first, state.DeliveryIgnored, "there is no such session")
		if len(*weighed) != 0 {
			t.Errorf("weighed: %q", *weighed)
		}
		h.send(request{Key: "k", Text: "mention", Fact: "f", Weigh: true, Coalesce: true})
		h.wait(5 * time.Second)
		reply.Fact = "g"
		h.send(reply)
		h.wait(5 * time.Second)
		h.wantTurns("k", ":completed", ":completed")

		unweighed := h.send(request{Key: "other", Text: "reply", Existing: true})
		h.settle()
		h.wantDelivery(unweighed, state.DeliveryIgnored, "there is no such session")
	})
}
