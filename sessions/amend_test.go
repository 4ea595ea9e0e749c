package sessions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// named is a message that its writer can change.
func named(name, text string) request {
	return request{Key: "k", Coalesce: true, Name: name, Text: text}
}

func amended(name, text string) request {
	return request{Do: "amend", Key: "k", Name: name, Text: text}
}

// What waits can be changed and taken back; what an agent has read cannot.
func TestMessagesAreAmendedUntilTheirTurnBegins(t *testing.T) {
	for name, c := range map[string]struct {
		do      []request
		prompts []string
		last    string // decision of the last delivery
		status  state.DeliveryStatus
	}{
		"changed": {[]request{named("2", "two"), amended("2", "deux")}, []string{"one", "deux"},
			"changed the message of turn", state.DeliveryDone},
		"changed, gathered": {[]request{named("2", "two"), named("3", "three"), amended("3", "trois")}, []string{"one", "two\ntrois"},
			"changed the message of turn", state.DeliveryDone},
		"taken back, the only one": {[]request{named("2", "two"), amended("2", "")}, []string{"one"},
			"dropped turn", state.DeliveryDone},
		"taken back, the first": {[]request{named("2", "two"), named("3", "three"), amended("2", "")}, []string{"one", "three"},
			"took a message out of turn", state.DeliveryDone},
		"taken back, gathered": {[]request{named("2", "two"), named("3", "three"), amended("3", "")}, []string{"one", "two"},
			"took a message out of turn", state.DeliveryDone},
		"taken back, all": {[]request{named("2", "two"), named("3", "three"), amended("3", ""), amended("2", "")}, []string{"one"},
			"dropped turn", state.DeliveryDone},
		"changed after it was moved": {[]request{named("2", "two"), named("3", "three"), amended("2", ""), amended("3", "trois")},
			[]string{"one", "trois"}, "changed the message of turn", state.DeliveryDone},
		"begun":   {[]request{amended("1", "uno")}, []string{"one"}, "no message of that name waits", state.DeliveryIgnored},
		"unknown": {[]request{named("2", "two"), amended("9", "")}, []string{"one", "two"}, "no message of that name waits", state.DeliveryIgnored},
		"no session": {[]request{{Do: "amend", Key: "other", Name: "1", Text: "x"}}, []string{"one"},
			"there is no such session", state.DeliveryIgnored},
		"no name": {[]request{{Do: "amend", Key: "k"}}, []string{"one"}, "impossible key", state.DeliveryDead},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.send(named("1", "one"))
				h.settle()
				var last string
				for _, r := range c.do {
					last = h.send(r)
					h.settle()
				}
				h.wantDelivery(last, c.status, c.last)
				h.wait(5 * time.Second)
				if got := h.runner.prompts(); !slices.Equal(got, c.prompts) {
					t.Errorf("the agent was asked %q, want %q", got, c.prompts)
				}
			})
		})
	}
}

// The record says what became of a message, without what was secret in it.
func TestAmendmentsAreOnRecord(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(named("1", "one"))
		h.settle()
		h.send(named("2", "two"))
		h.send(amended("2", "my "+secret))
		h.send(amended("2", ""))
		h.settle()
		var got []string
		for _, ev := range h.events("k") {
			if ev.Type == EventMessageAmended {
				got = append(got, string(ev.Data))
			}
		}
		all := strings.Join(got, "\n")
		if len(got) != 2 || !strings.Contains(got[0], "[redacted]") || strings.Contains(all, secret) || !strings.Contains(got[1], `"withdrawn":true`) {
			t.Errorf("recorded:\n%s", all)
		}
	})
}

// A turn begins once nobody has said more for a while, or has waited long enough.
func TestATurnWaitsForQuiet(t *testing.T) {
	quiet := func(name string) request {
		r := named(name, name)
		r.Quiet = 30 * time.Second
		return r
	}
	asked := func(h *house, want ...string) {
		h.t.Helper()
		if got := h.runner.prompts(); !slices.Equal(got, want) {
			h.t.Errorf("the agent was asked %q, want %q", got, want)
		}
	}
	t.Run("until nobody says more", func(t *testing.T) {
		inHouse(t, func(h *house) {
			h.send(quiet("a"))
			h.wait(20 * time.Second)
			h.send(quiet("b"))
			h.wait(29 * time.Second)
			asked(h)
			h.wait(time.Second)
			asked(h, "a\nb")
		})
	})
	t.Run("for some time at most", func(t *testing.T) {
		inHouse(t, func(h *house) {
			for at := time.Duration(0); at < MaxQuiet; at += 20 * time.Second {
				h.send(quiet("a"))
				h.wait(20 * time.Second)
			}
			if n := len(h.runner.prompts()); n != 1 {
				t.Errorf("%d turns began within %s, want 1", n, MaxQuiet)
			}
		})
	})
	t.Run("not for one who cannot wait", func(t *testing.T) {
		inHouse(t, func(h *house) {
			h.send(quiet("a"))
			h.settle()
			h.send(named("b", "b"))
			h.settle()
			asked(h, "a\nb")
		})
	})
	t.Run("not if it was taken back", func(t *testing.T) {
		inHouse(t, func(h *house) {
			h.send(quiet("a"))
			h.settle()
			h.send(amended("a", ""))
			h.wait(time.Minute)
			asked(h)
		})
	})
	t.Run("over a crash", func(t *testing.T) {
		inHouse(t, func(h *house) {
			h.send(quiet("a"))
			h.settle()
			h.crash()
			h.store = h.store.Reopen()
			h.start()
			h.wait(29 * time.Second)
			asked(h)
			h.wait(2 * time.Second)
			asked(h, "a")
		})
	})
}
