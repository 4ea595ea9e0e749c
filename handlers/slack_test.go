package handlers_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/state"
)

// slackNow is the time at which newService has its clock.
var slackNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const mention = `{"token":"t","team_id":"T1","event":{"type":"app_mention","event_id":"Ev0NESTED","text":"hi"},"type":"event_callback","event_id":"Ev08ABC","event_time":1767322945}`

func withSlack(o *handlers.Options) { o.SlackSecrets = []string{secret} }

func slackSign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", timestamp, body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// slackPost is a well-formed signed request; tests spoil it.
func slackPost(contentType, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/slack", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	signAt(r, strconv.FormatInt(slackNow.Unix(), 10), body)
	return r
}

func signAt(r *http.Request, timestamp, body string) {
	r.Header.Set("X-Slack-Request-Timestamp", timestamp)
	r.Header.Set("X-Slack-Signature", slackSign(secret, timestamp, []byte(body)))
}

// Slack's own published example of a signature
// (https://docs.slack.dev/authentication/verifying-requests-from-slack).
func TestPublishedSlackSignatureExample(t *testing.T) {
	t.Parallel()
	const body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	s := newService(t, func(o *handlers.Options) {
		o.SlackSecrets = []string{"8f742231b10e8888abcd99yyyzzz85a5"}
		o.Now = func() time.Time { return time.Unix(1531420618, 0) }
	})
	r := httptest.NewRequest(http.MethodPost, "/webhooks/slack", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Slack-Request-Timestamp", "1531420618")
	r.Header.Set("X-Slack-Signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503")
	if w := s.post(r); w.Code != http.StatusOK {
		t.Fatalf("got %d: %s", w.Code, w.Body)
	}
	if got := s.inbox.stored[0]; got.Event != "command" {
		t.Errorf("stored as %q", got.Event)
	}
}

// Whatever Slack signed is stored byte for byte and answered with an empty 200;
// what it means is nobody's business here.
func TestWhatSlackSignedIsStored(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	for name, tt := range map[string]struct{ contentType, body, id, event string }{
		"event":                        {"application/json", mention, "Ev08ABC", "event_callback"},
		"charset":                      {"application/json; charset=utf-8", mention, "Ev08ABC", "event_callback"},
		"odd whitespace":               {"application/json", " \n{ \"event_id\"\t: \"Ev1\" ,\"type\":\r\n\"event_callback\" } \n", "Ev1", "event_callback"},
		"keys with escapes":            {"application/json", `{"event\u005fid":"Ev\u0031","typ\u0065":"event_callback"}`, "Ev1", "event_callback"},
		"the last of several ids":      {"application/json", `{"event_id":"Ev1","event_id":"Ev2","type":"x"}`, "Ev2", "x"},
		"text beyond ASCII":            {"application/json", `{"event_id":"Ev1","type":"e","text":"é🚀` + "\u2028" + `%2A*+%20"}`, "Ev1", "e"},
		"no id":                        {"application/json", `{"type":"app_rate_limited","team_id":"T1"}`, "", "app_rate_limited"},
		"an id that is a number":       {"application/json", `{"type":"event_callback","event_id":7}`, "", "event_callback"},
		"an id that is a path":         {"application/json", `{"type":"event_callback","event_id":"../x"}`, "", "event_callback"},
		"an id below the top":          {"application/json", `{"type":"event_callback","event":{"event_id":"Ev1"}}`, "", "event_callback"},
		"unknown type":                 {"application/json", `{"type":"from_2030","event_id":"Ev1"}`, "Ev1", "from_2030"},
		"a type with spaces":           {"application/json", `{"type":"a b","event_id":"Ev1"}`, "Ev1", "unknown"},
		"event missing":                {"application/json", `{"type":"event_callback","event_id":"Ev1"}`, "Ev1", "event_callback"},
		"event null":                   {"application/json", `{"type":"event_callback","event":null,"event_id":"Ev1"}`, "Ev1", "event_callback"},
		"event a list":                 {"application/json", `{"type":"event_callback","event":[],"event_id":"Ev1"}`, "Ev1", "event_callback"},
		"odd types in the event":       {"application/json", `{"event":{"files":[{"size":"12"}],"ts":1.5},"event_time":"1","type":"event_callback","event_id":"Ev1"}`, "Ev1", "event_callback"},
		"tokens revoked":               {"application/json", `{"type":"event_callback","event":{"type":"tokens_revoked"},"event_id":"Ev1"}`, "Ev1", "event_callback"},
		"not JSON":                     {"application/json", `hello`, "", "unknown"},
		"JSON cut short":               {"application/json", `{"event_id":"Ev1","event":{"a":"`, "Ev1", "unknown"},
		"JSON of great depth":          {"application/json", `{"event_id":"Ev1","a":` + strings.Repeat("[", 500_000), "Ev1", "unknown"},
		"nothing":                      {"application/json", "", "", "unknown"},
		"null":                         {"application/json", "null", "", "unknown"},
		"click":                        {form, "payload=" + url.QueryEscape(`{"type":"block_actions","state":{"values":[]}}`), "", "interaction"},
		"click of an org-wide app":     {form, "payload=" + url.QueryEscape(`{"type":"block_actions","team":null,"is_enterprise_install":"false"}`), "", "interaction"},
		"payload that is null":         {form, "payload=null", "", "interaction"},
		"payload that is empty":        {form, "payload=", "", "interaction"},
		"two payloads":                 {form, "payload=1&payload=2", "", "interaction"},
		"command":                      {form, "token=t&command=%2Fliaison&text=a+b%2A*", "", "command"},
		"probe of the certificate":     {form, "ssl_check=1&token=t", "", "ssl_check"},
		"form with nothing of Slack's": {form, "a=b", "", "form"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, withSlack)
			w := s.post(slackPost(tt.contentType, tt.body))
			if w.Code != http.StatusOK || w.Body.Len() != 0 {
				t.Fatalf("got %d: %s", w.Code, w.Body)
			}
			got := s.inbox.stored[0]
			if string(got.Body) != tt.body || got.Source != "slack" || got.Event != tt.event || !got.ReceivedAt.Equal(slackNow) {
				t.Errorf("stored %s %q as %q", got.Source, got.Body, got.Event)
			}
			if tt.id == "" && strings.HasPrefix(got.ID, "sha256:") {
				return
			}
			if got.ID != tt.id {
				t.Errorf("id %q, want %q", got.ID, tt.id)
			}
		})
	}
}

