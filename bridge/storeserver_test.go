package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// storeBridge is a bridge that keeps its things in a store of ours.
type storeBridge struct {
	t      *testing.T
	client sdkv1connect.SdkStoreCallbackServiceClient
	served *served
}

func newStoreBridge(t *testing.T, store Store) *storeBridge {
	t.Helper()
	s := serve(t, store)
	return &storeBridge{t: t, served: s,
		client: sdkv1connect.NewSdkStoreCallbackServiceClient(s.caller(t, s.token), s.url, connect.WithProtoJSON())}
}

// call returns the output's JSON, "none" when it is unset, or the error's code.
func (b *storeBridge) call(op, input string) string {
	b.t.Helper()
	substore, method, _ := strings.Cut(op, ".")
	in := new(structpb.Struct)
	if err := in.UnmarshalJSON([]byte(input)); err != nil {
		b.t.Error(err)
	}
	res, err := b.client.CallStore(testContext(b.t), connect.NewRequest(&sdkv1.CallStoreRequest{Substore: substore, Method: method, Input: in}))
	if err != nil {
		return connect.CodeOf(err).String()
	}
	if res.Msg.GetOutput() == nil {
		return "none"
	}
	return resultJSON(b.t, res.Msg.GetOutput())
}

func (b *storeBridge) want(want, op, input string) {
	b.t.Helper()
	if got := b.call(op, input); got != want {
		b.t.Errorf("%s %s\ngot  %.600s\nwant %.600s", op, input, got, want)
	}
}

func TestStoreRecords(t *testing.T) {
	t.Parallel()
	b := newStoreBridge(t, NewMemoryStore())
	const agent, changed = `{"agentId":"a","createdAt":1767000000123,"cwd":"/w","sdkMetadata":{"x":[1,null]}}`, `{"agentId":"a","cwd":"/v"}`
	b.want("none", "agents.get", `{"agentId":"a"}`)
	b.want("not_found", "agents.update", `{"agent":`+agent+`}`)
	b.want(agent, "agents.create", `{"agent":`+agent+`}`)
	b.want(agent, "agents.create", `{"agent":`+agent+`}`) // the answer was lost
	b.want("already_exists", "agents.create", `{"agent":`+changed+`}`)
	b.want(agent, "agents.get", `{"agentId":"a","somethingNew":true}`)
	b.want(changed, "agents.update", `{"agent":`+changed+`}`)
	b.want(changed, "agents.get", `{"agentId":"a"}`)

	const run = `{"agentId":"a","runId":"r","status":"queued"}`
	b.want("none", "runs.get", `{"agentId":"a","runId":"r"}`)
	b.want(run, "runs.create", `{"run":`+run+`}`)
	b.want(run, "runs.get", `{"agentId":"a","runId":"r"}`)
	b.want(run, "runs.get", `{"runId":"r"}`)
	b.want("none", "runs.get", `{"agentId":"other","runId":"r"}`)

	b.want("none", "checkpoints.get", `{"agentId":"a","blobId":"x/y"}`)
	b.want("none", "checkpoints.create", `{"agentId":"a","blobId":"x/y","data":"AAEC/w=="}`)
	b.want(`{"data":"AAEC/w==","found":true}`, "checkpoints.get", `{"agentId":"a","blobId":"x/y"}`)
	b.want("none", "checkpoints.create", `{"agentId":"a","blobId":"x/y","data":"AAEC/w=="}`)
	b.want("already_exists", "checkpoints.create", `{"agentId":"a","blobId":"x/y","data":""}`)
	b.want("none", "checkpoints.update", `{"agentId":"a","blobId":"x/y","data":""}`)
	b.want(`{"data":"","found":true}`, "checkpoints.get", `{"agentId":"a","blobId":"x/y"}`)
	b.want("none", "checkpoints.update", `{"agentId":"a","blobId":"new","data":"AA=="}`)
	b.want(`{"data":"AA==","found":true}`, "checkpoints.get", `{"agentId":"a","blobId":"new"}`)

	b.want("none", "agents.delete", `{"filter":{"agentIds":["a"]}}`)
	b.want("none", "agents.get", `{"agentId":"a"}`)
	b.want("none", "runs.get", `{"runId":"r"}`)
	b.want("none", "checkpoints.get", `{"agentId":"a","blobId":"new"}`)

	// Records that know themselves as id.
	b.want(`{"id":"b"}`, "agents.create", `{"agent":{"id":"b"}}`)
	b.want(`{"id":"b"}`, "agents.get", `{"id":"b"}`)
}

