package boltstore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// BenchmarkAcceptUndecided takes deliveries of which none is decided: all of
// them remembered, or most given their rows meanwhile.
func BenchmarkAcceptUndecided(b *testing.B) {
	payloads()
	for name, most := range map[string]int{"remembered": 1 << 30, "spilled": 1000} {
		b.Run(name, func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "liaison.db"), boltstore.Options{MaxUndecided: most})
			spread(b, 64, func(n uint64) error {
				_, err := s.Accept(b.Context(), webhook(n))
				for errors.Is(err, state.ErrUnavailable) { // as senders do
					runtime.Gosched()
					_, err = s.Accept(b.Context(), webhook(n))
				}
				return err
			})
		})
	}
}

// BenchmarkOpenPending opens a store as kill -9 leaves it, with deliveries that
// are in the journal only, and says what each takes in memory.
func BenchmarkOpenPending(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "liaison.db")
			s := open(b, path, boltstore.Options{MaxUndecided: n})
			var next atomic.Int64
			var all sync.WaitGroup
			for range 64 {
				all.Go(func() {
					for i := next.Add(1); i <= int64(n); i = next.Add(1) {
						d := webhook(uint64(i))
						d.Body = d.Body[:2000]
						if _, err := s.Accept(b.Context(), d); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			mustClose(b, s)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				s = openAgain(b, path)
				b.StopTimer()
				runtime.GC()
				runtime.ReadMemStats(&after)
				mustClose(b, s)
				b.StartTimer()
			}
			b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(n), "B/pending")
		})
	}
}

// BenchmarkDedupe asks for deliveries that were decided long ago, and for new
// ones, beside few and many others.
func BenchmarkDedupe(b *testing.B) {
	for _, n := range []int{1000, 200_000} {
		s := open(b, filepath.Join(b.TempDir(), "liaison.db"), boltstore.Options{MaxUndecided: 1000})
		var next atomic.Uint64
		var all sync.WaitGroup
		for range 256 {
			all.Go(func() {
				for i := next.Add(1); i <= uint64(n); i = next.Add(1) {
					d := webhook(i)
					d.Body = nil
					for {
						if _, err := s.Accept(b.Context(), d); err == nil {
							break
						} else if !errors.Is(err, state.ErrUnavailable) {
							b.Error(err)
							return
						}
						runtime.Gosched()
					}
				}
			})
		}
		all.Wait()
		b.Run(fmt.Sprintf("known/deliveries=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(3, 4))
			for b.Loop() {
				d := state.Delivery{Source: "github", ID: guid(1 + r.Uint64N(uint64(n)))}
				if outcome, err := s.Accept(b.Context(), d); err != nil || outcome != state.Duplicate {
					b.Fatal(outcome, err)
				}
			}
		})
		b.Run(fmt.Sprintf("new/deliveries=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(3, 4))
			for b.Loop() {
				if _, err := s.Delivery(b.Context(), "github", guid(uint64(n)+1+r.Uint64N(1<<40))); !errors.Is(err, state.ErrNotFound) {
					b.Fatal(err)
				}
			}
		})
	}
}
