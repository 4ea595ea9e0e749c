package local

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkOpenStore is the part of a start that grows with what is kept: 10,000
// agents with five runs each.
func BenchmarkOpenStore(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		id := fmt.Sprintf("agent-%05d", i)
		st := &fileStore{root: root}
		runs := filepath.Join(st.agentDir(id), "runs")
		if err := os.MkdirAll(runs, 0o700); err != nil {
			b.Fatal(err)
		}
		// Not by the store itself, which waits for the disk each time.
		record := fmt.Sprintf(`{"schema":1,"id":%q,"model":"m","dir":"/","created":"2026-01-01T00:00:00Z","modified":"2026-01-01T00:00:00Z"}`, id)
		if err := os.WriteFile(st.agentFile(id), []byte(record), 0o600); err != nil {
			b.Fatal(err)
		}
		for j := range 5 {
			if err := os.WriteFile(filepath.Join(runs, fmt.Sprintf("run-%05d-%d.json", i, j)), []byte("{}"), 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		st, err := openStore(b.Context(), root, quiet())
		if err != nil {
			b.Fatal(err)
		}
		if len(st.kept) != 10_000 || len(st.owner) != 50_000 {
			b.Fatalf("there are %d agents and %d runs", len(st.kept), len(st.owner))
		}
		if err := st.close(); err != nil {
			b.Fatal(err)
		}
	}
}
