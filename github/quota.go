package github

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// appQuota is where the calls under the App's own signature are counted: no
// installation has this id.
const appQuota = 0

// quota remembers what GitHub said is left of each installation's hourly
// requests, so that work which can wait leaves the rest to reviews.
type quota struct {
	now func() time.Time

	mu   sync.Mutex
	left map[int64]allowance
}

type allowance struct {
	limit, remaining int
	reset            time.Time
}

// observe reads the headers of an answer.
func (q *quota) observe(installation int64, h http.Header) {
	if r := h.Get("X-RateLimit-Resource"); r != "" && r != coreResource {
		return
	}
	limit, err := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, err3 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || err2 != nil || err3 != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.left == nil {
		q.left = map[int64]allowance{}
	}
	q.left[installation] = allowance{limit: limit, remaining: remaining, reset: time.Unix(reset, 0)}
}

// spare reports whether enough is left for work in the background.
func (q *quota) spare(installation int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	a, known := q.left[installation]
	return !known || !q.now().Before(a.reset) || a.remaining*100 >= a.limit*keptForReviews
}
