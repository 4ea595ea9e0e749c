package bridge

import (
	"hash/maphash"
	"slices"
)

// replay finds out which messages of an ObserveRun stream the consumer has not had.
//
// The durable record of a run has what the live stream had, in the same order,
// and "request" messages in between; the offsets of the two have nothing to do
// with each other. So a record that is read from its start is compared by
// content, message by message, until all that was delivered has come by, and
// what follows is new. A record that is read on after an offset has new messages
// only; one that came before under the same offset is a duplicate.
//
// When the record does not repeat what was delivered, it cannot be told which of
// its messages are new. As many as were delivered are then held back, since an
// event that is missing does less harm than a tool call that seems to happen
// twice, and the consumer gets a [Gap] in their place.
type replay struct {
	seed maphash.Seed
	// have is what the consumer was told of, in order: 8 bytes for each message,
	// for as long as the run goes on.
	have []uint64
	// seen is the same for what ObserveRun gave, with the offsets.
	seen map[uint64]struct{}

	total   int  // messages that were delivered before the record was begun
	next    int  // what of have the record is expected to repeat next
	count   int  // messages of the record that were compared
	skipped bool // some of have were not in the record
	current bool // all that follows is new
	held    int  // messages that may have been new, since the last Gap
}

// lookahead is how many messages that only the live stream had may come in a
// row before the record counts as different.
const lookahead = 256

func newReplay() *replay {
	return &replay{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}, current: true}
}

// live notes a message that the live stream has brought.
func (r *replay) live(f *frame) { r.have = append(r.have, f.fingerprint(r.seed)) }

// restart begins the record anew from its start, as far as the consumer knows
// one. A stream that goes on after the last offset goes on here too.
func (r *replay) restart() {
	r.total, r.next, r.count, r.skipped = len(r.have), 0, 0, false
	r.current = r.total == 0
}

// admit reports whether the consumer lacks a message of the record.
func (r *replay) admit(f *frame) bool {
	said := f.fingerprint(r.seed)
	if f.offset != "" {
		key := blend(said, maphash.String(r.seed, f.offset))
		if _, again := r.seen[key]; again && (r.current || r.next >= len(r.have) || r.have[r.next] != said) {
			return false
		}
		r.seen[key] = struct{}{}
	}
	if r.current {
		r.have = append(r.have, said)
		return true
	}
	if i := r.find(said); i >= 0 {
		r.skipped = r.skipped || i > r.next
		r.next = i + 1
		r.count++
		// After a wrong match in the middle the end may be matched too early: then
		// only the number of messages says that all have come by.
		r.current = r.next == len(r.have) && (!r.skipped || r.count >= r.total)
		return false
	}
	if f.name == "request" {
		return false // the live stream had none, and it is too late for this one
	}
	// Either way the consumer is told of it, and it is known when it comes again.
	r.have = slices.Insert(r.have, r.next, said)
	r.next++
	r.count++
	if r.count <= r.total {
		r.held++
		return false
	}
	r.current = r.next == len(r.have) || r.count > r.total+lookahead
	return true
}

// find returns where in have the record is, or -1.
func (r *replay) find(said uint64) int {
	for i := r.next; i < min(len(r.have), r.next+lookahead); i++ {
		if r.have[i] == said {
			return i
		}
	}
	return -1
}

// missing returns how many messages were held back since it was last asked.
func (r *replay) missing() int {
	n := r.held
	r.held = 0
	return n
}
