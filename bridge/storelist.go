package bridge

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// maxStorePage bounds what one page of a list holds, in bytes.
	maxStorePage = 8 << 20
	// storeChunk and checkpointChunk are how many records are asked of a [Store] at
	// once. A checkpoint may have many MiB.
	storeChunk      = 200
	checkpointChunk = 4
)

// storeFilter says which records a list or a delete means.
type storeFilter struct {
	agentIDs, runIDs, blobIDs []string // sorted; empty for all
	cwd                       string
	cursor                    string
	limit                     int // 0 for as many as fit
}

func (in storeInput) filter() (f storeFilter, err error) {
	for _, from := range []storeInput{in, in["filter"].GetStructValue().GetFields()} {
		for _, l := range []struct {
			to        *[]string
			list, one string
		}{{&f.agentIDs, "agentIds", "agentId"}, {&f.runIDs, "runIds", "runId"}, {&f.blobIDs, "blobIds", "blobId"}} {
			ids, err := from.texts(l.list, l.one)
			if err != nil {
				return storeFilter{}, err
			}
			if len(ids) > 0 {
				*l.to = ids
			}
		}
		if s := from.text("cwd"); s != "" {
			f.cwd = s
		}
		if s := from.text("cursor"); s != "" {
			f.cursor = s
		}
		n, err := from.count("limit")
		if err != nil {
			return storeFilter{}, err
		}
		if n > 0 {
			f.limit = n
		}
	}
	return f, nil
}

// empty reports whether the filter lets everything of a kind pass.
func (f storeFilter) empty() bool {
	return len(f.agentIDs)+len(f.runIDs)+len(f.blobIDs) == 0 && f.cwd == ""
}

// ids are those that the filter names itself, in order; nil when it names none
// and the store has to be searched.
func (f storeFilter) ids(kind RecordKind) []string {
	var ids []string
	switch {
	case kind == RecordAgent:
		ids = f.agentIDs
	case kind == RecordRun:
		ids = f.runIDs
	case len(f.blobIDs) > 0:
		for _, agentID := range f.agentIDs {
			for _, blobID := range f.blobIDs {
				ids = append(ids, agentID+"/"+blobID)
			}
		}
		slices.Sort(ids)
	}
	return ids
}

// match reports whether the filter lets a record pass.
func (f storeFilter) match(r Record) bool {
	has := func(ids []string, id string) bool {
		if len(ids) == 0 {
			return true
		}
		_, found := slices.BinarySearch(ids, id)
		return found
	}
	switch r.Kind {
	case RecordAgent:
		if f.cwd != "" {
			agent, err := decodeRecord(r)
			if err != nil || storeInput(agent.GetFields()).text("cwd") != f.cwd {
				return false
			}
		}
		return has(f.agentIDs, r.ID)
	case RecordRun:
		return has(f.agentIDs, r.AgentID) && has(f.runIDs, r.ID)
	default:
		return has(f.agentIDs, r.AgentID) && has(f.blobIDs, blobID(r))
	}
}

// blobID is a checkpoint's own id.
func blobID(r Record) string { return strings.TrimPrefix(r.ID, r.AgentID+"/") }

// matching yields the records that the filter lets pass, after its cursor.
func (s *storeServer) matching(ctx context.Context, kind RecordKind, f storeFilter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if ids := f.ids(kind); ids != nil {
			for _, id := range ids {
				if id <= f.cursor {
					continue
				}
				r, err := s.store.Get(ctx, kind, id)
				if errors.Is(err, ErrNoRecord) || err == nil && !f.match(r) {
					continue
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
			return
		}
		chunk := storeChunk
		if kind == RecordCheckpoint {
			chunk = checkpointChunk
		}
		owner := ""
		if kind != RecordAgent && len(f.agentIDs) == 1 {
			owner = f.agentIDs[0]
		}
		for after := f.cursor; ; {
			records, err := s.store.List(ctx, kind, owner, after, chunk)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, r := range records {
				if f.match(r) && !yield(r, nil) {
					return
				}
				after = r.ID
			}
			if len(records) < chunk {
				return
			}
		}
	}
}

func (s *storeServer) list(ctx context.Context, kind RecordKind, in storeInput) (*structpb.Struct, error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	var p page
	last := ""
	for r, err := range s.matching(ctx, kind, f) {
		if err != nil {
			return nil, err
		}
		item, size := structpb.NewStringValue(blobID(r)), len(r.ID)
		if kind != RecordCheckpoint {
			record, err := decodeRecord(r)
			if err != nil {
				return nil, err
			}
			item, size = structpb.NewStructValue(record), len(r.Data)
		}
		if !p.add(item, size, f.limit) {
			return p.output("nextCursor", last), nil
		}
		last = r.ID
	}
	return p.output("", ""), nil
}

func (s *storeServer) delete(ctx context.Context, kind RecordKind, in storeInput) error {
	f, err := in.filter()
	if err != nil {
		return err
	}
	if f.empty() {
		return invalidInput("the filter of a delete names nothing; to delete everything is refused")
	}
	var ids []string
	for r, err := range s.matching(ctx, kind, f) {
		if err != nil {
			return err
		}
		ids = append(ids, r.ID)
	}
	for _, id := range ids {
		if err := s.store.Delete(ctx, kind, id); err != nil {
			return err
		}
	}
	return nil
}

// page is one page of a list.
type page struct {
	items []*structpb.Value
	bytes int
}

// add reports whether the item had room. The first always has.
func (p *page) add(item *structpb.Value, size, limit int) bool {
	if len(p.items) > 0 && (len(p.items) == limit || p.bytes+size > maxStorePage) {
		return false
	}
	p.items = append(p.items, item)
	p.bytes += size
	return true
}

// output is the page, and where the next one begins if there is one.
func (p *page) output(nextName, next string) *structpb.Struct {
	fields := map[string]*structpb.Value{"items": structpb.NewListValue(&structpb.ListValue{Values: p.items})}
	if nextName != "" {
		fields[nextName] = structpb.NewStringValue(next)
	}
	return &structpb.Struct{Fields: fields}
}
