package eventlog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/eventlog"
)

func delta(id string) state.Event {
	return state.Event{Type: "message.delta", SessionID: id, TurnID: "trn_1", Data: json.RawMessage(`{"text":"` + strings.Repeat("word ", 20) + `"}`)}
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("one session/sync=%t", sync), func(b *testing.B) {
			l := open(b, b.TempDir(), eventlog.Options{})
			for b.Loop() {
				if err := l.Append(b.Context(), "ses_1", sync, delta("ses_1")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	// Each append finds its file closed and looks for its end.
	b.Run("sessions beyond those that are open", func(b *testing.B) {
		const n = 64
		l := open(b, b.TempDir(), eventlog.Options{MaxOpen: 1})
		for i := range n {
			id := fmt.Sprint("ses_", i)
			for range 500 {
				if err := l.Append(b.Context(), id, false, delta(id)); err != nil {
					b.Fatal(err)
				}
			}
		}
		i := 0
		for b.Loop() {
			id := fmt.Sprint("ses_", i%n)
			if err := l.Append(b.Context(), id, false, delta(id)); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
}

// BenchmarkFollow appends an event and reads it, as a live reader does.
func BenchmarkFollow(b *testing.B) {
	for _, n := range []int64{1_000, 100_000} {
		b.Run(fmt.Sprint("events=", n), func(b *testing.B) {
			l := open(b, b.TempDir(), eventlog.Options{})
			batch := make([]state.Event, 1000)
			for i := range batch {
				batch[i] = delta("ses_1")
			}
			for range n / 1000 {
				if err := l.Append(b.Context(), "ses_1", false, batch...); err != nil {
					b.Fatal(err)
				}
			}
			next := n
			for b.Loop() {
				if err := l.Append(b.Context(), "ses_1", false, batch[0]); err != nil {
					b.Fatal(err)
				}
				for _, err := range l.Read(b.Context(), "ses_1", next) {
					if err != nil {
						b.Fatal(err)
					}
				}
				next++
			}
		})
	}
}
