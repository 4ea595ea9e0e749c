package bridge

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// storeServer answers SdkStoreCallbackService.CallStore from a [Store]. The
// shapes are those of the store interface in Cursor's published SDK
// (https://github.com/cursor/sdk-bridge/blob/main/docs/services.md); "?" may be
// left out, "→" leads to the output, which is unset where there is none.
//
//	agents       get             {agentId}                  → the agent, or none
//	             create, update  {agent}                    → the agent
//	             list            {filter?}                  → {items: [agent…], nextCursor?}
//	             delete          {filter}                   → none
//	runs         get             {agentId?, runId}          → the run, or none
//	             create, update  {run}                      → the run
//	             list            {filter?}                  → {items: [run…], nextCursor?}
//	             delete          {filter}                   → none
//	runEvents    append          {runId, eventType, payload?, payloadRef?, idempotencyKey?}
//	                                                        → the event
//	             list            {runId, afterOffset?, limit?}
//	                                                        → {items: [event…], nextOffset?}
//	             delete          {filter}                   → none
//	checkpoints  get             {agentId, blobId}          → {found: true, data}, or none
//	             create, update  {agentId, blobId, data}    → none
//	             list            {filter?}                  → {items: [blobId…], nextCursor?}
//	             delete          {filter}                   → none
//
//	agent   an object with an agentId (or id); all else in it is the bridge's
//	run     an object with a runId (or id) and an agentId; all else is the bridge's
//	event   {runId, seq, offset, eventType, payload, payloadRef, idempotencyKey, createdAt}:
//	        seq counts from 1, offset is seq as text, createdAt is in Unix
//	        milliseconds, what was left out is null
//	filter  {agentIds?, runIds?, blobIds?, cwd?, cursor?, limit?}: a record matches
//	        when each list that is there and not empty has its id. The keys may also
//	        stand beside filter, and agentId, runId, blobId for a list of one; unknown
//	        ones are ignored
//	data    base64, with padding
//
// Lists are in the order of ids, and go on after the cursor of the page before.
// Without a limit a page has all that fits into 8 MiB. To create a record that is
// there with the same content is no error, so that a bridge may repeat itself; with
// another content it is already_exists. To update or append to what is not there is
// not_found, but a checkpoint is made. An append with the idempotencyKey of an
// earlier one returns that. A delete whose filter has no id and no cwd, which in
// Cursor's own stores deletes everything, is refused. Deleting a run's events alone
// does nothing: they go with their run.
type storeServer struct {
	store   Store
	now     func() time.Time
	appends *appendMemory
	// failed learns of what a bridge is told only as "internal".
	failed func(op string, err error)
}

func newStoreServer(s Store, now func() time.Time, failed func(string, error)) *storeServer {
	return &storeServer{store: s, now: now, appends: newAppendMemory(), failed: failed}
}

// CallStore implements the service.
func (s *storeServer) CallStore(ctx context.Context, r *connect.Request[sdkv1.CallStoreRequest]) (*connect.Response[sdkv1.CallStoreResponse], error) {
	op := r.Msg.GetSubstore() + "." + r.Msg.GetMethod()
	output, err := s.dispatch(ctx, r.Msg.GetSubstore(), r.Msg.GetMethod(), storeInput(r.Msg.GetInput().GetFields()))
	if err != nil {
		return nil, s.wireError(op, err)
	}
	return connect.NewResponse(&sdkv1.CallStoreResponse{Output: output}), nil
}

func (s *storeServer) dispatch(ctx context.Context, substore, method string, in storeInput) (*structpb.Struct, error) {
	if method != "get" && method != "list" {
		// Whether a change was made must not hang on the connection.
		ctx = context.WithoutCancel(ctx)
	}
	kind := RecordKind(substore)
	switch kind {
	case RecordAgent, RecordRun, RecordCheckpoint:
	case "runEvents":
		switch method {
		case "append":
			return s.append(ctx, in)
		case "list":
			return s.listEvents(ctx, in)
		case "delete":
			return nil, nil
		}
		return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("runEvents has no method %.40q", method))
	default:
		return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("there is no substore %.40q", substore))
	}
	switch method {
	case "get":
		return s.get(ctx, kind, in)
	case "create":
		return s.write(ctx, kind, in, s.create)
	case "update":
		return s.write(ctx, kind, in, s.update)
	case "list":
		return s.list(ctx, kind, in)
	case "delete":
		return nil, s.delete(ctx, kind, in)
	}
	return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("%s has no method %.40q", kind, method))
}

func (s *storeServer) get(ctx context.Context, kind RecordKind, in storeInput) (*structpb.Struct, error) {
	id, err := in.recordID(kind)
	if err != nil {
		return nil, err
	}
	r, err := s.store.Get(ctx, kind, id)
	if errors.Is(err, ErrNoRecord) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if owner := in.text("agentId"); kind == RecordRun && owner != "" && owner != r.AgentID {
		return nil, nil
	}
	if kind == RecordCheckpoint {
		return &structpb.Struct{Fields: map[string]*structpb.Value{
			"found": structpb.NewBoolValue(true),
			"data":  structpb.NewStringValue(base64.StdEncoding.EncodeToString(r.Data)),
		}}, nil
	}
	return decodeRecord(r)
}

// write decodes a record, stores it and returns it as it is now.
func (s *storeServer) write(ctx context.Context, kind RecordKind, in storeInput, store func(context.Context, Record) error) (*structpb.Struct, error) {
	r, bare, err := in.record(kind)
	if err != nil {
		return nil, err
	}
	return bare, store(ctx, r)
}

func (s *storeServer) create(ctx context.Context, r Record) error {
	err := s.store.Create(ctx, r)
	if errors.Is(err, ErrRecordExists) {
		if old, getErr := s.store.Get(ctx, r.Kind, r.ID); getErr == nil && old.AgentID == r.AgentID && bytes.Equal(old.Data, r.Data) {
			return nil
		}
	}
	return err
}

func (s *storeServer) update(ctx context.Context, r Record) error {
	err := s.store.Update(ctx, r)
	if errors.Is(err, ErrNoRecord) && r.Kind == RecordCheckpoint {
		return s.create(ctx, r)
	}
	return err
}

// wireError tells a bridge what happened, in the words that it can branch on.
func (s *storeServer) wireError(op string, err error) error {
	var already *connect.Error
	switch {
	case errors.As(err, &already):
		return already
	case errors.Is(err, ErrNoRecord):
		return connect.NewError(connect.CodeNotFound, errors.New("no such record"))
	case errors.Is(err, ErrRecordExists):
		return connect.NewError(connect.CodeAlreadyExists, errors.New("a record with this id and another content exists"))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err // Connect has codes for them
	}
	s.failed(op, err)
	return connect.NewError(connect.CodeInternal, errors.New("the store of the program that drives the bridge has failed; its log says why"))
}

// decodeRecord makes a message of a record that is JSON.
func decodeRecord(r Record) (*structpb.Struct, error) {
	out := new(structpb.Struct)
	if err := out.UnmarshalJSON(r.Data); err != nil {
		return nil, fmt.Errorf("the record %s of %s is no JSON object: %w", r.ID, r.Kind, err)
	}
	return out, nil
}
