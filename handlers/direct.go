package handlers

import (
	"context"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// Direct takes deliveries that come by another way than HTTP, and that whoever
// calls it has verified. They are stored and counted as those of the doors are.
type Direct struct{ in *intake }

// NewDirect makes one of the same options as the doors.
func NewDirect(o Options) *Direct { return &Direct{newIntake(o)} }

// Take stores a delivery and returns nil once that is durable, also for one that
// was known. After an error it may not be acknowledged.
func (t *Direct) Take(ctx context.Context, d state.Delivery) error {
	begun := t.in.now()
	answer, err := t.in.keep(ctx, d)
	t.in.answered(d.Source, answer, len(d.Body), begun)
	return err
}

// answered counts what became of a delivery.
func (in *intake) answered(source string, a Answer, bytes int, begun time.Time) {
	in.metrics.WebhookAnswered(source, string(a), a.stored(), bytes, in.now().Sub(begun))
}
