package sessions

import "github.com/liaison-bot/liaison/state"

// overtaken reports whether a revision that was just heard of is older than the
// one that is known, so that acting on it would undo newer work.
//
// Senders do not deliver in order. Their own time of change decides where it
// differs. It often has the resolution of a second, so that between equal times
// the chain of what replaced what decides. Where neither does, the revision
// counts as newer: a channel reads the live subject before it does anything, and
// an old one ends there, while one that was dropped here would be lost.
func overtaken(heard, known state.Revision) bool {
	if !heard.At.IsZero() && !known.At.IsZero() && !heard.At.Equal(known.At) {
		return heard.At.Before(known.At)
	}
	switch {
	case heard.ID == known.ID:
		return false
	case heard.Previous != "" && heard.Previous == known.ID:
		return false
	default:
		return heard.ID != "" && heard.ID == known.Previous
	}
}

// newest returns what a session knows after it accepted heard.
func newest(known, heard state.Revision) state.Revision {
	if heard.ID == "" || overtaken(heard, known) {
		return known
	}
	if heard.ID == known.ID && heard.Previous == "" {
		heard.Previous = known.Previous
	}
	if heard.At.IsZero() {
		heard.At = known.At
	}
	return heard
}

// short cuts a revision's id to what people recognise.
func short(id string) string {
	const enough = 12 // characters of a Git object name
	if len(id) > enough {
		return id[:enough]
	}
	return id
}
