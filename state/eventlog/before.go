package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Part is the beginning of a record.
type Part struct {
	io.Reader
	// Size is what it has in bytes: whole lines.
	Size int64
	f    *os.File
}

// Close ends the reading.
func (p *Part) Close() error { return p.f.Close() }

// Before returns the record of a session up to the first event of a commit
// after the given one, or nil if there is no such part, or the record is packed.
func (l *Log) Before(ctx context.Context, sessionID string, commit uint64) (*Part, error) {
	p, err := l.beforeCommit(ctx, sessionID, commit)
	if err != nil {
		return nil, fmt.Errorf("read session %q up to commit %d: %w", sessionID, commit, err)
	}
	return p, nil
}

func (l *Log) beforeCommit(ctx context.Context, sessionID string, commit uint64) (*Part, error) {
	r, err := l.whole(sessionID)
	if err != nil || r == nil {
		return nil, err
	}
	end, err := r.endAt(ctx, commit)
	if err != nil || end == 0 {
		return nil, errors.Join(err, r.Close())
	}
	return &Part{Reader: io.NewSectionReader(r, 0, end), Size: end, f: r.File}, nil
}

// whole opens the file of a session, or returns nil if it has none.
func (l *Log) whole(sessionID string) (*record, error) {
	f, err := l.take(sessionID)
	if err != nil {
		return nil, err
	}
	defer l.give(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.open(false, l.opts.Logger)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	opened, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	return &record{File: opened, size: f.size}, nil
}

// endAt is where the first event of a later commit begins. It reads backwards
// as HasCommit does, so that it costs what was appended since. A damaged line
// holds up no backup: it is copied as it is.
func (r *record) endAt(ctx context.Context, commit uint64) (int64, error) {
	end, at := r.size, r.size
	earlier := 0
	for line, err := range backwards(r, r.size) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		at -= int64(len(line)) + 1
		h, ok := parseHead(line)
		switch {
		case !ok:
		case h.Commit > commit:
			end = at
		case h.Commit != 0:
			if earlier++; earlier > disorder {
				return end, nil
			}
		}
	}
	return end, nil
}
