package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
)

func (s *customStore) run(ctx context.Context, id string) (runRecord, error) {
	out, err := s.client.call(ctx, substoreRuns, methodGet, map[string]any{"runId": id})
	if err != nil {
		return runRecord{}, err
	}
	if out == nil {
		return runRecord{}, errNotKept
	}
	var rec runRecord
	if err := decodeRecord(out, &rec, &rec.Schema); err != nil {
		return runRecord{}, err
	}
	if rec.ID != id {
		return runRecord{}, fmt.Errorf("%w: the store gave another run for %s", errUnreadable, id)
	}
	return rec, nil
}

func (s *customStore) runs(ctx context.Context, agentID, before string, limit int) (recs []runRecord, more bool, err error) {
	ids, more, err := s.runIDs.before(ctx, agentID, before, limit, func(ctx context.Context) (all []string, err error) {
		err = s.listRuns(ctx, agentID, map[string]any{"agentIds": []any{agentID}}, func(rec runRecord) { all = append(all, rec.ID) })
		return all, err
	})
	if err != nil {
		return nil, false, err
	}
	for some := range slices.Chunk(ids, storePage) {
		names := make([]any, len(some))
		for i, id := range some {
			names[i] = id
		}
		err := s.listRuns(ctx, agentID, map[string]any{"runIds": names}, func(rec runRecord) { recs = append(recs, rec) })
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(recs, func(a, b runRecord) int { return cmp.Compare(b.ID, a.ID) })
	return recs, more, nil
}

// listRuns gives the runs of an agent that the filter lets pass.
func (s *customStore) listRuns(ctx context.Context, agentID string, filter map[string]any, give func(runRecord)) error {
	return s.list(ctx, substoreRuns, "nextCursor", filtered(filter), func(item map[string]any) error {
		var rec runRecord
		if err := decodeRecord(item, &rec, &rec.Schema); err != nil {
			s.logger.Error("a run is left out of a list", "run", item["runId"], "error", err)
			return nil
		}
		if rec.AgentID == agentID {
			give(rec)
		}
		return nil
	})
}

// wrapRun is the input that stores a run.
func wrapRun(rec runRecord) (map[string]any, error) {
	rec.Schema = schemaVersion
	record, err := encodeFields(rec)
	if err != nil {
		return nil, err
	}
	record["runId"], record["agentId"] = rec.ID, rec.AgentID
	return map[string]any{"run": record}, nil
}

func (s *customStore) createRun(ctx context.Context, rec runRecord) error {
	input, err := wrapRun(rec)
	if err != nil {
		return err
	}
	_, err = s.client.call(ctx, substoreRuns, methodCreate, input)
	if errors.Is(err, errExists) {
		err = nil // nobody else makes this id: an answer was lost
	}
	if err == nil {
		s.runIDs.add(rec.AgentID, rec.ID)
	}
	return err
}

func (s *customStore) saveRun(ctx context.Context, rec runRecord) error {
	input, err := wrapRun(rec)
	if err != nil {
		return err
	}
	_, err = s.client.call(ctx, substoreRuns, methodUpdate, input)
	return err
}

func (s *customStore) dropRun(ctx context.Context, rec runRecord) error {
	return s.delete(ctx, substoreRuns, map[string]any{"runIds": []any{rec.ID}})
}

func (s *customStore) beginLog(r runRecord, limit int64, failed func(error)) (runLog, error) {
	spool, err := createLog(filepath.Join(s.spool, r.ID+".ndjson"), limit)
	if err != nil {
		return nil, err
	}
	return forwardLog(spool, func(ctx context.Context, e entry) error {
		return s.appendMessage(ctx, r.ID, e.Type, e.Message, strconv.Itoa(e.Seq))
	}, failed), nil
}

// appendMessage adds one message to what the store keeps of a run. The key makes
// it one, however often it is sent.
func (s *customStore) appendMessage(ctx context.Context, runID, kind string, message json.RawMessage, key string) error {
	payload := new(structpb.Struct)
	if err := payload.UnmarshalJSON(message); err != nil {
		return fmt.Errorf("record %s: %w", kind, err)
	}
	_, err := s.client.callStruct(ctx, substoreEvents, methodAppend, &structpb.Struct{Fields: map[string]*structpb.Value{
		"runId":          structpb.NewStringValue(runID),
		"eventType":      structpb.NewStringValue(kind),
		"payload":        structpb.NewStructValue(payload),
		"idempotencyKey": structpb.NewStringValue(runID + "/" + key),
	}})
	return err
}

// appendEvent is for a run that a process before this one left behind. It says
// how the run ended, which happens once.
func (s *customStore) appendEvent(ctx context.Context, r runRecord, _ time.Time, kind string, message map[string]any) error {
	data, err := encodeMessage(kind, message)
	if err != nil {
		return err
	}
	return s.appendMessage(ctx, r.ID, kind, data, "end")
}

// storedEvent is an event as the store gives it.
type storedEvent struct {
	Seq  int    `json:"seq"`
	Type string `json:"eventType"`
	// Created is in milliseconds since 1970.
	Created int64           `json:"createdAt"`
	Payload json.RawMessage `json:"payload"`
}

func (s *customStore) events(ctx context.Context, r runRecord, give func(entry) error) error {
	seq := 0
	input := func(from string) map[string]any {
		in := map[string]any{"runId": r.ID, "limit": storePage}
		if from != "" {
			in["afterOffset"] = from
		}
		return in
	}
	return s.list(ctx, substoreEvents, "nextOffset", input, func(item map[string]any) error {
		var e storedEvent
		data, err := json.Marshal(item)
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if _, object := item["payload"].(map[string]any); err != nil || e.Type == "" || !object {
			s.logger.Error("an event of a run is damaged and was left out", "run", r.ID, "seq", item["seq"], "error", err)
			return nil
		}
		// A store may number as it likes, as long as the order is that of the appends.
		seq++
		return give(entry{Seq: seq, Time: time.UnixMilli(e.Created).UTC(), Type: e.Type, Message: e.Payload})
	})
}
