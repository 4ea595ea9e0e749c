package eventlog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/eventlog"
	"github.com/liaison-bot/liaison/state/statetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string, opts eventlog.Options) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 2} {
		t.Run(fmt.Sprint("at most open ", most), func(t *testing.T) {
			t.Parallel()
			statetest.RunEventLog(t, func(t testing.TB) state.EventLog {
				return open(t, t.TempDir(), eventlog.Options{MaxOpen: most})
			})
		})
	}
}

func event(typ string) state.Event {
	return state.Event{Type: typ, SessionID: "ses_1", Data: json.RawMessage(`{"text":"hello"}`)}
}

func add(t testing.TB, l *eventlog.Log, types ...string) {
	t.Helper()
	for _, typ := range types {
		if err := l.Append(t.Context(), "ses_1", false, event(typ)); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns the types that are recorded, and fails unless the indexes are dense.
func read(t testing.TB, l *eventlog.Log) []string {
	t.Helper()
	var out []string
	for e, err := range l.Read(t.Context(), "ses_1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Index != int64(len(out)) {
			t.Fatalf("event %d has index %d", len(out), e.Index)
		}
		out = append(out, e.Type)
	}
	return out
}

func file(dir string) string { return filepath.Join(dir, "sessions", "ses_1", "events.ndjson") }

func TestTheFileIsLinesThatPeopleCanRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, eventlog.Options{})
	e := event("message")
	e.Data, e.Commit = json.RawMessage("{\"text\":\n\"<b> & é\"}"), 3
	if err := l.Append(t.Context(), "ses_1", true, e); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"message","index":0,"sessionId":"ses_1","at":"0001-01-01T00:00:00Z","data":{"text":"<b> & é"},"commit":3}` + "\n"
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{file(dir): 0o600, filepath.Dir(file(dir)): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestATornEndIsCutOff(t *testing.T) {
	t.Parallel()
	whole := `{"type":"x","index":2,"sessionId":"ses_1","at":"0001-01-01T00:00:00Z","data":{}}`
	for name, tc := range map[string]struct {
		tail string
		kept bool // beside the file
	}{
		"nothing torn":                 {tail: ""},
		"half a line":                  {tail: whole[:30]},
		"a line without its newline":   {tail: whole},
		"zeros":                        {tail: strings.Repeat("\x00", 5000)},
		"zeros with a newline":         {tail: strings.Repeat("\x00", 100) + "\n", kept: true},
		"zeros before a whole line":    {tail: strings.Repeat("\x00", 100) + "\n" + whole + "\n", kept: true},
		"a line of a wrong number":     {tail: strings.Replace(whole, `"index":2`, `"index":9`, 1) + "\n", kept: true},
		"a line without number":        {tail: strings.Replace(whole, `"index":2,`, "", 1) + "\n", kept: true},
		"an empty line":                {tail: "\n", kept: true},
		"a torn line that is too long": {tail: `{"type":"` + strings.Repeat("x", eventlog.MaxLine/2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l := open(t, dir, eventlog.Options{})
			add(t, l, "a", "b")
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			appendRaw(t, file(dir), tc.tail)
			for _, first := range []string{"c", "d"} { // reading repairs as appending does
				l = open(t, dir, eventlog.Options{})
				if first == "d" {
					if got := read(t, l); strings.Join(got, " ") != "a b c" {
						t.Errorf("read %v first", got)
					}
				}
				add(t, l, first)
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			l = open(t, dir, eventlog.Options{})
			if got := strings.Join(read(t, l), " "); got != "a b c d" {
				t.Errorf("events %s", got)
			}
			cut, err := os.ReadFile(file(dir) + ".cut")
			if tc.kept && string(cut) != tc.tail || !tc.kept && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("kept beside the file: %q, %v", cut, err)
			}
		})
	}
}

func TestAFileThatIsNoRecordIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, eventlog.Options{})
	add(t, l, "a")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	garbage := bytes.Repeat([]byte("this is no event\n"), 10_000)
	if err := os.WriteFile(file(dir), garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, eventlog.Options{})
	if err := l.Append(t.Context(), "ses_1", false, event("b")); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("Append: %v, want ErrCorrupt", err)
	}
	if got, err := os.ReadFile(file(dir)); err != nil || !bytes.Equal(got, garbage) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestDamageInTheMiddleIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, eventlog.Options{})
	for i := range 3000 {
		add(t, l, fmt.Sprint("e", i))
	}
	raw, err := os.ReadFile(file(dir))
	if err != nil {
		t.Fatal(err)
	}
	copy(raw[1000:], bytes.Repeat([]byte{0}, 200))
	if err := os.WriteFile(file(dir), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	n, last := 0, error(nil)
	for _, err := range l.Read(t.Context(), "ses_1", 0) {
		n, last = n+1, err
	}
	if !errors.Is(last, state.ErrCorrupt) || n > 20 {
		t.Errorf("after %d events: %v, want ErrCorrupt", n, last)
	}
	for e, err := range l.Read(t.Context(), "ses_1", 2999) {
		if err != nil || e.Type != "e2999" {
			t.Errorf("the end cannot be read: %+v, %v", e, err)
		}
	}
}

func TestALineTooLongIsRefused(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir(), eventlog.Options{})
	e := event("big")
	overhead := len(`{"type":"big","index":0,"sessionId":"ses_1","at":"0001-01-01T00:00:00Z","data":""}`) + 1
	for _, over := range []int{0, 1} {
		e.Data = fmt.Appendf(nil, "%q", strings.Repeat("x", eventlog.MaxLine-overhead+over))
		err := l.Append(t.Context(), "ses_1", false, e)
		if over == 0 && err != nil || over == 1 && !errors.Is(err, state.ErrInvalid) {
			t.Errorf("%d bytes above the limit: %v", over, err)
		}
	}
	add(t, l, "after")
	if got := read(t, l); len(got) != 2 {
		t.Errorf("%d events, want 2", len(got))
	}
}

func TestALongRecordIsReopenedAndReadFromAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, eventlog.Options{})
	const n = 2000
	for i := range n {
		e := event(fmt.Sprint("e", i))
		if i%97 == 0 { // some lines are longer than what is searched at once
			e.Data = fmt.Appendf(nil, "%q", strings.Repeat("y", 20_000+i))
		}
		if err := l.Append(t.Context(), "ses_1", false, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, eventlog.Options{})
	for from := range int64(n) {
		for e, err := range l.Read(t.Context(), "ses_1", from) {
			if err != nil || e.Index != from || e.Type != fmt.Sprint("e", from) {
				t.Fatalf("from %d: %s, %v", from, e.Type, err)
			}
			break
		}
	}
	add(t, l, "last")
	for e, err := range l.Read(t.Context(), "ses_1", n) {
		if err != nil || e.Type != "last" {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

func appendRaw(t testing.TB, path, tail string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(tail)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// FuzzTornTail appends anything to a record: what was whole stays, and the
// record goes on with dense indexes.
func FuzzTornTail(f *testing.F) {
	f.Add([]byte(`{"type":"x"`))
	f.Add([]byte("\x00\x00\n{}\n"))
	f.Add([]byte("{\"type\":\"x\",\"index\":2}\n{\"index\":3}\n{\"index\":"))
	f.Fuzz(func(t *testing.T, tail []byte) {
		dir := t.TempDir()
		l := open(t, dir, eventlog.Options{})
		add(t, l, "a", "b")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		appendRaw(t, file(dir), string(tail))
		l = open(t, dir, eventlog.Options{})
		add(t, l, "last")
		n := 0
		var types []string
		for e, err := range l.Read(t.Context(), "ses_1", 0) {
			if err != nil {
				// The tail may hold whole lines that number themselves rightly and
				// are wrong in another field; the log reports them.
				if !errors.Is(err, state.ErrCorrupt) || n < 2 {
					t.Fatal(err)
				}
				return
			}
			if e.Index != int64(n) {
				t.Fatalf("event %d has index %d", n, e.Index)
			}
			types = append(types, e.Type)
			n++
		}
		if n < 3 || types[0] != "a" || types[1] != "b" || types[n-1] != "last" {
			t.Errorf("events %v", types)
		}
	})
}
