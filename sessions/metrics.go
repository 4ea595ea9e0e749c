package sessions

import "time"

// Metrics is told what happens, for an operator's graphs. Its methods are called
// by many goroutines and must not wait. Names are few: they become labels.
type Metrics interface {
	// DeliveryDecided counts a decision about a delivery of a source, which
	// became status after it had waited for so long.
	DeliveryDecided(source, status string, waited time.Duration)
	// TurnEnded counts a turn that ended as status; it stood in line and ran for so long.
	TurnEnded(channel, status string, queued, ran time.Duration)
	// EffectSettled counts an attempt at an owed write: done, retry or dead.
	EffectSettled(channel, result string, took time.Duration)
	// EventsAppended counts events of sessions' records.
	EventsAppended(n int)
}

// noMetrics is told everything and keeps nothing.
type noMetrics struct{}

func (noMetrics) DeliveryDecided(string, string, time.Duration)          {}
func (noMetrics) TurnEnded(string, string, time.Duration, time.Duration) {}
func (noMetrics) EffectSettled(string, string, time.Duration)            {}
func (noMetrics) EventsAppended(int)                                     {}
