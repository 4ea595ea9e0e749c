package local

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

const (
	// storePage is how many records or events are asked for at once.
	storePage = 200
	// maxStorePages bounds a list: a store that gives ever new cursors ends in an error.
	maxStorePages = 100_000
	// spoolDir holds the records of live runs below the state root.
	spoolDir = "spool"
	// memoryBlob is the id of the checkpoint that holds an engine's memory.
	memoryBlob = "memory"
)

// customStore keeps everything in the store that the caller serves. Below the
// state root it has only a lock and the spool files of live runs, which are
// swept at start. What outlives a loss of power is the caller's to say.
//
// Records are those of the file store, with their ids where the protocol has
// them too.
type customStore struct {
	client *storeClient
	logger *slog.Logger
	lock   *os.File
	spool  string
	runIDs runIDs
}

// openCustomStore makes and locks the state root. The store itself is first
// asked when something is wanted of it.
func openCustomStore(ctx context.Context, target callback, root string, logger *slog.Logger) (*customStore, error) {
	lock, err := lockDirectory(ctx, root)
	if err != nil {
		return nil, err
	}
	spool := filepath.Join(root, spoolDir)
	if err := errors.Join(os.RemoveAll(spool), os.Mkdir(spool, 0o700)); err != nil {
		return nil, errors.Join(fmt.Errorf("make the spool: %w", err), lock.Close())
	}
	return &customStore{client: newStoreClient(target), logger: logger, lock: lock, spool: spool}, nil
}

func (s *customStore) close() error {
	s.client.close()
	if err := s.lock.Close(); err != nil {
		return fmt.Errorf("unlock the state root: %w", err)
	}
	return nil
}

// list gives every item of a list, page by page. input makes that of one page
// from where the page before ended, which its output has under the name next.
func (s *customStore) list(ctx context.Context, substore, next string, input func(from string) map[string]any, give func(item map[string]any) error) error {
	wrong := func(format string, args ...any) error {
		return &storeFailure{call: substore + "." + methodList, err: fmt.Errorf(format, args...)}
	}
	var from string
	for range maxStorePages {
		out, err := s.client.call(ctx, substore, methodList, input(from))
		if err != nil {
			return err
		}
		items, ok := out["items"].([]any)
		if out["items"] != nil && !ok {
			return wrong("items is a %T, not a list", out["items"])
		}
		for _, item := range items {
			record, ok := item.(map[string]any)
			if !ok {
				return wrong("an item is a %T, not an object", item)
			}
			if err := give(record); err != nil {
				return err
			}
		}
		to, _ := out[next].(string)
		if to == "" {
			return nil
		}
		if to == from {
			return wrong("the same %s came twice", next)
		}
		from = to
	}
	return wrong("there are more than %d pages", maxStorePages)
}

// filtered is the input of a list of records.
func filtered(filter map[string]any) func(from string) map[string]any {
	return func(from string) map[string]any {
		f := map[string]any{"limit": storePage}
		for key, value := range filter {
			f[key] = value
		}
		if from != "" {
			f["cursor"] = from
		}
		return map[string]any{"filter": f}
	}
}

func (s *customStore) agents(ctx context.Context) ([]agentRecord, error) {
	var recs []agentRecord
	err := s.list(ctx, substoreAgents, "nextCursor", filtered(nil), func(item map[string]any) error {
		var rec agentRecord
		if err := decodeRecord(item, &rec, &rec.Schema); err != nil {
			s.logger.Error("an agent is left out of a list", "agent", item["agentId"], "error", err)
			return nil
		}
		recs = append(recs, rec)
		return nil
	})
	return recs, err
}