func TestStoreInputIsChecked(t *testing.T) {
	t.Parallel()
	b := newStoreBridge(t, NewMemoryStore())
	long := strings.Repeat("x", maxStoreID+1)
	for _, tt := range []struct{ op, input, want string }{
		{"agents.get", `{}`, "invalid_argument"},
		{"agents.get", `{"agentId":7}`, "invalid_argument"},
		{"agents.get", `{"agentId":"` + long + `"}`, "invalid_argument"},
		{"agents.get", `{"agentId":"a/b"}`, "invalid_argument"},
		{"agents.get", `{"agentId":"a\u0000b"}`, "invalid_argument"},
		{"agents.create", `{}`, "invalid_argument"},
		{"agents.create", `{"agentId":"a"}`, "invalid_argument"},
		{"agents.create", `{"agent":{}}`, "invalid_argument"},
		{"agents.create", `{"agent":` + strings.TrimSuffix(nested(maxRecordNesting+1), "}") + `,"agentId":"a"}}`, "invalid_argument"},
		{"runs.create", `{"run":{"runId":"r"}}`, "invalid_argument"},
		{"runs.get", `{"agentId":"a"}`, "invalid_argument"},
		{"checkpoints.get", `{"blobId":"b"}`, "invalid_argument"},
		{"checkpoints.get", `{"agentId":"a"}`, "invalid_argument"},
		{"checkpoints.create", `{"agentId":"a","blobId":"b"}`, "invalid_argument"},
		{"checkpoints.create", `{"agentId":"a","blobId":"b","data":"not base64"}`, "invalid_argument"},
		{"runEvents.append", `{"eventType":"e"}`, "invalid_argument"},
		{"runEvents.append", `{"runId":"r"}`, "invalid_argument"},
		{"runEvents.append", `{"runId":"r","eventType":"e"}`, "not_found"},
		{"runEvents.list", `{}`, "invalid_argument"},
		{"runEvents.list", `{"runId":"r","afterOffset":"later"}`, "invalid_argument"},
		{"runEvents.list", `{"runId":"r","afterOffset":-1}`, "invalid_argument"},
		{"runEvents.list", `{"runId":"r","limit":0.5}`, "invalid_argument"},
		{"agents.list", `{"filter":{"agentIds":[7]}}`, "invalid_argument"},
		{"agents.list", `{"filter":{"limit":-1}}`, "invalid_argument"},
		{"agents.append", `{}`, "unimplemented"},
		{"runEvents.update", `{}`, "unimplemented"},
		{"sessions.get", `{}`, "unimplemented"},
		{"", `{}`, "unimplemented"},
	} {
		b.want(tt.want, tt.op, tt.input)
	}
}

