package trajectory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine bounds one line of a record, in bytes. The host bounds what it records
// of one text or one action to far less.
const MaxLine = 16 << 20

// The errors of [Read].
var (
	// ErrNotARecord means that what was read is something else.
	ErrNotARecord = errors.New("this is no record of a session (events.ndjson)")
	// ErrEmpty means that there is not one whole event.
	ErrEmpty = errors.New("there is no event in it")
)

// Read reads a whole record. A line that is no JSON object with a type is an
// error, except for JSON that breaks off in the last line: a crash may have cut
// it short.
func Read(r io.Reader) (*Trajectory, error) {
	f := newFold()
	lines := bufio.NewReaderSize(r, 64<<10)
	var torn error
	for number := 1; ; number++ {
		line, whole, err := readLine(lines)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if torn != nil {
				return nil, torn
			}
			var e event
			if err := decode(line, &e); err == nil {
				f.add(&e)
			} else {
				torn = fmt.Errorf("line %d: %w: %w", number, ErrNotARecord, err)
				if _, ok := errors.AsType[*json.SyntaxError](err); !ok {
					return nil, torn
				}
			}
		}
		if !whole {
			break
		}
	}
	f.t.Torn = torn != nil
	switch {
	case f.t.Events > 0:
		return f.end(), nil
	case torn != nil:
		return nil, torn
	}
	return nil, ErrEmpty
}

// readLine returns a line without its end; whole is false for what follows the last one.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxLine {
			return nil, false, fmt.Errorf("longer than %d bytes: %w", MaxLine, ErrNotARecord)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

// decode takes the envelope strictly and the data as it comes: an event of a
// newer version may have a field of another kind.
func decode(line []byte, e *event) error {
	var envelope struct {
		event
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(line, &envelope); err != nil {
		return err
	}
	if envelope.Type == "" {
		return errors.New(`it has no "type"`)
	}
	*e = envelope.event
	if err := json.Unmarshal(envelope.Data, &e.Data); err != nil {
		e.Data = data{}
	}
	return nil
}
