package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// KeeperStore is what a keeper needs of the store.
type KeeperStore interface {
	state.Retainer
	Session(ctx context.Context, id string) (state.Session, error)
	Compact(ctx context.Context) (state.Compaction, error)
	Usage(ctx context.Context) (state.DiskUsage, error)
}

// KeeperLog is what a keeper needs of the record of sessions.
type KeeperLog interface {
	// Pack packs sessions that did not change since before, and removes their
	// folders; it returns how many that were.
	Pack(ctx context.Context, before time.Time, ids []string) (int, error)
	// Reclaim gives back room of packed records that are gone.
	Reclaim(ctx context.Context) (more bool, err error)
	// Remove removes the files of a session that is no longer stored.
	Remove(ctx context.Context, sessionID string) error
	// Packed returns the number and the size of the segments.
	Packed(ctx context.Context) (segments int, size int64, err error)
}

// KeeperOptions says what a keeper works with. Store and Log are needed.
type KeeperOptions struct {
	Store     KeeperStore
	Log       KeeperLog
	Retention state.Retention
	// Backup writes one archive. Nothing is removed, packed or compacted meanwhile.
	Backup func(ctx context.Context, w io.Writer) (state.BackupInfo, error)
	// Logger receives what an operator should know. Nil discards it.
	Logger *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Keeper lets old things go, and compacts and copies what is stored. It does one
// thing at a time, in small steps between which everything else goes on.
type Keeper struct {
	o KeeperOptions
	// turn holds one value while something is being done.
	turn  chan struct{}
	clock *clockDoubt
}

var _ state.Keeping = (*Keeper)(nil)

const (
	// keeperFirst is when old things go for the first time: well after a start,
	// in which there is enough to do.
	keeperFirst = 5 * time.Minute
	// keeperEvery is the time between two rounds. Retention is a matter of days.
	keeperEvery = 15 * time.Minute
	// countsAfter is how long counts stay that have expired: a clock that is set
	// back a little must not open a budget twice.
	countsAfter = time.Hour
	// keeperPause is the rest after each step.
	keeperPause = 20 * time.Millisecond
	// keeperRows and keeperSessions are how much one step takes: some
	// milliseconds of the store's writer, and two syncs.
	keeperRows     = 256
	keeperSessions = 32
)

// NewKeeper returns a keeper, which does nothing by itself before Run.
func NewKeeper(o KeeperOptions) *Keeper {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Keeper{o: o, turn: make(chan struct{}, 1), clock: newClockDoubt(o.Now, o.Logger)}
}

// Run lets old things go from time to time until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	timer := time.NewTimer(keeperFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := k.Round(ctx); err != nil && ctx.Err() == nil {
			k.o.Logger.Error("old data not removed; it is tried again", "error", err, "wait", keeperEvery)
		}
		timer.Reset(keeperEvery)
	}
}

// Round removes everything that is past its retention now, and packs what is
// settled. What fails holds up nothing else. One caller at a time may call it.
func (k *Keeper) Round(ctx context.Context) error {
	r := k.o.Retention
	errs := []error{
		k.drop(ctx, "bodies of deliveries", r.Bodies, k.o.Store.DropBodies),
		k.drop(ctx, "deliveries", r.Deliveries, k.o.Store.DropDeliveries),
		k.drop(ctx, "facts", r.Deliveries, k.o.Store.DropFacts),
		k.drop(ctx, "effects without a session", r.Deliveries, k.o.Store.DropEffects),
		k.drop(ctx, "lines of the audit log", r.Audit, k.o.Store.DropAudit),
		k.drop(ctx, "counts", countsAfter, k.o.Store.DropCounts),
		k.drop(ctx, "sessions", r.Sessions, func(ctx context.Context, before time.Time, _ int) (int, bool, error) {
			return k.o.Store.DropSessions(ctx, before, keeperSessions)
		}),
		k.clear(ctx),
		k.drop(ctx, "workspaces", r.Workspaces, k.pack),
		k.repeat(ctx, k.o.Log.Reclaim),
	}
	return errors.Join(errs...)
}

