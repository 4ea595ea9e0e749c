package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// answerTimeout is longer than any platform waits for an answer.
const answerTimeout = 30 * time.Second

// Conn is a keep-alive connection to the service. It knows as much of HTTP/1.1
// as the service's answers to webhooks need.
type Conn struct {
	conn net.Conn
	read *bufio.Reader
}

// Dial connects to host:port.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	conn, err := (&net.Dialer{Timeout: answerTimeout}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{conn: conn, read: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Do sends a whole request and returns the status of its answer. After an error
// the connection is of no more use.
func (c *Conn) Do(request []byte) (status int, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return 0, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	return c.answer()
}

var (
	errAnswer = errors.New("the answer is not one to a webhook")
	// errLast comes with a status: the service closes the connection after it.
	errLast = errors.New("the service closes the connection")
)

func (c *Conn) answer() (status int, err error) {
	line, err := c.read.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(line, []byte(" "))
	if len(rest) < 3 {
		return 0, fmt.Errorf("%w: %q", errAnswer, line)
	}
	if status, err = strconv.Atoi(string(rest[:3])); err != nil {
		return 0, fmt.Errorf("%w: %q", errAnswer, line)
	}
	length, last := -1, false
	for {
		line, err := c.read.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		name, value, found := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		if !found {
			break // the empty line
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, fmt.Errorf("%w: %q", errAnswer, line)
			}
		case bytes.EqualFold(name, []byte("Connection")):
			last = bytes.EqualFold(value, []byte("close"))
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("%w: status %d has no Content-Length", errAnswer, status)
	}
	if _, err := c.read.Discard(length); err != nil {
		return 0, err
	}
	if last {
		return status, errLast
	}
	return status, nil
}
