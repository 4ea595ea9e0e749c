package install

import (
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// ticketLife is how long a person may take on Slack's page.
	ticketLife = 10 * time.Minute
	// maxUsed bounds the tickets that are remembered as used. A ticket is remembered
	// until it has expired, so this many installations fit into ticketLife.
	maxUsed = 4096
	// nonceBytes is the length of what makes a ticket one of its kind.
	nonceBytes = 32
)

// tickets ties the way back from Slack to the browser that went there. A ticket
// is a random text: Slack carries it as the state, and the browser keeps it with
// its time and our signature as a cookie. Nothing is stored before a ticket is
// used, so nobody can fill anything by asking for many; one that was used is
// remembered for as long as it would be good.
type tickets struct {
	sealer *sealer
	now    func() time.Time
	rand   io.Reader

	mu   sync.Mutex
	used map[string]time.Time // by nonce, with its end
}

func newTickets(sealer *sealer, now func() time.Time, rand io.Reader) *tickets {
	return &tickets{sealer: sealer, now: now, rand: rand, used: map[string]time.Time{}}
}

// issue returns a ticket: what Slack carries, and what the browser keeps.
func (t *tickets) issue() (nonce, cookie string, err error) {
	raw := make([]byte, nonceBytes)
	if _, err := io.ReadFull(t.rand, raw); err != nil {
		return "", "", fmt.Errorf("slack: make a ticket: %w", err)
	}
	nonce = base64.RawURLEncoding.EncodeToString(raw)
	text := nonce + "." + strconv.FormatInt(t.now().Add(ticketLife).Unix(), 10)
	return nonce, text + "." + base64.RawURLEncoding.EncodeToString(t.sealer.sign(0, text)), nil
}

// redeem reports whether a state and a cookie are the two halves of a ticket that
// is good and was not used before, and uses it.
func (t *tickets) redeem(state, cookie string) bool {
	text, code, ok := cutLast(cookie)
	if !ok {
		return false
	}
	sum, err := base64.RawURLEncoding.DecodeString(code)
	if err != nil || !t.sealer.signed(text, sum) {
		return false
	}
	nonce, end, ok := cutLast(text)
	if !ok || subtle.ConstantTimeCompare([]byte(nonce), []byte(state)) != 1 {
		return false
	}
	seconds, err := strconv.ParseInt(end, 10, 64)
	now := t.now()
	if ends := time.Unix(seconds, 0); err != nil || !now.Before(ends) {
		return false
	}
	return t.use(nonce, time.Unix(seconds, 0), now)
}

func (t *tickets) use(nonce string, end, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, used := t.used[nonce]; used {
		return false
	}
	if len(t.used) >= maxUsed {
		for other, ends := range t.used {
			if !now.Before(ends) {
				delete(t.used, other)
			}
		}
		if len(t.used) >= maxUsed {
			return false
		}
	}
	t.used[nonce] = end
	return true
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}
