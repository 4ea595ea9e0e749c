package socket_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/liaison-bot/liaison/slack/socket"
)

const mention = `{"envelope_id":"%s","type":"events_api","accepts_response_payload":false,"retry_attempt":0,"retry_reason":"",` +
	`"payload":{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention"}}}`

// A frame is acknowledged once it is stored, by its envelope, and not before.
func TestStoredThenAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := make(chan error)
		w.accept = func(context.Context, socket.Frame) error { return <-release }
		var early []string
		w.script = func(_ int, s *slackSide) {
			s.say(fmt.Sprintf(mention, "e-1"))
			synctest.Wait()
			for len(s.acks) > 0 {
				early = append(early, <-s.acks)
			}
			release <- nil
			w.ack(s)
			// What cannot be stored is not acknowledged, and ends nothing.
			s.say(fmt.Sprintf(mention, "e-2"))
			release <- errors.New("the disk is full")
			s.say(fmt.Sprintf(mention, "e-3"))
			release <- nil
			w.ack(s)
			s.pingUntilGone()
		}
		if err := w.run(func() { time.Sleep(time.Minute) }); err != nil {
			t.Error(err)
		}
		if len(early) > 0 {
			t.Errorf("acknowledged before it was stored: %q", early)
		}
		if got := strings.Join(w.acks, " "); got != `{"envelope_id":"e-1"} {"envelope_id":"e-3"}` {
			t.Errorf("acknowledged: %s", got)
		}
		if h := w.history(); h != "opened 1, closed 1" {
			t.Error(h)
		}
	})
}

// A payload that no parser of events would take, a number for a text and the
// like, is stored as it came and acknowledged like any other.
func TestUndecodablePayloadIsAcknowledged(t *testing.T) {
	payloads := []string{
		`{"type":"event_callback","event_time":"1","event":{"files":[{"id":"F1","size":"12"}]}}`,
		`{"event":{"attachments":[{"ts":1.5},{"ts":"x"}],"metadata":{"event_payload":[]}}}`,
		`[]`, `null`, `"text"`, `7`, `{"type":7,"event_id":{}}`,
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var mu sync.Mutex
		stored := map[string]bool{}
		w.accept = func(_ context.Context, f socket.Frame) error {
			mu.Lock()
			defer mu.Unlock()
			stored[string(f.Payload)] = true
			return nil
		}
		w.script = func(_ int, s *slackSide) {
			for i, payload := range payloads {
				s.say(fmt.Sprintf(`{"envelope_id":"e-%d","type":"events_api","payload":%s,"retry_attempt":"x"}`, i, payload))
			}
			s.say(`{"envelope_id":"e-none","type":"interactive"}`)
			for range len(payloads) + 1 {
				w.ack(s)
			}
			s.pingUntilGone()
		}
		if err := w.run(func() { time.Sleep(time.Minute) }); err != nil {
			t.Error(err)
		}
		for _, payload := range append(payloads, "") {
			if !stored[payload] {
				t.Errorf("%s was not stored", payload)
			}
		}
		if len(w.acks) != len(payloads)+1 {
			t.Errorf("%d were acknowledged", len(w.acks))
		}
	})
}

// Garbage, types of a later year, and frames above the limit end nothing and
// are not stored; what has an envelope and an unknown type is acknowledged.
func TestGarbageEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var stored []string
		w.accept = func(_ context.Context, f socket.Frame) error {
			stored = append(stored, f.EnvelopeID)
			return nil
		}
		w.script = func(_ int, s *slackSide) {
			for _, text := range []string{
				"", "garbage", "{", "null", "[]", `"text"`, "\x00\xff", `{}`, `{"type":7}`, `{"envelope_id":[],"type":"events_api"}`,
				`{"envelope_id":"with spaces","type":"events_api"}`, strings.Repeat("[", 100_000),
				`{"envelope_id":"huge","type":"events_api","payload":"` + strings.Repeat("x", 1<<20) + `"}`,
				`{"type":"hello"}`, `{"type":"from_2030","envelope_id":"later"}`,
			} {
				s.say(text)
			}
			_ = s.WriteMessage(websocket.BinaryMessage, []byte{0, 1, 2})
			w.ack(s)
			s.say(fmt.Sprintf(mention, "good"))
			w.ack(s)
			s.pingUntilGone()
		}
		if err := w.run(func() { time.Sleep(time.Minute) }); err != nil {
			t.Error(err)
		}
		if got := strings.Join(w.acks, " "); got != `{"envelope_id":"later"} {"envelope_id":"good"}` {
			t.Errorf("acknowledged: %s", got)
		}
		if len(stored) != 1 || stored[0] != "good" {
			t.Errorf("stored: %q", stored)
		}
		if h := w.history(); h != "opened 1, closed 1" {
			t.Error(h)
		}
	})
}

