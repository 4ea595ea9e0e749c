package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// object is a JSON object.
type object = map[string]any

// storeDouble is a caller's store that is as strict as the protocol allows, and
// that a test can make fail.
type storeDouble struct {
	mu      sync.Mutex
	records map[string]map[string]object // by substore and id
	events  map[string][]object          // by run
	keys    map[string]bool              // of appends
	blobs   map[string]string
	calls   []string

	// before is called with each call. What it returns is answered when it says so.
	before func(call string, input object) (answered bool, output object, err error)
	// after is called when a call was carried out; an error cuts the connection
	// instead of answering.
	after func(call string) error
}

// storeToken is the bearer of stores under test.
const storeToken = "store-token"

func newStoreDouble() *storeDouble {
	return &storeDouble{
		records: map[string]map[string]object{substoreAgents: {}, substoreRuns: {}},
		events:  map[string][]object{}, keys: map[string]bool{}, blobs: map[string]string{},
	}
}

// serve answers on loopback until the test ends.
func (d *storeDouble) serve(t testing.TB) callback {
	t.Helper()
	_, handler := sdkv1connect.NewSdkStoreCallbackServiceHandler(d)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+storeToken {
			_ = connect.NewErrorWriter().Write(w, r, connect.NewError(connect.CodeUnauthenticated, errors.New("Unauthorized")))
			return
		}
		if got := r.Header.Get("Content-Type"); r.ProtoMajor != 1 || got != "application/json" {
			t.Errorf("a store call came as %s %s", r.Proto, got)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return callback{url: server.URL, token: storeToken}
}

// with takes the double's lock for a change of its fields.
func (d *storeDouble) with(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// count is how often a call was made.
func (d *storeDouble) count(call string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, c := range d.calls {
		if c == call {
			n++
		}
	}
	return n
}

// snapshot is a store that has what this one has at this moment.
func (d *storeDouble) snapshot(t testing.TB) *storeDouble {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	data, err := json.Marshal([]any{d.records, d.events, d.keys, d.blobs})
	if err != nil {
		t.Fatal(err)
	}
	to := newStoreDouble()
	if err := json.Unmarshal(data, &[]any{&to.records, &to.events, &to.keys, &to.blobs}); err != nil {
		t.Fatal(err)
	}
	return to
}

func (d *storeDouble) CallStore(_ context.Context, r *connect.Request[sdkv1.CallStoreRequest]) (*connect.Response[sdkv1.CallStoreResponse], error) {
	call := r.Msg.GetSubstore() + "." + r.Msg.GetMethod()
	input := r.Msg.GetInput().AsMap()
	d.mu.Lock()
	d.calls = append(d.calls, call)
	before, after := d.before, d.after
	d.mu.Unlock()
	answered, output, err := false, object(nil), error(nil)
	if before != nil {
		answered, output, err = before(call, input)
	}
	if !answered && err == nil {
		output, err = d.carryOut(call, input)
		if after != nil && err == nil {
			if err := after(call); err != nil {
				panic(http.ErrAbortHandler)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	res := new(sdkv1.CallStoreResponse)
	if output != nil {
		if res.Output, err = structpb.NewStruct(output); err != nil {
			return nil, err
		}
	}
	return connect.NewResponse(res), nil
}

func refused(format string, args ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf(format, args...))
}

func (d *storeDouble) carryOut(call string, input object) (object, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	substore, method, _ := strings.Cut(call, ".")
	switch substore {
	case substoreAgents:
		return d.record(substore, "agentId", "agent", method, input)
	case substoreRuns:
		return d.record(substore, "runId", "run", method, input)
	case substoreEvents:
		return d.event(method, input)
	case substoreCheckpoints:
		return d.checkpoint(method, input)
	}
	return nil, refused("no substore %q", substore)
}

func (d *storeDouble) record(substore, idName, wrapper, method string, input object) (object, error) {
	all := d.records[substore]
	switch method {
	case methodGet:
		id, _ := input[idName].(string)
		if id == "" {
			return nil, refused("get without %s: %v", idName, input)
		}
		return all[id], nil
	case methodCreate, methodUpdate:
		record, _ := input[wrapper].(object)
		id, _ := record[idName].(string)
		if owner, _ := record["agentId"].(string); id == "" || owner == "" {
			return nil, refused("%s of %v", method, input)
		}
		switch _, exists := all[id]; {
		case exists && method == methodCreate:
			return nil, connect.NewError(connect.CodeAlreadyExists, errors.New("exists"))
		case !exists && method == methodUpdate:
			return nil, connect.NewError(connect.CodeNotFound, errors.New("no such record"))
		}
		all[id] = maps.Clone(record)
		return record, nil
	case methodList, methodDelete:
		filter, _ := input["filter"].(object)
		if filter == nil {
			return nil, refused("%s without a filter: %v", method, input)
		}
		found := d.matching(all, idName, filter)
		if method == methodList {
			return pageOf(found, idName, filter)
		}
		if filter["agentIds"] == nil && filter["runIds"] == nil {
			return nil, refused("delete of everything")
		}
		for _, record := range found {
			d.remove(substore, record[idName].(string))
		}
		return nil, nil
	}
	return nil, refused("no method %q", method)
}

// matching are the records that a filter lets pass, in the order of their ids.
func (d *storeDouble) matching(all map[string]object, idName string, filter object) []object {
	var found []object
	for _, id := range slices.Sorted(maps.Keys(all)) {
		record := all[id]
		passes := true
		for list, name := range map[string]string{"agentIds": "agentId", "runIds": "runId"} {
			if ids, ok := filter[list].([]any); ok {
				passes = passes && slices.Contains(ids, record[name])
			}
		}
		if cursor, _ := filter["cursor"].(string); passes && record[idName].(string) > cursor {
			found = append(found, record)
		}
	}
	return found
}

// doublePage is how many items a page has at most, so that pages are turned.
const doublePage = 3

func pageOf(found []object, idName string, filter object) (object, error) {
	if limit, _ := filter["limit"].(float64); limit < 1 {
		return nil, refused("list without a limit: %v", filter)
	}
	out := object{}
	if len(found) > doublePage {
		found = found[:doublePage]
		out["nextCursor"] = found[doublePage-1][idName]
	}
	items := []any{}
	for _, record := range found {
		items = append(items, record)
	}
	out["items"] = items
	return out, nil
}

func (d *storeDouble) remove(substore, id string) {
	delete(d.records[substore], id)
	if substore == substoreRuns {
		delete(d.events, id)
		return
	}
	for runID, run := range d.records[substoreRuns] {
		if run["agentId"] == id {
			delete(d.records[substoreRuns], runID)
			delete(d.events, runID)
		}
	}
	maps.DeleteFunc(d.blobs, func(key, _ string) bool { return strings.HasPrefix(key, id+"/") })
}

func (d *storeDouble) event(method string, input object) (object, error) {
	runID, _ := input["runId"].(string)
	if d.records[substoreRuns][runID] == nil {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such run"))
	}
	switch method {
	case methodAppend:
		key, _ := input["idempotencyKey"].(string)
		if _, ok := input["payload"].(object); !ok || input["eventType"] == "" || key == "" {
			return nil, refused("append of %v", input)
		}
		if d.keys[key] {
			return object{}, nil
		}
		d.keys[key] = true
		seq := len(d.events[runID]) + 1
		e := object{
			"runId": runID, "seq": float64(seq), "offset": strconv.Itoa(seq), "eventType": input["eventType"],
			"payload": input["payload"], "payloadRef": nil, "idempotencyKey": key, "createdAt": 1.7e12,
		}
		d.events[runID] = append(d.events[runID], e)
		return e, nil
	case methodList:
		offset, _ := input["afterOffset"].(string)
		after, err := strconv.Atoi(cmp.Or(offset, "0"))
		if err != nil || after > len(d.events[runID]) {
			return nil, refused("list after %v", input["afterOffset"])
		}
		found := d.events[runID][after:]
		out := object{}
		if len(found) > doublePage {
			found = found[:doublePage]
			out["nextOffset"] = found[doublePage-1]["offset"]
		}
		items := []any{}
		for _, e := range found {
			items = append(items, e)
		}
		out["items"] = items
		return out, nil
	}
	return nil, refused("no method %q", method)
}

func (d *storeDouble) checkpoint(method string, input object) (object, error) {
	agentID, _ := input["agentId"].(string)
	blobID, _ := input["blobId"].(string)
	if agentID == "" || blobID == "" {
		return nil, refused("a checkpoint without ids: %v", input)
	}
	key := agentID + "/" + blobID
	switch method {
	case methodGet:
		data, found := d.blobs[key]
		if !found {
			return nil, nil
		}
		return object{"found": true, "data": data}, nil
	case methodCreate, methodUpdate:
		data, ok := input["data"].(string)
		if !ok {
			return nil, refused("a checkpoint without data")
		}
		d.blobs[key] = data
		return nil, nil
	}
	return nil, refused("no method %q", method)
}
