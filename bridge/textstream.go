package bridge

import (
	"context"
	"iter"
)

// TextStream returns what the agent writes to its user, piece by piece, and
// passes over all other events; it shares them with [Run.Events]. Between two
// pieces of one message there is nothing to add. A run that told its text only at
// its end gives it whole. An error is the last thing it yields; a run that failed
// is a [*RunFailedError].
func (r *Run) TextStream(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		some := false
		for e, err := range r.Events(ctx) {
			if err != nil {
				yield("", err)
				return
			}
			if a, ok := e.Payload.(Assistant); ok && a.Text != "" {
				some = true
				if !yield(a.Text, nil) {
					return
				}
			}
		}
		text, err := r.Text(ctx)
		if err != nil || !some && text != "" {
			yield(text, err)
		}
	}
}
