package slack

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// alone are the messages that one person alone sees in the channel.
func (w *world) alone(user string) []sim.SlackMessage {
	var found []sim.SlackMessage
	for _, m := range w.Messages(general) {
		if m.EphemeralTo == user {
			found = append(found, m)
		}
	}
	return found
}

// The answer to a click goes where Slack says, as text that pings nobody.
func TestEphemeralByResponseURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := w.Command(general, ann, "/liaison", "status")
	w.must(w.item(kindEphemeral, ephemeralPayload{
		To: w.thread(), User: ann, Markdown: "**Idle**, <!channel> hunter2", ResponseURL: said.ResponseURL,
	}))
	got := w.alone(ann)
	if len(got) != 1 || !strings.Contains(got[0].Text, "*Idle*") || strings.Contains(got[0].Text, "hunter2") || len(got[0].Pings) != 0 {
		t.Errorf("got %+v", got)
	}
	if len(got) == 1 && len(got[0].Blocks) != 0 {
		t.Errorf("blocks %s", got[0].Blocks)
	}
	if n := len(w.Calls("chat.postEphemeral")); n != 0 {
		t.Errorf("%d calls besides", n)
	}
}

// Where that address does not work any more, in whatever way it says so, the
// channel's own way is taken, with the bot's token.
func TestResponseURLFailed(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.SlackFault{
		"404":         {Status: http.StatusNotFound},
		"410":         {Status: http.StatusGone, Body: "gone"},
		"expired":     {Error: "expired_url"},
		"used":        {Error: "used_url"},
		"not ok":      {Status: http.StatusOK, Body: `{"ok":false}`},
		"bad payload": {Status: http.StatusBadRequest, Body: "invalid_payload"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			said := w.Command(general, ann, "/liaison", "status")
			fault.Method = "response_url"
			w.Fail(fault)
			w.must(w.item(kindEphemeral, ephemeralPayload{To: w.thread(), User: ann, Markdown: "Idle.", ResponseURL: said.ResponseURL}))
			if got := w.alone(ann); len(got) != 1 || len(w.Calls("chat.postEphemeral")) != 1 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What may have been seen is not told again.
func TestEphemeralIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault sim.SlackFault
		told  int
	}{
		"dropped after it": {sim.SlackFault{DropConnection: true, AfterEffect: true}, 1},
		"dropped before":   {sim.SlackFault{DropConnection: true}, 0},
		"500":              {sim.SlackFault{Status: http.StatusInternalServerError, AfterEffect: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			said := w.Command(general, ann, "/liaison", "status")
			tt.fault.Method = "response_url"
			w.Fail(tt.fault)
			item := w.item(kindEphemeral, ephemeralPayload{To: w.thread(), User: ann, Markdown: "Idle.", ResponseURL: said.ResponseURL})
			w.must(item)
			item.Attempts++ // after a crash
			w.must(item)
			if got := w.alone(ann); len(got) != tt.told {
				t.Errorf("told %d times", len(got))
			}
		})
	}
}

// What Slack cannot have heard of is tried again.
func TestEphemeralLimited(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := newWorld(t, func(o *Options) { o.Now = func() time.Time { return now } })
	w.Fail(sim.SlackRateLimit("chat.postEphemeral", time.Second))
	item := w.item(kindEphemeral, ephemeralPayload{To: w.thread(), User: ann, Markdown: "Idle."})
	_, err := w.deliver(item)
	var retry *sessions.RetryError
	if !errors.As(err, &retry) || !retry.Uncounted {
		t.Fatalf("got %v", err)
	}
	now = now.Add(time.Minute)
	item.Attempts++
	w.must(item)
	if got := w.alone(ann); len(got) != 1 {
		t.Errorf("told %d times", len(got))
	}
}

// Where nobody can be told anything, that is noted and nothing else.
func TestEphemeralToNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, p := range map[string]ephemeralPayload{
		"not in the channel": {To: w.thread(), User: "U0ELSEWHERE", Markdown: "Idle."},
		"no channel":         {To: address{Team: team}, User: ann, Markdown: "Idle."},
		"no user":            {To: w.thread(), Markdown: "Idle."},
	} {
		if receipt, err := w.deliver(w.item(kindEphemeral, p)); err != nil || !strings.HasPrefix(receipt.Note, "no answer for") {
			t.Errorf("%s: %q, %v", name, receipt.Note, err)
		}
	}
}
