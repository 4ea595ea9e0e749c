package handlers

import (
	"encoding/json"
	"strings"
	"testing"
)

// The scanner agrees with encoding/json about everything that is JSON.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"type":"event_callback","event_id":"Ev1","challenge":"c"}`,
		`{"event":{"type":"x","a":[1,{"event_id":"no"}]},"event_id":"Ev\u0031\n","event_id":null}`,
		`{"typ\u0065":"a\\","x":"\"type\":\"b","n":-1.5e9,"t":true,"e":{},"l":[[],[{}]]}`,
		`{"type":["a"],"event_id":{"type":"b"},"challenge":"\ud83d\ude80\ud83d"}`,
		` { } `, `{"":""}`, `[{"type":"a"}]`, `{"a":}`, `{"a":1]`, `{"a":{"b":[1}]}`, `{"a":,"type":"x"}`, "\x00", `{"type":"` + "\xff" + `"}`,
		`{"\u0063\u0068\u0061\u006c\u006c\u0065\u006e\u0067\u0065":"c"}`,
		`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `,"type":"deep"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := readEnvelope(data)
		var want map[string]any
		if json.Unmarshal(data, &want) != nil {
			return // what it finds in something broken is as good as nothing
		}
		for key, got := range map[string]string{"type": got.kind, "event_id": got.eventID, "challenge": got.challenge} {
			text, _ := want[key].(string)
			if got != text && len(text) < maxEnvelopeText/6 {
				t.Errorf("%s: got %q, want %q", key, got, text)
			}
		}
	})
}