func (s *customStore) agent(ctx context.Context, id string) (agentRecord, error) {
	out, err := s.client.call(ctx, substoreAgents, methodGet, map[string]any{"agentId": id})
	if err != nil {
		return agentRecord{}, err
	}
	if out == nil {
		return agentRecord{}, errNotKept
	}
	var rec agentRecord
	if err := decodeRecord(out, &rec, &rec.Schema); err != nil {
		return agentRecord{}, err
	}
	if rec.ID != id {
		return agentRecord{}, fmt.Errorf("%w: the store gave another agent for %s", errUnreadable, id)
	}
	return rec, nil
}

// wrapAgent is the input that stores an agent.
func wrapAgent(rec agentRecord) (map[string]any, error) {
	rec.Schema = schemaVersion
	record, err := encodeFields(rec)
	if err != nil {
		return nil, err
	}
	record["agentId"], record["cwd"] = rec.ID, rec.Dir
	return map[string]any{"agent": record}, nil
}

func (s *customStore) createAgent(ctx context.Context, rec agentRecord) error {
	input, err := wrapAgent(rec)
	if err != nil {
		return err
	}
	_, err = s.client.call(ctx, substoreAgents, methodCreate, input)
	if errors.Is(err, errExists) {
		// It may be this one, made by a call whose answer was lost: the time of
		// creation is as good as a name.
		if kept, getErr := s.agent(ctx, rec.ID); getErr == nil && kept.Created.Equal(rec.Created) {
			return nil
		}
	}
	return err
}

func (s *customStore) saveAgent(ctx context.Context, rec agentRecord) error {
	input, err := wrapAgent(rec)
	if err != nil {
		return err
	}
	_, err = s.client.call(ctx, substoreAgents, methodUpdate, input)
	return err
}

func (s *customStore) deleteAgent(ctx context.Context, id string) error {
	defer s.runIDs.forget(id)
	return s.delete(ctx, substoreAgents, map[string]any{"agentIds": []any{id}})
}

// delete removes what the filter names; what is gone already is no error.
func (s *customStore) delete(ctx context.Context, substore string, filter map[string]any) error {
	_, err := s.client.call(ctx, substore, methodDelete, map[string]any{"filter": filter})
	if errors.Is(err, errNotKept) {
		return nil
	}
	return err
}

func (s *customStore) memory(ctx context.Context, agentID string) ([]byte, error) {
	out, err := s.client.call(ctx, substoreCheckpoints, methodGet, map[string]any{"agentId": agentID, "blobId": memoryBlob})
	if errors.Is(err, errNotKept) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if found, _ := out["found"].(bool); !found {
		return nil, nil
	}
	text, _ := out["data"].(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: the memory of agent %s: %w", errUnreadable, agentID, err)
	}
	return data, nil
}

func (s *customStore) saveMemory(ctx context.Context, agentID string, data []byte) error {
	if len(data) > maxMemoryBytes {
		return fmt.Errorf("keep an agent's memory: %d bytes are more than %d", len(data), maxMemoryBytes)
	}
	input := map[string]any{"agentId": agentID, "blobId": memoryBlob, "data": base64.StdEncoding.EncodeToString(data)}
	_, err := s.client.call(ctx, substoreCheckpoints, methodUpdate, input)
	if errors.Is(err, errNotKept) { // stores may tell the two apart
		_, err = s.client.call(ctx, substoreCheckpoints, methodCreate, input)
	}
	return err
}

// encodeFields is a record as the fields of a JSON object.
func encodeFields(record any) (map[string]any, error) {
	data, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}

// decodeRecord reads a record of ours; schema points into v.
func decodeRecord(item map[string]any, v any, schema *int) error {
	data, err := json.Marshal(item)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	switch {
	case *schema > schemaVersion:
		return fmt.Errorf("%w: it has schema %d, this bridge reads %d", errNewer, *schema, schemaVersion)
	case err != nil:
		return fmt.Errorf("%w: %w", errUnreadable, err)
	case *schema != schemaVersion:
		return fmt.Errorf("%w: it has schema %d, this bridge reads %d", errUnreadable, *schema, schemaVersion)
	}
	return nil
}
