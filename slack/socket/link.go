package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// maxFrame bounds a message in bytes, as a webhook's body is bounded.
	maxFrame = 1 << 20
	// silence is how long a link may say nothing. Slack pings every few seconds,
	// also where nothing happens.
	silence = 30 * time.Second
	// writeTimeout bounds one write, and closeTimeout saying goodbye.
	writeTimeout = 10 * time.Second
	closeTimeout = time.Second
	// acceptTimeout bounds storing one frame.
	acceptTimeout = 9 * time.Second
	// maxAccepting bounds the frames of a link that are being stored at once.
	maxAccepting = 32
)

// link is one websocket.
type link struct {
	client *Client
	conn   *websocket.Conn
	begun  time.Time
	// hello is closed when Slack has greeted, and done when the socket is closed;
	// then err says why.
	hello, done chan struct{}
	err         error
	// leave receives why Slack is about to close the link.
	leave chan string

	slots     chan struct{}
	accepting sync.WaitGroup
	writing   sync.Mutex

	// reading is held while the deadline is set; after closing it stays as it is.
	reading sync.Mutex
	closing bool
}

func (c *Client) newLink(conn *websocket.Conn) *link {
	l := &link{
		client: c, conn: conn, begun: c.options.Now(),
		hello: make(chan struct{}), done: make(chan struct{}), leave: make(chan string, 1),
		slots: make(chan struct{}, maxAccepting),
	}
	l.conn.SetPingHandler(func(data string) error {
		c.status.ping(c.options.Now())
		if err := l.alive(); err != nil {
			return err
		}
		err := conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTimeout))
		if errors.Is(err, websocket.ErrCloseSent) {
			return nil
		}
		return err
	})
	return l
}

// alive puts off the moment at which the link counts as dead.
func (l *link) alive() error {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.closing {
		return nil
	}
	return l.conn.SetReadDeadline(time.Now().Add(silence))
}

// close ends the link and waits until what it has in hand is acknowledged.
func (l *link) close() {
	l.reading.Lock()
	l.closing = true
	_ = l.conn.SetReadDeadline(time.Now()) // the reader ends either way
	l.reading.Unlock()
	<-l.done
}

// serve reads until the link ends.
func (l *link) serve(ctx context.Context) {
	defer close(l.done)
	l.err = l.read(ctx)
	l.accepting.Wait()
	if l.greeted() {
		l.client.status.down(l.client.options.Now(), l.err)
	}
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = l.conn.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(closeTimeout)) // it is closed anyway
	_ = l.conn.Close()
}

var errClosing = errors.New("the link was closed by this side")

func (l *link) read(ctx context.Context) error {
	for {
		if err := l.alive(); err != nil {
			return err
		}
		message, err := l.next()
		switch {
		case errors.Is(err, errTooLarge):
			l.client.log.Error("a frame of Slack's is larger than any that it is known to send, and was left", "limit", maxFrame)
			continue
		case err != nil:
			return l.ending(err)
		}
		f, ok := ReadFrame(message)
		if !ok {
			l.client.log.Warn("what came from Slack is no frame, and was left", "bytes", len(message))
			continue
		}
		l.take(ctx, f)
	}
}

// ending says why nothing can be read any more.
func (l *link) ending(err error) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.closing {
		return errClosing
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return fmt.Errorf("nothing came for %s, no ping either", silence)
	}
	return err
}

var errTooLarge = errors.New("the frame is too large")

// next returns the next message.
func (l *link) next() ([]byte, error) {
	_, r, err := l.conn.NextReader()
	if err != nil {
		return nil, err
	}
	message, err := io.ReadAll(io.LimitReader(r, maxFrame+1))
	if err == nil && len(message) > maxFrame {
		return nil, errTooLarge // the rest is skipped when the next one is read
	}
	return message, err
}

// take deals with one frame.
func (l *link) take(ctx context.Context, f Frame) {
	switch {
	case f.Type == TypeHello:
		if !l.greeted() {
			l.client.status.up(l.client.options.Now())
			close(l.hello)
		}
	case f.Type == TypeDisconnect:
		select {
		case l.leave <- f.Reason:
		default: // it was said before
		}
	case f.EnvelopeID == "":
		l.client.log.Warn("a frame of Slack's has no envelope id, and was left", "type", f.Type)
	case f.Type == TypeEvents || f.Type == TypeInteractive || f.Type == TypeCommands:
		l.slots <- struct{}{}
		l.accepting.Go(func() {
			defer func() { <-l.slots }()
			l.accept(ctx, f)
		})
	default:
		l.client.log.Warn("a frame of Slack's is of a type that this version does not know, and was left", "type", f.Type)
		l.acknowledge(f)
	}
}

func (l *link) greeted() bool {
	select {
	case <-l.hello:
		return true
	default:
		return false
	}
}

// accept has a frame stored, and acknowledges it then.
func (l *link) accept(ctx context.Context, f Frame) {
	// A link that is closed must not undo what is being stored.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	if err := l.client.options.Accept(ctx, f); err != nil {
		l.client.log.Error("a frame could not be stored; Slack will send it again", "type", f.Type, "envelope", f.EnvelopeID, "error", err)
		return
	}
	l.acknowledge(f)
}

// acknowledge tells Slack not to send a frame again. If it cannot be told, the
// frame comes again and is known.
func (l *link) acknowledge(f Frame) {
	text, err := json.Marshal(struct {
		EnvelopeID string `json:"envelope_id"`
	}{f.EnvelopeID})
	if err == nil {
		l.writing.Lock()
		defer l.writing.Unlock()
		_ = l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // it always returns nil
		err = l.conn.WriteMessage(websocket.TextMessage, text)
	}
	if err != nil {
		l.client.log.Warn("a frame could not be acknowledged; Slack will send it again", "envelope", f.EnvelopeID, "error", err)
		_ = l.conn.Close() // nothing can be said over it any more
	}
}
