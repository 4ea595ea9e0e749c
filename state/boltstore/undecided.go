package boltstore

import (
	"slices"
	"sort"
	"sync"

	"github.com/liaison-bot/liaison/state/internal/journal"
)

// undecided knows the deliveries that are in the journal and have no row yet:
// what they are called and where they are, nothing else of them.
//
// A delivery gets its row in a transaction first and leaves here afterwards, so
// whoever looks here before a read transaction begins sees each in one place at
// least. A row that is there wins.
type undecided struct {
	mu    sync.Mutex
	list  []undecidedEntry // in order of seq; those that left have no key
	head  int              // of the list: the first that is there
	left  int
	byKey map[string]uint64
	peak  int
	// end is where the journal went on when the last one was added.
	end journal.Position
	// flights are the deliveries that are being stored.
	flights map[string]*flight
}

type undecidedEntry struct {
	seq uint64
	key string // of tableDeliveryIDs
	at  journal.Position
}

// flight is one caller's try to store a delivery, for those who bring the same.
type flight struct {
	done   chan struct{}
	stored bool // set before done is closed
}

func newUndecided() *undecided {
	return &undecided{byKey: map[string]uint64{}, flights: map[string]*flight{}}
}

// begin reports whether a delivery is known here, or whose flight to wait for.
// If neither, the caller has the flight and must end it.
func (u *undecided) begin(key string) (known bool, other *flight) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.byKey[key]; ok {
		return true, nil
	}
	if f := u.flights[key]; f != nil {
		return false, f
	}
	u.flights[key] = &flight{done: make(chan struct{})}
	return false, nil
}

func (u *undecided) finish(key string, stored bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f := u.flights[key]
	delete(u.flights, key)
	f.stored = stored
	close(f.done)
}

// add takes note of a delivery with a greater number than all before.
func (u *undecided) add(e undecidedEntry, end journal.Position) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.list = append(u.list, e)
	u.byKey[e.key] = e.seq
	u.peak = max(u.peak, len(u.byKey))
	u.end = end
}

// find returns the place of a number in the list. mu is held.
func (u *undecided) find(seq uint64) (int, bool) {
	i := sort.Search(len(u.list), func(i int) bool { return u.list[i].seq >= seq })
	return i, i < len(u.list) && u.list[i].seq == seq && u.list[i].key != ""
}

func (u *undecided) get(seq uint64) (undecidedEntry, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i, ok := u.find(seq)
	if !ok {
		return undecidedEntry{}, false
	}
	return u.list[i], true
}

func (u *undecided) byID(key string) (undecidedEntry, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	seq, ok := u.byKey[key]
	if !ok {
		return undecidedEntry{}, false
	}
	i, _ := u.find(seq)
	return u.list[i], true
}

// after returns up to limit deliveries with a greater number, in order.
func (u *undecided) after(seq uint64, limit int) []undecidedEntry {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := sort.Search(len(u.list), func(i int) bool { return u.list[i].seq > seq })
	var out []undecidedEntry
	for ; i < len(u.list) && len(out) < limit; i++ {
		if u.list[i].key != "" {
			out = append(out, u.list[i])
		}
	}
	return out
}

// before returns up to limit deliveries with a smaller number, or any if that is
// 0, from the last on.
func (u *undecided) before(seq uint64, limit int) []undecidedEntry {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := len(u.list)
	if seq != 0 {
		i = sort.Search(len(u.list), func(i int) bool { return u.list[i].seq >= seq })
	}
	var out []undecidedEntry
	for i--; i >= 0 && len(out) < limit; i-- {
		if u.list[i].key != "" {
			out = append(out, u.list[i])
		}
	}
	return out
}

// remove forgets those that have a row now.
func (u *undecided) remove(seqs map[uint64]bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for seq := range seqs {
		if i, ok := u.find(seq); ok {
			delete(u.byKey, u.list[i].key)
			u.list[i].key = ""
			u.left++
		}
	}
	for u.head < len(u.list) && u.list[u.head].key == "" {
		u.head++
	}
	if u.left > 1024 && u.left > len(u.list)/2 || u.left == len(u.list) {
		u.list = slices.DeleteFunc(u.list, func(e undecidedEntry) bool { return e.key == "" })
		u.head, u.left = 0, 0
	}
	if len(u.byKey) == 0 && u.peak > 1024 {
		// Neither gives back by itself what it once needed.
		u.list, u.byKey, u.peak = nil, map[string]uint64{}, 0
	}
}

// first is the place from which on there are deliveries without a row once those
// of leaving have theirs: an opening needs to read no more.
func (u *undecided) first(leaving map[uint64]bool) journal.Position {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.list[u.head:] {
		if e.key != "" && !leaving[e.seq] {
			return journal.Position{Segment: e.at.Segment, Offset: e.at.Offset}
		}
	}
	return u.end
}

// pass notes that nothing before a place is undecided, nor will be.
func (u *undecided) pass(to journal.Position) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.end.Before(to) {
		u.end = to
	}
}

// size is how many there are, and how long the part of the journal from the
// first one on may be.
func (u *undecided) size() (n int, first, end journal.Position) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.head == len(u.list) {
		return 0, u.end, u.end
	}
	return len(u.byKey), u.list[u.head].at, u.end
}
