package journal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	lineage = Lineage{1, 2, 3}
)

func record(n int) Record {
	return Record{
		Kind: Accepted, Source: "github", ID: fmt.Sprint("id ", n), Event: "push",
		Headers:    map[string]string{"X-Github-Event": "push", "User-Agent": "agent"},
		ReceivedAt: noon.Add(time.Duration(n)), Body: []byte(strings.Repeat(fmt.Sprint("body ", n, " "), n%5)),
	}
}

// opened is a journal under test and what was found when it was opened.
type opened struct {
	*Journal
	found  []Record
	places []Position
	log    bytes.Buffer
	failed error
}

func plain(dst, raw []byte) []byte { return append(dst, raw...) }

func tryOpen(t testing.TB, dir string, change func(*Options)) (*opened, error) {
	t.Helper()
	o := &opened{}
	opts := Options{
		Lineage: lineage, Now: func() time.Time { return noon }, Logger: slog.New(slog.NewTextHandler(&o.log, nil)),
		Found: func(r Record, at Position) error {
			r.Body = bytes.Clone(r.Body)
			o.found, o.places = append(o.found, r), append(o.places, at)
			return nil
		},
		Appended: func([]*Entry) {}, Failed: func(err error) { o.failed = err },
	}
	if change != nil {
		change(&opts)
	}
	var err error
	if o.Journal, err = Open(dir, opts); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = o.Close() })
	return o, nil
}

func open(t testing.TB, dir string, change func(*Options)) *opened {
	t.Helper()
	o, err := tryOpen(t, dir, change)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *opened) put(t testing.TB, r Record) Position {
	t.Helper()
	e := o.Entry(r, plain)
	defer o.Release(e)
	if err := o.Append(e); err != nil {
		t.Fatal(err)
	}
	return e.At
}

func closed(t testing.TB, o *opened) {
	t.Helper()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantRecords expects records n of record with numbers from 1 on.
func wantRecords(t testing.TB, got []Record, ns ...int) {
	t.Helper()
	if len(got) != len(ns) {
		t.Fatalf("%d records, want %d", len(got), len(ns))
	}
	for i, n := range ns {
		want := record(n)
		want.Seq = uint64(n + 1)
		if len(want.Body) == 0 {
			want.Body = nil
		}
		if len(got[i].Body) == 0 {
			got[i].Body = nil
		}
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("record %d: %+v, want %+v", i, got[i], want)
		}
	}
}

// segment writes records 0 to n-1 and returns the raw segment and where the
// records end.
func segment(t testing.TB, n int) (raw []byte, ends []int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "intake")
	j := open(t, dir, nil)
	for i := range n {
		at := j.put(t, record(i))
		ends = append(ends, int(at.Offset+at.Length))
	}
	closed(t, j)
	raw, err := os.ReadFile(filepath.Join(dir, "00000001.log"))
	if err != nil {
		t.Fatal(err)
	}
	return raw, ends
}

func folder(t testing.TB, raw []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "00000001.log"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func upTo(n int) []int {
	ns := make([]int, n)
	for i := range ns {
		ns[i] = i
	}
	return ns
}

func TestWhatIsAppendedIsFoundAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "intake")
	j := open(t, dir, nil)
	var places []Position
	for i := range 7 {
		places = append(places, j.put(t, record(i)))
	}
	later := record(9)
	later.Kind, later.Seq = Rearmed, 3
	again := j.put(t, later)
	r := j.Reader()
	defer r.Close()
	for i, at := range places {
		got, err := r.Record(at)
		if err != nil {
			t.Fatal(err)
		}
		wantRecords(t, []Record{got}, i)
	}
	if got, err := r.Record(again); err != nil || got.Kind != Rearmed || got.Seq != 3 || got.ID != later.ID {
		t.Errorf("the later record is %+v, %v", got, err)
	}
	closed(t, j)

	j = open(t, dir, nil)
	wantRecords(t, j.found, upTo(7)...) // the one that does not count on its own is not told of
	if !reflect.DeepEqual(j.places, places) {
		t.Errorf("found at %v, want %v", j.places, places)
	}
	j.put(t, record(7))
	closed(t, j)
	j = open(t, dir, func(o *Options) { o.From = places[4] })
	wantRecords(t, j.found, 4, 5, 6, 7)
	closed(t, j)
	j = open(t, dir, func(o *Options) { o.From = places[4]; o.Verify = true })
	wantRecords(t, j.found, 4, 5, 6, 7)
	if _, err := os.Stat(dir); err != nil || j.log.Len() > 0 {
		t.Errorf("%v; the log says %s", err, &j.log)
	}
}

