package bridge

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// FuzzObjectJSON compares the JSON of an object in its wire form with what
// encoding/json makes of the same object.
func FuzzObjectJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":null,"b":[1,true,"x",{}],"c":{"d":{"e":[]}}}`, `{"n":[0,-0.0,1e-7,1e21,123456789012,1.5e300,-4]}`,
		`{"s":"<&>\"\\\u0000\u001f\u2028é😀\n\t\r\b\f/"}`, `{"é":1,"e":2,"":3,"zz":4}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var fields map[string]any
		if json.Unmarshal(data, &fields) != nil {
			return
		}
		s, err := structpb.NewStruct(fields)
		if err != nil {
			return
		}
		wire, err := proto.Marshal(s)
		if err != nil {
			return
		}
		if got, want := object(wire).raw(), marshal(s.AsMap()); !bytes.Equal(got, want) {
			t.Errorf("JSON = %s\nwant %s", got, want)
		}
		again, err := proto.Marshal(s) // with its fields in another order
		if err != nil {
			t.Fatal(err)
		}
		seed := maphash.MakeSeed()
		if (&frame{body: wire}).fingerprint(seed) != (&frame{body: again}).fingerprint(seed) {
			t.Error("the order of the fields changes the fingerprint")
		}
	})
}

// FuzzFrame reads anything as a frame: what the generated type takes is taken,
// and nothing of what is in it makes trouble later.
func FuzzFrame(f *testing.F) {
	for _, m := range []*sdkv1.RunStreamMessage{
		{}, sdkEnvelope(f, "assistant", map[string]any{"message": map[string]any{"content": []any{map[string]any{"type": "text", "text": "t"}, 1, nil}}}, "7"),
		sdkEnvelope(f, "tool_call", map[string]any{"args": map[string]any{"a": math.NaN()}, "truncated": map[string]any{"args": true}}, ""),
		{Envelope: &sdkv1.RunStreamMessage_Step{Step: &sdkv1.ConversationStep{Type: "s"}}},
		resultEnvelope(finishedStatus, "text"), doneEnvelope(),
	} {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{0xf2, 0x06, 3, 'n', 'e', 'w'})
	seed := maphash.MakeSeed()
	f.Fuzz(func(t *testing.T, data []byte) {
		m := new(frame)
		err := m.unmarshal(data)
		if proto.Unmarshal(data, new(sdkv1.RunStreamMessage)) == nil && err != nil {
			t.Fatalf("a frame that the generated type takes is refused: %v", err)
		}
		if err != nil {
			return
		}
		m.fingerprint(seed)
		e := decodeEvent(m, "a", "r")
		if raw := e.Raw(); raw != nil && !json.Valid(raw) {
			t.Errorf("raw = %q", raw)
		}
		if call, ok := e.Payload.(ToolCall); ok && call.Args != nil && !json.Valid(call.Args) {
			t.Errorf("args = %q", call.Args)
		}
	})
}

// Nesting without end costs no stack, and is left out rather than cut.
func TestDeepNesting(t *testing.T) {
	t.Parallel()
	nest := func(depth int) object {
		v := []byte{0x1a, 1, 'x'} // a string value
		for range depth {
			entry := protowire.AppendBytes([]byte{0x0a, 1, 'k', 0x12}, v)
			v = protowire.AppendBytes([]byte{0x2a}, protowire.AppendBytes([]byte{0x0a}, entry))
		}
		return object(protowire.AppendBytes([]byte{0x0a}, protowire.AppendBytes([]byte{0x0a, 1, 'k', 0x12}, v)))
	}
	seed := maphash.MakeSeed()
	for depth, wantJSON := range map[int]bool{10: true, maxDepth - 2: true, maxDepth + 2: false, 3000: false} {
		f := &frame{kind: frameMessage, name: "invented", body: nest(depth)}
		f.fingerprint(seed)
		if raw := decodeEvent(f, "", "").Raw(); (raw != nil) != wantJSON {
			t.Errorf("%d levels: %d bytes of JSON", depth, len(raw))
		}
	}
}

// A message says something else when anything in it is different.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	seed := maphash.MakeSeed()
	seen := map[uint64]string{}
	for name, f := range map[string]*frame{
		"empty":         sdkMessage(t, "x", map[string]any{}),
		"another type":  sdkMessage(t, "y", map[string]any{}),
		"string":        sdkMessage(t, "x", map[string]any{"a": "1"}),
		"number":        sdkMessage(t, "x", map[string]any{"a": 1}),
		"true":          sdkMessage(t, "x", map[string]any{"a": true}),
		"false":         sdkMessage(t, "x", map[string]any{"a": false}),
		"null":          sdkMessage(t, "x", map[string]any{"a": nil}),
		"another key":   sdkMessage(t, "x", map[string]any{"b": "1"}),
		"two":           sdkMessage(t, "x", map[string]any{"a": "1", "b": "2"}),
		"two exchanged": sdkMessage(t, "x", map[string]any{"a": "2", "b": "1"}),
		"list":          sdkMessage(t, "x", map[string]any{"a": []any{"1", "2"}}),
		"list reversed": sdkMessage(t, "x", map[string]any{"a": []any{"2", "1"}}),
		"nested list":   sdkMessage(t, "x", map[string]any{"a": []any{[]any{"1", "2"}}}),
		"empty list":    sdkMessage(t, "x", map[string]any{"a": []any{}}),
		"empty object":  sdkMessage(t, "x", map[string]any{"a": map[string]any{}}),
		"object":        sdkMessage(t, "x", map[string]any{"a": map[string]any{"a": "1"}}),
	} {
		said := f.fingerprint(seed)
		if other, again := seen[said]; again {
			t.Errorf("%s and %s have the same fingerprint", name, other)
		}
		seen[said] = name
	}
}

// What a later version adds to a message is passed over.
func TestFramesOfALaterVersion(t *testing.T) {
	t.Parallel()
	m, err := proto.Marshal(sdkEnvelope(t, "thinking", map[string]any{"text": "t"}, ""))
	if err != nil {
		t.Fatal(err)
	}
	message, n := protowire.ConsumeBytes(m[1:]) // the sdk_message, after its tag
	if n < 0 {
		t.Fatal(protowire.ParseError(n))
	}
	more := protowire.AppendVarint(protowire.AppendTag(bytes.Clone(message), 9, protowire.VarintType), 300)
	more = protowire.AppendBytes(protowire.AppendTag(more, 10, protowire.BytesType), []byte("new"))
	data := protowire.AppendFixed64(protowire.AppendTag(nil, 50, protowire.Fixed64Type), 1)
	data = protowire.AppendBytes(protowire.AppendTag(data, 51, protowire.BytesType), []byte("new"))
	data = protowire.AppendBytes(protowire.AppendTag(data, fieldSDKMessage, protowire.BytesType), more)
	data = protowire.AppendBytes(protowire.AppendTag(data, fieldOffset, protowire.BytesType), []byte("8"))
	f := new(frame)
	if err := f.unmarshal(data); err != nil {
		t.Fatal(err)
	}
	if e := decodeEvent(f, "a", "r"); e.Payload != (Thinking{Text: "t"}) || e.Offset != "8" {
		t.Errorf("event = %+v", e)
	}
	for _, broken := range [][]byte{{0x0a}, {0x0a, 5, 1}, {0xff}, {0x0a, 2, 0x0a, 9}, {0x12, 1, 0xff}} {
		if err := new(frame).unmarshal(broken); err == nil {
			t.Errorf("% x is a frame", broken)
		}
	}
}