// A link on which nothing comes, no ping either, is dead; a quiet workspace,
// where Slack pings and nothing happens, is not.
func TestSilentLinkIsReplacedAndAQuietOneIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		begun := time.Now()
		w.script = func(n int, s *slackSide) {
			if n == 1 {
				s.pingFor(10 * time.Minute)
				<-s.gone // half open: nothing comes any more, and nothing says so
				return
			}
			s.pingUntilGone()
		}
		err := w.run(func() {
			time.Sleep(9 * time.Minute)
			if s := w.client.Status(); !s.Connected || time.Since(s.LastPing) > 10*time.Second || !s.Since.Equal(begun) {
				t.Errorf("quiet: %+v", s)
			}
			time.Sleep(100 * time.Second)
			if h := w.history(); h != "opened 1, closed 1, opened 2" {
				t.Errorf("after 40 s of silence: %s", h)
			}
			time.Sleep(24 * time.Hour)
			if s := w.client.Status(); !s.Connected || !strings.Contains(s.Reason, "no ping") {
				t.Errorf("a day later: %+v", s)
			}
		})
		if h := w.history(); err != nil || h != "opened 1, closed 1, opened 2, closed 2" {
			t.Errorf("%s, %v", h, err)
		}
	})
}

// Where Slack is about to close a link, another one is open before this one is
// closed, and what this one brought is acknowledged over it.
func TestReplacedBeforeItIsClosed(t *testing.T) {
	for _, reason := range []string{"warning", "refresh_requested", "from_2030"} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.accept = func(context.Context, socket.Frame) error {
					time.Sleep(3 * time.Second)
					return nil
				}
				w.script = func(n int, s *slackSide) {
					s.pingFor(2 * time.Minute)
					if n <= 3 {
						s.say(fmt.Sprintf(mention, fmt.Sprint("e-", n)))
						s.say(fmt.Sprintf(`{"type":"disconnect","reason":%q,"debug_info":{"host":"h"}}`, reason))
						s.say(fmt.Sprintf(`{"type":"disconnect","reason":%q}`, reason))
						w.ack(s)
					}
					s.pingUntilGone()
				}
				err := w.run(func() { time.Sleep(20 * time.Minute) })
				want := "opened 1, opened 2, closed 1, opened 3, closed 2, opened 4, closed 3, closed 4"
				if h := w.history(); err != nil || h != want {
					t.Errorf("%s, %v", h, err)
				}
				if len(w.acks) != 3 {
					t.Errorf("acknowledged: %q", w.acks)
				}
			})
		})
	}
}

// A link that Slack wants to have replaced serves on while Slack gives no other.
func TestOldLinkServesWhileThereIsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.open = func(n int, rw http.ResponseWriter) {
			if 1 < n && n < 6 {
				http.Error(rw, "away", http.StatusBadGateway)
				return
			}
			giveLink(rw)
		}
		w.script = func(n int, s *slackSide) {
			if n == 1 {
				s.pingFor(2 * time.Minute)
				s.say(`{"type":"disconnect","reason":"warning"}`)
				s.pingFor(3 * time.Second)
				s.say(fmt.Sprintf(mention, "e-1"))
				w.ack(s)
			}
			s.pingUntilGone()
		}
		err := w.run(func() { time.Sleep(20 * time.Minute) })
		if h := w.history(); err != nil || h != "opened 1, opened 2, closed 1, closed 2" || len(w.acks) != 1 {
			t.Errorf("%s, %d acknowledged, %v", h, len(w.acks), err)
		}
	})
}

// Socket Mode that was turned off stays off however often one asks.
func TestDisabledIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.script = func(_ int, s *slackSide) {
			s.pingFor(2 * time.Minute)
			s.say(`{"type":"disconnect","reason":"link_disabled"}`)
			s.pingUntilGone()
		}
		err := w.run(func() { time.Sleep(time.Hour) })
		if h := w.history(); !errors.Is(err, socket.ErrDisabled) || h != "opened 1, closed 1" {
			t.Errorf("%s, %v", h, err)
		}
	})
}

