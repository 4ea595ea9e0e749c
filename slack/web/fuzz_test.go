package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever comes as an answer is a success that says so, or a failure of one class
// in words that can stand in a log.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "", `{"ok":true}`)
	f.Add(200, "", `{"ok":false,"error":"invalid_blocks","needed":"x","response_metadata":{"messages":["a\n"]}}`)
	f.Add(429, "1e9", ``)
	f.Add(502, "", `<html>`)
	f.Add(200, "0", "{\"ok\":false,\"error\":\"\xff\u2028\"}")
	classes := []error{ErrUnsent, ErrLimited, ErrRefused, ErrAmbiguous, ErrGone, ErrAuth}
	f.Fuzz(func(t *testing.T, status int, retryAfter, body string) {
		r := &reader{random: func() float64 { return 0.5 }}
		err := r.judge(received{status, http.Header{"Retry-After": {retryAfter}}, []byte(body)}, "chat.postMessage")
		if err == nil {
			var said struct {
				OK bool `json:"ok"`
			}
			if status != http.StatusOK || json.Unmarshal([]byte(body), &said) != nil || !said.OK {
				t.Errorf("%d %q is taken for a success", status, body)
			}
			return
		}
		n := 0
		for _, class := range classes {
			if errors.Is(err, class) {
				n++
			}
		}
		var failure *Error
		if n != 1 || !errors.As(err, &failure) {
			t.Fatalf("%v is of %d classes", err, n)
		}
		if errors.Is(err, ErrLimited) && (failure.After < minWait || failure.After > maxWait) {
			t.Errorf("waits %s", failure.After)
		}
		if text := err.Error(); len(text) > 4<<10 || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\x1b") {
			t.Errorf("says %q", text)
		}
	})
}

// A message of any shape is read as far as it goes.
func FuzzReply(f *testing.F) {
	f.Add(`{"ts":"1.1","user":"U1","text":"hi","files":[{"name":"a"}],"metadata":{"event_type":"liaison_post","event_payload":{"key":"k"}}}`)
	f.Add(`{"ts":"1.1","user":null,"files":{},"metadata":{"event_type":7},"edited":null}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, raw string) {
		r, ok := readReply([]byte(raw))
		if ok && r.TS == "" || !ok && r.Key != "" && r.TS != "" {
			t.Errorf("read %+v, %v", r, ok)
		}
	})
}
