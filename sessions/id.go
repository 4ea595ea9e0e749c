package sessions

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Prefixes of the ids that the engine gives.
const (
	sessionPrefix = "ses_"
	turnPrefix    = "trn_"
	// agentPrefix must not be "bc-", which names cloud agents at the bridge.
	agentPrefix = "agt_"
)

// monotonicIDs returns a source of ULIDs that grow even within a millisecond
// and when the clock is set back, because turns are ordered by their ids.
func monotonicIDs(now func() time.Time) func() string {
	var mu sync.Mutex
	var latest uint64
	entropy := ulid.Monotonic(rand.Reader, 0)
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		latest = max(latest, ulid.Timestamp(now()))
		return ulid.MustNew(latest, entropy).String()
	}
}
