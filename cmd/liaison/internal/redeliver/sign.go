package redeliver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Request returns where a delivery is posted on a service, and the headers that
// make it a genuine one at that time. id replaces GitHub's; empty keeps the saved one.
func (d *Delivery) Request(secret, id string, now time.Time) (path string, headers http.Header, err error) {
	if secret == "" {
		return "", nil, fmt.Errorf("sign a delivery of %s: there is no secret", d.Source)
	}
	headers = http.Header{}
	for name, value := range d.Headers {
		headers.Set(name, value)
	}
	if headers.Get("Content-Type") == "" {
		headers.Set("Content-Type", "application/json")
	}
	if d.Source == Slack {
		at := strconv.FormatInt(now.Unix(), 10)
		headers.Set("X-Slack-Request-Timestamp", at)
		headers.Set("X-Slack-Signature", "v0="+mac(secret, []byte("v0:"+at+":"), d.Body))
		return "/webhooks/slack", headers, nil
	}
	if id == "" {
		id = d.ID
	}
	if id == "" {
		return "", nil, fmt.Errorf(`%w: it has no "id" to keep (the header X-GitHub-Delivery)`, ErrSaved)
	}
	headers.Set("X-GitHub-Event", d.Event)
	headers.Set("X-GitHub-Delivery", id)
	headers.Set("X-Hub-Signature-256", "sha256="+mac(secret, d.Body))
	return "/webhooks/github", headers, nil
}

func mac(secret string, parts ...[]byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
