package bridge

import (
	"crypto/sha256"
	"encoding/binary"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// maxRememberedCalls and maxRememberedBytes bound the answers that are
	// remembered for one run. A duplicate follows its call by seconds, so the
	// oldest can go.
	maxRememberedCalls = 1024
	maxRememberedBytes = 16 << 20
	// maxPastCalls bounds the keys of calls that are over, for one agent.
	maxPastCalls = 4096
)

// callKey tells a repeated call from another one. Tool and arguments are part of
// it beside the call's id: engines exist that count their calls from the start in
// each turn.
type callKey [sha256.Size]byte

func newCallKey(callID, tool string, args []byte) callKey {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(callID), []byte(tool), args} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	var key callKey
	h.Sum(key[:0])
	return key
}

// toolCall is one call of a tool and its answer.
type toolCall struct {
	// done is closed when result is set.
	done   chan struct{}
	result *structpb.Struct
}

// callLedger has the calls of one run, so that each is made once.
type callLedger struct {
	calls    map[callKey]*toolCall
	answered []callKey // oldest first
	bytes    int
}

func (l *callLedger) begin(key callKey, call *toolCall) {
	if l.calls == nil {
		l.calls = map[callKey]*toolCall{}
	}
	l.calls[key] = call
}

// remember keeps an answer. What has to go for it leaves its key in past.
func (l *callLedger) remember(key callKey, call *toolCall, past *keyRing) {
	l.answered = append(l.answered, key)
	l.bytes += proto.Size(call.result)
	for len(l.answered) > maxRememberedCalls || l.bytes > maxRememberedBytes {
		oldest := l.answered[0]
		l.answered = l.answered[1:]
		l.bytes -= proto.Size(l.calls[oldest].result)
		delete(l.calls, oldest)
		past.add(oldest)
	}
}

// keyRing is a set of the last [maxPastCalls] keys.
type keyRing struct {
	keys map[callKey]struct{}
	ring []callKey
	next int
}

func (r *keyRing) has(key callKey) bool {
	_, found := r.keys[key]
	return found
}

func (r *keyRing) add(key callKey) {
	if r.keys == nil {
		r.keys = map[callKey]struct{}{}
	}
	if r.has(key) {
		return
	}
	r.keys[key] = struct{}{}
	if len(r.ring) < maxPastCalls {
		r.ring = append(r.ring, key)
		return
	}
	delete(r.keys, r.ring[r.next])
	r.ring[r.next] = key
	r.next = (r.next + 1) % maxPastCalls
}
