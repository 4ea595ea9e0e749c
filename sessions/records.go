package sessions

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// records writes the sessions' records. What was decided is appended at once and
// comes to disk later, in the background: until that is confirmed the store
// keeps the decided events too, and the next start looks for them in the record.
type records struct {
	e    *Engine
	work chan struct{} // receives a value when a session has settled

	mu sync.Mutex
	// torn are the sessions whose record may lack decided events, after a crash
	// or a failed append. Nothing else is appended before they are there.
	torn map[string]*tear
	// unsynced are the commits whose events are in a record but perhaps not on
	// disk; settled are the sessions of which they shall be synced next.
	unsynced map[string]unsynced
	settled  []string
}

// unsynced are commits of one session, and when the first of them was recorded.
type unsynced struct {
	commits []uint64
	since   time.Time
}

func newRecords(e *Engine) *records {
	return &records{
		e: e, work: make(chan struct{}, 1),
		torn: make(map[string]*tear), unsynced: make(map[string]unsynced),
	}
}

// append adds events to a session's record and wakes those who follow it. All
// that the engine appends goes through here.
func (rs *records) append(ctx context.Context, sessionID string, events ...state.Event) error {
	if err := rs.mend(ctx, sessionID); err != nil {
		return err
	}
	return rs.write(ctx, sessionID, events)
}

func (rs *records) write(ctx context.Context, sessionID string, events []state.Event) error {
	if len(events) == 0 {
		return nil
	}
	if err := rs.e.log.Append(ctx, sessionID, false, events...); err != nil {
		return err
	}
	rs.e.metrics.EventsAppended(len(events))
	rs.e.feed.wake(sessionID)
	return nil
}

// decided appends the events that a commit decided. With settled, which says
// that the session has nothing left to do, they come to disk as soon as the disk
// has time for it. What cannot be appended now is tried again before the next
// event of the session, and at the next start.
func (rs *records) decided(sessionID string, commit uint64, decided []state.LifecycleEvent, settled bool) {
	if len(decided) == 0 {
		return
	}
	events := make([]state.Event, len(decided))
	for i := range decided {
		decided[i].Commit = commit
		events[i] = decided[i].Event
	}
	if err := rs.append(rs.e.actors.ctx, sessionID, events...); err != nil {
		rs.e.logger.Error("events not recorded; that is tried again with the session's next event, or at the next start",
			"session", sessionID, "error", err)
		rs.tear(sessionID, decided)
		return
	}
	rs.note(sessionID, settled, commit)
}

// note remembers commits that are in a session's record.
func (rs *records) note(sessionID string, settled bool, commits ...uint64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	u, ok := rs.unsynced[sessionID]
	if !ok {
		u.since = rs.e.now()
	}
	u.commits = append(u.commits, commits...)
	rs.unsynced[sessionID] = u
	if settled {
		rs.settled = append(rs.settled, sessionID)
		rs.nudge()
	}
}

func (rs *records) nudge() {
	select {
	case rs.work <- struct{}{}:
	default:
	}
}

// run brings records to disk until ctx ends. What is left then is looked at by
// the next start.
func (rs *records) run(ctx context.Context) {
	look := time.NewTicker(recordAge)
	defer look.Stop()
	for ctx.Err() == nil {
		if began := rs.e.now(); rs.syncSome(ctx) {
			rs.e.pace.rest(ctx, rs.e.now().Sub(began))
			continue
		}
		select {
		case <-ctx.Done():
		case <-rs.work:
		case <-look.C:
			rs.settleOld()
		}
	}
}

// settleOld has records synced of sessions that take long to settle, so that
// the next start has to look for little.
func (rs *records) settleOld() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	before := rs.e.now().Add(-recordAge)
	for id, u := range rs.unsynced {
		if !u.since.After(before) {
			rs.settled = append(rs.settled, id)
		}
	}
}

// syncSome syncs the records of some sessions together, because file systems
// write what is synced at the same time at once. It reports false when there is
// none to be synced.
func (rs *records) syncSome(ctx context.Context) bool {
	todo := rs.take(recordBatch)
	if len(todo) == 0 {
		return false
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var confirm []uint64
	places := make(chan struct{}, recordSyncs)
	for id, u := range todo {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			if err := rs.e.log.Append(ctx, id, true); err != nil {
				if ctx.Err() == nil {
					rs.e.logger.Error("record not synced; that is tried again", "session", id, "error", err)
				}
				rs.note(id, false, u.commits...)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			confirm = append(confirm, u.commits...)
		})
	}
	wg.Wait()
	if len(confirm) == 0 {
		return true
	}
	if _, err := rs.e.store.Commit(ctx, state.Change{Confirm: confirm}); err != nil && !errors.Is(err, state.ErrUnavailable) && ctx.Err() == nil {
		rs.e.logger.Error("recorded events not confirmed; the next start will look for them", "error", err)
	}
	return true
}

// take returns what is unsynced of up to n sessions that have settled.
func (rs *records) take(n int) map[string]unsynced {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	todo := make(map[string]unsynced)
	i := 0
	for ; i < len(rs.settled) && len(todo) < n; i++ {
		id := rs.settled[i]
		if u, ok := rs.unsynced[id]; ok {
			todo[id] = u
			delete(rs.unsynced, id)
		}
	}
	if rs.settled = rs.settled[i:]; len(rs.settled) == 0 {
		rs.settled = nil
	}
	return todo
}
