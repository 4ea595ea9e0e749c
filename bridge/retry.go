package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Retry bounds how often a call is made again. Only calls that may safely be
// repeated are: those that read, and a Send whose refusal proves that nothing ran.
type Retry struct {
	// Tries is how often a call is made at most; 4 when zero. 1 turns retries off.
	Tries int
	// Total bounds the time from the first try to the last; 30 s when zero. A
	// refusal that asks for a longer wait is returned at once.
	Total time.Duration
}

const (
	defaultRetryTries = 4
	defaultRetryTotal = 30 * time.Second
	// The wait before the second try, if the refusal names none; twice as long
	// before each further one, up to the greatest.
	firstRetryWait = 250 * time.Millisecond
	maxRetryWait   = 8 * time.Second
)

func (r *Retry) complete() error {
	if r.Tries < 0 || r.Total < 0 {
		return errors.New("Retry has a negative bound")
	}
	if r.Tries == 0 {
		r.Tries = defaultRetryTries
	}
	if r.Total == 0 {
		r.Total = defaultRetryTotal
	}
	return nil
}

// retrier counts the tries of one call.
type retrier struct {
	limit Retry
	// jitter returns a number in [0, 1).
	jitter func() float64
	began  time.Time
	made   int
}

func newRetrier(limit Retry, jitter func() float64) *retrier {
	return &retrier{limit: limit, jitter: jitter, began: time.Now(), made: 1}
}

// again waits until the next try, or returns why there is none: err itself, or
// the end of ctx with it.
func (r *retrier) again(ctx context.Context, err error) error {
	wait := r.wait(err)
	if r.made >= r.limit.Tries || time.Since(r.began)+wait > r.limit.Total {
		return err
	}
	r.made++
	if over := sleep(ctx, wait); over != nil {
		return fmt.Errorf("%w, while waiting %s to try again: %w", over, wait.Round(time.Millisecond), err)
	}
	return nil
}

// wait is what the refusal asks for, or else grows. A part of it is random, so
// that callers who were refused together do not come back together.
func (r *retrier) wait(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		asked := e.RetryAfter
		if asked == 0 && e.RateLimit != nil && !e.RateLimit.Reset.IsZero() {
			asked = time.Until(e.RateLimit.Reset)
		}
		if asked > 0 { // earlier would be refused again
			return asked + time.Duration(r.jitter()*float64(min(asked/4, time.Second)))
		}
	}
	return backoff(firstRetryWait, maxRetryWait, r.made-1, r.jitter)
}

// backoff doubles first with every step up to greatest and takes at least half of it.
func backoff(first, greatest time.Duration, step int, jitter func() float64) time.Duration {
	wait := greatest
	if step < 16 {
		wait = min(first<<step, greatest)
	}
	return wait/2 + time.Duration(jitter()*float64(wait/2))
}

// query makes a unary call that only reads. It is made again when the bridge or
// the provider says that it may help.
func query[Req, Res any](ctx context.Context, c *connection, op string, method unary[Req, Res], req *Req) (*Res, error) {
	tries := newRetrier(c.retry, c.jitter)
	for {
		res, err := call(ctx, c, op, method, req)
		if err == nil || !mayPass(err) {
			return res, err
		}
		life, stop := context.WithCancelCause(ctx)
		unlink := context.AfterFunc(c.ctx, func() { stop(context.Cause(c.ctx)) })
		err = tries.again(life, err)
		unlink()
		stop(nil)
		if err != nil {
			return nil, err
		}
	}
}

// mayPass reports whether the same call may succeed later.
func mayPass(err error) bool {
	return errors.Is(err, ErrRateLimited) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUpstream) || errors.Is(err, ErrExhausted)
}
