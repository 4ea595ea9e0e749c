package local

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An accepted id is a short name in any file system, log or URL, and the error
// about another one never repeats it.
func FuzzCheckID(f *testing.F) {
	for _, id := range []string{"ses_01", "agent-01j", "", "..", "a/b", `a\b`, "a\x00", "-rf", "é", strings.Repeat("a", maxIDBytes), strings.Repeat("a", maxIDBytes+1)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		err := checkID("agent_id", id)
		if err == nil {
			if id == "" || len(id) > maxIDBytes || strings.ContainsAny(id, "/\\ \n\x00") || !filepath.IsLocal(id) || id[0] == '-' || id[0] == '.' {
				t.Errorf("%q was accepted", id)
			}
			return
		}
		if len(err.Error()) > 200 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	})
}

func TestIDsSortByTimeAndDiffer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ids := newIDSource(func() time.Time { return now }, strings.NewReader(strings.Repeat("\x01", 1<<10)))
	last := ""
	for i := range 100 {
		if i == 50 {
			now = now.Add(time.Millisecond)
		}
		id, err := ids.next(runPrefix)
		if err != nil {
			t.Fatal(err)
		}
		if id <= last || checkID("run_id", id) != nil {
			t.Fatalf("%q came after %q", id, last)
		}
		last = id
	}
}
