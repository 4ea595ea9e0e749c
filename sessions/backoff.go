package sessions

import "time"

// backoff returns the wait before try n+1, from 1: base doubled with each try,
// at most limit, with the upper half at random so that many do not return at once.
func backoff(base, limit time.Duration, n int, random func() float64) time.Duration {
	wait := limit
	if shift := n - 1; shift < 30 && base<<shift < limit { // 30 doublings of 1 s are 34 years
		wait = base << shift
	}
	half := wait / 2
	return half + time.Duration(random()*float64(wait-half))
}
