package slack

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// statusEffects are the statuses that a moment of a turn owes its thread, behind
// everything else that it owes: while the turn runs, whoever follows it shows what
// goes on; when it stands in line again nobody does; and when it is over, what may
// be left of it is taken away, also after a crash.
func statusEffects(to address, t sessions.Turn, r sessions.Report) []sessions.Effect {
	switch r.Moment {
	case sessions.MomentWaiting:
		return []sessions.Effect{{
			Name: fmt.Sprintf("status/waiting/%d", t.Attempt), Kind: kindStatus,
			Payload: encode(statusPayload{To: to, Text: waiting(r), Turn: t.ID}),
		}}
	case sessions.MomentCompleted, sessions.MomentFailed, sessions.MomentInterrupted:
		return []sessions.Effect{{
			Name: "status/end", Kind: kindStatus, Payload: encode(statusPayload{To: to, Turn: t.ID}),
		}}
	}
	return nil
}

// waiting says what a turn waits for, and until when. Slack shows it for two
// minutes at most, and to people in many time zones.
func waiting(r sessions.Report) string {
	text := "is waiting for " + cmp.Or(strings.TrimSpace(r.WaitsFor), "its turn")
	if !r.Until.IsZero() {
		text += " until about " + r.Until.Add(time.Minute-1).UTC().Format("15:04 UTC")
	}
	return text + "…"
}
