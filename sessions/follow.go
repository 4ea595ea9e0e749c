package sessions

import (
	"context"
	"iter"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// MaxQuiet bounds how long [Intent.Quiet] can put a turn off, however much is said.
const MaxQuiet = 10 * time.Minute

// Follower is implemented by channels that show a turn while it goes on.
type Follower interface {
	// Follow shows the progress of one attempt at a turn. It begins before the
	// evidence is prepared and is called in a goroutine of its own. ctx ends with
	// the attempt, however that ended, and when the service stops; what Follow
	// clears up then may take [FollowGrace] and needs a context of its own. Nothing
	// that it fails at concerns the turn.
	Follow(ctx context.Context, p Progress)
}

// FollowGrace is how long a follower may take once its turn is over.
const FollowGrace = 5 * time.Second

// Progress is what a follower learns of an attempt.
type Progress struct {
	Turn Turn
	// Events yields what is recorded in the session from the start of this attempt
	// on, as it comes, until ctx of Follow ends.
	Events iter.Seq2[state.Event, error]
	// Remember adds to what the channel remembers of the session, as
	// [Receipt.Remember] does, and returns once that is durable.
	Remember func(ctx context.Context, values map[string]string) error
}
