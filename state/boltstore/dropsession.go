package boltstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// dropSession removes a session that has nothing open, with all that belongs to
// it in the decisions.
func (b *batch) dropSession(id string) error {
	var sess state.Session
	found, err := b.row(tableSessions, []byte(id), &sess)
	if err != nil || !found {
		return err
	}
	sess.ID = id
	for _, step := range []func(state.Session) error{
		b.dropKeys, b.dropTurns, b.dropApprovals, b.dropOutbox, b.unlistSession, b.dropPacked,
	} {
		if err := step(sess); err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
	}
	if err := b.forgetAge(id); err != nil {
		return err
	}
	if err := b.table(tableSessions).Delete([]byte(id)); err != nil {
		return err
	}
	if err := b.count(metaSessions, -1); err != nil {
		return err
	}
	return b.table(tableDropped).Put([]byte(id), []byte(sess.AgentID))
}

// ofSession gathers what a table holds of a session: the ends of its keys, and the values.
func (r *reader) ofSession(t table, id string) (rests, values [][]byte, err error) {
	return r.beginning(t, append([]byte(id), 0))
}

// beginning gathers what begins with prefix in a table, as ofSession does.
func (r *reader) beginning(t table, prefix []byte) (rests, values [][]byte, err error) {
	err = r.prefixed(t, prefix, func(rest, v []byte) (bool, error) {
		rests = append(rests, bytes.Clone(rest))
		values = append(values, bytes.Clone(v))
		return true, nil
	})
	return rests, values, err
}

func (b *batch) dropKeys(s state.Session) error {
	keys, _, err := b.ofSession(tableSessionKeys, s.ID)
	for _, key := range keys {
		if err == nil {
			err = b.unlink(string(key))
		}
	}
	return err
}

func (b *batch) dropTurns(s state.Session) error {
	ids, _, err := b.ofSession(tableSessionTurns, s.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := b.table(tableTurns).Delete(id); err != nil {
			return err
		}
		if err := b.table(tableSessionTurns).Delete(pair(s.ID, string(id))); err != nil {
			return err
		}
	}
	return nil
}

// dropOutbox removes the items of a session. One that was given up goes with
// its letter: nobody can do anything about it any more.
func (b *batch) dropOutbox(s state.Session) error {
	seqs, ids, err := b.ofSession(tableSessionOutbox, s.ID)
	if err != nil {
		return err
	}
	for i, seq := range seqs {
		id := ids[i]
		for t, key := range map[table][]byte{
			tableOutbox: seq, tableOutboxIDs: id,
			tableLetters:       []byte(rules.OutboxLetterID(string(id))),
			tableSessionOutbox: orderKey(s.ID, number(seq)),
		} {
			if err := b.table(t).Delete(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Dropped implements [state.Retainer].
func (s *Store) Dropped(ctx context.Context, limit int) ([]state.DroppedSession, error) {
	if limit <= 0 {
		return nil, s.open()
	}
	var out []state.DroppedSession
	err := s.view(ctx, func(r *reader) error {
		out = nil
		return r.after(tableDropped, nil, func(k, v []byte) (bool, error) {
			out = append(out, state.DroppedSession{ID: string(k), AgentID: string(v)})
			return len(out) < limit, nil
		})
	})
	return out, err
}

// ForgetDropped implements [state.Retainer].
func (s *Store) ForgetDropped(ctx context.Context, sessionID string) error {
	_, _, err := s.drop(ctx, "the trace of a session", &dropOp{
		limit: 1,
		find:  func(*batch) ([][]byte, error) { return [][]byte{[]byte(sessionID)}, nil },
		drop: func(b *batch, id []byte) (bool, error) {
			return true, b.table(tableDropped).Delete(id)
		},
	})
	return err
}

// DropAgent implements [state.Retainer]. Runs go with their events, the agent's
// own record last.
func (s *Store) DropAgent(ctx context.Context, agentID string, limit int) (int, bool, error) {
	if err := rules.RecordID(state.RecordAgent, agentID); err != nil {
		return 0, false, fmt.Errorf("remove an agent: %w", err)
	}
	room := limit
	op := &dropOp{
		limit: limit,
		find: func(b *batch) ([][]byte, error) {
			// What is removed is found on the way; without any trace there is nothing to do.
			if b.table(tableRecords).Get(recordKey(state.RecordAgent, agentID)) != nil {
				return [][]byte{nil}, nil
			}
			for _, kind := range []state.RecordKind{state.RecordRun, state.RecordCheckpoint} {
				prefix := ofAgent(kind, agentID)
				if k, _ := b.table(tableAgentRecords).Cursor().Seek(prefix); bytes.HasPrefix(k, prefix) {
					return [][]byte{nil}, nil
				}
			}
			return nil, nil
		},
		drop: func(b *batch, _ []byte) (bool, error) { return true, b.dropAgent(agentID, &room) },
	}
	if _, _, err := s.drop(ctx, "an agent", op); err != nil {
		return 0, false, err
	}
	return limit - room, room <= 0 && limit > 0, nil
}

// dropAgent removes as many rows of an agent as there is room for.
func (b *batch) dropAgent(agentID string, room *int) error {
	for _, kind := range []state.RecordKind{state.RecordRun, state.RecordCheckpoint} {
		var ids []string
		err := b.prefixed(tableAgentRecords, ofAgent(kind, agentID), func(id, _ []byte) (bool, error) {
			ids = append(ids, string(id))
			return len(ids) < *room, nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if kind == state.RecordRun {
				if err := b.dropRunEvents(id, room); err != nil {
					return err
				}
			}
			if *room <= 0 {
				return nil
			}
			*room--
			if err := b.forget(kind, id); err != nil {
				return err
			}
		}
	}
	if *room <= 0 {
		return nil
	}
	key := recordKey(state.RecordAgent, agentID)
	if b.table(tableRecords).Get(key) != nil {
		*room--
	}
	return b.table(tableRecords).Delete(key)
}

func (b *batch) dropRunEvents(runID string, room *int) error {
	var keys [][]byte
	err := b.prefixed(tableRunEvents, ofRun(runID), func(seq, _ []byte) (bool, error) {
		if len(keys) >= *room {
			return false, nil
		}
		keys = append(keys, append(ofRun(runID), seq...))
		return true, nil
	})
	for _, key := range keys {
		if err == nil {
			*room--
			err = b.table(tableRunEvents).Delete(key)
		}
	}
	return err
}
