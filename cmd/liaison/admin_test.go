package main_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What Slack sends is stored, decided and counted, and an operator sees all of it.
func TestSlackDeliveryIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("SLACK_SIGNING_SECRET=" + webhookSecret)
	const body = `{"type":"event_callback","team_id":"T0ACME","event_id":"Ev08ABC","event":{"type":"team_join","user":{"id":"U0ADA"}}}`
	for range 2 {
		if status, answer := postSlack(t, p.url, body); status != http.StatusOK || answer != "" {
			t.Fatalf("answered %d %q", status, answer)
		}
	}
	var delivery struct{ Status, Decision string }
	eventually(t, func() bool {
		_, text := get(t, p.url+"/v1/deliveries/slack/Ev08ABC")
		return json.Unmarshal([]byte(text), &struct {
			Delivery any `json:"delivery"`
		}{&delivery}) == nil && delivery.Status == "ignored"
	})
	if !strings.Contains(delivery.Decision, "team_join") {
		t.Errorf("decided: %s", delivery.Decision)
	}

	addr := adminAddr(t, w)
	var status int
	var text string
	eventually(t, func() bool { // a decision is counted once it is durable, and so after it can be seen
		status, text = get(t, "http://"+addr+"/metrics")
		return strings.Contains(text, `liaison_deliveries_decided_total{source="slack",status="ignored"} 1`)
	})
	for _, want := range []string{
		`liaison_webhook_requests_total{answer="accepted",source="slack"} 1`,
		`liaison_webhook_requests_total{answer="duplicate",source="slack"} 1`,
		"liaison_engine_running 1",
		`liaison_store_size_bytes{part="database"} `,
		"go_goroutines ",
	} {
		if status != http.StatusOK || !strings.Contains(text, "\n"+want) {
			t.Errorf("%d; %s is not shown", status, want)
		}
	}
	if status, _ := get(t, p.url+"/metrics"); status != http.StatusNotFound {
		t.Errorf("/metrics of the public listener answers %d", status)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("left with %d", code)
	}
}

func TestAdminListenerThatIsOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("LIAISON_ADMIN_ADDR=off")
	p.terminate()
	if strings.Contains(w.log.String(), "listening for operators") {
		t.Error("it listens all the same")
	}
}

// adminAddr returns where the service listens for operators, from its log.
func adminAddr(t *testing.T, w *world) string {
	t.Helper()
	var addr string
	eventually(t, func() bool {
		for line := range strings.Lines(w.log.String()) {
			var entry struct{ Msg, Addr string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening for operators" {
				addr = entry.Addr
			}
		}
		return addr != ""
	})
	return addr
}

// eventually asks again until cond is met: another process gives no signal.
func eventually(t *testing.T, cond func() bool) {
	t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for deadline := time.Now().Add(patience); !cond(); <-ticks.C {
		if time.Now().After(deadline) {
			t.Fatal("it does not come to pass")
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	return send(t, http.MethodGet, url, "", nil)
}

func postSlack(t *testing.T, url, body string) (int, string) {
	t.Helper()
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	fmt.Fprintf(mac, "v0:%s:%s", timestamp, body)
	return send(t, http.MethodPost, url+"/webhooks/slack", body, map[string]string{
		"Content-Type":              "application/json",
		"X-Slack-Request-Timestamp": timestamp,
		"X-Slack-Signature":         "v0=" + hex.EncodeToString(mac.Sum(nil)),
	})
}

func send(t *testing.T, method, url, body string, headers map[string]string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
