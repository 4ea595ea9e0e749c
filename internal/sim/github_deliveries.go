package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hookDelivery is one attempt at a delivery, as GitHub keeps it.
type hookDelivery struct {
	id         int64
	hook       Webhook
	at         time.Time
	redelivery bool
	// status is what the endpoint answered; 0 when it did not.
	status int
	// bare is set when GitHub does not show what it sent.
	bare bool
}

// redeliveryWindow is how long a delivery can be looked at and sent again.
// https://docs.github.com/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
const redeliveryWindow = 3 * 24 * time.Hour

// Attempt is one attempt at a delivery that went wrong, for [GitHub.Lose].
type Attempt struct {
	// Ago is how long before now it was made.
	Ago time.Duration
	// Status is what the endpoint answered; 0 when it did not answer in time.
	Status int
	// WithoutPayload has GitHub show the attempt without what was sent.
	WithoutPayload bool
}

// Lose records a delivery that did not reach its endpoint, and returns the id
// of the attempt. As GitHub does, the simulator does not send it again by itself.
func (g *GitHub) Lose(w Webhook, a Attempt) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := &hookDelivery{
		id: g.nextID(), hook: w, at: g.opts.Now().Add(-a.Ago).UTC(), status: a.Status, bare: a.WithoutPayload,
		redelivery: g.attempted(w.DeliveryID),
	}
	g.deliveries = append(g.deliveries, d)
	g.notify()
	return d.id
}

// SetWebhookURL says where the App's webhook is, for deliveries that are sent
// again on request.
func (g *GitHub) SetWebhookURL(url string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hookURL = url
}

// recordAttempt records an attempt that was made, successful or not.
func (g *GitHub) recordAttempt(w Webhook, status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deliveries = append(g.deliveries, &hookDelivery{
		id: g.nextID(), hook: w, at: g.opts.Now().UTC(), status: status, redelivery: g.attempted(w.DeliveryID),
	})
	g.notify()
}

// attempted reports whether a delivery was sent before. Callers hold the lock.
func (g *GitHub) attempted(guid string) bool {
	return slices.ContainsFunc(g.deliveries, func(d *hookDelivery) bool { return d.hook.DeliveryID == guid })
}

// listHookDeliveries lists attempts, the newest first, by cursor.
func (g *GitHub) listHookDeliveries(c *call) reply {
	q := c.r.URL.Query()
	per := min(atoi(q.Get("per_page"), defaultPerPage), maxPerPage)
	below := int64(1 << 62)
	if cursor := q.Get("cursor"); cursor != "" {
		id, known := strings.CutPrefix(cursor, "v1_")
		n, err := strconv.ParseInt(id, 10, 64)
		if !known || err != nil {
			return failed(http.StatusBadRequest, "Invalid cursor")
		}
		below = n
	}
	var all []*hookDelivery
	oldest := g.opts.Now().Add(-redeliveryWindow)
	for _, d := range slices.Backward(g.deliveries) {
		if d.id < below && d.at.After(oldest) {
			all = append(all, d)
		}
	}
	link := ""
	if len(all) > per {
		all = all[:per]
		q.Set("cursor", "v1_"+strconv.FormatInt(all[per-1].id, 10))
		link = fmt.Sprintf("<%s?%s>; rel=%q", c.self(), q.Encode(), "next")
	}
	return linked(ok(rows(all, (*hookDelivery).summary)), link)
}

func (g *GitHub) findHookDelivery(c *call) *hookDelivery {
	id, oldest := c.number("id"), g.opts.Now().Add(-redeliveryWindow)
	for _, d := range g.deliveries {
		if d.id == id && d.at.After(oldest) {
			return d
		}
	}
	return nil
}

func (g *GitHub) getHookDelivery(c *call) reply {
	d := g.findHookDelivery(c)
	if d == nil {
		return notFound()
	}
	o := d.summary()
	o["url"] = g.hookURL
	var payload any
	headers := object{}
	if !d.bare {
		payload = json.RawMessage(d.hook.Body)
		for name, values := range d.hook.Request(context.Background(), "http://webhook.invalid/", g.opts.WebhookSecret).Header {
			headers[name] = values[0]
		}
	}
	o["request"] = object{"headers": headers, "payload": payload}
	o["response"] = object{"headers": object{}, "payload": nil}
	return ok(o)
}

// redeliver answers before the delivery is sent again, as GitHub does.
func (g *GitHub) redeliver(c *call) reply {
	d := g.findHookDelivery(c)
	if d == nil {
		return notFound()
	}
	if url := g.hookURL; url != "" {
		hook := d.hook
		g.redelivering.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() {
				select {
				case <-g.stop:
					cancel()
				case <-ctx.Done():
				}
			}()
			_, _ = g.Deliver(ctx, url, hook) // how it went is on the record of attempts
		})
	}
	return reply{status: http.StatusAccepted, json: object{}}
}

// summary is a delivery without what was sent.
func (d *hookDelivery) summary() object {
	var payload struct {
		Action       *string             `json:"action"`
		Installation *struct{ ID int64 } `json:"installation"`
		Repository   *struct{ ID int64 } `json:"repository"`
	}
	_ = json.Unmarshal(d.hook.Body, &payload) // what has another shape has none of them
	o := object{
		"id": d.id, "guid": d.hook.DeliveryID, "delivered_at": stamp(d.at), "redelivery": d.redelivery, "duration": 0.25,
		"status": "OK", "status_code": d.status, "event": d.hook.Event, "action": payload.Action,
		"installation_id": nil, "repository_id": nil, "throttled_at": nil,
	}
	switch {
	case d.status == 0:
		o["status"], o["duration"] = "timed out", 10.0
	case d.status < 200 || d.status > 299:
		o["status"] = fmt.Sprintf("Invalid HTTP Response: %d", d.status)
	}
	if payload.Installation != nil {
		o["installation_id"] = payload.Installation.ID
	}
	if payload.Repository != nil {
		o["repository_id"] = payload.Repository.ID
	}
	return o
}