func TestSlackSignatureIsOverTheRawBody(t *testing.T) {
	t.Parallel()
	s := newService(t, withSlack)
	r := slackPost("application/x-www-form-urlencoded", "payload=%7B%7D&text=a*b")
	const anew = "payload=%7B%7D&text=a%2Ab"
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(anew)), int64(len(anew))
	if w := s.post(r); w.Code != http.StatusUnauthorized || len(s.inbox.stored) != 0 {
		t.Errorf("a body encoded anew: %d", w.Code)
	}
}

func TestSlackRefusals(t *testing.T) {
	t.Parallel()
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	good := strconv.FormatInt(slackNow.Unix(), 10)
	for _, tt := range []struct {
		name   string
		spoil  func(*http.Request)
		status int
	}{
		{"no signature", func(r *http.Request) { r.Header.Del("X-Slack-Signature") }, 401},
		{"no timestamp", func(r *http.Request) { r.Header.Del("X-Slack-Request-Timestamp") }, 401},
		{"another secret", set("X-Slack-Signature", slackSign("other", good, []byte(mention))), 401},
		{"an empty secret", set("X-Slack-Signature", slackSign("", good, []byte(mention))), 401},
		{"another version", set("X-Slack-Signature", "v1"+slackSign(secret, good, []byte(mention))[2:]), 401},
		{"a signature cut short", set("X-Slack-Signature", slackSign(secret, good, []byte(mention))[:20]), 401},
		{"a signature that is no hex", set("X-Slack-Signature", "v0="+strings.Repeat("zz", 32)), 401},
		{"the signature of GitHub's kind", set("X-Slack-Signature", sign(secret, []byte(mention))), 401},
		{"a signature over the body alone", set("X-Slack-Signature", "v0="+sign(secret, []byte(mention))[len("sha256="):]), 401},
		{"a timestamp that was not signed", set("X-Slack-Request-Timestamp", strconv.FormatInt(slackNow.Unix()+1, 10)), 401},
		{"the signed timestamp with a zero in front", set("X-Slack-Request-Timestamp", "0"+good), 401},
		{"no content type", func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		{"plain text", set("Content-Type", "text/plain"), 415},
		{"JSON sent again as a form", set("Content-Type", "application/x-www-form-urlencoded"), 415},
		{"compressed", set("Content-Encoding", "gzip"), 415},
		{"GET", func(r *http.Request) { r.Method = http.MethodGet }, 405},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, withSlack)
			r := slackPost("application/json", mention)
			tt.spoil(r)
			if w := s.post(r); w.Code != tt.status || len(s.inbox.stored) != 0 {
				t.Errorf("got %d %s with %d stored", w.Code, w.Body, len(s.inbox.stored))
			}
		})
	}
}

