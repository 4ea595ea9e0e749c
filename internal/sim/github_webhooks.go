package sim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Webhook is one delivery, before it is signed. Delivering the same value
// twice is a redelivery: the id stays.
type Webhook struct {
	DeliveryID string
	// Event is the value of X-GitHub-Event.
	Event string
	Body  []byte
	// HookID and TargetType ("integration", "repository", "organization") say
	// which hook sent it. Target is the App's, repository's or organisation's id.
	HookID     int64
	TargetType string
	Target     int64
}

// Request is the signed request that carries the delivery. An empty secret
// leaves it unsigned.
func (w Webhook) Request(ctx context.Context, url, secret string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(w.Body))
	if err != nil {
		panic("sim: webhook URL: " + err.Error())
	}
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "GitHub-Hookshot/5aa1e4b")
	r.Header.Set("X-GitHub-Delivery", w.DeliveryID)
	r.Header.Set("X-GitHub-Event", w.Event)
	r.Header.Set("X-GitHub-Hook-ID", strconv.FormatInt(w.HookID, 10))
	r.Header.Set("X-GitHub-Hook-Installation-Target-ID", strconv.FormatInt(w.Target, 10))
	r.Header.Set("X-GitHub-Hook-Installation-Target-Type", w.TargetType)
	if secret != "" {
		one, two := hmac.New(sha1.New, []byte(secret)), hmac.New(sha256.New, []byte(secret))
		one.Write(w.Body)
		two.Write(w.Body)
		r.Header.Set("X-Hub-Signature", "sha1="+hex.EncodeToString(one.Sum(nil)))
		r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(two.Sum(nil)))
	}
	return r
}

// Deliver sends a delivery, signed with the App's secret, and returns the
// status. Like GitHub it follows no redirect.
func (g *GitHub) Deliver(ctx context.Context, url string, w Webhook) (status int, err error) {
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(w.Request(ctx, url, g.opts.WebhookSecret))
	if err != nil {
		g.recordAttempt(w, 0)
		return 0, fmt.Errorf("sim: deliver %s %s: %w", w.Event, w.DeliveryID, err)
	}
	defer func() { _ = resp.Body.Close() }()
	g.recordAttempt(w, resp.StatusCode)
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return resp.StatusCode, fmt.Errorf("sim: read the answer to %s %s: %w", w.Event, w.DeliveryID, err)
	}
	return resp.StatusCode, nil
}

// webhook makes a delivery of a payload. Callers hold the lock.
func (g *GitHub) webhook(event string, payload object) Webhook {
	body, err := json.Marshal(payload)
	if err != nil {
		panic("sim: encode webhook: " + err.Error())
	}
	return Webhook{
		DeliveryID: guid(event, strconv.FormatInt(g.nextID(), 10)), Event: event, Body: body,
		HookID: 500_000_001, TargetType: "integration", Target: g.opts.AppID,
	}
}

// envelope adds what every event of a repository carries. Callers hold the lock.
func (g *GitHub) envelope(r *repository, action string, sender *user) object {
	if sender == nil {
		sender = g.account("ghost")
	}
	o := object{"action": action, "repository": g.repoJSON(r), "sender": g.userJSON(sender)}
	if r.owner.kind == "Organization" {
		o["organization"] = object{"login": r.owner.login, "id": r.owner.id, "node_id": nodeID("Organization", r.owner.id)}
	}
	for _, id := range sortedKeys(g.installations) {
		if i := g.installations[id]; i.repos[r.id] && !i.removed {
			o["installation"] = object{"id": i.id, "node_id": nodeID("IntegrationInstallation", i.id)}
			break
		}
	}
	return o
}

// Event returns the pull_request delivery of an action, such as "opened" or
// "synchronize", with the pull request as it is now.
func (g *GitHub) Event(repo string, number int, action string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	o := g.envelope(p.repo, action, p.author)
	o["number"], o["pull_request"] = p.number, g.pullJSON(p, false)
	switch action {
	case "synchronize":
		o["before"], o["after"] = p.before, p.head
	case "edited":
		o["changes"] = object{"body": object{"from": ""}}
	}
	return g.webhook("pull_request", o)
}
