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
	return scatter(min(wait, limit), random)
}

// outwait returns the wait before something that has been out of reach for the
// given time is tried again: a quarter of that, between base and limit, with the
// same randomness. It needs no count of the failures, which may be many.
func outwait(base, limit, lasts time.Duration, random func() float64) time.Duration {
	return scatter(min(max(lasts/4, base), limit), random)
}

// scatter makes the upper half of a wait random.
func scatter(wait time.Duration, random func() float64) time.Duration {
	half := wait / 2
	return half + time.Duration(random()*float64(wait-half))
}
