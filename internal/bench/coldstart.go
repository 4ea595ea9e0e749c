package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/internal/bench/process"
)

// coldStart measures a start with nothing on file, and one after a stop and
// after a kill.
func coldStart(ctx context.Context, b *bench, _ func(string, ...any)) ([]Row, error) {
	dir, err := b.dir()
	if err != nil {
		return nil, err
	}
	first, s, err := firstAccepted(ctx, b, dir)
	if err != nil {
		return nil, err
	}
	s.Stop()
	empty := []time.Duration{first}
	for range pick(b, 8, 1) {
		fresh, err := b.dir()
		if err != nil {
			return nil, err
		}
		took, s, err := firstAccepted(ctx, b, fresh)
		if err != nil {
			return nil, err
		}
		s.Kill()
		empty = append(empty, took)
	}
	stopped, err := startAgain(ctx, b, dir, (*process.Service).Stop)
	if err != nil {
		return nil, err
	}
	killed, err := startAgain(ctx, b, dir, (*process.Service).Kill)
	if err != nil {
		return nil, err
	}
	return []Row{spread("nothing on file", empty), spread("after a stop", stopped), spread("after kill -9", killed)}, nil
}

// startAgain starts a service over and over in one directory.
func startAgain(ctx context.Context, b *bench, dir string, end func(*process.Service)) ([]time.Duration, error) {
	var all []time.Duration
	for range pick(b, 9, 2) {
		took, s, err := firstAccepted(ctx, b, dir)
		if err != nil {
			return nil, err
		}
		end(s)
		all = append(all, took)
	}
	return all, nil
}

func spread(name string, all []time.Duration) Row {
	slices.Sort(all)
	row := Row{Case: name}
	row.milliseconds("median", all[len(all)/2])
	row.milliseconds("least", all[0])
	row.milliseconds("most", all[len(all)-1])
	row.add("starts", "", float64(len(all)))
	return row
}

// firstAccepted starts a service and sends one webhook until it is accepted.
func firstAccepted(ctx context.Context, b *bench, dir string) (time.Duration, *process.Service, error) {
	s, err := b.start(ctx, dir)
	if err != nil {
		return 0, nil, err
	}
	wait, cancel := context.WithTimeout(ctx, startUp)
	defer cancel()
	took, err := untilAccepted(wait, b, s)
	if err != nil {
		s.Kill()
		return 0, nil, err
	}
	return took, s, nil
}

func untilAccepted(ctx context.Context, b *bench, s *process.Service) (time.Duration, error) {
	request := load.PullRequest().Requests(s.Addr, process.GitHubSecret).Make(b.deliveries.Add(1))
	if err := s.Ready(ctx); err != nil {
		return 0, err
	}
	conn, err := load.Dial(ctx, s.Addr)
	if err != nil {
		return 0, err
	}
	status, err := conn.Do(request)
	took := time.Since(s.Started)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("the first webhook was answered with %d", status)
	}
	return took, errors.Join(err, conn.Close())
}
