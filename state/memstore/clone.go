package memstore

import (
	"maps"
	"slices"

	"github.com/liaison-bot/liaison/state"
)

// The clones keep callers and the store from sharing memory.

func same[T any](v T) T { return v }

func cloneDelivery(d state.StoredDelivery) state.StoredDelivery {
	d.Headers = maps.Clone(d.Headers)
	d.Body = slices.Clone(d.Body)
	return d
}

func cloneSession(s state.Session) state.Session {
	s.Surface = maps.Clone(s.Surface)
	return s
}

func cloneTurn(t state.Turn) state.Turn {
	t.Request = slices.Clone(t.Request)
	if t.Sending != nil {
		sending := *t.Sending
		t.Sending = &sending
	}
	t.Outputs = maps.Clone(t.Outputs)
	for name, data := range t.Outputs {
		t.Outputs[name] = slices.Clone(data)
	}
	t.Writes = slices.Clone(t.Writes)
	for i := range t.Writes {
		t.Writes[i].Answer = slices.Clone(t.Writes[i].Answer)
	}
	t.Gathered = slices.Clone(t.Gathered)
	for i := range t.Gathered {
		t.Gathered[i].Request = slices.Clone(t.Gathered[i].Request)
	}
	return t
}

func cloneItem(o state.OutboxItem) state.OutboxItem {
	o.Payload = slices.Clone(o.Payload)
	return o
}

func cloneTimer(t state.Timer) state.Timer {
	t.Payload = slices.Clone(t.Payload)
	return t
}

func cloneWake(w state.Wake) state.Wake {
	w.Payload = slices.Clone(w.Payload)
	return w
}

func cloneLifecycle(l state.LifecycleEvent) state.LifecycleEvent {
	l.Data = slices.Clone(l.Data)
	return l
}
