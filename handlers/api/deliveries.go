package api

import (
	"math"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/state"
)

type deliveryView struct {
	Source     string               `json:"source"`
	ID         string               `json:"id"`
	Seq        uint64               `json:"seq"`
	Event      string               `json:"event,omitempty"`
	Status     state.DeliveryStatus `json:"status"`
	Decision   string               `json:"decision,omitempty"`
	Attempts   int                  `json:"attempts,omitempty"`
	Replays    int                  `json:"replays,omitempty"`
	NotBefore  time.Time            `json:"notBefore,omitzero"`
	ReceivedAt time.Time            `json:"receivedAt"`
	DecidedAt  time.Time            `json:"decidedAt,omitzero"`
	SessionID  string               `json:"sessionId,omitempty"`
	TurnID     string               `json:"turnId,omitempty"`
}

func viewDelivery(d state.StoredDelivery) deliveryView {
	return deliveryView{
		Source: d.Source, ID: d.ID, Seq: d.Seq, Event: d.Event, Status: d.Status, Decision: d.Decision,
		Attempts: d.Attempts, Replays: d.Replays, NotBefore: d.NotBefore, ReceivedAt: d.ReceivedAt,
		DecidedAt: d.DecidedAt, SessionID: d.SessionID, TurnID: d.TurnID,
	}
}

// deliveries lists what arrived, newest first.
func (a *API) deliveries(w http.ResponseWriter, r *http.Request, _ Principal) error {
	most, err := limit(r)
	if err != nil {
		return err
	}
	var f state.DeliveryFilter
	if f.Source, err = word(r, "source", channelName); err != nil {
		return err
	}
	status, err := word(r, "status", func(s string) bool { return state.DeliveryStatus(s).Known() })
	if err != nil {
		return err
	}
	f.Status = state.DeliveryStatus(status)
	if f.SessionID, err = word(r, "session", state.ValidSessionID); err != nil {
		return err
	}
	before, err := number(r, "before", 0, 1, math.MaxInt64)
	if err != nil {
		return err
	}
	f.Before = uint64(before)
	rows, next, err := a.store.Deliveries(r.Context(), f, most)
	if err != nil {
		return err
	}
	views := make([]deliveryView, len(rows))
	for i, d := range rows {
		views[i] = viewDelivery(d)
	}
	answer.JSON(w, http.StatusOK, struct {
		OK         bool           `json:"ok"`
		Deliveries []deliveryView `json:"deliveries"`
		Next       uint64         `json:"next,omitempty"`
	}{true, views, next})
	return nil
}

// named returns the delivery that a path names.
func (a *API) named(r *http.Request) (state.StoredDelivery, error) {
	source, id := r.PathValue("source"), r.PathValue("id")
	if !channelName(source) || !state.ValidID(id) {
		return state.StoredDelivery{}, state.ErrNotFound
	}
	return a.store.Delivery(r.Context(), source, id)
}

// delivery shows one delivery, with its body when it is asked for.
func (a *API) delivery(w http.ResponseWriter, r *http.Request, _ Principal) error {
	withBody, err := number(r, "body", 0, 0, 1)
	if err != nil {
		return err
	}
	d, err := a.named(r)
	if err != nil {
		return err
	}
	detail := struct {
		OK        bool              `json:"ok"`
		Delivery  deliveryView      `json:"delivery"`
		Headers   map[string]string `json:"headers,omitempty"`
		BodyBytes int               `json:"bodyBytes"`
		Body      []byte            `json:"body,omitempty"`
	}{OK: true, Delivery: viewDelivery(d), Headers: d.Headers, BodyBytes: len(d.Body)}
	if withBody == 1 {
		detail.Body = d.Body
	}
	answer.JSON(w, http.StatusOK, detail)
	return nil
}

// replay has a delivery decided anew.
func (a *API) replay(w http.ResponseWriter, r *http.Request, p Principal) error {
	d, err := a.named(r)
	if err != nil {
		return err
	}
	if err := a.rearm(r, d, p); err != nil {
		return err
	}
	answer.JSON(w, http.StatusAccepted, accepted{true, d.Source + ":" + d.ID})
	return nil
}

// accepted is the answer to what will be done, or was.
type accepted struct {
	OK bool   `json:"ok"`
	ID string `json:"id"`
}

// rearm makes a settled delivery pending again.
func (a *API) rearm(r *http.Request, d state.StoredDelivery, p Principal) error {
	switch {
	case d.Status == state.DeliveryPending:
		return refusef(http.StatusConflict, "pending", "the delivery waits for its decision already")
	case len(d.Body) == 0:
		return refusef(http.StatusConflict, "body_removed", "the delivery's body is gone by its retention; have the sender deliver it again")
	}
	_, err := a.store.Commit(r.Context(), state.Change{Deliveries: []state.DeliveryUpdate{{
		Seq: d.Seq, Status: state.DeliveryPending, Replay: true, Decision: "to be decided anew, asked for by " + p.Name,
	}}})
	if err == nil {
		a.log.Info("delivery replayed", "delivery", d.ID, "source", d.Source, "by", p.Name)
	}
	return err
}