// An empty filter means everything to Cursor's own stores; here a filter that was
// misread must not cost everything.
func TestStoreDeletes(t *testing.T) {
	t.Parallel()
	b := newStoreBridge(t, NewMemoryStore())
	fill := func() {
		for _, a := range []string{"a", "b"} {
			b.call("agents.create", `{"agent":{"agentId":"`+a+`","cwd":"/`+a+`"}}`)
			for _, r := range []string{"1", "2"} {
				b.call("runs.create", `{"run":{"agentId":"`+a+`","runId":"`+a+r+`"}}`)
				b.call("checkpoints.create", `{"agentId":"`+a+`","blobId":"`+r+`","data":""}`)
			}
		}
	}
	left := func() string {
		var all []string
		for _, kind := range []string{"agents", "runs", "checkpoints"} {
			all = append(all, b.call(kind+".list", `{}`))
		}
		return strings.NewReplacer(`"agentId":`, "", `"runId":`, "", `{"items":`, "", `"`, "", "},", "}").Replace(strings.Join(all, " "))
	}
	for _, kind := range []string{"agents", "runs", "checkpoints"} {
		for _, input := range []string{`{}`, `{"filter":{}}`, `{"filter":{"agentIds":[],"runIds":[]}}`, `{"filtre":{"agentIds":["a"]}}`} {
			b.want("invalid_argument", kind+".delete", input)
		}
	}
	for _, tt := range []struct{ op, input, want string }{
		{"agents.delete", `{"filter":{"agentIds":["a","nobody"]}}`, `[{b,cwd:/b}]} [{b,b1}{b,b2}]} [1,2]}`},
		{"agents.delete", `{"filter":{"cwd":"/b"}}`, `[{a,cwd:/a}]} [{a,a1}{a,a2}]} [1,2]}`},
		{"agents.delete", `{"agentId":"b"}`, `[{a,cwd:/a}]} [{a,a1}{a,a2}]} [1,2]}`},
		{"runs.delete", `{"filter":{"runIds":["a1","b2"]}}`, `[{a,cwd:/a}{b,cwd:/b}]} [{a,a2}{b,b1}]} [1,2,1,2]}`},
		{"runs.delete", `{"filter":{"runIds":["a1","b2"],"agentIds":["b"]}}`, `[{a,cwd:/a}{b,cwd:/b}]} [{a,a1}{a,a2}{b,b1}]} [1,2,1,2]}`},
		{"runs.delete", `{"filter":{"agentIds":["b"]}}`, `[{a,cwd:/a}{b,cwd:/b}]} [{a,a1}{a,a2}]} [1,2,1,2]}`},
		{"checkpoints.delete", `{"filter":{"agentIds":["a"],"blobIds":["1"]}}`, `[{a,cwd:/a}{b,cwd:/b}]} [{a,a1}{a,a2}{b,b1}{b,b2}]} [2,1,2]}`},
		{"checkpoints.delete", `{"filter":{"blobIds":["2"]}}`, `[{a,cwd:/a}{b,cwd:/b}]} [{a,a1}{a,a2}{b,b1}{b,b2}]} [1,1]}`},
		{"checkpoints.delete", `{"agentId":"a"}`, `[{a,cwd:/a}{b,cwd:/b}]} [{a,a1}{a,a2}{b,b1}{b,b2}]} [1,2]}`},
		{"runEvents.delete", `{"filter":{"runIds":["a1"]}}`, `[{a,cwd:/a}{b,cwd:/b}]} [{a,a1}{a,a2}{b,b1}{b,b2}]} [1,2,1,2]}`},
	} {
		fill()
		b.want("none", tt.op, tt.input)
		if got := strings.ReplaceAll(left(), "  ", " "); got != tt.want {
			t.Errorf("after %s %s there is %s, want %s", tt.op, tt.input, got, tt.want)
		}
	}
}

func TestStoreLists(t *testing.T) {
	t.Parallel()
	b := newStoreBridge(t, NewMemoryStore())
	const count = 2*storeChunk + 1 // more than the store is asked for at once
	var all []string
	for i := range count {
		id := fmt.Sprintf("%04d", i)
		all = append(all, `{"agentId":"`+id+`"}`)
		b.call("agents.create", `{"agent":{"agentId":"`+id+`"}}`)
	}
	b.want(`{"items":[`+strings.Join(all, ",")+`]}`, "agents.list", `{}`)
	b.want(`{"items":[`+strings.Join(all[:2], ",")+`],"nextCursor":"0001"}`, "agents.list", `{"filter":{"limit":2}}`)
	b.want(`{"items":[`+strings.Join(all[2:4], ",")+`],"nextCursor":"0003"}`, "agents.list", `{"limit":2,"cursor":"0001"}`)
	b.want(`{"items":[`+strings.Join(all[count-2:], ",")+`]}`, "agents.list", fmt.Sprintf(`{"filter":{"limit":2,"cursor":"%04d"}}`, count-3))
	b.want(`{"items":[`+all[5]+`,`+all[7]+`]}`, "agents.list", `{"filter":{"agentIds":["0007","0005","0005","none"],"limit":2}}`)
	b.want(`{"items":[`+all[5]+`],"nextCursor":"0005"}`, "agents.list", `{"filter":{"agentIds":["0007","0005"],"limit":1}}`)
	b.want(`{"items":[`+all[7]+`]}`, "agents.list", `{"filter":{"agentIds":["0007","0005"],"limit":1,"cursor":"0005"}}`)
	b.want(`{"items":[]}`, "agents.list", `{"filter":{"cwd":"/elsewhere"}}`)
	b.want(`{"items":[]}`, "runs.list", `{"filter":{"agentIds":["0001"]}}`)
}

