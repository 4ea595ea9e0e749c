package backup_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/backup"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/eventlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// house is a state folder in use.
type house struct {
	dir   string
	store *boltstore.Store
	log   *eventlog.Log
}

func open(t testing.TB, dir string) *house {
	t.Helper()
	store, err := boltstore.Open(filepath.Join(dir, "liaison.db"), boltstore.Options{Now: func() time.Time { return day }})
	if err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(dir, eventlog.Options{Index: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(log.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return &house{dir, store, log}
}

func (h *house) source() backup.Source {
	return backup.Source{Store: h.store, Log: h.log, Dir: h.dir, Version: "v1", Now: func() time.Time { return day }}
}

// decide changes a session, which may be new, and records it.
func (h *house) decide(t testing.TB, id string) {
	t.Helper()
	row, err := h.store.Session(t.Context(), id)
	if err != nil {
		row = state.Session{ID: id}
	}
	commit, err := h.store.Commit(t.Context(), state.Change{Sessions: []state.Session{row}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []state.Event{
		{Type: "decided", SessionID: id, Commit: commit}, {Type: "said", SessionID: id},
	} {
		if err := h.log.Append(t.Context(), id, false, e); err != nil {
			t.Fatal(err)
		}
	}
}

func (h *house) events(t testing.TB, id string) int {
	t.Helper()
	n := 0
	for _, err := range h.log.Read(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// furnished has packed sessions, one that was unpacked, others, and deliveries.
func furnished(t testing.TB) *house {
	t.Helper()
	h := open(t, t.TempDir())
	for i := range 20 {
		h.decide(t, fmt.Sprintf("ses_%02d", i))
		d := state.Delivery{Source: "github", ID: fmt.Sprint(i), Body: []byte("{}"), ReceivedAt: day}
		if _, err := h.store.Accept(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	var packed []string
	for i := range 10 {
		packed = append(packed, fmt.Sprintf("ses_%02d", i))
	}
	if n, err := h.log.Pack(t.Context(), day.AddDate(0, 0, 1), packed); err != nil || n != 10 {
		t.Fatalf("packed %d, %v", n, err)
	}
	h.decide(t, "ses_00")
	asked := state.Change{
		Approvals: []state.Approval{{ID: "apr_1", SessionID: "ses_15", CreatedAt: day, Record: []byte(`{"tool":"deploy"}`)}},
		Audit:     []state.AuditEntry{{At: day, Entry: []byte(`{"action":"asked"}`)}},
	}
	if _, err := h.store.Commit(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	return h
}

// noisy is furnished, and its archive is written as it is made, since much of it
// cannot be compressed.
func noisy(t testing.TB) *house {
	t.Helper()
	h := furnished(t)
	noise := make([]byte, 4<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // it never fails
	if err := h.store.CreateAgentRecord(t.Context(), state.AgentRecord{Kind: state.RecordAgent, ID: "agt", Data: noise}); err != nil {
		t.Fatal(err)
	}
	return h
}

// during calls fn once, while an archive is written, after the database.
type during struct {
	w     io.Writer
	fn    func()
	early int // how much was written at once
}

func (d *during) Write(p []byte) (int, error) {
	if fn := d.fn; fn != nil {
		d.fn, d.early = nil, len(p)
		fn()
	}
	return d.w.Write(p)
}

func archived(t testing.TB, h *house, meanwhile func()) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := &during{w: &buf, fn: meanwhile}
	info, err := backup.Write(t.Context(), w, h.source())
	if err != nil {
		t.Fatal(err)
	}
	if meanwhile != nil && w.early >= buf.Len()-1024 {
		t.Errorf("the archive was nearly written (%d of %d bytes) before anything came", w.early, buf.Len())
	}
	if info.Files == 0 || info.Commit == 0 || info.Version != "v1" || info.Schema < 3 || info.Bytes == 0 {
		t.Errorf("info %+v", info)
	}
	return buf.Bytes()
}

func TestWhatIsRestoredIsWhatThereWas(t *testing.T) {
	t.Parallel()
	h := noisy(t)
	var before []state.Session
	// All this comes after the moment of the backup: the first bytes are the
	// database's, and the records come later.
	meanwhile := func() {
		var err error
		if before, err = h.store.ListSessions(t.Context(), "", 1000); err != nil {
			t.Error(err)
		}
		for _, id := range []string{"ses_01", "ses_15", "ses_new"} {
			h.decide(t, id)
		}
	}
	raw := archived(t, h, meanwhile)
	for name, dir := range map[string]string{
		"a folder that is not there": filepath.Join(t.TempDir(), "a", "b"),
		"an empty folder":            t.TempDir(),
	} {
		t.Run(name, func(t *testing.T) {
			info, err := backup.Restore(t.Context(), bytes.NewReader(raw), dir)
			if err != nil || info.CreatedAt != day {
				t.Fatalf("%+v, %v", info, err)
			}
			got := open(t, dir)
			rows, err := got.store.ListSessions(t.Context(), "", 1000)
			if err != nil || fmt.Sprint(rows) != fmt.Sprint(before) {
				t.Errorf("sessions %v\nwant %v, %v", rows, before, err)
			}
			for _, s := range rows {
				want := 2
				if s.ID == "ses_00" {
					want = 4
				}
				if n := got.events(t, s.ID); n != want {
					t.Errorf("%s has %d events, want %d", s.ID, n, want)
				}
			}
			if n := got.events(t, "ses_new"); n != 0 {
				t.Errorf("a session that came later has %d events", n)
			}
			pending, err := got.store.Pending(t.Context(), 0, 100)
			if err != nil || len(pending) != 20 || string(pending[0].Body) != "{}" {
				t.Errorf("%d deliveries, %v", len(pending), err)
			}
			if a, err := got.store.Approval(t.Context(), "apr_1"); err != nil || string(a.Record) != `{"tool":"deploy"}` {
				t.Errorf("the approval is %+v, %v", a, err)
			}
			if lines, err := got.store.AuditEntries(t.Context(), time.Time{}, 0, 9); err != nil || len(lines) != 1 {
				t.Errorf("the audit log is %+v, %v", lines, err)
			}
			// What is decided now has numbers that no event has yet.
			got.decide(t, "ses_15")
			if n := got.events(t, "ses_15"); n != 4 {
				t.Errorf("%d events after going on", n)
			}
			wantPrivate(t, dir)
		})
	}
}

// wantPrivate checks that only the owner can read what was restored, and that
// nothing else is left.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && runtime.GOOS != "windows" && path != dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if strings.HasPrefix(d.Name(), ".restoring") {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The journal goes on to its next segment while the last one is copied, and cuts
// off what it had prepared there.
func TestABackupWhileTheJournalGoesOn(t *testing.T) {
	t.Parallel()
	now := day
	dir := t.TempDir()
	store, err := boltstore.Open(filepath.Join(dir, "liaison.db"), boltstore.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(dir, eventlog.Options{Index: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(log.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	accept := func(id string, body []byte) {
		d := state.Delivery{Source: "github", ID: id, Body: body, ReceivedAt: day}
		if _, err := store.Accept(t.Context(), d); err != nil {
			t.Error(err)
		}
	}
	noise := make([]byte, 8<<20) // so that the archive is written as it is made
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	accept("large", noise)
	accept("small", []byte("{}"))

	segment := filepath.Join(dir, "intake", "00000001.log")
	size := func() int64 {
		info, err := os.Stat(segment)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	h := &house{dir, store, log}
	var buf bytes.Buffer
	w := &late{w: &buf, after: 4 << 20, fn: func() {
		now = now.Add(25 * time.Hour)
		accept("next", []byte("{}"))
	}}
	if _, err := backup.Write(t.Context(), w, h.source()); err != nil {
		t.Fatal(err)
	}
	if size() >= before {
		t.Fatalf("the segment was not shortened: %d bytes, and %d before", size(), before)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if _, err := backup.Restore(t.Context(), &buf, restored); err != nil {
		t.Fatal(err)
	}
	pending, err := open(t, restored).store.Pending(t.Context(), 0, 9)
	if err != nil || len(pending) != 2 || !bytes.Equal(pending[0].Body, noise) || string(pending[1].Body) != "{}" {
		t.Errorf("%d deliveries, %v", len(pending), err)
	}
}

// late calls fn once so many bytes have come.
type late struct {
	w     io.Writer
	after int
	fn    func()
}

func (l *late) Write(p []byte) (int, error) {
	if l.after -= len(p); l.after < 0 && l.fn != nil {
		l.fn()
		l.fn = nil
	}
	return l.w.Write(p)
}

// One damaged line does not cost the backup of everything else: it is copied.
func TestADamagedRecordHoldsUpNoBackup(t *testing.T) {
	t.Parallel()
	h := furnished(t)
	for range 100 { // longer than what is repaired at an opening
		said := state.Event{Type: "said", SessionID: "ses_15", Data: json.RawMessage(`"` + strings.Repeat("x", 4<<10) + `"`)}
		if err := h.log.Append(t.Context(), "ses_15", false, said); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(h.dir, "sessions", "ses_15", "events.ndjson")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole[len(whole)/2] = '"'
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := backup.Restore(t.Context(), bytes.NewReader(archived(t, h, nil)), dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "sessions", "ses_15", "events.ndjson"))
	if err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%d bytes of %d were restored, %v", len(got), len(whole), err)
	}
}

func TestABackupEndsWithItsReader(t *testing.T) {
	t.Parallel()
	h := noisy(t)
	gone := errors.New("the client is gone")
	for name, w := range map[string]io.Writer{"at once": &failing{gone, 0}, "in the middle": &failing{gone, 1}} {
		if _, err := backup.Write(t.Context(), w, h.source()); !errors.Is(err, gone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := backup.Write(ctx, &during{w: io.Discard, fn: cancel}, h.source()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	h.decide(t, "ses_00") // nothing is held
	if _, err := h.store.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"liaison.db", "liaison.db.owner", "sessions", "packed", "intake"}, e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// failing is a writer that fails after some writes.
type failing struct {
	err  error
	left int
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func TestOnlyAnEmptyFolderIsRestoredInto(t *testing.T) {
	t.Parallel()
	raw := archived(t, furnished(t), nil)
	dir := t.TempDir()
	path := filepath.Join(dir, "liaison.db")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), bytes.NewReader(raw), dir); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("restore: %v, want ErrNotEmpty", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
		t.Errorf("the file is %q now, %v", got, err)
	}
	if _, err := backup.Restore(t.Context(), bytes.NewReader(raw), path); err == nil {
		t.Error("restored into a file")
	}
	volume := t.TempDir()
	if err := os.Mkdir(filepath.Join(volume, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), bytes.NewReader(raw), volume); err != nil {
		t.Errorf("a fresh volume: %v", err)
	}
}

// entry is one of an archive.
type entry struct {
	tar.Header
	content []byte
}

func entriesOf(t testing.TB, raw []byte) []entry {
	t.Helper()
	dec, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	var out []entry
	for r := tar.NewReader(dec); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Mode != 0o600 {
			t.Errorf("%s has mode %o", h.Name, h.Mode)
		}
		out = append(out, entry{*h, content})
	}
}

func archiveOf(t testing.TB, entries []entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc, err := zstd.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(enc)
	for _, e := range entries {
		if e.Typeflag == tar.TypeReg {
			e.Size = int64(len(e.content))
		}
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), enc.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func file(name, content string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600}, []byte(content)}
}

func TestWhatIsNoWholeBackupIsRefused(t *testing.T) {
	t.Parallel()
	raw := archived(t, furnished(t), nil)
	good := entriesOf(t, raw)
	with := func(at int, more ...entry) []byte {
		return archiveOf(t, slices.Insert(slices.Clone(good), at, more...))
	}
	changed := func(name string, change func([]byte) []byte) []byte {
		entries := slices.Clone(good)
		for i := range entries {
			if strings.HasSuffix(entries[i].Name, name) {
				entries[i].content = change(bytes.Clone(entries[i].content))
				return archiveOf(t, entries)
			}
		}
		t.Fatalf("no entry %s", name)
		return nil
	}
	manifest := func(change func(map[string]any)) []byte {
		return changed("manifest.json", func(raw []byte) []byte {
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			change(m)
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return raw
		})
	}
	flip := func(at int) func([]byte) []byte {
		return func(raw []byte) []byte {
			raw[at%len(raw)] ^= 1
			return raw
		}
	}
	for name, raw := range map[string][]byte{
		"nothing":                     {},
		"no archive":                  []byte("hello, I am a text"),
		"cut off":                     raw[:len(raw)/2],
		"without its end":             raw[:len(raw)-600],
		"a changed byte":              flip(len(raw) / 2)(bytes.Clone(raw)),
		"no manifest":                 archiveOf(t, good[:len(good)-1]),
		"only a manifest":             archiveOf(t, good[len(good)-1:]),
		"no database":                 archiveOf(t, good[1:]),
		"a database that is changed":  changed("liaison.db", flip(9000)),
		"a record that is changed":    changed("events.ndjson", flip(3)),
		"a segment that is changed":   changed(".seg", flip(50)),
		"a file that is missing":      archiveOf(t, append(slices.Clone(good[:2]), good[3:]...)),
		"a file too many":             with(1, file("sessions/ses_x/events.ndjson", "")),
		"after the manifest":          with(len(good), file("sessions/ses_x/events.ndjson", "")),
		"the database twice":          with(1, good[0]),
		"a record twice":              with(len(good)-1, good[len(good)-2]),
		"a path up":                   with(1, file("../liaison.db", "")),
		"a path up inside":            with(1, file("sessions/../../x", "")),
		"a session that is a path":    with(1, file("sessions/../events.ndjson", "")),
		"an absolute path":            with(1, file("/etc/passwd", "")),
		"a path of Windows":           with(1, file(`packed/..\..\x`, "")),
		"a device of Windows":         with(1, file("packed/x:y", "")),
		"a hidden file":               with(1, file("packed/.x", "")),
		"a deep path":                 with(1, file("packed/a/b", "")),
		"a file in a workspace":       with(1, file("sessions/ses_1/workspace/x", "")),
		"an unknown file":             with(1, file("liaison.db.owner", "")),
		"a link":                      with(1, entry{tar.Header{Typeflag: tar.TypeSymlink, Name: "packed/00000009.seg", Linkname: "/etc/passwd"}, nil}),
		"a hard link":                 with(1, entry{tar.Header{Typeflag: tar.TypeLink, Name: "packed/00000009.seg", Linkname: "/etc/passwd"}, nil}),
		"a folder":                    with(1, entry{tar.Header{Typeflag: tar.TypeDir, Name: "packed/x/"}, nil}),
		"a device":                    with(1, entry{tar.Header{Typeflag: tar.TypeChar, Name: "packed/x"}, nil}),
		"a manifest that is no JSON":  changed("manifest.json", flip(0)),
		"a manifest that is too long": changed("manifest.json", func(m []byte) []byte { return append(m, bytes.Repeat([]byte(" "), 1<<20)...) }),
		"a later format":              manifest(func(m map[string]any) { m["format"] = 2 }),
		"another checksum":            manifest(func(m map[string]any) { m["sha256"] = "00" }),
		"another schema":              manifest(func(m map[string]any) { m["schema"] = 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			_, err := backup.Restore(t.Context(), bytes.NewReader(raw), dir)
			if !errors.Is(err, backup.ErrBadArchive) {
				t.Errorf("error %v, want ErrBadArchive", err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder was left: %v", err)
			}
		})
	}
}

func TestAnArchiveLargerThanTheVolumeIsRefused(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	enc, err := zstd.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(enc)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "liaison.db", Size: 1 << 60, Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Flush(), enc.Close()); err == nil {
		t.Fatal("the entry should be unfinished")
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := backup.Restore(t.Context(), &buf, dir); !errors.Is(err, state.ErrNoSpace) {
		t.Errorf("error %v, want ErrNoSpace", err)
	}
}

func TestARestoreCanBeCancelled(t *testing.T) {
	t.Parallel()
	raw := archived(t, furnished(t), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := backup.Restore(ctx, bytes.NewReader(raw), dir); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was left: %v", err)
	}
}
