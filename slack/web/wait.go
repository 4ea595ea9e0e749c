package web

import (
	"strconv"
	"strings"
	"time"
)

// wait is how long a limit lasts.
func (a received) wait(random func() float64) time.Duration {
	return retryAfter(a.header.Get("Retry-After"), random)
}

// retryAfter reads a Retry-After header in seconds, which can be absent, nothing
// like a number, or any number.
func retryAfter(header string, random func() float64) time.Duration {
	seconds, err := strconv.ParseInt(strings.TrimSpace(header), 10, 32)
	if err != nil {
		return unknownWait + time.Duration(random()*float64(unknownWait)/2)
	}
	return min(max(time.Duration(seconds)*time.Second, minWait), maxWait)
}
