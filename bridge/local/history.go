package local

import (
	"context"
	"errors"
	"io/fs"
)

// errEnough ends a reading early.
var errEnough = errors.New("enough was read")

// replay gives what is recorded of a run so far, in order, until give returns
// an error. [errEnough] is none.
func (r *registry) replay(ctx context.Context, rec runRecord, live *run, give func(entry) error) error {
	err := r.replayAll(ctx, rec, live, func(e entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return give(e)
	})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case errors.Is(err, errNotKept):
		return runNotFound(rec.ID)
	}
	return err
}

func (r *registry) replayAll(ctx context.Context, rec runRecord, live *run, give func(entry) error) error {
	if live != nil {
		reader, err := live.log.reader()
		if err == nil {
			defer func() { _ = reader.close() }() // opened for reading only
			size, _, _ := live.log.state()
			return reader.upTo(size, give)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		<-live.done // it has ended meanwhile, and its record is in the storage
	}
	return r.store.events(ctx, rec, give)
}

// eachRun gives an agent's runs, the newest first. Those that cannot be read
// are left out: the others are still worth having.
func (r *registry) eachRun(ctx context.Context, agentID string, give func(runRecord)) error {
	for before, more := "", true; more; {
		var recs []runRecord
		var err error
		if recs, more, err = r.listRuns(ctx, agentID, before, defaultPage); err != nil {
			return err
		}
		for _, rec := range recs {
			give(rec)
			before = rec.ID
		}
		more = more && len(recs) > 0
	}
	return nil
}