// An app with too many links makes room before it asks for another.
func TestTooManyLinksBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.script = func(n int, s *slackSide) {
			if n < 4 {
				s.say(`{"type":"disconnect","reason":"too_many_websockets"}`)
			}
			s.pingUntilGone()
		}
		err := w.run(func() { time.Sleep(time.Hour) })
		want := "opened 1, closed 1, opened 2, closed 2, opened 3, closed 3, opened 4, closed 4"
		if h := w.history(); err != nil || h != want {
			t.Errorf("%s, %v", h, err)
		}
		for i := 1; i < len(w.asked); i++ {
			if pause := w.asked[i].Sub(w.asked[i-1]); pause < 8*time.Second {
				t.Errorf("asked again after %s", pause)
			}
		}
	})
}

func TestTokenThatIsRefused(t *testing.T) {
	for _, code := range []string{"invalid_auth", "not_authed", "account_inactive", "token_revoked", "missing_scope", "not_allowed_token_type"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.open = func(_ int, rw http.ResponseWriter) { fmt.Fprintf(rw, `{"ok":false,"error":%q}`, code) }
			err := w.run(func() { time.Sleep(time.Hour) })
			if !errors.Is(err, socket.ErrRefused) || !strings.Contains(err.Error(), code) || len(w.asked) != 1 {
				t.Errorf("%s: asked %d times, %v", code, len(w.asked), err)
			}
			if s := w.client.Status(); s.Connected || !strings.Contains(s.Reason, "SLACK_APP_TOKEN") {
				t.Errorf("%s: %+v", code, s)
			}
		})
	}
}

// Slack is asked again after what may pass, later each time, and not before it
// wants to be; the token follows no redirect.
func TestAskedAgainWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.open = func(n int, rw http.ResponseWriter) {
			switch n {
			case 1:
				fmt.Fprint(rw, `{"ok":false,"error":"internal_error"}`)
			case 2:
				fmt.Fprint(rw, `no JSON`)
			case 3:
				rw.Header().Set("Retry-After", "120")
				rw.WriteHeader(http.StatusTooManyRequests)
			case 4:
				rw.Header().Set("Location", "http://elsewhere.test/api/")
				rw.WriteHeader(http.StatusTemporaryRedirect)
			case 5:
				fmt.Fprint(rw, `{"ok":true,"url":"http://slack.test/link?ticket=`+ticket+`"}`)
			case 6:
				fmt.Fprint(rw, `{"ok":true,"url":"ws://elsewhere.test/link?ticket=`+ticket+`"}`)
			case 7:
				fmt.Fprint(rw, `{"ok":false,"error":{"odd":true}}`)
			default:
				giveLink(rw)
			}
		}
		err := w.run(func() { time.Sleep(time.Hour) })
		if h := w.history(); err != nil || h != "opened 1, closed 1" || len(w.asked) != 8 {
			t.Fatalf("%s, asked %d times, %v", h, len(w.asked), err)
		}
		// Three quarters of 1 s, doubling.
		for i, least := range []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 2 * time.Minute, 6 * time.Second, 12 * time.Second, 24 * time.Second, 45 * time.Second} {
			if pause := w.asked[i+1].Sub(w.asked[i]); pause < least || pause > least+time.Second {
				t.Errorf("pause %d is %s, want %s", i+1, pause, least)
			}
		}
	})
}

// Many frames at once are stored by a bounded number at once, and all of them.
func TestManyFramesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frames = 100
		w := newWorld(t)
		var mu sync.Mutex
		busy, most := 0, 0
		w.accept = func(context.Context, socket.Frame) error {
			mu.Lock()
			busy++
			most = max(most, busy)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			busy--
			mu.Unlock()
			return nil
		}
		acked := map[string]bool{}
		w.script = func(_ int, s *slackSide) {
			for i := range frames {
				s.say(fmt.Sprintf(mention, fmt.Sprint("e-", i)))
			}
			for range frames {
				acked[<-s.acks] = true
			}
			s.pingUntilGone()
		}
		if err := w.run(func() { time.Sleep(time.Minute) }); err != nil {
			t.Error(err)
		}
		if len(acked) != frames || most > 32 || most < 2 {
			t.Errorf("%d acknowledged, %d at once", len(acked), most)
		}
	})
}