func TestSlackClock(t *testing.T) {
	t.Parallel()
	now := slackNow.Unix()
	for _, tt := range []struct {
		timestamp string
		status    int
	}{
		{strconv.FormatInt(now-299, 10), 200},
		{strconv.FormatInt(now-300, 10), 200},
		{strconv.FormatInt(now-301, 10), 401},
		{strconv.FormatInt(now+299, 10), 200},
		{strconv.FormatInt(now+300, 10), 200},
		{strconv.FormatInt(now+301, 10), 401},
		{"abc", 401},
		{" ", 401},
		{"1e9", 401},
		{"0", 401},
		{"-1", 401},
		{"+" + strconv.FormatInt(now, 10), 401},
		{strconv.FormatInt(now, 10) + ".0", 401},
		{"99999999999", 401},
		{"9223372036854775807", 401},
		{"92233720368547758080", 401},
		{strings.Repeat("9", 60_000), 401},
	} {
		s := newService(t, withSlack)
		r := slackPost("application/json", mention)
		signAt(r, tt.timestamp, mention)
		if w := s.post(r); w.Code != tt.status || (len(s.inbox.stored) == 1) != (tt.status == 200) {
			t.Errorf("%.40q: got %d", tt.timestamp, w.Code)
		}
	}
	s := newService(t, withSlack)
	r := slackPost("application/json", mention)
	signAt(r, strconv.FormatInt(now-7200, 10), mention)
	s.post(r)
	if !strings.Contains(s.log.String(), "skew=2h0m0s") {
		t.Errorf("the log does not say by how much: %s", s.log)
	}
}

func TestSlackSizeLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	for _, length := range []int{limit - 1, limit, limit + 1} {
		for _, chunked := range []bool{false, true} {
			s := newService(t, withSlack)
			r := slackPost("application/json", strings.Repeat(" ", length))
			if chunked {
				r.ContentLength = -1
			}
			want := http.StatusOK
			if length > limit {
				want = http.StatusRequestEntityTooLarge
			}
			if w := s.post(r); w.Code != want {
				t.Errorf("%d bytes, chunked %v: got %d, want %d", length, chunked, w.Code, want)
			}
		}
	}
}

func TestSlackChallenge(t *testing.T) {
	t.Parallel()
	ask := func(challenge string) string {
		return `{"token":"t","challenge":"` + challenge + `","type":"url_verification"}`
	}
	for name, tt := range map[string]struct {
		body, want string
		status     int
	}{
		"usual":            {ask("3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"), "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P", 200},
		"markup":           {ask("<b>x</b>"), "<b>x</b>", 200},
		"escapes":          {ask(`a\u0062\"`), `ab"`, 200},
		"longest":          {ask(strings.Repeat("c", 1024)), strings.Repeat("c", 1024), 200},
		"too long":         {ask(strings.Repeat("c", 1025)), "", 400},
		"empty":            {ask(""), "", 400},
		"no challenge":     {`{"type":"url_verification"}`, "", 400},
		"challenge number": {`{"type":"url_verification","challenge":5}`, "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, withSlack)
			w := s.post(slackPost("application/json", tt.body))
			if w.Code != tt.status || len(s.inbox.stored) != 0 {
				t.Fatalf("got %d: %s", w.Code, w.Body)
			}
			if tt.status != 200 {
				return
			}
			if w.Body.String() != tt.want || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("answered %q as %s", w.Body, w.Header().Get("Content-Type"))
			}
		})
	}
	s := newService(t, withSlack)
	r := slackPost("application/json", ask("planted"))
	r.Header.Set("X-Slack-Signature", slackSign("wrong", "0", nil))
	if w := s.post(r); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "planted") {
		t.Errorf("unsigned: %d %s", w.Code, w.Body)
	}
}

func TestSlackRetriesAreKeptAndKnown(t *testing.T) {
	t.Parallel()
	s := newService(t, withSlack)
	r := slackPost("application/json", mention)
	r.Header.Set("X-Slack-Retry-Num", "2")
	r.Header.Set("X-Slack-Retry-Reason", "http_timeout")
	r.Header.Set("Authorization", "Bearer x")
	for range 3 {
		if w := s.post(r); w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Fatalf("got %d: %s", w.Code, w.Body)
		}
		r = slackPost("application/json", mention)
	}
	if len(s.inbox.stored) != 1 {
		t.Fatalf("stored %d times", len(s.inbox.stored))
	}
	h := s.inbox.stored[0].Headers
	if h["X-Slack-Retry-Num"] != "2" || h["X-Slack-Retry-Reason"] != "http_timeout" {
		t.Errorf("kept %v", h)
	}
	for name := range h {
		if !state.KeepHeader(name) {
			t.Errorf("%s is kept, which no store may", name)
		}
	}
}

