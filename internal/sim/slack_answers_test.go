package sim_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// answering is an app that gives one answer after the other.
func answering(t *testing.T, w *slackWorld, answers ...string) {
	t.Helper()
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if len(answers) == 0 {
			return
		}
		_, _ = io.WriteString(rw, answers[0])
		answers = answers[1:]
	}))
	t.Cleanup(s.Close)
	w.SetTarget(s.URL)
}

func (w *slackWorld) settle() {
	w.t.Helper()
	if err := w.Settle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func TestSlackShowsTheAnswerToACommand(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	answering(t, w, "plain words", `{"response_type":"ephemeral","text":"in JSON"}`, "")
	for range 3 {
		w.Command(slackChannel, ann, "/liaison", "status")
		w.settle()
	}
	got := w.Messages(slackChannel)
	if len(got) != 2 || got[0].Shown != "plain words" || got[1].Shown != "in JSON" || got[1].EphemeralTo != ann {
		t.Errorf("people see %+v", got)
	}
}

func TestSlackModalStaysOpenWithErrors(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	answering(t, w, "", `{"response_action":"errors","errors":{"reason":"too short"}}`, `{"response_action":"clear"}`)
	c := w.Command(slackChannel, ann, "/liaison", "")
	w.settle()
	if _, err := w.api.OpenViewContext(t.Context(), c.TriggerID, modal()); err != nil {
		t.Fatal(err)
	}
	w.Submit(ann, map[string]map[string]any{"reason": {"text": "x"}})
	w.settle()
	if v, open := w.View(ann); !open || v.Errors["reason"] != "too short" {
		t.Errorf("after errors ann sees %+v", v)
	}
	w.Submit(ann, map[string]map[string]any{"reason": {"text": "a better one"}})
	w.settle()
	if _, open := w.View(ann); open {
		t.Error("the modal stays open")
	}
}

func TestSlackVerifiesAddresses(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	good := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, after, _ := strings.Cut(string(body), `"challenge":"`)
		challenge, _, _ := strings.Cut(after, `"`)
		_, _ = io.WriteString(rw, challenge)
	}))
	defer good.Close()
	if err := w.VerifyURL(t.Context(), good.URL); err != nil {
		t.Error(err)
	}
	bad := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "ok") }))
	defer bad.Close()
	if err := w.VerifyURL(t.Context(), bad.URL); err == nil {
		t.Error("an address that does not know the challenge is taken")
	}
}

func TestSlackRetriesAfterATimeout(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t, func(o *sim.SlackOptions) { o.AckTimeout = 50 * time.Millisecond })
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	w.SetTarget(slow.URL)
	w.Say(slackChannel, ann, "hello")
	w.settle()
	tries := w.Attempts()
	if len(tries) != 2 || tries[1].Delivery.RetryNum != 1 || tries[1].Delivery.RetryReason != "http_timeout" || tries[1].Err == nil {
		t.Errorf("attempts %+v", tries)
	}
}

func TestSlackHoldsACallWhoseClientHasGone(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	m := w.Say(slackChannel, ann, "hello")
	gate := make(chan struct{})
	w.Fail(sim.SlackFault{Method: "assistant.threads.setStatus", Gate: gate})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		w.URL()+"assistant.threads.setStatus?channel_id="+slackChannel+"&thread_ts="+m.TS+"&status=thinking", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.team.BotToken)
	client := oneShot()
	client.Timeout = 50 * time.Millisecond
	resp, err := client.Do(r)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("the call is not held")
	}
	var timeout interface{ Timeout() bool }
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatal(err)
	}
	if st := w.Status(slackChannel, m.TS); st.Status != "" {
		t.Errorf("the status is there before the gate opens: %+v", st)
	}
	close(gate)
	if err := w.Wait(t.Context(), func() bool { return w.Status(slackChannel, m.TS).Status == "thinking" }); err != nil {
		t.Error(err)
	}
}
