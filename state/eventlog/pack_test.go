package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/eventlog"
	"github.com/liaison-bot/liaison/state/memstore"
	"github.com/liaison-bot/liaison/state/statetest"
)

// The sessions of these tests change on one day and are packed on a later one.
var (
	day    = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	nextWk = day.AddDate(0, 0, 7)
)

func onDay() time.Time { return day }

// eager is a log that packs a session before it is read, and now and then as it
// is appended to.
type eager struct {
	*eventlog.Log
	store *memstore.Store
	mu    sync.Mutex
	known map[string]int // appends
	loose map[string]bool
}

func newEager(t testing.TB) *eager {
	store := memstore.New(memstore.Options{Now: onDay})
	return &eager{
		Log: open(t, t.TempDir(), eventlog.Options{Index: store}), store: store,
		known: map[string]int{}, loose: map[string]bool{},
	}
}

func (l *eager) Append(ctx context.Context, id string, sync bool, events ...state.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[id] == 0 && state.ValidSessionID(id) {
		if _, err := l.store.Commit(ctx, state.Change{Sessions: []state.Session{{ID: id}}}); err != nil {
			return err
		}
	}
	if err := l.Log.Append(ctx, id, sync, events...); err != nil {
		return err
	}
	l.known[id]++
	if l.loose[id] = true; l.known[id]%16 == 1 {
		return l.pack(ctx, id)
	}
	return nil
}

func (l *eager) pack(ctx context.Context, id string) error {
	if !l.loose[id] {
		return nil
	}
	n, err := l.Pack(context.WithoutCancel(ctx), nextWk, []string{id})
	if err == nil && n != 1 {
		err = fmt.Errorf("packed %d sessions", n)
	}
	l.loose[id] = false
	return err
}

func (l *eager) Read(ctx context.Context, id string, from int64) iter.Seq2[state.Event, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.pack(ctx, id); err != nil {
		return func(yield func(state.Event, error) bool) { yield(state.Event{}, err) }
	}
	return l.Log.Read(ctx, id, from)
}

func (l *eager) HasCommit(ctx context.Context, id string, commit uint64, typ string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.pack(ctx, id); err != nil {
		return false, err
	}
	return l.Log.HasCommit(ctx, id, commit, typ)
}

// Whether a session is packed can be seen by nobody who reads it or appends to it.
func TestPackedConformance(t *testing.T) {
	t.Parallel()
	statetest.RunEventLog(t, func(t testing.TB) state.EventLog { return newEager(t) })
}

// packer is a log over a real index, with some sessions that can be packed.
type packer struct {
	*eventlog.Log
	store *boltstore.Store
	dir   string
}

func newPacker(t testing.TB, dir string, after func(string)) *packer {
	t.Helper()
	store, err := boltstore.Open(filepath.Join(dir, "liaison.db"), boltstore.Options{Now: onDay})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &packer{open(t, dir, eventlog.AfterStep(eventlog.Options{Index: store}, after)), store, dir}
}