// Two clicks are two deliveries, and the same one sent again is not another.
func TestClicksAreToldApart(t *testing.T) {
	t.Parallel()
	s := newService(t, withSlack)
	const click = "payload=%7B%22trigger_id%22%3A%221%22%7D"
	later := slackPost("application/x-www-form-urlencoded", click)
	signAt(later, strconv.FormatInt(slackNow.Unix()+1, 10), click)
	for _, r := range []*http.Request{
		slackPost("application/x-www-form-urlencoded", click),
		slackPost("application/x-www-form-urlencoded", click),
		slackPost("application/x-www-form-urlencoded", click+"0"),
		later,
	} {
		if w := s.post(r); w.Code != http.StatusOK {
			t.Fatalf("got %d: %s", w.Code, w.Body)
		}
	}
	if len(s.inbox.stored) != 3 {
		t.Errorf("stored %d deliveries, want 3", len(s.inbox.stored))
	}
}

func TestSlackSecretsRotate(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *handlers.Options) { o.SlackSecrets = []string{"new-secret", secret} })
	if w := s.post(slackPost("application/json", mention)); w.Code != http.StatusOK {
		t.Errorf("the old secret is answered with %d", w.Code)
	}
	if !strings.Contains(s.log.String(), "secret=2") {
		t.Error("the log does not tell that the old secret is still in use")
	}
}

func TestSlackIsToldToComeAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, withSlack)
	s.inbox.err = fmt.Errorf("accept: %w", state.ErrUnavailable)
	w := s.post(slackPost("application/json", mention))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
}

func TestSlackIsOffWithoutASecret(t *testing.T) {
	t.Parallel()
	s := newService(t)
	if w := s.post(slackPost("application/json", mention)); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "channel_off") {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
}

// Only what is signed within its time is stored, and then exactly as it was sent.
func FuzzSlackWebhook(f *testing.F) {
	good := strconv.FormatInt(slackNow.Unix(), 10)
	f.Add([]byte(mention), slackSign(secret, good, []byte(mention)), good, "application/json")
	f.Add([]byte("payload=null"), "v0=00", "1e9", "application/x-www-form-urlencoded")
	f.Add([]byte(`{"type":"url_verification","challenge":"c"}`), "", "", "")
	f.Fuzz(func(t *testing.T, body []byte, signature, timestamp, contentType string) {
		s := newService(t, withSlack)
		r := httptest.NewRequest(http.MethodPost, "/webhooks/slack", bytes.NewReader(body))
		r.Header["X-Slack-Signature"] = []string{signature}
		r.Header["X-Slack-Request-Timestamp"] = []string{timestamp}
		r.Header["Content-Type"] = []string{contentType}
		w := s.post(r)
		if w.Code == http.StatusOK {
			seconds, err := strconv.ParseInt(timestamp, 10, 64)
			if err != nil || max(seconds-slackNow.Unix(), slackNow.Unix()-seconds) > 300 {
				t.Fatalf("accepted at %q", timestamp)
			}
			if !strings.EqualFold(signature, slackSign(secret, timestamp, body)) {
				t.Fatalf("accepted signature %q", signature)
			}
		}
		if len(s.inbox.stored) > 0 && (w.Code != http.StatusOK || !bytes.Equal(s.inbox.stored[0].Body, body)) {
			t.Fatalf("stored another body, or answered %d", w.Code)
		}
	})
}

func TestAPanickingStoreHoldsNothing(t *testing.T) {
	t.Parallel()
	counts := &handlers.Intake{}
	s := newService(t, withSlack, func(o *handlers.Options) { o.Inbox, o.Intake = panicky{}, counts })
	if w := s.post(slackPost("application/json", mention)); w.Code != http.StatusInternalServerError {
		t.Errorf("got %d", w.Code)
	}
	if counts.Bytes() != 0 || counts.Storing() != 0 {
		t.Errorf("%d bytes and %d deliveries are still in hand", counts.Bytes(), counts.Storing())
	}
}

type panicky struct{ state.Inbox }

func (panicky) Accept(context.Context, state.Delivery) (state.Outcome, error) {
	panic(errors.New("inner workings"))
}
