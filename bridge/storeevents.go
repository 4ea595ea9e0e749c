package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"
)

// referringType marks the type of an event that is kept with its payloadRef: its
// payload is then {"payload", "payloadRef"}. A type that begins so by itself is
// kept the same way.
const referringType = "ref:"

type referringPayload struct {
	Payload    json.RawMessage `json:"payload"`
	PayloadRef *string         `json:"payloadRef"`
}

func (s *storeServer) append(ctx context.Context, in storeInput) (*structpb.Struct, error) {
	runID, key := in.text("runId"), in.text("idempotencyKey")
	if err := checkID("runId", runID); err != nil {
		return nil, err
	}
	e := RunEvent{Type: in.text("eventType", "type")}
	if e.Type == "" || len(e.Type) > maxStoreID {
		return nil, invalidInput("eventType is missing or longer than %d bytes", maxStoreID)
	}
	payload := in["payload"]
	if payload == nil {
		payload = structpb.NewNullValue()
	}
	var err error
	if e.Payload, err = encodeMessage(payload, maxRecordNesting); err != nil {
		return nil, invalidInput("payload cannot be stored: %v", err)
	}
	if ref := in.text("payloadRef"); ref != "" || strings.HasPrefix(e.Type, referringType) {
		wrapped := referringPayload{Payload: e.Payload}
		if ref != "" {
			wrapped.PayloadRef = &ref
		}
		e.Type = referringType + e.Type
		if e.Payload, err = json.Marshal(wrapped); err != nil {
			return nil, err
		}
	}
	if key == "" {
		return s.appendOnce(ctx, runID, "", e)
	}
	return s.appends.do(ctx, runID+"\x00"+key, func() (*structpb.Struct, error) { return s.appendOnce(ctx, runID, key, e) })
}

func (s *storeServer) appendOnce(ctx context.Context, runID, key string, e RunEvent) (*structpb.Struct, error) {
	e.At = s.now()
	var err error
	if e.Seq, err = s.store.Append(ctx, runID, e); err != nil {
		return nil, err
	}
	return wireEvent(runID, key, e)
}

func (s *storeServer) listEvents(ctx context.Context, in storeInput) (*structpb.Struct, error) {
	runID := in.text("runId")
	after, err := in.count("afterOffset", "after", "cursor")
	if err != nil {
		return nil, err
	}
	limit, err := in.count("limit")
	if err != nil {
		return nil, err
	}
	if err := checkID("runId", runID); err != nil {
		return nil, err
	}
	var p page
	for {
		events, err := s.store.Events(ctx, runID, after, storeChunk)
		if err != nil && !errors.Is(err, ErrNoRecord) {
			return nil, err
		}
		for _, e := range events {
			item, err := wireEvent(runID, "", e)
			if err != nil {
				return nil, err
			}
			if !p.add(structpb.NewStructValue(item), len(e.Payload), limit) {
				return p.output("nextOffset", strconv.Itoa(after)), nil
			}
			after = e.Seq
		}
		if len(events) < storeChunk {
			return p.output("", ""), nil
		}
	}
}

// wireEvent is an event as a bridge knows it. The key under which it was appended
// is not kept.
func wireEvent(runID, key string, e RunEvent) (*structpb.Struct, error) {
	kind, data, ref := e.Type, e.Payload, structpb.NewNullValue()
	if plain, referring := strings.CutPrefix(e.Type, referringType); referring {
		var wrapped referringPayload
		if err := json.Unmarshal(e.Payload, &wrapped); err != nil {
			return nil, fmt.Errorf("event %d of run %s is no JSON: %w", e.Seq, runID, err)
		}
		kind, data = plain, wrapped.Payload
		if wrapped.PayloadRef != nil {
			ref = structpb.NewStringValue(*wrapped.PayloadRef)
		}
	}
	payload := new(structpb.Value)
	if err := payload.UnmarshalJSON(data); err != nil {
		return nil, fmt.Errorf("event %d of run %s is no JSON: %w", e.Seq, runID, err)
	}
	idempotencyKey := structpb.NewNullValue()
	if key != "" {
		idempotencyKey = structpb.NewStringValue(key)
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"runId":          structpb.NewStringValue(runID),
		"seq":            structpb.NewNumberValue(float64(e.Seq)),
		"offset":         structpb.NewStringValue(strconv.Itoa(e.Seq)),
		"eventType":      structpb.NewStringValue(kind),
		"payload":        payload,
		"payloadRef":     ref,
		"idempotencyKey": idempotencyKey,
		"createdAt":      structpb.NewNumberValue(float64(e.At.UnixMilli())),
	}}, nil
}

// maxAppendMemory is how many keys of appends are remembered. A bridge repeats an
// append within seconds, and dies with this program.
const maxAppendMemory = 1024

// appendMemory makes an append with a key once.
type appendMemory struct {
	mu   sync.Mutex
	done map[string]*rememberedAppend
	keys []string // oldest first
}

type rememberedAppend struct {
	ready chan struct{} // closed when event and err are set
	event *structpb.Struct
	err   error
}

func newAppendMemory() *appendMemory { return &appendMemory{done: map[string]*rememberedAppend{}} }

// do calls appendEvent, or returns what it returned for the same key. A failure is
// not remembered.
func (m *appendMemory) do(ctx context.Context, key string, appendEvent func() (*structpb.Struct, error)) (*structpb.Struct, error) {
	m.mu.Lock()
	if r := m.done[key]; r != nil {
		m.mu.Unlock()
		select {
		case <-r.ready:
			return r.event, r.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	r := &rememberedAppend{ready: make(chan struct{}), err: errors.New("the append has not returned")}
	m.done[key] = r
	m.mu.Unlock()
	defer func() { // also when the store panics
		m.mu.Lock()
		defer m.mu.Unlock()
		close(r.ready)
		if r.err != nil {
			delete(m.done, key)
			return
		}
		m.keys = append(m.keys, key)
		if len(m.keys) > maxAppendMemory {
			delete(m.done, m.keys[0])
			m.keys = m.keys[1:]
		}
	}()
	r.event, r.err = appendEvent()
	return r.event, r.err
}
