package api

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/state"
)

// maxLetterID bounds a dead letter's id: two ids of the store and a kind fit.
const maxLetterID = 4096

// The kinds of letters, as their ids begin.
const (
	letterOfDelivery = "delivery:"
	letterOfOutbox   = "outbox:"
)

// dead lists what was given up.
func (a *API) dead(w http.ResponseWriter, r *http.Request, _ Principal) error {
	most, err := limit(r)
	if err != nil {
		return err
	}
	after, err := word(r, "after", letterID)
	if err != nil {
		return err
	}
	letters, err := a.store.DeadLetters(r.Context(), after, most+1)
	if err != nil {
		return err
	}
	type letterView struct {
		state.DeadLetter
		// Kept although empty, as the description says.
		Reason string `json:"reason"`
	}
	page := struct {
		OK   bool         `json:"ok"`
		Dead []letterView `json:"dead"`
		Next string       `json:"next,omitempty"`
	}{OK: true, Dead: []letterView{}}
	if len(letters) > most {
		letters = letters[:most]
		page.Next = letters[most-1].ID
	}
	for _, l := range letters {
		page.Dead = append(page.Dead, letterView{l, l.Reason})
	}
	answer.JSON(w, http.StatusOK, page)
	return nil
}

func letterID(s string) bool {
	return s != "" && len(s) <= maxLetterID && utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

// retryDead has what was given up tried once more.
func (a *API) retryDead(w http.ResponseWriter, r *http.Request, p Principal) error {
	return a.decideLetter(w, r, p, http.StatusAccepted, func(ctx context.Context, l state.DeadLetter) error {
		if id, ok := strings.CutPrefix(l.ID, letterOfOutbox); ok {
			return a.settle(ctx, state.OutboxSettlement{ID: id, Result: state.OutboxRetry, RetryAt: a.now(), Note: "tried again for " + p.Name})
		}
		d, err := a.deadDelivery(ctx, l)
		if err != nil {
			return err
		}
		return a.rearm(r, d, p)
	})
}

// dropDead takes what was given up off the list.
func (a *API) dropDead(w http.ResponseWriter, r *http.Request, p Principal) error {
	return a.decideLetter(w, r, p, http.StatusOK, func(ctx context.Context, l state.DeadLetter) error {
		note := "dropped by " + p.Name + "; it was given up: " + l.Reason
		if id, ok := strings.CutPrefix(l.ID, letterOfOutbox); ok {
			return a.settle(ctx, state.OutboxSettlement{ID: id, Result: state.OutboxDone, Note: note})
		}
		d, err := a.deadDelivery(ctx, l)
		if err != nil {
			return err
		}
		_, err = a.store.Commit(ctx, state.Change{Deliveries: []state.DeliveryUpdate{{
			Seq: d.Seq, Status: state.DeliveryIgnored, Attempts: d.Attempts, Decision: note,
			SessionID: d.SessionID, TurnID: d.TurnID,
		}}})
		return err
	})
}

// decideLetter finds a letter and decides about it. Only one caller at a time
// does: a second retry would set free an item that a worker has begun.
func (a *API) decideLetter(w http.ResponseWriter, r *http.Request, p Principal, status int, decide func(context.Context, state.DeadLetter) error) error {
	var id string
	if err := decode(w, r, fields{"id": &id}, "id"); err != nil {
		return err
	}
	if !letterID(id) {
		return badRequest(`"id" must have 1 to %d bytes`, maxLetterID)
	}
	ctx, cancel := decideContext(r)
	defer cancel()
	a.letters.Lock()
	defer a.letters.Unlock()
	letter, err := a.letter(ctx, id)
	if err == nil {
		err = decide(ctx, letter)
	}
	if err != nil {
		return undecided(ctx, err)
	}
	a.log.Info("dead letter decided", "letter", id, "path", r.URL.Path, "by", p.Name)
	answer.JSON(w, status, accepted{true, id})
	return nil
}

// letter finds a letter by its id. What sorts just before it is where a listing begins.
func (a *API) letter(ctx context.Context, id string) (state.DeadLetter, error) {
	for after := id[:len(id)-1]; ; {
		page, err := a.store.DeadLetters(ctx, after, maxLimit)
		if err != nil {
			return state.DeadLetter{}, err
		}
		for _, l := range page {
			if l.ID == id {
				return l, nil
			}
			if l.ID > id {
				return l, noLetter()
			}
		}
		if len(page) < maxLimit {
			return state.DeadLetter{}, noLetter()
		}
		after = page[len(page)-1].ID
	}
}

func noLetter() *refusal {
	return refusef(http.StatusNotFound, "not_found", "there is no such dead letter; it may have been retried or dropped")
}

// deadDelivery returns the delivery of a letter.
func (a *API) deadDelivery(ctx context.Context, l state.DeadLetter) (state.StoredDelivery, error) {
	source, id, _ := strings.Cut(strings.TrimPrefix(l.ID, letterOfDelivery), ":")
	return a.store.Delivery(ctx, source, id)
}

func (a *API) settle(ctx context.Context, s state.OutboxSettlement) error {
	_, err := a.store.Commit(ctx, state.Change{Settle: []state.OutboxSettlement{s}})
	return err
}
