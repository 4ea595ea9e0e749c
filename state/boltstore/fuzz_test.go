package boltstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// FuzzDamagedFile writes anything anywhere into the file of a store: it opens
// and can be used, or says that it is damaged, and never ends the process.
func FuzzDamagedFile(f *testing.F) {
	whole, err := os.ReadFile(written(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte("x"))
	f.Add(uint32(4096*2+8), []byte{1, 0, 0xff, 0xff})
	f.Add(uint32(4096*3+12), []byte{0xff, 0xff, 0xff, 0x7f})
	f.Add(uint32(4096*4+16), []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		raw := append([]byte(nil), whole...)
		copy(raw[int(at)%len(raw):], patch)
		path := filepath.Join(t.TempDir(), "liaison.db")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := boltstore.Open(path, boltstore.Options{})
		if err != nil {
			if !errors.Is(err, state.ErrCorrupt) && !errors.Is(err, state.ErrNewerSchema) {
				t.Fatalf("Open: %v", err)
			}
			return
		}
		ctx := t.Context()
		_, err1 := s.Pending(ctx, 0, 100)
		_, err2 := s.Accept(ctx, delivery("new"))
		_, err3 := s.Delivery(ctx, "github", "7")
		_, err4 := s.AgentRecords(ctx, state.RecordRun, "agent", "", 9)
		_, err5 := s.RunEvents(ctx, "run", 0, 9)
		_, err6 := s.AppendRunEvent(ctx, "run", state.RunEvent{Type: "t"})
		err7 := s.DeleteAgentRecord(ctx, state.RecordAgent, "agent")
		_, err8 := s.ListApprovals(ctx, state.ApprovalFilter{}, 9)
		_, err9 := s.AuditEntries(ctx, time.Time{}, 0, 9)
		for _, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9} {
			if err != nil && !errors.Is(err, state.ErrCorrupt) && !errors.Is(err, state.ErrUnavailable) && !errors.Is(err, state.ErrNotFound) {
				t.Errorf("using a damaged store: %v", err)
			}
		}
		_ = s.Close() // it may say that the file is damaged
	})
}
