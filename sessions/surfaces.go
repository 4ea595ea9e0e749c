package sessions

import (
	"fmt"
	"maps"
	"slices"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// onSurfaces calls f for each channel on which people decide, in order of name.
// What a broken one fails at holds up nothing else.
func (e *Engine) onSurfaces(what string, f func(name string, s ApprovalSurface)) {
	for _, name := range slices.Sorted(maps.Keys(e.channels)) {
		s, ok := e.channels[name].(ApprovalSurface)
		if !ok {
			continue
		}
		err := guard(what+" of channel "+name, e.redact, func() error {
			f(name, s)
			return nil
		})
		e.logPanic("channel", name, err)
	}
}

// cardsOf says where people will see an approval.
func (e *Engine) cardsOf(v approvals.View) []approvals.Card {
	var cards []approvals.Card
	e.onSurfaces("ApprovalCards", func(name string, s ApprovalSurface) {
		seen := map[string]bool{}
		for _, c := range s.ApprovalCards(v) {
			if !state.ValidID(c.Place) || seen[c.Place] {
				e.logger.Error("a card cannot be drawn: its place has no name, or another's",
					"channel", name, "place", c.Place, "approval", v.ID)
				continue
			}
			seen[c.Place] = true
			cards = append(cards, approvals.Card{Channel: name, Place: c.Place, Address: c.Address})
		}
	})
	return cards
}

// tellPeople drafts what people are told of an approval beside its cards.
func (d *draft) tellPeople(v approvals.View, m ApprovalMoment) {
	e := d.a.e
	owner := fmt.Sprintf("approval:%s:%s-%d", v.ID, m, v.Version)
	e.onSurfaces("ApprovalEffects", func(name string, s ApprovalSurface) {
		effects := s.ApprovalEffects(v, m)
		if err := owable(effects); err != nil {
			e.logger.Error("people are not told of an approval", "channel", name, "approval", v.ID, "error", err)
			return
		}
		d.oweTo(owner+":"+name, name, effects)
	})
}

// String is the moment's name in what is owed for it.
func (m ApprovalMoment) String() string {
	switch m {
	case ApprovalReminded:
		return "reminded"
	case ApprovalParked:
		return "parked"
	default:
		return "settled"
	}
}
