package boltstore_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// delivery has a body of two pages that cannot be compressed.
func delivery(id string) state.Delivery {
	body := make([]byte, 8000)
	_, _ = rand.NewChaCha8(sha256.Sum256([]byte(id))).Read(body)
	return state.Delivery{Source: "github", ID: id, Event: "push", Body: body}
}

func accept(t testing.TB, s state.Store, id string) {
	t.Helper()
	if outcome, err := s.Accept(t.Context(), delivery(id)); err != nil || outcome != state.Fresh {
		t.Fatalf("Accept %s: %d, %v", id, outcome, err)
	}
}

func mustClose(t testing.TB, s *boltstore.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// written returns the path of a closed store with some deliveries, half of them
// decided, and an agent with a run that said something.
func written(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	for i := range 40 {
		accept(t, s, fmt.Sprint(i))
	}
	var c state.Change
	for i := range 40 {
		id := fmt.Sprintf("ses_%03d", i)
		c.Sessions = append(c.Sessions, state.Session{ID: id, Title: strings.Repeat("x", 800)})
		if i%2 == 0 {
			c.Deliveries = append(c.Deliveries, state.DeliveryUpdate{Seq: uint64(i + 1), Status: state.DeliveryPending, Attempts: 1})
		}
	}
	for i := range 10 {
		c.Approvals = append(c.Approvals, state.Approval{
			ID: fmt.Sprint("apr_", i), SessionID: "ses_001", Record: fmt.Appendf(nil, "%q", strings.Repeat("x", 900))})
		c.Audit = append(c.Audit, state.AuditEntry{Entry: []byte(`{"action":"asked"}`)})
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, r := range []state.AgentRecord{
		{Kind: state.RecordAgent, ID: "agent", Data: []byte(`{}`)}, {Kind: state.RecordRun, ID: "run", AgentID: "agent", Data: bytes.Repeat([]byte("run "), 500)},
	} {
		if err := s.CreateAgentRecord(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := s.AppendRunEvent(t.Context(), "run", state.RunEvent{Type: "t", Payload: bytes.Repeat([]byte("1"), 600)}); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, s)
	return path
}

func TestOpenCreatesFoldersAndFileForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	open(t, filepath.Join(dir, "liaison.db"), boltstore.Options{})
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "liaison.db"): 0o600, filepath.Join(dir, "liaison.db.owner"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
}

// What a crash in the middle of a creation leaves does no harm.
func TestHalfACreationIsDoneAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	if err := os.WriteFile(path+".new", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	accept(t, open(t, path, boltstore.Options{}), "a")
}

func TestASecondOpeningIsToldWhoHoldsTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	_, err := boltstore.Open(path, boltstore.Options{LockTimeout: 10 * time.Millisecond})
	if !errors.Is(err, state.ErrLocked) || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("the second opening says %v", err)
	}
	accept(t, s, "a")
	mustClose(t, s)
	open(t, path, boltstore.Options{})
}

// TestAnotherProcessIsToldWhoHoldsTheFile runs this test binary as the holder.
func TestAnotherProcessIsToldWhoHoldsTheFile(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("BOLTSTORE_TEST_HOLD"); path != "" {
		s, err := boltstore.Open(path, boltstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		_ = s // killed or told to leave: it is not closed
		os.Exit(0)
	}
	path := filepath.Join(t.TempDir(), "liaison.db")
	holder := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnotherProcessIsToldWhoHoldsTheFile$")
	holder.Env = append(os.Environ(), "BOLTSTORE_TEST_HOLD="+path)
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	_, err = boltstore.Open(path, boltstore.Options{LockTimeout: 10 * time.Millisecond})
	if !errors.Is(err, state.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", holder.Process.Pid)) {
		t.Errorf("opening says %v, want that process %d holds it", err, holder.Process.Pid)
	}
	if err := errors.Join(stdin.Close(), holder.Wait()); err != nil {
		t.Error(err)
	}
	s := open(t, path, boltstore.Options{})
	if s.Epoch() != 2 {
		t.Errorf("epoch %d after a process that left without closing, want 2", s.Epoch())
	}
}

func TestANewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	path := written(t)
	setMeta(t, path, "schema", []byte{0, 0, 0, 0, 0, 0, 0, 99})
	refused(t, path, state.ErrNewerSchema, "run the newer program")
}

func TestDamagedFilesAreRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	fill := func(raw []byte, from, to int, with byte) []byte {
		for i := from; i < min(to, len(raw)); i++ {
			raw[i] = with
		}
		return raw
	}
	const page = 4096
	for name, damage := range map[string]func([]byte) []byte{
		"emptied":                   func([]byte) []byte { return nil },
		"one byte":                  func([]byte) []byte { return []byte("x") },
		"text":                      func([]byte) []byte { return bytes.Repeat([]byte("no database\n"), 5000) },
		"zeros":                     func(raw []byte) []byte { return make([]byte, len(raw)) },
		"cut to the first page":     func(raw []byte) []byte { return raw[:page] },
		"cut in the middle":         func(raw []byte) []byte { return raw[:10*page] },
		"both headers torn":         func(raw []byte) []byte { return fill(raw, 20, 2*page, 0) },
		"all pages but the headers": func(raw []byte) []byte { return fill(raw, 2*page, len(raw), 0xff) },
		"another program's":         func([]byte) []byte { return foreign(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := written(t)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, path, state.ErrCorrupt, path)
		})
	}
}

// TestAnyDamagedPageIsNoticedAfterACrash spoils one page after the other of what
// a killed process left. bbolt alone ends the process at some of them.
func TestAnyDamagedPageIsNoticedAfterACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	var c state.Change
	for i := range 100 {
		id := fmt.Sprintf("ses_%03d", i)
		c.Sessions = append(c.Sessions, state.Session{ID: id, Title: strings.Repeat("x", 400)})
		c.Keys = append(c.Keys, state.KeyLink{Key: strings.Repeat("k", 200) + id, SessionID: id})
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	refusals := 0
	for at := 2 * page; at+page <= min(len(whole), 60*page); at += page {
		raw := bytes.Clone(whole)
		for i := at; i < at+64; i++ {
			raw[i] ^= 0xa5
		}
		copied := filepath.Join(t.TempDir(), "liaison.db")
		if err := os.WriteFile(copied, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := boltstore.Open(copied, boltstore.Options{})
		switch {
		case errors.Is(err, state.ErrCorrupt):
			refusals++
		case err != nil:
			t.Errorf("page %d: %v, want ErrCorrupt", at/page, err)
		default:
			mustClose(t, s) // the page was free, or the middle of a body
		}
	}
	if refusals < 10 {
		t.Errorf("only %d damaged pages were noticed", refusals)
	}
}

func TestVerifyFindsKeysOutOfOrder(t *testing.T) {
	t.Parallel()
	path := written(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := []byte("session_turns")
	if !bytes.Contains(raw, name) {
		t.Fatal("the name of a table is not in the file")
	}
	raw = bytes.ReplaceAll(raw, name, []byte("aession_turns"))
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := boltstore.Open(path, boltstore.Options{Verify: true}); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("Open with Verify: %v, want ErrCorrupt", err)
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	_, err := boltstore.Open(filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{MaxSize: boltstore.MinMaxSize - 1})
	if !errors.Is(err, state.ErrInvalid) {
		t.Errorf("a size limit below the least: %v", err)
	}
}

// refused opens path, expects an error of a kind that tells more, and that the
// file was not touched.
func refused(t *testing.T, path string, want error, says string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := boltstore.Open(path, boltstore.Options{})
	if s != nil {
		mustClose(t, s)
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("Open says %v, want %v and %q", err, want, says)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func setMeta(t *testing.T, path, key string, value []byte) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte(key), value) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// foreign is a whole bbolt file of another program.
func foreign(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("theirs"))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// copyTo makes a copy of a store between two commits: what kill -9 leaves.
func copyTo(t testing.TB, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
