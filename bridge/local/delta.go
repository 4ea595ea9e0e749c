package local

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// The types of interaction_update that this bridge sends. The names are the
// vendor's, but for the last.
const (
	deltaText              = "text-delta"          // text
	deltaThinking          = "thinking-delta"      // text
	deltaThinkingCompleted = "thinking-completed"  // thinkingDurationMs
	deltaToolStarted       = "tool-call-started"   // callId, toolCall
	deltaToolCompleted     = "tool-call-completed" // callId, toolCall
	deltaTurnEnded         = "turn-ended"          // usage
	// deltaDropped says that count updates were thrown away because the reader was
	// too slow for them. What they said is in the messages that follow.
	deltaDropped = "deltas-dropped" // count
)

const (
	// maxDeltaBytes and maxDeltas bound what waits for the reader of one stream.
	maxDeltaBytes = 1 << 20
	maxDeltas     = 1 << 10
	// deltaPiece is how long a fragment may grow by those that follow while it waits.
	deltaPiece = 16 << 10
)

// deltaFeed carries the deltas of one run to the Send stream that asked for
// them. They are not recorded, and wait in memory only while the reader is
// busy: neighbours are put together, and when too much waits all of it is
// dropped and that is said. A nil feed takes everything and keeps nothing.
type deltaFeed struct {
	mu      sync.Mutex
	waiting []update
	bytes   int
	dropped int
	closed  bool
	// told is whether text, or thinking, came as deltas since the last message that
	// has all of it.
	told map[string]bool
	// wake has room for one: there is one reader.
	wake chan struct{}
}

// update is one interaction_update on its way.
type update struct {
	// after is the number of messages that were recorded before it.
	after int
	kind  string
	// text is that of a fragment; other updates have their JSON.
	text string
	json []byte
}

func newDeltaFeed() *deltaFeed {
	return &deltaFeed{told: make(map[string]bool), wake: make(chan struct{}, 1)}
}

// report takes what an engine reports, after so many recorded messages, and
// makes updates of it.
func (f *deltaFeed) report(after int, e event) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := e.(type) {
	case delta:
		text, ok := e.Fields["text"].(string)
		if !ok || (e.Type != deltaText && e.Type != deltaThinking) {
			f.add(after, e.Type, e.Fields)
			return
		}
		f.told[e.Type] = true
		f.addText(after, e.Type, text)
	case said:
		f.whole(after, deltaText, e.Text)
	case thought:
		f.whole(after, deltaThinking, e.Text)
		if e.Text == "" {
			f.add(after, deltaThinkingCompleted, map[string]any{"thinkingDurationMs": e.Took.Milliseconds()})
		}
	case toolStart:
		f.add(after, deltaToolStarted, map[string]any{"callId": e.CallID, "toolCall": map[string]any{"type": e.Name, "args": e.Args}})
	case toolEnd:
		f.add(after, deltaToolCompleted, map[string]any{"callId": e.CallID,
			"toolCall": map[string]any{"type": e.Name, "args": e.Args, "result": e.Result}})
	}
}

// whole is text of which an engine may have told the fragments already.
func (f *deltaFeed) whole(after int, kind, text string) {
	if !f.told[kind] && text != "" {
		f.addText(after, kind, text)
	}
	f.told[kind] = false
}

// ended tells of the end of the run's turn.
func (f *deltaFeed) ended(after int, u usage) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(after, deltaTurnEnded, map[string]any{"usage": u.fields()})
}

// addText adds a fragment, to its neighbour when that still waits.
func (f *deltaFeed) addText(after int, kind, text string) {
	if n := len(f.waiting); n > 0 {
		if last := &f.waiting[n-1]; last.kind == kind && last.after == after && len(last.text)+len(text) <= deltaPiece {
			last.text += text
			f.grown(len(text))
			return
		}
	}
	f.push(update{after: after, kind: kind, text: text})
}

func (f *deltaFeed) add(after int, kind string, fields map[string]any) {
	whole := map[string]any{"type": kind}
	for key, value := range fields {
		whole[key] = value
	}
	data, err := json.Marshal(whole)
	if err != nil || len(data) > maxDeltaBytes {
		f.dropped++ // the recorded message says it, or why it cannot be said
		return
	}
	f.push(update{after: after, kind: kind, json: data})
}

func (f *deltaFeed) push(u update) {
	if f.closed {
		return
	}
	f.waiting = append(f.waiting, u)
	f.grown(len(u.text) + len(u.json))
}

// grown counts what was added and bounds what waits.
func (f *deltaFeed) grown(n int) {
	if f.bytes += n; f.bytes > maxDeltaBytes || len(f.waiting) > maxDeltas {
		f.dropped += len(f.waiting)
		f.waiting, f.bytes = nil, 0
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// changed tells the reader to look again; it is never ready for a nil feed.
func (f *deltaFeed) changed() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.wake
}

// take gives what waits and belongs before the recorded message of number seq.
func (f *deltaFeed) take(seq int) []update {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []update
	if f.dropped > 0 {
		out = append(out, update{kind: deltaDropped, json: fmt.Appendf(nil, `{"type":%q,"count":%d}`, deltaDropped, f.dropped)})
		f.dropped = 0
	}
	ready := 0
	for ready < len(f.waiting) && f.waiting[ready].after < seq {
		f.bytes -= len(f.waiting[ready].text) + len(f.waiting[ready].json)
		ready++
	}
	out = append(out, f.waiting[:ready]...)
	f.waiting = f.waiting[ready:]
	return out
}

// close throws away what waits and all that comes.
func (f *deltaFeed) close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed, f.waiting, f.bytes = true, nil, 0
}

// proto is the update as it goes over the wire.
func (u update) proto() (*sdkv1.RunStreamMessage, error) {
	content := new(structpb.Struct)
	if u.json == nil {
		content.Fields = map[string]*structpb.Value{
			"type": structpb.NewStringValue(u.kind),
			"text": structpb.NewStringValue(strings.ToValidUTF8(u.text, "\uFFFD")),
		}
	} else if err := content.UnmarshalJSON(u.json); err != nil {
		return nil, fmt.Errorf("read an update of type %s: %w", u.kind, err)
	}
	return &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_InteractionUpdate{
		InteractionUpdate: &sdkv1.InteractionUpdate{Type: u.kind, Update: content},
	}}, nil
}
