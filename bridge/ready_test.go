package bridge

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseReady(t *testing.T) {
	t.Parallel()
	const head = `{"schemaVersion":1,"transport":"tcp","protocol":"connect","pid":7,`
	tests := []struct {
		name, line string
		url        string // empty: refused
	}{
		{"url", head + `"url":"http://127.0.0.1:4000"}`, "http://127.0.0.1:4000"},
		{"url with a slash", head + `"url":"http://127.0.0.1:4000/"}`, "http://127.0.0.1:4000"},
		{"url wins", head + `"url":"http://127.0.0.2:1","host":"127.0.0.1","port":2}`, "http://127.0.0.2:1"},
		{"host and port", head + `"host":"127.0.0.1","port":65535}`, "http://127.0.0.1:65535"},
		{"IPv6", head + `"host":"::1","port":1}`, "http://[::1]:1"},
		{"IPv6 in brackets", head + `"host":"[::1]","port":1}`, "http://[::1]:1"},
		{"unknown fields", head + `"host":"localhost","port":1,"new":{"a":[1]}}`, "http://localhost:1"},
		{"port 0", head + `"host":"127.0.0.1","port":0}`, ""},
		{"port 65536", head + `"host":"127.0.0.1","port":65536}`, ""},
		{"no host", head + `"port":1}`, ""},
		{"all interfaces", head + `"host":"0.0.0.0","port":1}`, ""},
		{"a name", head + `"url":"http://localhost.example.com:1"}`, ""},
		{"user", head + `"url":"http://user:pass@127.0.0.1:1"}`, ""},
		{"path", head + `"url":"http://127.0.0.1:1/elsewhere"}`, ""},
		{"query", head + `"url":"http://127.0.0.1:1?a=b"}`, ""},
		{"no port", head + `"url":"http://127.0.0.1"}`, ""},
		{"broken url does not fall back", head + `"url":"http://%zz","host":"127.0.0.1","port":1}`, ""},
		{"wrong type", `{"schemaVersion":"1"}`, ""},
		{"array", `[]`, ""},
		{"null", `null`, ""},
		{"empty", ``, ""},
		{"two documents", head + `"url":"http://127.0.0.1:1"}{}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parseReady([]byte(tt.line), 7)
			if (err != nil) != (tt.url == "") || r.url != tt.url {
				t.Errorf("parseReady = %q, %v; want %q", r.url, err, tt.url)
			}
		})
	}
}

func TestReadyToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return `{"authTokenFile":"` + filepath.ToSlash(path) + `"}`
	}
	write("relative", "rel")
	full := strings.Repeat("a", maxTokenFile)
	tests := []struct{ name, line, want string }{
		{"file", write("a", "\n secret \r\n"), "secret"},
		{"relative file", `{"authTokenFile":"relative"}`, "rel"},
		{"inline", `{"authToken":"tok"}`, "tok"},
		{"inline wins", `{"authToken":"tok","authTokenFile":"/nonexistent"}`, "tok"},
		{"largest file", write("b", full), full},
		{"one byte more", write("c", full+"a"), ""},
		{"directory", `{"authTokenFile":"."}`, ""},
		{"control character", `{"authToken":"a\u0000b"}`, ""},
		{"not ASCII", `{"authToken":"ä"}`, ""},
		{"none", `{}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readyToken([]byte(tt.line), dir)
			if (err != nil) != (tt.want == "") || got != tt.want {
				t.Errorf("readyToken = %.20q, %v; want %.20q", got, err, tt.want)
			}
		})
	}
}

// Whatever a process prints, a connection goes to loopback only, and no error
// quotes a token.
func FuzzParseReady(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":1,"transport":"tcp","protocol":"connect","pid":7,"host":"127.0.0.1","port":1,"authToken":"hush-hush-hush"}`))
	f.Add([]byte(`{"schemaVersion":1,"transport":"tcp","protocol":"connect","pid":7,"url":"http://[::1]:80"}`))
	f.Add([]byte(`{"schemaVersion":1,"transport":"tcp","protocol":"connect","pid":7,"url":"http://127.0.0.1:80@evil.example:80"}`))
	f.Add([]byte(`{"schemaVersion":1,"transport":"hush-hush-hush","pid":7}`))
	f.Add([]byte(`{"schemaVersion":1,"authToken":"hush-hush-hush`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseReady(line, 7)
		if err != nil {
			if strings.Contains(err.Error(), "hush-hush-hush") {
				t.Fatalf("the error quotes the token: %v", err)
			}
			return
		}
		u, err := url.Parse(r.url)
		if err != nil {
			t.Fatal(err)
		}
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			t.Errorf("%q is accepted", r.url)
		}
		if u.Scheme != "http" || u.User != nil || u.Port() == "" || r.maxMessageBytes < 0 {
			t.Errorf("%+v is accepted", r)
		}
	})
}
