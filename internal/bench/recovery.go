package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/internal/bench/process"
	"github.com/liaison-bot/liaison/state"
)

// recoverWithin is how long the load goes on while deliveries are waiting still: with
// GitHub out of reach and intake busy they are put off one by one.
const recoverWithin = 2 * time.Minute

// recovery starts a service that finds deliveries waiting, and sends more.
func recovery(ctx context.Context, b *bench, progress func(string, ...any)) ([]Row, error) {
	quiet, err := recoverWith(ctx, b, 0, progress)
	if err != nil {
		return nil, err
	}
	busy, err := recoverWith(ctx, b, pick(b, 10_000, 1_000), progress)
	if err != nil {
		return nil, err
	}
	return []Row{quiet, busy}, nil
}

func recoverWith(ctx context.Context, b *bench, n int, progress func(string, ...any)) (Row, error) {
	row := Row{Case: fmt.Sprintf("%d deliveries waiting", n)}
	dir, err := b.dir()
	if err != nil {
		return row, err
	}
	if err := pending(ctx, b, dir, n); err != nil {
		return row, err
	}
	first, s, err := firstAccepted(ctx, b, dir)
	if err != nil {
		return row, err
	}
	defer s.Kill()
	row.milliseconds("first accepted", first)

	// The load lasts until what waited is decided, but long enough to be measured.
	loaded, stop := context.WithCancel(ctx)
	defer stop()
	decided := make(chan decision, 1)
	go func() {
		d := untilDecided(loaded, s, n)
		select {
		case <-loaded.Done():
		case <-time.After(time.Until(s.Started.Add(pick(b, 5*time.Second, time.Second)))):
		}
		stop()
		decided <- d
	}()
	plan := b.plan(s, load.PullRequest(), 16)
	plan.Duration = recoverWithin
	result, err := load.Run(loaded, plan)
	stop()
	d := <-decided
	late := errors.Is(d.err, context.Canceled)
	if late {
		d.err = nil // the load has ended before
	}
	if err := errors.Join(err, ctx.Err(), d.err); err != nil {
		return row, err
	}
	progress("%s: %s/s accepted for %s", row.Case, figure(result.PerSecond()), result.Took.Round(time.Millisecond))
	if late {
		progress("%s: some are waiting still", row.Case)
	} else {
		row.milliseconds("all decided", d.at)
	}
	latencies(&row, result)
	return row, nil
}

// decision says how long after the start of a service all that waited was decided.
type decision struct {
	at  time.Duration
	err error
}

// untilDecided asks the service until none of its first n deliveries waits.
func untilDecided(ctx context.Context, s *process.Service, n int) decision {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		waiting, err := waits(ctx, s, n)
		if err != nil {
			return decision{err: err}
		}
		if !waiting {
			return decision{at: time.Since(s.Started)}
		}
		select {
		case <-ctx.Done():
			return decision{err: ctx.Err()}
		case <-tick.C:
		}
	}
}

// waits reports whether one of the first n deliveries is undecided, and not put off
// because GitHub is out of reach either. The newest are asked for first: a look at
// all of them costs the service something.
func waits(ctx context.Context, s *process.Service, n int) (bool, error) {
	for before := int64(n + 1); before > 0; {
		page, err := deliveries(ctx, s, fmt.Sprintf("before=%d&limit=100", before))
		if err != nil {
			return true, err
		}
		for _, d := range page.Deliveries {
			if d.Status == state.DeliveryPending && d.NotBefore.IsZero() {
				return true, nil
			}
		}
		before = page.Next
	}
	return false, nil
}

// page is what is used of the answer to a listing of deliveries.
type page struct {
	Deliveries []struct {
		Status    state.DeliveryStatus `json:"status"`
		NotBefore time.Time            `json:"notBefore"`
	} `json:"deliveries"`
	Next int64 `json:"next"`
}

func deliveries(ctx context.Context, s *process.Service, query string) (p page, err error) {
	url := fmt.Sprintf("http://%s/v1/deliveries?%s", s.Addr, query)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return p, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return p, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return p, fmt.Errorf("%s: %s", url, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(&p); err != nil {
		return p, fmt.Errorf("%s: %w", url, err)
	}
	return p, nil
}