func (p *packer) begin(t testing.TB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, err := p.store.Commit(t.Context(), state.Change{Sessions: []state.Session{{ID: id}}}); err != nil {
			t.Fatal(err)
		}
		p.append(t, id, 3)
		workspace := filepath.Join(p.dir, "sessions", id, "workspace")
		if err := os.MkdirAll(workspace, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(workspace, "README"), []byte("hello"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *packer) append(t testing.TB, id string, n int) {
	t.Helper()
	for range n {
		e := event("message")
		e.SessionID = id
		if err := p.Append(t.Context(), id, true, e); err != nil {
			t.Fatal(err)
		}
	}
}

// want checks that a session has exactly n events.
func (p *packer) want(t testing.TB, id string, n int) {
	t.Helper()
	var got int64
	for e, err := range p.Read(t.Context(), id, 0) {
		if err != nil || e.Index != got || e.SessionID != id {
			t.Fatalf("event %d of %s: %+v, %v", got, id, e, err)
		}
		got++
	}
	if size, err := p.Len(t.Context(), id); err != nil || got != int64(n) || size != got {
		t.Errorf("%s has %d events (counted %d, %v), want %d", id, got, size, err, n)
	}
}

func (p *packer) pack(t testing.TB, want int, ids ...string) {
	t.Helper()
	if n, err := p.Pack(t.Context(), nextWk, ids); err != nil || n != want {
		t.Fatalf("packed %d of %v, %v; want %d", n, ids, err, want)
	}
}

func (p *packer) settled(t testing.TB) []string {
	t.Helper()
	ids, _, err := p.store.Settled(t.Context(), nextWk, 100)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func (p *packer) hasFolder(id string) bool {
	_, err := os.Stat(filepath.Join(p.dir, "sessions", id))
	return !errors.Is(err, fs.ErrNotExist)
}

func TestPackingTakesTheFolderAndALateFollowUpBringsItBack(t *testing.T) {
	t.Parallel()
	p := newPacker(t, t.TempDir(), nil)
	p.begin(t, "ses_1", "ses_2", "ses_3")
	// One of them has a turn meanwhile, and stays as it is.
	turn := state.Turn{ID: "trn_1", SessionID: "ses_2", Status: state.TurnQueued}
	if _, err := p.store.Commit(t.Context(), state.Change{Turns: []state.Turn{turn}}); err != nil {
		t.Fatal(err)
	}
	p.pack(t, 2, "ses_1", "ses_2", "ses_3")
	for id, want := range map[string]bool{"ses_1": false, "ses_2": true, "ses_3": false} {
		if p.hasFolder(id) != want {
			t.Errorf("%s has a folder: %t", id, !want)
		}
		p.want(t, id, 3)
	}
	p.pack(t, 1, "ses_1") // it stays packed
	p.append(t, "ses_1", 2)
	p.want(t, "ses_1", 5)
	if !p.hasFolder("ses_1") {
		t.Error("it has no folder after a follow-up")
	}
	if ids := fmt.Sprint(p.settled(t)); ids != "[ses_1]" {
		t.Errorf("settled: %s", ids)
	}
	p.pack(t, 1, "ses_1")
	p.want(t, "ses_1", 5)
}

func TestASessionWithoutARecordOnlyLosesItsFolder(t *testing.T) {
	t.Parallel()
	p := newPacker(t, t.TempDir(), nil)
	if _, err := p.store.Commit(t.Context(), state.Change{Sessions: []state.Session{{ID: "ses_1"}}}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "sessions", "ses_1", "workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.pack(t, 1, "ses_1")
	if p.hasFolder("ses_1") || len(p.settled(t)) != 0 {
		t.Error("its folder is there")
	}
	p.want(t, "ses_1", 0)
	p.append(t, "ses_1", 1)
	p.want(t, "ses_1", 1)
}

// A crash after any step leaves every event once, and what is left to do is done
// by the next call.
func TestACrashWhilePackingLosesNothing(t *testing.T) {
	t.Parallel()
	ids := []string{"ses_1", "ses_2", "ses_3"}
	crashes := map[string]string{} // step → what the disk held then
	dir := t.TempDir()
	var p *packer
	steps := 0
	after := func(step string) {
		steps++
		name := fmt.Sprintf("%02d %s", steps, step)
		crashes[name] = filepath.Join(t.TempDir(), "state")
		if err := os.CopyFS(crashes[name], os.DirFS(dir)); err != nil {
			t.Error(err)
		}
	}
	p = newPacker(t, dir, func(step string) { after(step) })
	p.begin(t, ids...)
	p.pack(t, 3, ids...)

	packed := steps
	// A follow-up is decided before it is recorded.
	if _, err := p.store.Commit(t.Context(), state.Change{Sessions: []state.Session{{ID: "ses_2", Version: 1}}}); err != nil {
		t.Fatal(err)
	}
	e := event("late")
	e.SessionID = "ses_2"
	if err := p.Append(t.Context(), "ses_2", true, e); err != nil {
		t.Fatal(err)
	}
	if packed < 6 || steps != packed+2 {
		t.Fatalf("%d steps of packing and %d in all", packed, steps)
	}
	for name, dir := range crashes {
		t.Run(name, func(t *testing.T) {
			p := newPacker(t, dir, nil)
			for _, id := range ids {
				p.want(t, id, 3)
			}
			p.append(t, "ses_1", 2)
			if open := p.settled(t); len(open) > 0 {
				p.pack(t, len(open), open...)
			}
			for i, id := range ids {
				if p.hasFolder(id) {
					t.Errorf("%s has a folder", id)
				}
				p.want(t, id, []int{5, 3, 3}[i])
			}
			segments, err := p.store.Segments(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var live int64
			for _, s := range segments {
				live += s.Live
			}
			var want int64
			for _, id := range ids {
				at, err := p.store.Packed(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				want += at.Length
			}
			if live != want {
				t.Errorf("%d live bytes, want %d", live, want)
			}
		})
	}
}

// fillSegment makes the segment that takes records now a full one.
func fillSegment(t *testing.T, p *packer) {
	t.Helper()
	segments, err := p.store.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.dir, "packed", fmt.Sprintf("%08d.seg", segments[len(segments)-1].Number))
	if err := os.Truncate(path, 64<<20); err != nil { // the rest of it is nobody's
		t.Fatal(err)
	}
}

// What is damaged in one segment keeps that one from going, and no other.
func TestADamagedSegmentHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string, at int64) error{
		"a record": func(path string, at int64) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte("damaged"), at)
			return errors.Join(err, f.Close())
		},
		"a file that is lost": func(path string, _ int64) error { return os.Remove(path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := newPacker(t, dir, nil)
			var all []string
			for i := range 3 {
				ids := []string{fmt.Sprintf("ses_%da", i), fmt.Sprintf("ses_%db", i)}
				all = append(all, ids...)
				p.begin(t, ids...)
				p.pack(t, 2, ids...)
				fillSegment(t, p)
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				p.Log = open(t, dir, eventlog.Options{Index: p.store})
			}
			at, err := p.store.Packed(t.Context(), all[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(dir, "packed", "00000001.seg"), at.Offset+at.Length-8); err != nil {
				t.Fatal(err)
			}
			for more := true; more; {
				if more, err = p.Reclaim(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, id := range all[2:] {
				p.want(t, id, 3)
				if now, err := p.store.Packed(t.Context(), id); err != nil || now.Segment < 4 {
					t.Errorf("%s is in segment %d, %v", id, now.Segment, err)
				}
			}
			if name == "a record" {
				p.want(t, all[1], 3)
			}
			// Once nothing of it is kept, it goes as well.
			if _, _, err := p.store.DropSessions(t.Context(), nextWk, 100); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Reclaim(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left, err := p.store.Segments(t.Context()); err != nil || len(left) != 1 {
				t.Errorf("segments %v, %v", left, err)
			}
		})
	}
}

func TestTheRoomOfWhatIsGoneIsGivenBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := newPacker(t, dir, nil)
	ids := make([]string, 0, 100)
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("ses_%03d", i))
	}
	p.begin(t, ids...)
	p.pack(t, 100, ids...)
	fillSegment(t, p)
	if err := errors.Join(p.Close(), p.store.Close()); err != nil {
		t.Fatal(err)
	}

	p = newPacker(t, dir, nil)
	p.begin(t, "ses_x")
	p.pack(t, 1, "ses_x") // begins the next segment
	if n, size, err := p.Packed(t.Context()); err != nil || n != 2 || size < 64<<20 {
		t.Fatalf("%d segments of %d bytes, %v", n, size, err)
	}
	for _, want := range []bool{true, false} {
		if more, err := p.Reclaim(t.Context()); err != nil || more != want {
			t.Fatalf("more to reclaim: %t, %v", more, err)
		}
	}
	if n, size, err := p.Packed(t.Context()); err != nil || n != 1 || size > 1<<20 {
		t.Errorf("%d segments of %d bytes, %v", n, size, err)
	}
	for _, id := range append(ids, "ses_x") {
		p.want(t, id, 3)
	}
}

// Readers go on while their session is packed, moved and unpacked.
func TestReadersFollowARecordThatMoves(t *testing.T) {
	t.Parallel()
	l := newEager(t)
	const events = 60
	text := strings.Repeat("x", 20<<10) // so that each chunk holds few
	var all sync.WaitGroup
	all.Go(func() {
		for i := range events {
			e := event(fmt.Sprint("e", i))
			e.Data = fmt.Appendf(nil, "%q", text)
			if err := l.Append(t.Context(), "ses_1", false, e); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 3 {
		all.Go(func() {
			for next := int64(0); next < events && !t.Failed(); {
				for e, err := range l.Read(t.Context(), "ses_1", next) {
					if err != nil || e.Index != next || e.Type != fmt.Sprint("e", next) {
						t.Errorf("event %d came as %s at %d, %v", next, e.Type, e.Index, err)
						return
					}
					next++
				}
			}
		})
	}
	all.Wait()
}

func TestADamagedSegmentIsNamedAndNeverReadWrong(t *testing.T) {
	t.Parallel()
	p := newPacker(t, t.TempDir(), nil)
	p.begin(t, "ses_1")
	p.pack(t, 1, "ses_1")
	at, err := p.store.Packed(t.Context(), "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.dir, "packed", fmt.Sprintf("%08d.seg", at.Segment))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	var want []state.Event
	for e, err := range p.Read(t.Context(), "ses_1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, e)
	}
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x10
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		var failed error
		var events []state.Event
		for e, err := range p.Read(t.Context(), "ses_1", 0) {
			if failed = err; err == nil {
				events = append(events, e)
			}
		}
		if errors.Is(failed, state.ErrCorrupt) {
			named++
		} else if failed != nil || !reflect.DeepEqual(events, want) { // some bits mean nothing
			t.Errorf("byte %d is wrong: %d events, %v; want ErrCorrupt", i, len(events), failed)
		}
	}
	if named < len(whole)*9/10 {
		t.Errorf("damage was named for %d of %d bytes", named, len(whole))
	}
	if err := os.Truncate(path, int64(len(whole)-1)); err != nil {
		t.Fatal(err)
	}
	e := event("late")
	if err := p.Append(t.Context(), "ses_1", false, e); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("append to a damaged record: %v, want ErrCorrupt", err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	p.append(t, "ses_1", 1) // what failed before left nothing behind
	p.want(t, "ses_1", 4)
}

func TestWithoutAnIndexNothingIsPacked(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir(), eventlog.Options{})
	add(t, l, "a")
	if n, err := l.Pack(t.Context(), nextWk, []string{"ses_1"}); n != 0 || !errors.Is(err, state.ErrInvalid) {
		t.Errorf("packed %d, %v", n, err)
	}
	if got := read(t, l); len(got) != 1 {
		t.Errorf("read %v", got)
	}
}

func TestRemoveTakesTheFolder(t *testing.T) {
	t.Parallel()
	p := newPacker(t, t.TempDir(), nil)
	p.begin(t, "ses_1", "ses_2")
	for range 2 { // what is gone is no error
		if err := p.Remove(t.Context(), "ses_1"); err != nil {
			t.Fatal(err)
		}
	}
	if p.hasFolder("ses_1") || !p.hasFolder("ses_2") {
		t.Error("a wrong folder is left")
	}
	p.want(t, "ses_1", 0)
	if err := p.Remove(t.Context(), "../sessions"); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("remove a path: %v", err)
	}
}

func FuzzSegment(f *testing.F) {
	p := newPacker(f, f.TempDir(), nil)
	p.begin(f, "ses_1")
	p.pack(f, 1, "ses_1")
	at, err := p.store.Packed(f.Context(), "ses_1")
	if err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(p.dir, "packed", fmt.Sprintf("%08d.seg", at.Segment)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, at.Offset, at.Length, at.Events, at.Size)
	f.Add(whole[:20], at.Offset, at.Length, at.Events, at.Size)
	f.Add([]byte{}, int64(-1), int64(1)<<62, int64(-1), int64(1)<<62)
	f.Fuzz(func(t *testing.T, segment []byte, offset, length, events, size int64) {
		lines, err := eventlog.ReadPacked(bytes.NewReader(segment), "ses_1",
			state.PackedRecord{Offset: offset, Length: length, Events: events, Size: size})
		if err == nil && int64(len(lines)) != size {
			t.Errorf("%d bytes, and the index says %d", len(lines), size)
		}
	})
}