func TestMany(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	var order []uint64
	j := open(t, dir, func(o *Options) {
		o.Appended = func(entries []*Entry) {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range entries {
				order = append(order, e.Seq)
			}
		}
	})
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() { j.put(t, record(i)) })
	}
	all.Wait()
	for i, seq := range order {
		if seq != uint64(i+1) {
			t.Fatalf("number %d at place %d", seq, i)
		}
	}
	closed(t, j)
	if j = open(t, dir, nil); len(j.found) != 200 {
		t.Errorf("%d records found", len(j.found))
	}
}

// A process can be killed, or the power fail, at every byte of a write.
func TestTornAtAnyByte(t *testing.T) {
	t.Parallel()
	raw, ends := segment(t, 4)
	for cut := range ends[len(ends)-1] + 40 {
		whole := 0
		for whole < len(ends) && ends[whole] <= cut {
			whole++
		}
		dir := folder(t, raw[:cut])
		j := open(t, dir, nil)
		wantRecords(t, j.found, upTo(whole)...)
		torn := whole > 0 && cut > ends[whole-1] && whole < len(ends) || whole == 0 && cut > headerSize
		if says := strings.Contains(j.log.String(), "torn"); says != torn {
			t.Errorf("cut at %d: torn is %t, the log says %s", cut, torn, &j.log)
		}
		if cut%5 != 0 {
			closed(t, j)
			continue
		}
		// It goes on with the next number, and nothing is in its way.
		j.put(t, record(whole))
		closed(t, j)
		j = open(t, dir, nil)
		wantRecords(t, j.found, upTo(whole+1)...)
		closed(t, j)
	}
}

func TestWhatFollowsADamagedRecordIsFound(t *testing.T) {
	t.Parallel()
	raw, ends := segment(t, 5)
	for at := headerSize; at < ends[3]; at++ {
		spoiled := bytes.Clone(raw)
		spoiled[at] ^= 0x40
		hit := 0
		for ends[hit] <= at {
			hit++
		}
		want := append(upTo(hit), upTo(5)[hit+1:]...)
		j := open(t, folder(t, spoiled), nil)
		wantRecords(t, j.found, want...)
		if !strings.Contains(j.log.String(), "holds no whole delivery") {
			t.Errorf("a damaged byte at %d: the log says %q", at, &j.log)
		}
		closed(t, j)
	}
}

func TestADamagedHeaderLosesNothing(t *testing.T) {
	t.Parallel()
	raw, _ := segment(t, 3)
	copy(raw, bytes.Repeat([]byte{0xff}, headerSize))
	j := open(t, folder(t, raw), nil)
	wantRecords(t, j.found, 0, 1, 2)
}

// Whoever writes a body cannot make a record of it, even if the record around
// the body is damaged.
func TestARecordInABodyIsNoRecord(t *testing.T) {
	t.Parallel()
	forged, sum := encode(nil, record(0), plain)
	forged = finish(forged, sum, markOf(Lineage{}, 1), 1)
	dir := t.TempDir()
	j := open(t, dir, nil)
	r := record(0)
	r.Body = forged
	at := j.put(t, r)
	j.put(t, record(1))
	closed(t, j)
	path := filepath.Join(dir, "00000001.log")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[at.Offset] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	wantRecords(t, open(t, dir, nil).found, 1)
}

func TestAJournalOfAnotherDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	raw, _ := segment(t, 3)
	dir := folder(t, raw)
	_, err := tryOpen(t, dir, func(o *Options) { o.Lineage = Lineage{9} })
	if !errors.Is(err, state.ErrCorrupt) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open: %v, want ErrCorrupt with the folder", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "00000001.log")); err != nil || !bytes.Equal(after, raw) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestSegmentsRollBySizeAndAge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := noon
	j := open(t, dir, func(o *Options) {
		o.SegmentSize = 400
		o.Now = func() time.Time { return now }
	})
	for i := range 10 {
		j.put(t, record(i))
	}
	n := len(j.Segments())
	if n < 3 {
		t.Fatalf("%d segments for %d bytes", n, j.Size())
	}
	if _, ok := j.Ended(uint64(n)); ok {
		t.Error("the last segment has ended")
	}
	now = now.Add(SegmentAge)
	if err := errors.Join(j.Seal(), j.Seal()); err != nil {
		t.Fatal(err)
	}
	if ended, ok := j.Ended(uint64(n)); !ok || !ended.Equal(now) {
		t.Errorf("the old segment ended at %v, %t", ended, ok)
	}
	now = now.Add(10 * SegmentAge)
	if err := j.Seal(); err != nil { // an empty one is not old
		t.Fatal(err)
	}
	if got := len(j.Segments()); got != n+1 {
		t.Errorf("%d segments, want %d", got, n+1)
	}
	count := 0
	err := j.Each(1, func(r Record, _ Position) error {
		wantRecords(t, []Record{r}, count)
		count++
		return nil
	})
	if err != nil || count == 0 {
		t.Errorf("%d records in the first segment, %v", count, err)
	}
	before := j.Size()
	if freed, err := j.Remove(1); err != nil || freed == 0 || j.Size() != before-freed {
		t.Errorf("freed %d of %d, %d left, %v", freed, before, j.Size(), err)
	}
	if freed, err := j.Remove(1); err != nil || freed != 0 {
		t.Errorf("the second time: %d, %v", freed, err)
	}
	closed(t, j)
	j = open(t, dir, nil)
	wantRecords(t, j.found, upTo(10)[count:]...)
	r := j.Reader()
	defer r.Close()
	if _, err := r.Record(Position{Segment: 1, Offset: headerSize, Length: 50}); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("reading what was removed: %v", err)
	}
}

func TestAFailedFlushLeavesNothingAndEndsTheTrust(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func() error{
		"error": func() error { return errors.New("input/output error") },
		"panic": func() error { panic("input/output error") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			broken := false
			j := open(t, dir, func(o *Options) {
				o.BeforeSync = func() error {
					if broken {
						return fault()
					}
					return nil
				}
			})
			j.put(t, record(0))
			broken = true
			e := j.Entry(record(1), plain)
			if err := j.Append(e); !errors.Is(err, state.ErrUnavailable) || !strings.Contains(err.Error(), "input/output") {
				t.Errorf("Append: %v", err)
			}
			broken = false
			if err := j.Append(j.Entry(record(1), plain)); !errors.Is(err, state.ErrUnavailable) {
				t.Errorf("Append afterwards: %v", err)
			}
			if err := j.Check(); !errors.Is(err, state.ErrUnavailable) {
				t.Errorf("Check afterwards: %v", err)
			}
			if j.failed == nil {
				t.Error("no one was told")
			}
			closed(t, j)
			j = open(t, dir, nil)
			wantRecords(t, j.found, 0)
			j.put(t, record(1))
		})
	}
}

func TestCheckTakesNoRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, nil)
	for range 3 {
		if err := j.Check(); err != nil {
			t.Fatal(err)
		}
	}
	first := j.put(t, record(0))
	if first.Offset != headerSize {
		t.Errorf("the first record is at %d", first.Offset)
	}
	if err := j.Check(); err != nil {
		t.Fatal(err)
	}
	closed(t, j)
	j = open(t, dir, nil)
	wantRecords(t, j.found, 0)
	if second := j.put(t, record(1)); second.Offset != first.Offset+first.Length {
		t.Errorf("the second record is at %d", second.Offset)
	}
}

// A database that knows of more than there is must not have its places taken by
// something else.
func TestWhatTheDatabaseKnowsOfIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	raw, ends := segment(t, 3)
	for name, from := range map[string]Position{
		"a shorter segment": {Segment: 1, Offset: uint32(len(raw) + 10)},
		"a missing segment": {Segment: 5, Offset: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := open(t, folder(t, raw), func(o *Options) { o.From, o.LastSeq = from, 7 })
			if !strings.Contains(j.log.String(), "is not there") {
				t.Errorf("the log says %q", &j.log)
			}
			e := j.Entry(record(0), plain)
			if err := j.Append(e); err != nil || e.At.Segment <= from.Segment || e.Seq != 8 {
				t.Errorf("appended at %+v as %d, %v", e.At, e.Seq, err)
			}
			got, err := os.ReadFile(j.path(1))
			if err != nil || !bytes.Equal(got[:ends[2]], raw[:ends[2]]) {
				t.Errorf("the segment was changed (%v)", err)
			}
		})
	}
}

func TestARecordThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir(), nil)
	r := record(0)
	r.Body = make([]byte, MaxRecord)
	if err := j.Append(j.Entry(r, plain)); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("Append: %v, want ErrInvalid", err)
	}
	j.put(t, record(0))
}

func TestAClosedJournalTakesNothing(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir(), nil)
	closed(t, j)
	closed(t, j)
	if err := j.Append(j.Entry(record(0), plain)); !errors.Is(err, ErrClosed) || !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("Append: %v, want ErrClosed", err)
	}
}
