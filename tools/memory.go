package tools

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
)

// callKey tells a repeated call from another one. Tool and input are part of it
// beside the ids: agents exist that count their calls from the start.
type callKey [sha256.Size]byte

// key returns the call's key, or false for a call without an id, which is made
// each time.
func (c Call) key(name string) (callKey, bool) {
	if c.CallID == "" {
		return callKey{}, false
	}
	h := sha256.New()
	for _, part := range []string{c.TurnID, c.AgentID, c.CallID, name, string(c.Input)} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return callKey(h.Sum(nil)), true
}

// Key tells a call of a tool from others of its turn, for ledgers: 32 hexadecimal
// digits. It is empty for a call without an id, which is made each time.
func (c Call) Key(tool string) string {
	key, named := c.key(tool)
	if !named {
		return ""
	}
	return hex.EncodeToString(key[:16])
}

// pastCall is one call and its answer.
type pastCall struct {
	key callKey
	// done is closed when result and err are set.
	done   chan struct{}
	result Result
	err    error
}

func (c *pastCall) size() int {
	n := len(c.result.Text) + len(c.result.Output) + len(c.result.Structured)
	for _, image := range c.result.Images {
		n += len(image.Data)
	}
	return n
}

// memory has the answers of calls, so that each is made once.
type memory struct {
	mu    sync.Mutex
	calls map[callKey]*pastCall // guarded by mu, with all that is below it
	// answered are the calls that are over, what was asked for last in front.
	answered list.List
	places   map[callKey]*list.Element
	bytes    int
}

// begin returns the call with this key, and whether it is the caller's to make.
func (m *memory) begin(key callKey) (*pastCall, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls, m.places = map[callKey]*pastCall{}, map[callKey]*list.Element{}
	}
	if known := m.calls[key]; known != nil {
		if place := m.places[key]; place != nil {
			m.answered.MoveToFront(place)
		}
		return known, false
	}
	call := &pastCall{key: key, done: make(chan struct{})}
	m.calls[key] = call
	return call, true
}

// end remembers the answer of a call, or forgets the call, so that it can be made
// again. Whoever waits for it gets the answer all the same.
func (m *memory) end(call *pastCall, keep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer close(call.done)
	if !keep {
		delete(m.calls, call.key)
		return
	}
	m.places[call.key] = m.answered.PushFront(call)
	m.bytes += call.size()
	for m.answered.Len() > maxRemembered || m.bytes > maxRememberedBytes {
		oldest := m.answered.Remove(m.answered.Back()).(*pastCall)
		m.bytes -= oldest.size()
		delete(m.calls, oldest.key)
		delete(m.places, oldest.key)
	}
}
