package backup

import (
	"path/filepath"
	"strings"
	"testing"
)

func FuzzKnown(f *testing.F) {
	for _, name := range []string{
		"liaison.db", "packed/00000001.seg", "intake/1", "sessions/ses_1/events.ndjson",
		"../x", "packed/../x", "sessions//events.ndjson", `packed/a\b`, "packed/c:", "packed/.", "/liaison.db",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if known(name) && (!filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\:\x00")) {
			t.Errorf("%q is taken", name)
		}
	})
}
