package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/internal/bench/process"
)

// memory measures what a service takes when it has nothing to do, and after
// deliveries that each ask for a turn which cannot be run.
func memory(ctx context.Context, b *bench, _ func(string, ...any)) ([]Row, error) {
	s, err := b.fresh(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Kill()
	var rows []Row
	taken := func(name string) error {
		row, err := taken(ctx, b, s, name)
		rows = append(rows, row)
		return err
	}
	if err := taken("idle"); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		return nil, err
	}
	sent := 0
	for _, total := range []int{pick(b, 20_000, 1_000), pick(b, 100_000, 2_000)} {
		plan := b.plan(s, load.PullRequest(), 64)
		plan.Count = total - sent
		if _, err := send(ctx, plan); err != nil {
			return nil, err
		}
		sent = total
		if err := taken(fmt.Sprintf("after %d deliveries", total)); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// settle is how long a service is left alone before its memory is read: its
// bridge has started by then.
const settle = 3 * time.Second

// taken reads a service's memory after a moment of peace.
func taken(ctx context.Context, b *bench, s *process.Service, name string) (Row, error) {
	row := Row{Case: name}
	select {
	case <-ctx.Done():
		return row, ctx.Err()
	case <-time.After(pick(b, settle, settle/6)):
	}
	own, err := s.Usage()
	if err != nil {
		return row, err
	}
	bridge, err := s.Bridge()
	if err != nil {
		return row, err
	}
	row.mebibytes("anonymous", own.Anonymous)
	row.mebibytes("mapped files", own.Mapped)
	row.mebibytes("peak", own.Peak)
	row.mebibytes("bridge anonymous", bridge.Anonymous)
	return row, nil
}
