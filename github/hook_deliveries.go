package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	gh "github.com/google/go-github/v66/github"
	"github.com/liaison-bot/liaison/state"
)

// HookDelivery is a delivery of the App's webhook as GitHub remembers it.
type HookDelivery struct {
	// ID is the attempt's; GUID is the delivery's, the same in each attempt.
	ID   int64
	GUID string
	// At is when the attempt was made, and Status what was answered to it; 0 where
	// nothing was.
	At     time.Time
	Status int
	Event  string
	// Headers are those that may be kept, by canonical name.
	Headers map[string]string
	// Body is the payload as GitHub shows it: the same JSON, though not always the
	// bytes that were signed. That it is GitHub's is known by whom it was asked of.
	Body []byte
}

// errNotShown means that GitHub does not show what it sent, or not any more.
var errNotShown = errors.New("GitHub does not show this delivery's payload")

// HookDelivery fetches a delivery by the id of an attempt, or by its GUID, for
// which the attempts of the last three days are looked through.
func (c *Channel) HookDelivery(ctx context.Context, id string) (HookDelivery, error) {
	d, err := c.hookDelivery(ctx, id)
	if err != nil {
		return d, fmt.Errorf("fetch delivery %s from GitHub: %w", id, err)
	}
	return d, nil
}

func (c *Channel) hookDelivery(ctx context.Context, id string) (HookDelivery, error) {
	hooks := c.app.hooks()
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		return hooks.fetch(ctx, n)
	}
	for cursor := ""; ; {
		page, next, err := hooks.list(ctx, cursor)
		if err != nil {
			return HookDelivery{}, err
		}
		for _, d := range page {
			if d.GUID == id {
				return hooks.fetch(ctx, d.ID)
			}
		}
		if cursor = next; cursor == "" {
			return HookDelivery{}, errors.New("it is not among those of the last three days")
		}
	}
}

// hooks is GitHub's record of the App's deliveries.
type hooks struct {
	app    *app
	client *gh.Client
}

// hooks returns it, as seen under the App's own signature.
func (a *app) hooks() hooks {
	apps := a.own()
	return hooks{a, a.client(roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := apps.RoundTrip(req)
		if err == nil {
			a.quota.observe(appQuota, resp.Header)
		}
		return resp, err
	}))}
}

// list returns a page of attempts without their payloads, the newest first, and
// the cursor of the next page, empty at the end.
func (h hooks) list(ctx context.Context, cursor string) (page []HookDelivery, next string, err error) {
	found, resp, err := h.client.Apps.ListHookDeliveries(ctx, &gh.ListCursorOptions{PerPage: pageSize, Cursor: cursor})
	if err != nil {
		return nil, "", h.explain(err)
	}
	for _, d := range found {
		page = append(page, HookDelivery{
			ID: d.GetID(), GUID: d.GetGUID(), At: d.GetDeliveredAt().UTC(), Status: d.GetStatusCode(), Event: d.GetEvent(),
		})
	}
	if resp.Cursor == cursor {
		return page, "", nil
	}
	return page, resp.Cursor, nil
}

// fetch returns one attempt with what was sent. The error is errNotShown where
// only another attempt can help.
func (h hooks) fetch(ctx context.Context, id int64) (HookDelivery, error) {
	d, _, err := h.client.Apps.GetHookDelivery(ctx, id)
	var otherType *json.UnmarshalTypeError
	switch {
	case notFound(err), status(err) == http.StatusUnprocessableEntity, errors.Is(err, errTooLarge), errors.As(err, &otherType):
		return HookDelivery{}, fmt.Errorf("%w: %w", errNotShown, err)
	case err != nil:
		return HookDelivery{}, h.explain(err)
	}
	one := HookDelivery{
		ID: d.GetID(), GUID: d.GetGUID(), At: d.GetDeliveredAt().UTC(), Status: d.GetStatusCode(), Event: d.GetEvent(),
		Headers: map[string]string{},
	}
	if d.Request != nil {
		for name, value := range d.Request.Headers {
			if name = http.CanonicalHeaderKey(name); state.KeepHeader(name) && len(value) <= maxHookHeader {
				one.Headers[name] = value
			}
		}
		if raw := d.Request.RawPayload; raw != nil {
			one.Body = *raw
		}
	}
	if len(one.Body) == 0 || one.Body[0] != '{' || one.GUID == "" || one.Event == "" {
		return one, errNotShown
	}
	return one, nil
}

// redeliver asks GitHub to make an attempt again.
func (h hooks) redeliver(ctx context.Context, id int64) error {
	_, _, err := h.client.Apps.RedeliverHookDelivery(ctx, id)
	if later := (*gh.AcceptedError)(nil); errors.As(err, &later) {
		return nil // it is done in the background, which go-github takes for an error
	}
	return h.explain(err)
}

// explain says which setting a refusal of the App's signature points to.
func (h hooks) explain(err error) error {
	if status(err) == http.StatusUnauthorized {
		return h.app.identityError(err)
	}
	return err
}
