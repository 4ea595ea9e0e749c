package markup

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with -update)", err)
	}
	if want := strings.ReplaceAll(string(want), "\r\n", "\n"); got != want {
		t.Errorf("%s differs; look at it with -update and git diff.\n--- got\n%s\n--- want\n%s", name, visible(got), visible(want))
	}
}

// visible shows what cannot be seen.
func visible(text string) string { return strings.ReplaceAll(text, breaker, "‧") }

// Each file of testdata/conversions is Markdown; beside it stands what becomes of it.
// Zero-width spaces are shown as "‧" there.
func TestConversions(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob(filepath.Join("testdata", "conversions", "*.md"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	for _, path := range sources {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			source := strings.ReplaceAll(string(raw), "\r\n", "\n")
			golden(t, "conversions/"+name+".mrkdwn", visible(Mrkdwn(source, 100_000))+"\n")
			golden(t, "conversions/"+name+".plain", visible(Plain(source, 100_000))+"\n")
			var blocks []string
			for _, m := range Render(source, Options{}).Messages {
				blocks = append(blocks, m.Markdown)
			}
			golden(t, "conversions/"+name+".block", visible(strings.Join(blocks, "\n=== next message ===\n"))+"\n")
		})
	}
}
