package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Plan is what to send.
type Plan struct {
	// Addr is the service's host:port, and Secret what its webhooks are signed with.
	Addr, Secret string
	Hook         Hook
	// Number counts deliveries up, over all plans: none is sent twice.
	Number *atomic.Uint64
	// Connections are kept busy (closed loop), or share what is due (open loop).
	Connections int
	// Rate is how many requests a second are due; zero means a closed loop.
	Rate float64
	// The run ends after Count requests or after Duration, whichever comes first;
	// zero means no such end, and one must be given.
	Count    int
	Duration time.Duration
}

// Result is what came back.
type Result struct {
	// Sent requests had an answer. Accepted are those with a status of 2xx.
	Sent, Accepted int
	// Refused counts the other answers by status.
	Refused map[int]int
	// Broken requests had no answer.
	Broken int
	// Took is the time from the first request to the last answer.
	Took time.Duration
	// Latencies are those of accepted requests, in order of size.
	Latencies []time.Duration
}

// PerSecond is how many requests were accepted in a second.
func (r Result) PerSecond() float64 { return float64(r.Accepted) / r.Took.Seconds() }

// Quantile returns the latency below which a share q of the accepted requests
// stayed; zero if there were none.
func (r Result) Quantile(q float64) time.Duration {
	if len(r.Latencies) == 0 {
		return 0
	}
	return r.Latencies[int(q*float64(len(r.Latencies)-1)+0.5)]
}

// errUnbounded is a plan without an end.
var errUnbounded = errors.New("a plan needs a count or a duration")

// Run carries out a plan. It returns an error if a connection cannot be made;
// broken ones are made again and counted. Cancelling ctx ends the plan early.
func Run(ctx context.Context, p Plan) (Result, error) {
	if p.Count <= 0 && p.Duration <= 0 {
		return Result{}, errUnbounded
	}
	r := &run{plan: p, due: make(chan time.Time)}
	workers := make([]*worker, max(p.Connections, 1))
	for i := range workers {
		conn, err := Dial(ctx, p.Addr)
		if err != nil {
			return Result{}, fmt.Errorf("connect to the service: %w", err)
		}
		workers[i] = &worker{run: r, conn: conn, requests: p.Hook.Requests(p.Addr, p.Secret), refused: map[int]int{}}
		defer func() { _ = workers[i].conn.Close() }()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.begin = time.Now()
	var all sync.WaitGroup
	if p.Rate > 0 {
		all.Go(func() { r.pace(ctx) })
	}
	failures := make([]error, len(workers))
	for i, w := range workers {
		all.Go(func() {
			// When ctx ends so do the connections, and that is no failure.
			if err := w.work(ctx); err != nil && ctx.Err() == nil {
				failures[i] = err
				cancel()
			}
		})
	}
	all.Wait()
	return collect(r.begin, workers), errors.Join(failures...)
}

// run is a plan under way.
type run struct {
	plan  Plan
	begin time.Time
	taken atomic.Int64
	due   chan time.Time
}

// more takes one request of the plan, unless it is at its end.
func (r *run) more(ctx context.Context) bool {
	if ctx.Err() != nil || r.plan.Duration > 0 && time.Since(r.begin) >= r.plan.Duration {
		return false
	}
	return r.plan.Count <= 0 || r.taken.Add(1) <= int64(r.plan.Count)
}

// pace hands out the moments at which requests are due. While every connection
// is busy it falls behind, and what is late counts as latency: a service that
// stalls must not be asked less often because of it.
func (r *run) pace(ctx context.Context) {
	defer close(r.due)
	wait := newSleeper()
	defer wait.done()
	for i := 0; r.more(ctx); i++ {
		at := r.begin.Add(time.Duration(float64(i) / r.plan.Rate * float64(time.Second)))
		wait.until(at)
		select {
		case r.due <- at:
		case <-ctx.Done():
			return
		}
	}
}

// worker owns a connection.
type worker struct {
	run       *run
	conn      *Conn
	requests  *Requests
	latencies []time.Duration
	refused   map[int]int
	broken    int
	last      time.Time
}

// work sends until the plan ends.
func (w *worker) work(ctx context.Context) error {
	if w.run.plan.Rate > 0 {
		for at := range w.run.due {
			if err := w.send(ctx, at); err != nil {
				return err
			}
		}
		return nil
	}
	for w.run.more(ctx) {
		if err := w.send(ctx, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// send sends one request, which was due at a moment, or at once if that is zero.
func (w *worker) send(ctx context.Context, due time.Time) error {
	request := w.requests.Make(w.run.plan.Number.Add(1))
	if due.IsZero() {
		due = time.Now()
	}
	status, err := w.conn.Do(request)
	w.last = time.Now()
	switch {
	case err != nil && !errors.Is(err, errLast):
		w.broken++
	case status/100 == 2:
		w.latencies = append(w.latencies, w.last.Sub(due))
	default:
		w.refused[status]++
	}
	if err == nil {
		return nil
	}
	_ = w.conn.Close()
	conn, err := Dial(ctx, w.run.plan.Addr)
	if err != nil {
		return fmt.Errorf("connect to the service again: %w", err)
	}
	w.conn = conn
	return nil
}

// collect adds up what the workers saw.
func collect(begin time.Time, workers []*worker) Result {
	r := Result{Refused: map[int]int{}}
	end := begin
	for _, w := range workers {
		r.Latencies = append(r.Latencies, w.latencies...)
		r.Broken += w.broken
		for status, n := range w.refused {
			r.Refused[status] += n
			r.Sent += n
		}
		if w.last.After(end) {
			end = w.last
		}
	}
	r.Accepted = len(r.Latencies)
	r.Sent += r.Accepted
	r.Took = end.Sub(begin)
	slices.Sort(r.Latencies)
	return r
}
