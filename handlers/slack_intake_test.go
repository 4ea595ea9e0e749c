package handlers_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

const clickPayload = `{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"actions":[{"action_id":"a","value":"v"}]}`

// The signature covers the bytes as they came: none of these survives being decoded
// and encoded again as it was.
func TestSlackTakesRawBytes(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	for name, tt := range map[string]struct{ contentType, body string }{
		"star as an escape":      {form, "command=%2Fliaison&text=a%2Ab"},
		"star as it is":          {form, "command=%2Fliaison&text=a*b"},
		"space as a plus":        {form, "command=%2Fliaison&text=a+b"},
		"space as an escape":     {form, "command=%2Fliaison&text=a%20b"},
		"escapes in small":       {form, "command=%2fliaison&text=%c3%a9"},
		"beyond ASCII":           {form, "command=/liaison&text=é🚀"},
		"line separator":         {"application/json", `{"type":"x","text":"` + "\u2028" + `"}`},
		"escaped slash":          {"application/json", `{"type":"x","text":"<\/b>\u00e9"}`},
		"odd whitespace":         {"application/json", "\r\n{ \"type\" :\t\"x\" }\n\n"},
		"keys twice":             {"application/json", `{"type":"y","type":"x"}`},
		"bytes that are no text": {"application/json", "{\"type\":\"x\",\"text\":\"\xff\xfe\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, withSlack)
			if w := s.post(slackPost(tt.contentType, tt.body)); w.Code != http.StatusOK || w.Body.Len() != 0 {
				t.Fatalf("got %d: %s", w.Code, w.Body)
			}
			if got := s.inbox.stored; len(got) != 1 || string(got[0].Body) != tt.body {
				t.Errorf("stored %q", got)
			}
		})
	}
}

// A click is verified as an event is, before anything reads it as a form.
func TestClickIsVerifiedUnread(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	body := "payload=" + url.QueryEscape(clickPayload)
	for name, tt := range map[string]struct {
		spoil  func(*http.Request)
		status int
	}{
		"good":    {func(*http.Request) {}, http.StatusOK},
		"bad":     {func(r *http.Request) { r.Header.Set("X-Slack-Signature", slackSign("other", "1", []byte(body))) }, http.StatusUnauthorized},
		"missing": {func(r *http.Request) { r.Header.Del("X-Slack-Signature") }, http.StatusUnauthorized},
	} {
		s := newService(t, withSlack)
		r := slackPost(form, body)
		tt.spoil(r)
		if w := s.post(r); w.Code != tt.status || (len(s.inbox.stored) == 1) != (tt.status == http.StatusOK) {
			t.Errorf("%s: got %d with %d stored", name, w.Code, len(s.inbox.stored))
		}
	}
}

// The signature does not cover the address: what stands in its query is nobody's word.
func TestQueryIsNoPayload(t *testing.T) {
	t.Parallel()
	s := newService(t, withSlack)
	r := httptest.NewRequest(http.MethodPost, "/webhooks/slack?payload="+url.QueryEscape(clickPayload), strings.NewReader(""))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	signAt(r, strconv.FormatInt(slackNow.Unix(), 10), "")
	if w := s.post(r); w.Code != http.StatusOK || s.inbox.stored[0].Event != "form" || len(s.inbox.stored[0].Body) != 0 {
		t.Errorf("got %d, stored %+v", w.Code, s.inbox.stored)
	}
}

// What somebody waits for at a screen is hastened once it is stored, and nothing else.
func TestClicksAndCommandsAreHastened(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	var hastened []string
	s := newService(t, withSlack, func(o *handlers.Options) {
		o.Hasten = func(source, id string) { hastened = append(hastened, source+" "+id) }
	})
	var want []string
	for _, tt := range []struct {
		contentType, body string
		urgent            bool
	}{
		{"application/json", mention, false},
		{form, "payload=" + url.QueryEscape(clickPayload), true},
		{form, "payload=" + url.QueryEscape(clickPayload), false}, // is known
		{form, "command=%2Fliaison&text=stop", true},
		{form, "ssl_check=1", false},
	} {
		if w := s.post(slackPost(tt.contentType, tt.body)); w.Code != http.StatusOK {
			t.Fatalf("got %d", w.Code)
		}
		if tt.urgent {
			want = append(want, "slack "+s.inbox.stored[len(s.inbox.stored)-1].ID)
		}
	}
	if !slices.Equal(hastened, want) {
		t.Errorf("hastened %v, want %v", hastened, want)
	}
	s.inbox.err = state.ErrUnavailable
	s.post(slackPost(form, "command=%2Fliaison&text=help"))
	if len(hastened) != len(want) {
		t.Error("what could not be stored is hastened")
	}
}

// One event posted fifty times at once, as first tries and as retries, and again
// after a restart, is stored once and acknowledged every time.
func TestOneEventFiftyTimesAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	open := func() (*boltstore.Store, http.Handler) {
		store, err := boltstore.Open(path, boltstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newService(t, withSlack, func(o *handlers.Options) {
			o.Inbox, o.Logger = store, slog.New(slog.DiscardHandler)
		})
		return store, s.Handler
	}
	post := func(h http.Handler, try int) {
		r := slackPost("application/json", mention)
		if retry := try % 4; retry > 0 {
			r.Header.Set("X-Slack-Retry-Num", strconv.Itoa(retry))
			r.Header.Set("X-Slack-Retry-Reason", "http_timeout")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Errorf("try %d: got %d: %s", try, w.Code, w.Body)
		}
	}
	store, h := open()
	var posted sync.WaitGroup
	for try := range 50 {
		posted.Go(func() { post(h, try) })
	}
	posted.Wait()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store, h = open()
	defer func() { _ = store.Close() }()
	post(h, 3)
	stored, err := store.Delivery(t.Context(), "slack", "Ev08ABC")
	if err != nil || string(stored.Body) != mention {
		t.Fatalf("stored %+v, %v", stored, err)
	}
	if outcome, err := store.Accept(t.Context(), state.Delivery{Source: "slack", ID: "Ev2", Event: "x", ReceivedAt: slackNow}); err != nil || outcome != state.Fresh {
		t.Fatalf("%v, %v", outcome, err)
	}
	if next, err := store.Delivery(t.Context(), "slack", "Ev2"); err != nil || next.Seq != stored.Seq+1 {
		t.Errorf("between them stands more than one delivery: %d and %d, %v", stored.Seq, next.Seq, err)
	}
}

// Only we tell ourselves of events that begin with our name.
func TestOwnEventsAreRefused(t *testing.T) {
	t.Parallel()
	for event, status := range map[string]int{"liaison.review": 400, "liaison.": 400, "liaisons": 202} {
		s := newService(t)
		r := delivery([]byte(`{}`))
		r.Header.Set("X-GitHub-Event", event)
		if w := s.post(r); w.Code != status || (len(s.inbox.stored) == 1) != (status == 202) {
			t.Errorf("%s: got %d with %d stored", event, w.Code, len(s.inbox.stored))
		}
	}
}
