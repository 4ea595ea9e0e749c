package bridge

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// record makes the messages of a durable record from words: "x" is a thought,
// "?x" a request, "5:x" has the offset 5.
func record(t *testing.T, words string) []*frame {
	t.Helper()
	var all []*frame
	for _, word := range strings.Fields(words) {
		offset, text, ok := strings.Cut(word, ":")
		if !ok {
			offset, text = "", word
		}
		kind, body := "thinking", map[string]any{"text": text, "run_id": "r", "agent_id": "a"}
		if id, isRequest := strings.CutPrefix(text, "?"); isRequest {
			kind, body = "request", map[string]any{"request_id": id, "run_id": "r"}
		}
		all = append(all, wireFrame(t, sdkEnvelope(t, kind, body, offset)))
	}
	return all
}

func TestReplay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		live string
		// records are what each ObserveRun gives from its start, or with a leading
		// "+" what it gives after the last offset.
		records []string
		want    string // what the consumer gets after the live messages
		missing int
	}{
		{"nothing was delivered", "", []string{"1:?q 2:a 3:b"}, "?q a b", 0},
		{"all was delivered", "a b", []string{"1:a 2:b"}, "", 0},
		{"the rest", "a b", []string{"a b c d"}, "c d", 0},
		{"requests in between", "a b", []string{"?q a ?r b ?s c"}, "?s c", 0},
		{"the same text again and again", "a a a", []string{"1:a 2:a 3:a 4:a 5:a"}, "a a", 0},
		{"alternating", "a b a b", []string{"a b a b a b a"}, "a b a", 0},
		{"a duplicate at its own offset", "a b", []string{"1:a 1:a 2:b 3:c 3:c 2:b 4:d"}, "c d", 0},
		{"the offset is inclusive", "a b", []string{"1:a 2:b 3:c", "+ 3:c 4:d"}, "c d", 0},
		{"the offset is ignored", "a b", []string{"1:?q 2:a 3:b 4:c", "+ 1:?q 2:a 3:b 4:c 5:d"}, "c d", 0},
		{"no offsets, from the start each time", "a b", []string{"?q a b c", "?q a b c ?r d", "?q a b c ?r d e"}, "c ?r d e", 0},
		{"cut in the known part", "a b c", []string{"1:a 2:b", "+ 3:c 4:d"}, "d", 0},
		{"cut in the known part, without offsets", "a b c", []string{"a b", "a b c d"}, "d", 0},
		{"an insertion", "a b", []string{"a X b c"}, "c", 1},
		{"an insertion, and once more", "a b", []string{"a X b c", "a X b c d"}, "c d", 1},
		{"two insertions", "a b", []string{"a X Y b c"}, "Y c", 1},
		{"a change", "a b c", []string{"a B c d"}, "d", 1},
		{"a change at the end", "a b", []string{"a B c d"}, "c d", 1},
		{"a live message is not in the record", "a b c", []string{"a c d"}, "", 1},
		{"the record has lost its beginning", "a b c", []string{"b c d e"}, "e", 1},
		{"another record altogether", "a b", []string{"X Y Z"}, "Z", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newReplay()
			for _, f := range record(t, tt.live) {
				r.live(f)
			}
			var got []string
			missing := 0
			for _, words := range tt.records {
				rest, more := strings.CutPrefix(words, "+")
				if !more {
					r.restart()
				}
				for _, f := range record(t, rest) {
					if r.admit(f) {
						missing += r.missing()
						fields, _ := f.body.entries(nil)
						text := fields.text("text")
						if f.name == "request" {
							text = "?" + fields.text("request_id")
						}
						got = append(got, text)
					}
				}
			}
			missing += r.missing()
			if strings.Join(got, " ") != tt.want || missing != tt.missing {
				t.Errorf("the consumer gets %q with %d missing, want %q with %d", got, missing, tt.want, tt.missing)
			}
		})
	}
}

// observedRecord is a bridge whose ObserveRun reads a record.
type observedRecord struct {
	*scriptedCalls
	mode         string
	durable, end []timedFrame
	// cuts shorten the streams, one after the other; those beyond are whole.
	cuts []func([]timedFrame) []timedFrame
	made int
}

