package sessions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/liaison-bot/liaison/state"
)

// tear is what a session's record may lack.
type tear struct {
	mu      sync.Mutex
	decided []state.LifecycleEvent
	mended  bool
}

// tear notes that decided events of a session may not be in its record.
func (rs *records) tear(sessionID string, decided []state.LifecycleEvent) {
	for {
		rs.mu.Lock()
		t, ok := rs.torn[sessionID]
		if !ok {
			t = &tear{}
			rs.torn[sessionID] = t
		}
		rs.mu.Unlock()
		if t.add(decided) {
			return
		}
	}
}

// add reports false when the record was mended meanwhile.
func (t *tear) add(decided []state.LifecycleEvent) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.mended {
		t.decided = append(t.decided, decided...)
	}
	return !t.mended
}

// mend makes a session's record whole, so that the record and the decisions
// agree, before anything is appended to it.
func (rs *records) mend(ctx context.Context, sessionID string) error {
	rs.mu.Lock()
	t, ok := rs.torn[sessionID]
	rs.mu.Unlock()
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mended {
		return nil
	}
	commits, err := rs.complete(ctx, sessionID, t.decided)
	if err != nil {
		return fmt.Errorf("make the record whole first: %w", err)
	}
	t.mended = true
	rs.mu.Lock()
	delete(rs.torn, sessionID)
	rs.mu.Unlock()
	rs.note(sessionID, true, commits...)
	return nil
}

// mendAll makes all records whole that an earlier process left torn, one after
// another. Those that cannot be stay so; their sessions go on without a record.
func (rs *records) mendAll(ctx context.Context) {
	rs.mu.Lock()
	ids := slices.Sorted(maps.Keys(rs.torn))
	rs.mu.Unlock()
	for _, id := range ids {
		began := rs.e.now()
		if err := rs.mend(ctx, id); err != nil && ctx.Err() == nil {
			rs.e.logger.Error("record not repaired; that is tried again at the next start", "session", id, "error", err)
		}
		if rs.e.pace.rest(ctx, rs.e.now().Sub(began)); ctx.Err() != nil {
			return
		}
	}
}

// complete appends what the record of a session lacks, and returns the commits
// that it then has.
func (rs *records) complete(ctx context.Context, id string, decided []state.LifecycleEvent) ([]uint64, error) {
	slices.SortStableFunc(decided, func(a, b state.LifecycleEvent) int {
		return cmp.Or(cmp.Compare(a.Commit, b.Commit), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	recorded, err := rs.recorded(ctx, id, decided)
	if err != nil {
		return nil, err
	}
	var missing []state.Event
	var commits []uint64
	for _, ev := range decided {
		commits = append(commits, ev.Commit)
		if !recorded[keyOf(ev.Event)] {
			missing = append(missing, ev.Event)
		}
	}
	if len(missing) > 0 {
		rs.e.logger.Info("record repaired", "session", id, "events", len(missing))
	}
	return slices.Compact(commits), rs.write(ctx, id, missing)
}

// eventKey tells decided events apart.
type eventKey struct {
	commit            uint64
	typ, turnID, data string
}

func keyOf(ev state.Event) eventKey {
	return eventKey{ev.Commit, ev.Type, ev.TurnID, string(ev.Data)}
}

// recorded returns which of the events are in the log. Asking for each costs
// what was appended since; the whole record is read only where a commit has
// several events of one type, of which a torn write may have left some.
func (rs *records) recorded(ctx context.Context, id string, decided []state.LifecycleEvent) (map[eventKey]bool, error) {
	found := make(map[eventKey]bool)
	kinds := make(map[eventKey]bool)
	for _, ev := range decided {
		kind := eventKey{commit: ev.Commit, typ: ev.Type}
		if kinds[kind] {
			return rs.readKeys(ctx, id)
		}
		kinds[kind] = true
		there, err := rs.e.log.HasCommit(ctx, id, ev.Commit, ev.Type)
		if err != nil {
			return nil, err
		}
		found[keyOf(ev.Event)] = there
	}
	return found, nil
}

func (rs *records) readKeys(ctx context.Context, id string) (map[eventKey]bool, error) {
	found := make(map[eventKey]bool)
	for ev, err := range rs.e.log.Read(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		found[keyOf(ev)] = true
	}
	return found, nil
}
