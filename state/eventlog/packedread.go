package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/liaison-bot/liaison/state"
)

// packedChunk returns whole lines of a packed record from the one with at's
// index on. It unpacks all that come before, and keeps nothing open; so that a
// long record is not unpacked too often, what it returns grows on the way.
func (l *Log) packedChunk(ctx context.Context, id string, p state.PackedRecord, at *mark) ([]byte, error) {
	r, err := openPacked(l.packed, id, p)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var chunk []byte
	var before int64
	lines := newLines(r)
	for index := range p.Events {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := lines.next()
		if err != nil {
			return nil, packedCorrupt(p, index, err)
		}
		if index < at.index {
			before += int64(len(line)) + 1
			continue
		}
		want := min(max(before, minPackedChunk), maxPackedChunk)
		if len(chunk) > 0 && int64(len(chunk)+len(line)) > want {
			break
		}
		chunk = append(append(chunk, line...), '\n')
	}
	at.offset = before // as it is in the file, if the record gets one again
	return chunk, nil
}

const (
	minPackedChunk = chunkSize
	maxPackedChunk = 1 << 20
)

// hasPackedCommit looks at every event: what is packed is asked for at a start only.
func (l *Log) hasPackedCommit(ctx context.Context, id string, p state.PackedRecord, commit uint64, typ string) (bool, error) {
	r, err := openPacked(l.packed, id, p)
	if err != nil {
		return false, err
	}
	defer r.close()
	lines := newLines(r)
	for index := range p.Events {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		line, err := lines.next()
		if err != nil {
			return false, packedCorrupt(p, index, err)
		}
		h, ok := parseHead(line)
		if !ok {
			return false, packedCorrupt(p, index, nil)
		}
		if h.Commit == commit && h.Type == typ {
			return true, nil
		}
	}
	return false, nil
}

func packedCorrupt(p state.PackedRecord, index int64, cause error) error {
	if cause == nil || errors.Is(cause, io.EOF) {
		cause = errors.New("it is missing or out of order")
	}
	return fmt.Errorf("event %d of the record at %d in segment %d (%w): %w", index, p.Offset, p.Segment, cause, state.ErrCorrupt)
}
