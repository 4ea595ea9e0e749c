package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/internal/bench/process"
)

// scenario is one thing to measure.
type scenario struct {
	name, about string
	run         func(ctx context.Context, b *bench, progress func(format string, args ...any)) ([]Row, error)
}

// scenarios are in the order in which they are run: the disk first, against
// which the rest is held.
func scenarios() []scenario {
	return []scenario{
		{"disk", "what the disk itself makes durable in a second", disk},
		{"acknowledge", "signed, stored, synced acknowledgements, as fast as they are answered", acknowledge},
		{"steady", "acknowledgements at a fixed rate, timed from when each was due", steady},
		{"coldstart", "from the start of the process to the first accepted webhook", coldStart},
		{"memory", "memory of the service, idle and after many deliveries", memory},
		{"recovery", "start with deliveries that wait to be decided, and acknowledgements meanwhile", recovery},
		{"events", "events appended to the records of sessions", events},
		{"scale", "the same with few and with very many sessions on file", scale},
	}
}

// bench is what scenarios share.
type bench struct {
	binary, work, templates string
	quick                   bool
	cpus                    cpus
	// deliveries counts what was sent, over all services: none is sent twice.
	deliveries atomic.Uint64
	dirs       int
}

// pick returns the number of a measurement, or the small one for a look.
func pick[T any](b *bench, full, quick T) T {
	if b.quick {
		return quick
	}
	return full
}

// dir makes an empty directory for a service.
func (b *bench) dir() (string, error) {
	b.dirs++
	dir := filepath.Join(b.work, fmt.Sprint("state-", b.dirs))
	return dir, os.Mkdir(dir, 0o700)
}

// start starts a service in a directory.
func (b *bench) start(ctx context.Context, dir string) (*process.Service, error) {
	return process.Start(ctx, process.Options{Binary: b.binary, Dir: dir, CPUs: b.cpus.service, Log: filepath.Join(b.work, "service.log")})
}

// startUp bounds a wait for a service to listen.
const startUp = 5 * time.Minute

// fresh starts a service with nothing on file and waits until it listens.
func (b *bench) fresh(ctx context.Context) (*process.Service, error) {
	dir, err := b.dir()
	if err != nil {
		return nil, err
	}
	return b.ready(ctx, dir)
}

// ready starts a service and waits until it listens.
func (b *bench) ready(ctx context.Context, dir string) (*process.Service, error) {
	s, err := b.start(ctx, dir)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, startUp)
	defer cancel()
	if err := s.Ready(wait); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// plan is what every load has in common.
func (b *bench) plan(s *process.Service, hook load.Hook, connections int) load.Plan {
	secret := process.GitHubSecret
	if hook.Name == load.AppMention().Name {
		secret = process.SlackSecret
	}
	return load.Plan{Addr: s.Addr, Secret: secret, Hook: hook, Number: &b.deliveries, Connections: connections}
}

// send carries out a plan and refuses a result that is no measurement.
func send(ctx context.Context, p load.Plan) (load.Result, error) {
	r, err := load.Run(ctx, p)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err == nil && r.Accepted == 0 {
		err = fmt.Errorf("no webhook was accepted: %d answers, by status %v, and %d without one", r.Sent, r.Refused, r.Broken)
	}
	return r, err
}

// used reads a service's usage; ok is false where the system does not tell.
func used(s *process.Service) (u process.Usage, ok bool, err error) {
	u, err = s.Usage()
	if errors.Is(err, errors.ErrUnsupported) {
		return u, false, nil
	}
	return u, err == nil, err
}
