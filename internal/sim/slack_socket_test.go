package sim_test

import (
	"encoding/json"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
)

// frame is what Slack sends over a socket.
type frame struct {
	Type       string          `json:"type"`
	Reason     string          `json:"reason"`
	EnvelopeID string          `json:"envelope_id"`
	Retry      int             `json:"retry_attempt"`
	Payload    json.RawMessage `json:"payload"`
}

func socketWorld(t *testing.T) *slackWorld {
	t.Helper()
	return newSlackWorld(t, func(o *sim.SlackOptions) { o.AppToken = "xapp-1" })
}

func (w *slackWorld) connect() *websocket.Conn {
	w.t.Helper()
	api := slack.New("", slack.OptionAppLevelToken("xapp-1"), slack.OptionAPIURL(w.URL()), slack.OptionHTTPClient(oneShot()))
	_, address, err := api.StartSocketModeContext(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	conn, resp, err := websocket.DefaultDialer.DialContext(w.t.Context(), address, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	w.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (w *slackWorld) read(conn *websocket.Conn) frame {
	w.t.Helper()
	var f frame
	if err := conn.ReadJSON(&f); err != nil {
		w.t.Fatal(err)
	}
	return f
}

func TestSlackSocket(t *testing.T) {
	t.Parallel()
	w := socketWorld(t)
	w.Say(slackChannel, ann, "before the socket")
	conn := w.connect()
	if f := w.read(conn); f.Type != "hello" {
		t.Fatalf("the first frame is %+v", f)
	}
	first := w.read(conn)
	if first.Type != "events_api" || first.Retry != 0 {
		t.Fatalf("got %+v", first)
	}
	if err := conn.Close(); err != nil { // without an acknowledgement
		t.Fatal(err)
	}
	if err := w.Wait(t.Context(), func() bool { open, _ := w.Sockets(); return open == 0 }); err != nil {
		t.Fatal(err)
	}
	conn = w.connect()
	w.read(conn)
	again := w.read(conn)
	if again.Retry != 1 || string(again.Payload) != string(first.Payload) {
		t.Errorf("the second time it is %+v", again)
	}
	if err := conn.WriteJSON(map[string]any{"envelope_id": again.EnvelopeID}); err != nil {
		t.Fatal(err)
	}
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tries := w.Attempts(); len(tries) != 2 || tries[1].Status != 200 {
		t.Errorf("attempts %+v", tries)
	}
	w.Disconnect("warning")
	if f := w.read(conn); f.Type != "disconnect" || f.Reason != "warning" {
		t.Errorf("got %+v", f)
	}
	w.Disconnect("refresh_requested")
	if f := w.read(conn); f.Reason != "refresh_requested" {
		t.Errorf("got %+v", f)
	}
	if _, _, err := conn.ReadMessage(); err == nil {
		t.Error("the socket stays open")
	}
}

func TestSlackTakesTenSockets(t *testing.T) {
	t.Parallel()
	w := socketWorld(t)
	for range 10 {
		if f := w.read(w.connect()); f.Type != "hello" {
			t.Fatalf("got %+v", f)
		}
	}
	if f := w.read(w.connect()); f.Type != "disconnect" || f.Reason != "too_many_websockets" {
		t.Errorf("the eleventh gets %+v", f)
	}
	if o := w.call("apps.connections.open", w.team.BotToken); o["error"] != "not_allowed_token_type" {
		t.Errorf("a bot token opens sockets: %v", o)
	}
}