func (o *observedRecord) observe(ctx context.Context, _, after string) (frames, error) {
	o.made++
	if o.mode == "renumbered" && after != "" {
		return nil, answered("invalid_argument", "")
	}
	var script []timedFrame
	skipping := after != ""
	for _, f := range o.durable {
		if skipping {
			skipping = f.frame.offset != after
			continue
		}
		if o.mode == "renumbered" {
			other := *f.frame
			other.offset = fmt.Sprintf("%d-%s", o.made, other.offset)
			f.frame = &other
		}
		script = append(script, f)
		if o.mode == "duplicates" {
			script = append(script, f)
		}
	}
	script = append(script, o.end...)
	if len(o.cuts) > 0 {
		script = o.cuts[0](script)
		o.cuts = o.cuts[1:]
	}
	return &scriptedFrames{ctx: ctx, script: script}, nil
}

// However often and wherever streams are cut, each event comes once, in order,
// and then the result.
func TestEveryCut(t *testing.T) {
	t.Parallel()
	const messages = 5
	text := func(i int) map[string]any {
		return map[string]any{"run_id": "r", "agent_id": "a", "text": strconv.Itoa(i)}
	}
	for _, mode := range []string{"offsets", "no offsets", "duplicates", "renumbered"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			// The durable record: a request before each message.
			var durable []timedFrame
			for i := range messages {
				number := func(n int) string {
					if mode == "no offsets" {
						return ""
					}
					return strconv.Itoa(100 + n)
				}
				durable = append(durable,
					timedFrame{frame: wireFrame(t, sdkEnvelope(t, "request", map[string]any{"request_id": strconv.Itoa(i)}, number(2*i)))},
					timedFrame{frame: wireFrame(t, sdkEnvelope(t, "thinking", text(i), number(2*i+1)))})
			}
			end := []timedFrame{
				{frame: new(frame)}, // a keepalive
				{frame: wireFrame(t, resultEnvelope(finishedStatus, "text"))},
				{frame: wireFrame(t, doneEnvelope())},
				{},
			}
			cutAt := func(all []timedFrame, n int) []timedFrame {
				if n >= len(all) {
					return all
				}
				return append(slices.Clone(all[:n]), timedFrame{err: errCut})
			}
			for cut := 1; cut <= messages; cut++ {
				for first := 0; first <= len(durable)+1; first++ {
					for second := 0; second <= len(durable)+1; second++ {
						synctest.Test(t, func(t *testing.T) {
							var live []timedFrame
							for i := range cut {
								live = append(live, timedFrame{frame: wireFrame(t, sdkEnvelope(t, "thinking", text(i), strconv.Itoa(i)))})
							}
							calls := &observedRecord{
								scriptedCalls: &scriptedCalls{ctx: t.Context(), sends: [][]timedFrame{append(live, timedFrame{err: errCut})}},
								mode:          mode, durable: durable, end: end,
								cuts: []func([]timedFrame) []timedFrame{
									func(s []timedFrame) []timedFrame { return cutAt(s, first) },
									func(s []timedFrame) []timedFrame { return cutAt(s, second) },
								},
							}
							run := newScriptedRun(calls.scriptedCalls)
							run.follows.calls = calls
							run.follow(calls.send)
							got, err := received(t, run)
							if err != nil {
								t.Fatal(err)
							}
							if result, err := run.Wait(t.Context()); err != nil || result.Status != RunFinished || result.Text != "text" {
								t.Fatalf("wait = %+v, %v", result, err)
							}
							next, request := 0, cut
							for _, p := range got {
								switch p := p.(type) {
								case Thinking:
									if p.Text != strconv.Itoa(next) {
										t.Fatalf("cut at %d, %d, %d: events = %v", cut, first, second, got)
									}
									next++
								case Request:
									// Only those of what came after, each before its message.
									if p.RequestID != strconv.Itoa(request) || request != next {
										t.Fatalf("cut at %d, %d, %d: events = %v", cut, first, second, got)
									}
									request++
								default:
									t.Fatalf("cut at %d, %d, %d: %T", cut, first, second, p)
								}
							}
							if next != messages || request != messages {
								t.Fatalf("cut at %d, %d, %d: %d messages and requests up to %d came, of %d", cut, first, second, next, request, messages)
							}
						})
					}
				}
			}
		})
	}
}
