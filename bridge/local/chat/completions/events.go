package completions

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// bufferBytes is more than most events have, so that a line is seldom put together.
const bufferBytes = 16 << 10

// events reads the data of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Lines end
// with LF or CRLF: a CR alone, which the format allows, is sent by nobody.
type events struct {
	in    *bufio.Reader
	limit int // of the data of one event, and of a line
	line  []byte
	data  []byte
	begun bool
}

func newEvents(in io.Reader, limit int) *events {
	return &events{in: bufio.NewReaderSize(in, bufferBytes), limit: limit}
}

// next is the data of the next event that has any, valid until the next call. An
// event that the end of the input cuts off is none.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	for {
		line, err := e.nextLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if len(e.data) > 0 {
				return e.data[:len(e.data)-1], nil
			}
			continue
		}
		// A line that begins with a colon is a comment; of the other fields none is needed.
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if len(e.data)+len(value) >= e.limit {
			return nil, ErrTooLarge
		}
		e.data = append(append(e.data, value...), '\n')
	}
}

// nextLine is the next line without its end, valid until the next call.
func (e *events) nextLine() ([]byte, error) {
	line, err := e.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		e.line = e.line[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if e.line = append(e.line, line...); len(e.line) > e.limit {
				return nil, ErrTooLarge
			}
			line, err = e.in.ReadSlice('\n')
		}
		e.line = append(e.line, line...)
		line = e.line
	}
	if err != nil {
		return nil, err
	}
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}
