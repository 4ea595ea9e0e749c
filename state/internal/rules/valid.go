package rules

import (
	"encoding/json"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/liaison-bot/liaison/state"
)

// Accept checks what no store can hold of a delivery.
func Accept(d state.Delivery) error {
	if !state.ValidID(d.Source) || strings.Contains(d.Source, ":") {
		return fmt.Errorf("accept: delivery source %q: %w", d.Source, state.ErrInvalid)
	}
	if !state.ValidID(d.ID) {
		return fmt.Errorf("accept: delivery id %q: %w", d.ID, state.ErrInvalid)
	}
	return nil
}

// Headers returns the headers of a delivery that may be stored, by canonical
// name and as valid UTF-8; nil when there are none.
func Headers(h map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range h {
		if !state.KeepHeader(name) {
			continue
		}
		if kept == nil {
			kept = make(map[string]string, len(h))
		}
		kept[textproto.CanonicalMIMEHeaderKey(name)] = strings.ToValidUTF8(value, "\uFFFD")
	}
	return kept
}

// Lazy reports whether a change decides nothing, so that its only content, the
// confirmations, may become durable with a later one.
func Lazy(c state.Change) bool {
	return len(c.Facts)+len(c.Counts)+len(c.Deliveries)+len(c.Sessions)+len(c.Keys)+len(c.Unlink)+len(c.Turns)+
		len(c.Approvals)+len(c.Audit)+len(c.Outbox)+len(c.Settle)+len(c.Timers)+len(c.CancelTimers)+
		len(c.Wakes)+len(c.DoneWakes)+len(c.Lifecycle) == 0
}

// Valid checks what makes a change impossible whatever is stored.
func Valid(c state.Change) error {
	v := validity{}
	seen := map[string]bool{}
	once := func(kind, id string) {
		v.id(kind, id)
		v.check(!seen[kind+" "+id], "%s %q is there twice", kind, id)
		seen[kind+" "+id] = true
	}
	for _, f := range c.Facts {
		v.id("fact", f.Key)
	}
	for _, n := range c.Counts {
		once("count", n.Key)
		v.check(n.Limit >= 0, "count %q has limit %d", n.Key, n.Limit)
	}
	for _, u := range c.Deliveries {
		once("delivery", fmt.Sprint(u.Seq))
		v.check(u.Status.Known(), "delivery %d has status %q", u.Seq, u.Status)
		v.check(!u.Replay || u.Status == state.DeliveryPending, "delivery %d is replayed as %q", u.Seq, u.Status)
	}
	for _, s := range c.Sessions {
		once("session", s.ID)
		v.optional("principal", s.Principal, "session", s.ID)
		v.optional("channel", s.Channel, "session", s.ID)
	}
	for _, key := range c.Unlink {
		v.id("key", key)
	}
	links := map[string]string{}
	for _, k := range c.Keys {
		v.id("key", k.Key)
		v.id("session", k.SessionID)
		other, ok := links[k.Key]
		v.check(!ok || other == k.SessionID, "key %q is linked twice", k.Key)
		links[k.Key] = k.SessionID
	}
	for _, t := range c.Turns {
		once("turn", t.ID)
		v.id("session", t.SessionID)
		v.check(t.Status == state.TurnQueued || t.Status == state.TurnRunning || t.Status.Ended(),
			"turn %q has status %q", t.ID, t.Status)
		v.json("turn", t.ID, t.Request)
		for name, data := range t.Outputs {
			v.id("output", name)
			v.check(json.Valid(data), "output %q of turn %q is broken JSON", name, t.ID)
		}
		for _, w := range t.Writes {
			v.id("write", w.Key)
			v.json("write", w.Key, w.Answer)
		}
	}
	for _, a := range c.Approvals {
		once("approval", a.ID)
		v.id("session", a.SessionID)
		v.check(len(a.Record) <= state.MaxApproval,
			"approval %q has %d bytes, and %d are the most", a.ID, len(a.Record), state.MaxApproval)
		v.json("approval", a.ID, a.Record)
	}
	for i, e := range c.Audit {
		v.check(len(e.Entry) <= state.MaxAuditEntry,
			"audit entry %d has %d bytes, and %d are the most", i, len(e.Entry), state.MaxAuditEntry)
		v.check(json.Valid(e.Entry), "audit entry %d is broken JSON", i)
	}
	for _, o := range c.Outbox {
		v.id("outbox item", o.ID)
		v.optional("session", o.SessionID, "outbox item", o.ID)
		v.optional("line", o.Line, "outbox item", o.ID)
		v.json("outbox item", o.ID, o.Payload)
	}
	for _, s := range c.Settle {
		once("settlement", s.ID)
		v.check(s.Result == state.OutboxDone || s.Result == state.OutboxRetry || s.Result == state.OutboxDead,
			"settlement %q has result %q", s.ID, s.Result)
	}
	for _, t := range c.Timers {
		once("timer", t.ID)
		v.json("timer", t.ID, t.Payload)
	}
	for _, w := range c.Wakes {
		once("wake", w.ID)
		v.json("wake", w.ID, w.Payload)
	}
	for _, l := range c.Lifecycle {
		v.id("session of event", l.SessionID)
		v.json("event", l.Type, l.Data)
	}
	return v.err
}

// validity keeps the first fault.
type validity struct{ err error }

func (v *validity) check(ok bool, format string, args ...any) {
	if !ok && v.err == nil {
		v.err = fmt.Errorf("commit: "+format+": %w", append(args, state.ErrInvalid)...)
	}
}

func (v *validity) id(kind, id string) {
	v.check(state.ValidID(id), "id %q of a %s", id, kind)
}

// optional allows a row of a kind to name none.
func (v *validity) optional(what, name, kind, id string) {
	v.check(name == "" || state.ValidID(name), "%s %q of %s %q", what, name, kind, id)
}

func (v *validity) json(kind, id string, raw json.RawMessage) {
	v.check(len(raw) == 0 || json.Valid(raw), "%s %q carries broken JSON", kind, id)
}