func TestStorePagesAreBounded(t *testing.T) {
	t.Parallel()
	b := newStoreBridge(t, NewMemoryStore())
	large := strings.Repeat("x", maxStorePage/2)
	b.call("runs.create", `{"run":{"agentId":"a","runId":"r"}}`)
	for i := range 3 {
		b.call("agents.create", fmt.Sprintf(`{"agent":{"agentId":"%d","x":"%s"}}`, i, large))
		b.call("runEvents.append", `{"runId":"r","eventType":"e","payload":"`+large+`"}`)
	}
	for _, tt := range []struct{ op, input, next string }{
		{"agents.list", `{}`, `"nextCursor":"0"`}, {"agents.list", `{"cursor":"1"}`, ""},
		{"runEvents.list", `{"runId":"r"}`, `"nextOffset":"1"`}, {"runEvents.list", `{"runId":"r","afterOffset":"2"}`, ""},
	} {
		got := b.call(tt.op, tt.input)
		if n := strings.Count(got, large); n != 1 || !strings.Contains(got, tt.next) || tt.next == "" && strings.Contains(got, `"next`) {
			t.Errorf("%s %s: %d items, ends with %s; want %q", tt.op, tt.input, n, got[len(got)-60:], tt.next)
		}
	}
}

func TestStoreEvents(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 6_700_000, time.UTC)
	server := newStoreServer(NewMemoryStore(), func() time.Time { return now }, func(op string, err error) { t.Errorf("%s: %v", op, err) })
	call := func(substore, method, input string) string {
		in := new(structpb.Struct)
		if err := in.UnmarshalJSON([]byte(input)); err != nil {
			t.Fatal(err)
		}
		res, err := server.CallStore(testContext(t), connect.NewRequest(&sdkv1.CallStoreRequest{Substore: substore, Method: method, Input: in}))
		if err != nil {
			return connect.CodeOf(err).String()
		}
		return resultJSON(t, res.Msg.GetOutput())
	}
	call("runs", "create", `{"run":{"agentId":"a","runId":"r"}}`)
	event := func(seq int, kind, payload, ref, key string) string {
		return fmt.Sprintf(`{"createdAt":1767323045006,"eventType":%s,"idempotencyKey":%s,"offset":"%d","payload":%s,"payloadRef":%s,"runId":"r","seq":%d}`,
			kind, key, seq, payload, ref, seq)
	}
	var listed []string
	for i, tt := range []struct{ input, kind, payload, ref, key string }{
		{`"eventType":"status","payload":{"b":1,"a":[null]}`, `"status"`, `{"a":[null],"b":1}`, "null", "null"},
		{`"eventType":"status"`, `"status"`, "null", "null", "null"},
		{`"eventType":"text","payload":"x","idempotencyKey":"k"`, `"text"`, `"x"`, "null", `"k"`},
		{`"eventType":"text","payload":null,"payloadRef":"blob"`, `"text"`, "null", `"blob"`, "null"},
		{`"eventType":"ref:text","payload":1`, `"ref:text"`, "1", "null", "null"},
		{`"eventType":"ref:ref:text","payload":1,"payloadRef":"blob"`, `"ref:ref:text"`, "1", `"blob"`, "null"},
	} {
		want := event(i+1, tt.kind, tt.payload, tt.ref, tt.key)
		if got := call("runEvents", "append", `{"runId":"r",`+tt.input+`}`); got != want {
			t.Errorf("append %s\ngot  %s\nwant %s", tt.input, got, want)
		}
		listed = append(listed, event(i+1, tt.kind, tt.payload, tt.ref, "null"))
	}
	now = now.Add(time.Hour)
	if got, want := call("runEvents", "append", `{"runId":"r","eventType":"text","payload":"x","idempotencyKey":"k"}`), event(3, `"text"`, `"x"`, "null", `"k"`); got != want {
		t.Errorf("a repeated append\ngot  %s\nwant %s", got, want)
	}
	for input, want := range map[string]string{
		`{"runId":"r"}`:                              `{"items":[` + strings.Join(listed, ",") + `]}`,
		`{"runId":"r","limit":2}`:                    `{"items":[` + strings.Join(listed[:2], ",") + `],"nextOffset":"2"}`,
		`{"runId":"r","limit":2,"afterOffset":"2"}`:  `{"items":[` + strings.Join(listed[2:4], ",") + `],"nextOffset":"4"}`,
		`{"runId":"r","after":4}`:                    `{"items":[` + strings.Join(listed[4:], ",") + `]}`,
		`{"runId":"r","afterOffset":"6"}`:            `{"items":[]}`,
		`{"runId":"r","afterOffset":null,"limit":6}`: `{"items":[` + strings.Join(listed, ",") + `]}`,
		`{"runId":"nobody"}`:                         `{"items":[]}`,
	} {
		if got := call("runEvents", "list", input); got != want {
			t.Errorf("list %s\ngot  %s\nwant %s", input, got, want)
		}
	}
}

func TestAppendWithAKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	b := newStoreBridge(t, NewMemoryStore())
	b.call("runs.create", `{"run":{"agentId":"a","runId":"r"}}`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := b.call("runEvents.append", `{"runId":"r","eventType":"e","idempotencyKey":"k"}`); !strings.Contains(got, `"seq":1`) {
				t.Errorf("append = %s", got)
			}
		})
	}
	all.Wait()
	// A failure is tried again.
	b.want("not_found", "runEvents.append", `{"runId":"late","eventType":"e","idempotencyKey":"k"}`)
	b.call("runs.create", `{"run":{"agentId":"a","runId":"late"}}`)
	if got := b.call("runEvents.append", `{"runId":"late","eventType":"e","idempotencyKey":"k"}`); !strings.Contains(got, `"seq":1`) {
		t.Errorf("append after a failure = %s", got)
	}
}

func TestAppendMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := newAppendMemory()
	made := 0
	for i := range maxAppendMemory + 1 {
		for range 2 {
			if _, err := m.do(context.Background(), fmt.Sprint(i), func() (*structpb.Struct, error) { made++; return &structpb.Struct{}, nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made != maxAppendMemory+1 || len(m.done) != maxAppendMemory {
		t.Errorf("%d appends were made, %d are remembered", made, len(m.done))
	}
}

// brokenStore fails, panics, or has what is no JSON.
type brokenStore struct {
	Store
	fail func() error
}

func (s brokenStore) Get(context.Context, RecordKind, string) (Record, error) {
	return Record{Kind: RecordAgent, ID: "a", Data: []byte("no JSON")}, s.fail()
}

func (s brokenStore) Append(context.Context, string, RunEvent) (int, error) { return 0, s.fail() }

func TestStoreFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fail         func() error
		want, logged string
	}{
		"an error":        {func() error { return errors.New("the disk is full of /secret/path") }, "internal", "the disk is full"},
		"a panic":         {func() error { panic("no disk") }, "internal", "no disk"},
		"no JSON":         {func() error { return nil }, "internal", "no JSON object"},
		"a wrapped error": {func() error { return fmt.Errorf("bolt: %w", ErrNoRecord) }, "none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newStoreBridge(t, brokenStore{fail: tt.fail})
			b.want(tt.want, "agents.get", `{"agentId":"a"}`)
			if tt.logged != "" && !strings.Contains(b.served.log.String(), tt.logged) {
				t.Errorf("log = %s", b.served.log.String())
			}
			_, err := b.client.CallStore(testContext(t), connect.NewRequest(&sdkv1.CallStoreRequest{Substore: "agents", Method: "get",
				Input: &structpb.Struct{Fields: map[string]*structpb.Value{"agentId": structpb.NewStringValue("a")}}}))
			if err != nil && bytes.Contains([]byte(err.Error()), []byte("disk")) {
				t.Errorf("the bridge was told %v", err)
			}
			// Twice with one key: the first must not leave the second waiting.
			for range 2 {
				if got := b.call("runEvents.append", `{"runId":"r","eventType":"e","idempotencyKey":"k"}`); name != "no JSON" && got != "internal" && got != "not_found" {
					t.Errorf("append = %s", got)
				}
			}
		})
	}
}

// A change goes on when the connection is gone: the bridge, not the socket, says
// what is stored.
func TestChangesOutliveTheirConnection(t *testing.T) {
	t.Parallel()
	store := NewMemoryStore()
	entered, release := make(chan struct{}), make(chan struct{})
	server := newStoreServer(slowStore{store, entered, release}, time.Now, func(string, error) {})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		agent := &structpb.Struct{Fields: map[string]*structpb.Value{"agentId": structpb.NewStringValue("a")}}
		_, err := server.CallStore(ctx, connect.NewRequest(&sdkv1.CallStoreRequest{Substore: "agents", Method: "create",
			Input: &structpb.Struct{Fields: map[string]*structpb.Value{"agent": structpb.NewStructValue(agent)}}}))
		done <- err
	}()
	<-entered
	cancel()
	close(release)
	if err := <-done; err != nil {
		t.Errorf("create: %v", err)
	}
	if _, err := store.Get(context.Background(), RecordAgent, "a"); err != nil {
		t.Errorf("get: %v", err)
	}
}

type slowStore struct {
	Store
	entered, release chan struct{}
}

func (s slowStore) Create(ctx context.Context, r Record) error {
	close(s.entered)
	<-s.release
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Store.Create(ctx, r)
}
