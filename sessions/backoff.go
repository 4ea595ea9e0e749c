package sessions

import "time"

// backoff returns the wait after the n-th failure, from 1: base doubled with
// each, at most limit, with the upper half at random so that many who failed
// together do not come back together.
func backoff(base, limit time.Duration, n int, random func() float64) time.Duration {
	wait := base
	for ; n > 1 && wait < limit; n-- {
		wait *= 2
	}
	wait = min(wait, limit)
	half := wait / 2
	return half + time.Duration(random()*float64(wait-half))
}
