package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

var errNoIndex = fmt.Errorf("the event log has no index of packed sessions: %w", state.ErrInvalid)

// packing is one call of Pack: the records that it holds.
type packing struct {
	l     *Log
	files []*file
	moves []state.PackMove
	moved []*file // those of moves
	gone  []string
	stuck []string // that cannot be read
}

// Pack packs the records of sessions that did not change since before, and
// removes their folders with their workspaces; it returns how many folders went.
// The index decides in its own transaction whether a session is still unused;
// one that is not stays as it is. Whoever appends to one of them meanwhile
// waits. Pass some tens of ids at once: they share two syncs.
//
// Whatever a crash leaves, the file of a session, while there is one, is what
// counts, and its packed record once there is none.
func (l *Log) Pack(ctx context.Context, before time.Time, ids []string) (int, error) {
	if l.opts.Index == nil {
		return 0, errNoIndex
	}
	l.packing.Lock()
	defer l.packing.Unlock()
	p := &packing{l: l}
	defer p.release()
	n, err := p.run(ctx, before, ids)
	if err != nil {
		return n, fmt.Errorf("pack sessions: %w", err)
	}
	return n, nil
}

func (p *packing) run(ctx context.Context, before time.Time, ids []string) (int, error) {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := p.add(ctx, id); err != nil {
			return 0, fmt.Errorf("session %s: %w", id, err)
		}
	}
	p.l.step("written")
	if len(p.moves) > 0 {
		if err := p.l.current.f.Sync(); err != nil {
			p.l.leaveSegment()
			return 0, err
		}
		p.l.step("synced")
		packed, err := p.l.opts.Index.Pack(ctx, before, p.moves)
		if err != nil {
			return 0, err
		}
		p.l.step("indexed")
		for i, ok := range packed {
			if ok {
				p.moved[i].forget()
				p.gone = append(p.gone, p.moves[i].SessionID)
			}
		}
	}
	var removed []string
	var failed error
	for _, id := range p.gone {
		if err := os.RemoveAll(filepath.Join(p.l.dir, id)); err != nil {
			failed = err // it is tried again: the session still counts as one with files
			continue
		}
		removed = append(removed, id)
		p.l.step("removed")
	}
	if len(removed)+len(p.stuck) == 0 {
		return 0, failed
	}
	if err := durable.SyncDir(p.l.dir); err != nil {
		return 0, err
	}
	// What cannot be packed need not be tried again before it changes.
	if err := p.l.opts.Index.FilesGone(ctx, before, append(p.stuck, removed...)); err != nil {
		return 0, err
	}
	p.l.step("done")
	return len(removed), failed
}

// add takes the record of a session and writes it to the segment. A record that
// cannot be read stays where it is, and holds up no others.
func (p *packing) add(ctx context.Context, id string) error {
	f, err := p.l.take(id)
	if err != nil {
		return err
	}
	f.mu.Lock()
	p.files = append(p.files, f)
	err = f.open(false, p.l.opts.Logger)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && f.next == 0:
		f.forget()
		p.gone = append(p.gone, id)
		return nil
	case errors.Is(err, state.ErrCorrupt):
		p.l.opts.Logger.Error("a record cannot be packed and stays as it is", "session", id, "error", err)
		p.stuck = append(p.stuck, id)
		return nil
	case err != nil:
		return err
	}
	s, err := p.l.segment(ctx)
	if err != nil {
		return err
	}
	to, err := s.append(id, f.next, f.size, io.NewSectionReader(f.f, 0, f.size))
	if err != nil {
		return err
	}
	p.moves = append(p.moves, state.PackMove{SessionID: id, To: to})
	p.moved = append(p.moved, f)
	return nil
}

func (p *packing) release() {
	for _, f := range p.files {
		f.mu.Unlock()
		p.l.give(f)
	}
}

// segment returns the one that takes records. l.packing is held.
func (l *Log) segment(ctx context.Context) (*segment, error) {
	if l.current != nil && l.current.size < segmentSize {
		return l.current, nil
	}
	first := l.current == nil
	l.leaveSegment()
	if first {
		all, err := l.opts.Index.Segments(ctx)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 {
			s, err := openSegment(l.packed, all[len(all)-1].Number, false)
			if err == nil && s.size < segmentSize {
				l.current = s
				return s, nil
			}
			if err == nil {
				err = s.close()
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
	}
	number, err := l.opts.Index.NewSegment(ctx)
	if err != nil {
		return nil, err
	}
	if l.current, err = openSegment(l.packed, number, true); err != nil {
		return nil, fmt.Errorf("begin a segment: %w", err)
	}
	return l.current, nil
}

// leaveSegment ends the use of the current segment. l.packing is held.
func (l *Log) leaveSegment() {
	if l.current == nil {
		return
	}
	if err := l.current.close(); err != nil {
		l.opts.Logger.Warn("cannot close a segment", "segment", l.current.number, "error", err)
	}
	l.current = nil
}

// step is told how far something has come that a crash can interrupt.
func (l *Log) step(name string) {
	if l.opts.afterStep != nil {
		l.opts.afterStep(name)
	}
}

// position returns where the packed record of a session is. The session's mutex
// is held, so that it is neither packed nor unpacked meanwhile.
func (l *Log) position(ctx context.Context, id string) (p state.PackedRecord, found bool, err error) {
	if l.opts.Index == nil {
		return p, false, nil
	}
	p, err = l.opts.Index.Packed(ctx, id)
	if errors.Is(err, state.ErrNotFound) {
		return p, false, nil
	}
	return p, err == nil, err
}

// findTries bounds how often a record is looked for that moves between segments.
const findTries = 8

// unpack gives a session whose record is packed a file of its own again. f.mu is held.
func (l *Log) unpack(ctx context.Context, f *file) error {
	for range findTries {
		p, found, err := l.position(ctx, f.id)
		if err != nil || !found {
			return err
		}
		err = l.unpackFrom(ctx, f, p)
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return fmt.Errorf("unpack: %w", errMoved)
}

func (l *Log) unpackFrom(ctx context.Context, f *file, p state.PackedRecord) error {
	r, err := openPacked(l.packed, f.id, p)
	if err != nil {
		return err
	}
	defer r.close()
	dir := filepath.Dir(f.path)
	if err := durable.MkdirAll(dir); err != nil {
		return err
	}
	temp := f.path + ".unpacking"
	if err := writeSynced(temp, r); err != nil {
		return errors.Join(fmt.Errorf("unpack: %w", err), os.Remove(temp))
	}
	l.step("unpacked")
	if err := os.Rename(temp, f.path); err != nil {
		return err
	}
	if err := durable.SyncDir(dir); err != nil {
		return err
	}
	l.step("in place")
	return l.opts.Index.Unpack(ctx, f.id)
}

func writeSynced(path string, r io.Reader) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// Remove removes the files of a session that is no longer stored. What is not
// there is no error; a packed record is left to [Log.Reclaim].
func (l *Log) Remove(_ context.Context, sessionID string) error {
	f, err := l.take(sessionID)
	if err != nil {
		return fmt.Errorf("remove session %q: %w", sessionID, err)
	}
	defer l.give(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	if err := os.RemoveAll(filepath.Join(l.dir, sessionID)); err != nil {
		return fmt.Errorf("remove session %q: %w", sessionID, err)
	}
	return nil
}
