package load

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"time"
)

// Hook is a kind of webhook. Its requests differ by a number, which callers
// count up: the same number is the same delivery.
type Hook struct {
	// Name tells hooks apart in reports.
	Name string
	// Path is where the service takes it.
	Path string

	headers  string
	slack    bool
	template template
}

func gitHubHook(event string, payload any) Hook {
	return Hook{
		Name: event, Path: "/webhooks/github", template: newTemplate(payload),
		headers: "User-Agent: GitHub-Hookshot/10ad5e1\r\nX-GitHub-Event: " + event + "\r\nX-GitHub-Hook-ID: 400100200\r\n" +
			"X-GitHub-Hook-Installation-Target-ID: 1\r\nX-GitHub-Hook-Installation-Target-Type: integration\r\n",
	}
}

func slackHook(payload any) Hook {
	return Hook{
		Name: "app_mention", Path: "/webhooks/slack", slack: true, template: newTemplate(payload),
		headers: "User-Agent: Slackbot 1.0 (+https://api.slack.com/robots)\r\n",
	}
}

// Size is the length of a body in bytes.
func (h Hook) Size() int { return len(h.template.body) }

// Body returns the body of delivery n, for those who store it without a request.
func (h Hook) Body(n uint64) []byte {
	body := bytes.Clone(h.template.body)
	h.template.fill(body, n)
	return body
}

// Delivery is the sender's id of delivery n.
func (h Hook) Delivery(n uint64) string {
	if h.slack {
		id := []byte(markEvent)
		decimal(id[2:], n)
		return string(id)
	}
	return GitHubDelivery(n)
}

// GitHubDelivery is GitHub's id of delivery n.
func GitHubDelivery(n uint64) string {
	var id [deliveryLength]byte
	writeDelivery(id[:], n)
	return string(id[:])
}

// deliveryLength is that of a UUID.
const deliveryLength = 36

func writeDelivery(dst []byte, n uint64) {
	hexadecimal(dst, n)
	for _, i := range []int{8, 13, 18, 23} {
		dst[i] = '-'
	}
}

// Requests makes the requests of a hook, for one goroutine.
type Requests struct {
	hook Hook
	mac  hash.Hash
	sum  []byte

	// request is a whole one, and the rest are parts of it.
	request                        []byte
	body, signature, delivery, now []byte
}

// Requests lays out the requests to a host, signed with the secret.
func (h Hook) Requests(host, secret string) *Requests {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s",
		h.Path, host, h.Size(), h.headers)
	reserve := func(before string, n int, after string) (at int) {
		b.WriteString(before)
		at = b.Len()
		b.Write(make([]byte, n))
		b.WriteString(after)
		return at
	}
	var delivery, now, signature int
	const digest = 2 * sha256.Size
	if h.slack {
		now = reserve("X-Slack-Request-Timestamp: ", 10, "\r\n")
		signature = reserve("X-Slack-Signature: v0=", digest, "\r\n\r\n")
	} else {
		delivery = reserve("X-GitHub-Delivery: ", deliveryLength, "\r\n")
		signature = reserve("X-Hub-Signature-256: sha256=", digest, "\r\n\r\n")
	}
	body := b.Len()
	b.Write(h.template.body)
	raw := b.Bytes()
	r := &Requests{
		hook: h, mac: hmac.New(sha256.New, []byte(secret)), request: raw,
		body: raw[body:], signature: raw[signature : signature+digest],
	}
	if h.slack {
		r.now = raw[now : now+10]
	} else {
		r.delivery = raw[delivery : delivery+deliveryLength]
	}
	return r
}

// Make returns the request of delivery n with its body. It is overwritten by
// the next call.
func (r *Requests) Make(n uint64) []byte {
	r.hook.template.fill(r.body, n)
	r.mac.Reset()
	if r.hook.slack {
		strconv.AppendInt(r.now[:0], time.Now().Unix(), 10)
		r.mac.Write([]byte("v0:"))
		r.mac.Write(r.now)
		r.mac.Write([]byte(":"))
	} else {
		writeDelivery(r.delivery, n)
	}
	r.mac.Write(r.body)
	r.sum = r.mac.Sum(r.sum[:0])
	hex.Encode(r.signature, r.sum)
	return r.request
}
