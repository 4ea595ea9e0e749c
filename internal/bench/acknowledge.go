package main

import (
	"context"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/internal/bench/process"
)

// acknowledge measures a closed loop: each connection sends the next webhook
// when the last one was answered.
func acknowledge(ctx context.Context, b *bench, progress func(string, ...any)) ([]Row, error) {
	var rows []Row
	for _, hook := range []load.Hook{load.PullRequest(), load.IssueComment(), load.AppMention()} {
		for _, connections := range []int{1, 16, 64} {
			row, err := acknowledgeOne(ctx, b, hook, connections)
			if err != nil {
				return rows, fmt.Errorf("%s: %w", row.Case, err)
			}
			progress("%s: %s/s", row.Case, figure(row.Values[0].Value))
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func acknowledgeOne(ctx context.Context, b *bench, hook load.Hook, connections int) (Row, error) {
	row := Row{Case: fmt.Sprintf("%s %.0f KiB, %d connections", hook.Name, float64(hook.Size())/1024, connections)}
	s, err := b.fresh(ctx)
	if err != nil {
		return row, err
	}
	defer s.Kill()
	plan := b.plan(s, hook, connections)
	if err := warm(ctx, b, plan); err != nil {
		return row, err
	}
	before, known, err := used(s)
	if err != nil {
		return row, err
	}
	plan.Duration = pick(b, 5*time.Second, time.Second)
	result, err := send(ctx, plan)
	if err != nil {
		return row, err
	}
	latencies(&row, result)
	if known {
		after, _, err := used(s)
		if err != nil {
			return row, err
		}
		row.add("CPU each", "µs", float64((after.CPU-before.CPU).Microseconds())/float64(result.Sent))
	}
	return row, nil
}

// warm lets a service come to its usual state: caches, connections, the heap.
func warm(ctx context.Context, b *bench, plan load.Plan) error {
	plan.Duration = pick(b, time.Second, 200*time.Millisecond)
	_, err := send(ctx, plan)
	return err
}

// latencies adds what a load's result has to say.
func latencies(row *Row, r load.Result) {
	row.add("accepted", "/s", r.PerSecond())
	row.milliseconds("p50", r.Quantile(0.5))
	row.milliseconds("p90", r.Quantile(0.9))
	row.milliseconds("p99", r.Quantile(0.99))
	row.milliseconds("p99.9", r.Quantile(0.999))
	row.milliseconds("max", r.Quantile(1))
	row.add("not accepted", "", float64(r.Sent-r.Accepted+r.Broken))
}

// steady measures an open loop: requests are due at a fixed rate, whatever
// becomes of those before.
func steady(ctx context.Context, b *bench, progress func(string, ...any)) ([]Row, error) {
	var rows []Row
	for _, hook := range []load.Hook{load.PullRequest(), load.AppMention()} {
		s, err := b.fresh(ctx)
		if err != nil {
			return nil, err
		}
		rows, err = steadyRates(ctx, b, s, hook, rows, progress)
		s.Kill()
		if err != nil {
			return rows, fmt.Errorf("%s: %w", hook.Name, err)
		}
	}
	return rows, nil
}

func steadyRates(ctx context.Context, b *bench, s *process.Service, hook load.Hook, rows []Row, progress func(string, ...any)) ([]Row, error) {
	for _, rate := range []float64{200, 1000} {
		plan := b.plan(s, hook, 64)
		plan.Rate = rate
		if err := warm(ctx, b, plan); err != nil {
			return rows, err
		}
		plan.Duration = pick(b, 10*time.Second, time.Second)
		result, err := send(ctx, plan)
		if err != nil {
			return rows, err
		}
		row := Row{Case: fmt.Sprintf("%s at %.0f/s", hook.Name, rate)}
		latencies(&row, result)
		progress("%s: p99 %s", row.Case, result.Quantile(0.99))
		rows = append(rows, row)
	}
	return rows, nil
}