// drop removes what is older than keep, step by step.
func (k *Keeper) drop(ctx context.Context, what string, keep time.Duration, step func(ctx context.Context, before time.Time, limit int) (int, bool, error)) error {
	if keep == 0 {
		return nil
	}
	now, ok := k.clock.read()
	if !ok {
		return nil
	}
	before := now.Add(-keep)
	total := 0
	err := k.repeat(ctx, func(ctx context.Context) (bool, error) {
		n, more, err := step(ctx, before, keeperRows)
		total += n
		return more, err
	})
	if total > 0 {
		k.o.Logger.Info("removed what is past its retention", "what", what, "removed", total, "keep", keep)
	}
	if err != nil {
		return fmt.Errorf("remove old %s: %w", what, err)
	}
	return nil
}

// repeat takes steps until there is no more to do, with a rest after each.
func (k *Keeper) repeat(ctx context.Context, step func(context.Context) (more bool, err error)) error {
	for {
		var more bool
		err := k.alone(ctx, func() (err error) {
			more, err = step(ctx)
			return err
		})
		if err != nil || !more {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(keeperPause):
		}
	}
}

// pack packs some of the sessions that are settled. A step in which nothing came
// of it is the last of its round.
func (k *Keeper) pack(ctx context.Context, before time.Time, _ int) (int, bool, error) {
	ids, more, err := k.o.Store.Settled(ctx, before, keeperSessions)
	if err != nil || len(ids) == 0 {
		return 0, more, err
	}
	n, err := k.o.Log.Pack(ctx, before, ids)
	return n, more && n > 0, err
}

// clear removes what sessions left that are gone from the store.
func (k *Keeper) clear(ctx context.Context) error {
	return k.repeat(ctx, func(ctx context.Context) (bool, error) {
		gone, err := k.o.Store.Dropped(ctx, 1)
		if err != nil || len(gone) == 0 {
			return false, err
		}
		more, err := k.clearOne(ctx, gone[0])
		if err != nil {
			return false, fmt.Errorf("remove what session %s left: %w", gone[0].ID, err)
		}
		if more {
			return true, nil
		}
		return true, k.o.Store.ForgetDropped(ctx, gone[0].ID)
	})
}

// clearOne removes a session's files and a part of its agent's records.
func (k *Keeper) clearOne(ctx context.Context, gone state.DroppedSession) (more bool, err error) {
	switch _, err := k.o.Store.Session(ctx, gone.ID); {
	case errors.Is(err, state.ErrNotFound):
		if err := k.o.Log.Remove(ctx, gone.ID); err != nil {
			return false, err
		}
	case err != nil:
		return false, err
	}
	if gone.AgentID == "" {
		return false, nil
	}
	_, more, err = k.o.Store.DropAgent(ctx, gone.AgentID, keeperRows)
	return more, err
}

// alone runs fn when nothing else of the keeper's runs.
func (k *Keeper) alone(ctx context.Context, fn func() error) error {
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-k.turn }()
	return fn()
}

// Compact implements [state.Keeping].
func (k *Keeper) Compact(ctx context.Context) (done state.Compaction, err error) {
	err = k.alone(ctx, func() error {
		done, err = k.o.Store.Compact(ctx)
		return err
	})
	if err == nil {
		k.o.Logger.Info("database compacted", "before", done.Before, "after", done.After, "took", done.Took)
	}
	return done, err
}

// Backup implements [state.Keeping].
func (k *Keeper) Backup(ctx context.Context, w io.Writer) (info state.BackupInfo, err error) {
	err = k.alone(ctx, func() error {
		info, err = k.o.Backup(ctx, w)
		return err
	})
	if err != nil {
		k.o.Logger.Warn("backup not finished", "error", err)
		return info, err
	}
	k.o.Logger.Info("backup written", "files", info.Files, "bytes", info.Bytes, "commit", info.Commit)
	return info, nil
}

// Usage implements [state.Keeping].
func (k *Keeper) Usage(ctx context.Context) (state.DiskUsage, error) {
	u, err := k.o.Store.Usage(ctx)
	if err != nil {
		return u, err
	}
	u.Packed.Segments, u.Packed.Size, err = k.o.Log.Packed(ctx)
	return u, err
}
