package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// socketPath is where sockets are; socketsMost is how many an app may hold open.
// https://docs.slack.dev/apis/events-api/using-socket-mode
const (
	socketPath  = "/link/"
	socketsMost = 10
)

// slackSockets are the open connections of Socket Mode.
type slackSockets struct {
	tickets map[string]bool
	open    []*slackSocket
	next    int // that is told of the next delivery
	acks    map[string]chan []byte
	opened  int // ever
}

type slackSocket struct {
	conn  *websocket.Conn
	write sync.Mutex // gorilla takes one writer at a time
	gone  chan struct{}
}

// send writes a frame. A socket that is gone takes none, which its reader notices.
func (k *slackSocket) send(kind int, frame []byte) {
	k.write.Lock()
	defer k.write.Unlock()
	_ = k.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_ = k.conn.WriteMessage(kind, frame)
}

// openConnection gives out the address of a socket, good once.
func (q *slackRequest) openConnection() object {
	ticket := digest(q.s.newID("ticket"))[:32]
	q.s.sockets.tickets[ticket] = true
	address := strings.Replace(q.s.base, "http", "ws", 1) + socketPath + "?ticket=" + ticket + "&app_id=" + digest(q.s.opts.AppID)
	return slackDone(object{"url": address})
}

// serveSocket holds one connection until either side ends it.
func (s *Slack) serveSocket(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	valid := s.sockets.tickets[ticket]
	delete(s.sockets.tickets, ticket)
	s.mu.Unlock()
	if !valid {
		http.Error(w, "the ticket is not valid", http.StatusForbidden)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer func() { _ = conn.Close() }()
	k := &slackSocket{conn: conn, gone: make(chan struct{})}
	if !s.join(k) {
		return
	}
	defer s.sending.workers.Done()
	defer s.leave(k)
	if s.opts.SocketPing > 0 {
		s.sending.workers.Add(1)
		go s.ping(k)
	}
	for {
		_, frame, err := conn.ReadMessage()
		if err != nil {
			return
		}
		s.acknowledged(frame)
	}
}

// join greets a socket and makes it one of the open ones, unless there are too
// many already.
func (s *Slack) join(k *slackSocket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() {
		return false
	}
	if len(s.sockets.open) >= socketsMost {
		k.send(websocket.TextMessage, disconnectFrame("too_many_websockets"))
		return false
	}
	s.sockets.open = append(s.sockets.open, k)
	s.sockets.opened++
	s.sending.workers.Add(1)
	k.send(websocket.TextMessage, rawJSON(object{
		"type": "hello", "num_connections": len(s.sockets.open), "connection_info": object{"app_id": s.opts.AppID},
		"debug_info": object{"host": "applink-sim", "build_number": 1, "approximate_connection_time": 18060},
	}))
	s.notify()
	s.pump()
	return true
}

func (s *Slack) leave(k *slackSocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(k.gone)
	s.sockets.open = slices.DeleteFunc(s.sockets.open, func(other *slackSocket) bool { return other == k })
	s.notify()
}

// ping keeps a socket alive, as clients expect.
func (s *Slack) ping(k *slackSocket) {
	defer s.sending.workers.Done()
	t := time.NewTicker(s.opts.SocketPing)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			k.send(websocket.PingMessage, nil)
		case <-k.gone:
			return
		}
	}
}

// acknowledged passes an acknowledgement on to whoever waits for it.
func (s *Slack) acknowledged(frame []byte) {
	var ack struct {
		ID      string          `json:"envelope_id"`
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(frame, &ack) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.sockets.acks[ack.ID]; c != nil {
		delete(s.sockets.acks, ack.ID)
		c <- ack.Payload
	}
}

// attemptSocket sends a delivery over one of the open sockets, and waits for its
// acknowledgement. sent is false if there are none.
func (s *Slack) attemptSocket(ctx context.Context, d SlackDelivery) (a SlackAttempt, sent bool) {
	s.mu.Lock()
	if len(s.sockets.open) == 0 {
		s.mu.Unlock()
		return a, false
	}
	s.sockets.next = (s.sockets.next + 1) % len(s.sockets.open)
	k := s.sockets.open[s.sockets.next]
	id := guid("envelope", s.newID("envelope"))
	ack := make(chan []byte, 1)
	s.sockets.acks[id] = ack
	s.mu.Unlock()

	envelope := object{
		"envelope_id": id, "type": d.Kind, "payload": d.Payload, "accepts_response_payload": d.Kind != "events_api",
	}
	if d.Kind == "events_api" {
		envelope["retry_attempt"], envelope["retry_reason"] = d.RetryNum, d.RetryReason
	}
	k.send(websocket.TextMessage, rawJSON(envelope))
	a = SlackAttempt{Delivery: d}
	select {
	case a.Answer = <-ack:
		a.Status = http.StatusOK
		return a, true
	case <-k.gone:
		a.Err = fmt.Errorf("sim: deliver %s %s: the socket closed before its acknowledgement", d.Type, d.ID)
	case <-ctx.Done():
		a.Err = fmt.Errorf("sim: deliver %s %s: %w", d.Type, d.ID, ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets.acks, id)
	return a, true
}

// Sockets returns how many connections of Socket Mode are open, and how many
// ever were.
func (s *Slack) Sockets() (open, ever int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets.open), s.sockets.opened
}

func disconnectFrame(reason string) []byte {
	return rawJSON(object{"type": "disconnect", "reason": reason, "debug_info": object{"host": "applink-sim"}})
}

// Disconnect sends all sockets a disconnect frame. After any reason but
// "warning" Slack closes them.
func (s *Slack) Disconnect(reason string) {
	s.SendFrame(disconnectFrame(reason))
	if reason != "warning" {
		s.DropSockets()
	}
}

// SendFrame sends all sockets a text frame of any content.
func (s *Slack) SendFrame(frame []byte) {
	for _, k := range s.openSockets() {
		k.send(websocket.TextMessage, frame)
	}
}

// PingSockets pings all sockets now.
func (s *Slack) PingSockets() {
	for _, k := range s.openSockets() {
		k.send(websocket.PingMessage, nil)
	}
}

// DropSockets closes all sockets without a word.
func (s *Slack) DropSockets() {
	for _, k := range s.openSockets() {
		_ = k.conn.Close()
	}
}

func (s *Slack) openSockets() []*slackSocket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sockets.open)
}
