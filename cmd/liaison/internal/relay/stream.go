package relay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent bounds one event in bytes: a delivery of 25 MB, in base64 or with
// escapes, and its headers.
const maxEvent = 40 << 20

// errTooLong means that an event is longer than maxEvent.
var errTooLong = errors.New("the relay sent an event that is longer than any delivery")

// event is one server-sent event.
type event struct {
	// kind is empty for the usual kind, a message.
	kind, id string
	data     []byte
}

// stream reads server-sent events.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
type stream struct {
	lines *bufio.Reader
	// id is that of the last event that had one.
	id string
	// heard is called for each line.
	heard func()
}

func newStream(r io.Reader, heard func()) *stream {
	return &stream{lines: bufio.NewReaderSize(r, 64<<10), heard: heard}
}

// next returns the next event that has data. An event that breaks off is dropped.
func (s *stream) next() (event, error) {
	var e event
	var data [][]byte
	size := 0
	for {
		line, err := s.line(maxEvent - size)
		if err != nil {
			return event{}, err
		}
		s.heard()
		if len(line) == 0 {
			if data == nil {
				e = event{}
				continue
			}
			e.data, e.id = bytes.Join(data, []byte("\n")), s.id
			return e, nil
		}
		size += len(line)
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			data = append(data, value)
		case "event":
			e.kind = string(value)
		case "id":
			if !bytes.ContainsRune(value, 0) {
				s.id = string(value)
			}
		}
	}
}

// line returns a line of up to most bytes without its end, which is CR, LF or both.
func (s *stream) line(most int) ([]byte, error) {
	var line []byte
	for {
		part, err := s.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > most+2:
			return nil, errTooLong
		case err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
