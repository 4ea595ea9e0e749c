package eventlog_test

import (
	"fmt"
	"iter"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/eventlog"
)

// Thousands may watch, some of them over slow lines.
func TestReadersThatTakeTheirTimeKeepNoFileOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("open descriptors are counted where the system lists them")
	}
	const sessions, most = 300, 8
	dir := t.TempDir()
	l := open(t, dir, eventlog.Options{MaxOpen: most})
	var waiting []func() (state.Event, error, bool)
	for i := range sessions {
		id := fmt.Sprint("ses_", i)
		if err := l.Append(t.Context(), id, false, delta(id), delta(id)); err != nil {
			t.Fatal(err)
		}
		next, stop := iter.Pull2(l.Read(t.Context(), id, 0))
		defer stop()
		if e, err, ok := next(); !ok || err != nil || e.Index != 0 {
			t.Fatalf("first event of %s: %+v, %v", id, e, err)
		}
		waiting = append(waiting, next)
	}
	if n := openBelow(t, dir); n > most {
		t.Errorf("%d files are open while %d readers wait, want at most %d", n, sessions, most)
	}
	for i, next := range waiting {
		if e, err, ok := next(); !ok || err != nil || e.Index != 1 {
			t.Errorf("second event of session %d: %+v, %v", i, e, err)
		}
		if _, err, ok := next(); ok {
			t.Errorf("session %d has a third event, %v", i, err)
		}
	}
}

// openBelow counts this process's descriptors of files below dir.
func openBelow(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}

// A file that was closed to spare its descriptor is not looked through again,
// unless somebody else changed it.
func TestAClosedFileGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, eventlog.Options{MaxOpen: 1})
	for i := range 10 {
		add(t, l, fmt.Sprint("e", i))
		if err := l.Append(t.Context(), "ses_2", true, delta("ses_2")); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(read(t, l), " "); got != "e0 e1 e2 e3 e4 e5 e6 e7 e8 e9" {
		t.Errorf("events %s", got)
	}
	if err := l.Append(t.Context(), "ses_2", false, delta("ses_2")); err != nil {
		t.Fatal(err)
	}
	appendRaw(t, file(dir), `{"type":"torn`)
	add(t, l, "last")
	if got := read(t, l); len(got) != 11 || got[10] != "last" {
		t.Errorf("events %v", got)
	}
}

// BenchmarkFollowMany appends to one of many sessions and reads it, as their
// live readers do.
func BenchmarkFollowMany(b *testing.B) {
	const sessions = 2000
	l := open(b, b.TempDir(), eventlog.Options{})
	next := make([]int64, sessions)
	for i := 0; b.Loop(); i++ {
		at := i % sessions
		id := fmt.Sprint("ses_", at)
		if err := l.Append(b.Context(), id, false, delta(id)); err != nil {
			b.Fatal(err)
		}
		for _, err := range l.Read(b.Context(), id, next[at]) {
			if err != nil {
				b.Fatal(err)
			}
			next[at]++
		}
	}
}
