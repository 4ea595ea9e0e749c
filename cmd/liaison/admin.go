package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/metrics"
	"github.com/liaison-bot/liaison/state"
)

// adminListener is what operators' tools call: metrics, profiles, health.
type adminListener struct {
	log      *slog.Logger
	listener net.Listener
	server   *http.Server
}

// newAdminListener listens where the settings say. It returns nil when that is
// nowhere, and when nobody chose the place and it is taken: two services on one
// machine are no reason for the second not to start.
func newAdminListener(ctx context.Context, cfg *config.Config, show http.Handler, log *slog.Logger) (*adminListener, error) {
	if cfg.AdminAddr == "" {
		return nil, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.AdminAddr)
	switch {
	case err == nil:
	case !cfg.AdminAddrGiven:
		log.Warn("no listener for metrics and profiles: its usual address cannot be had; "+config.EnvAdminAddr+` names another, or "off"`,
			"addr", cfg.AdminAddr, "error", err)
		return nil, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf(`%s: %w; stop what listens there, or choose another port, or "off"`, config.EnvAdminAddr, err)
	default:
		return nil, unusable(fmt.Errorf("%s: %w", config.EnvAdminAddr, err))
	}
	if !cfg.AdminAddrIsLocal() {
		log.Warn("metrics and profiles are served to everybody who reaches this address, which is not of the loopback interface; keep it in a private network",
			"setting", config.EnvAdminAddr, "addr", listener.Addr().String())
	}
	h := handlers.NewAdmin(handlers.AdminOptions{Metrics: show, Local: cfg.AdminAddrIsLocal(), Logger: log})
	return &adminListener{log: log, listener: listener, server: handlers.NewServer(h, log)}, nil
}

// run serves until ctx ends. What goes wrong here takes nothing else with it.
func (a *adminListener) run(ctx context.Context) {
	a.log.Info("listening for operators", "addr", a.listener.Addr().String())
	stop := context.AfterFunc(ctx, func() {
		// A profile may take minutes: whoever wants one starts it again.
		_ = a.server.Close()
	})
	defer stop()
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		a.log.Error("metrics and profiles are no longer served", "error", err)
	}
}

// snapshot is what the metrics show of this moment.
func (s *service) snapshot(ctx context.Context) metrics.Snapshot {
	engine := s.engine.Status()
	now := metrics.Snapshot{
		Running:         engine.Running,
		ActiveSessions:  engine.ActiveSessions,
		RunningTurns:    engine.RunningTurns,
		QueuedTurns:     engine.QueuedTurns,
		MaxRunningTurns: engine.MaxRunningTurns,
		Deciding:        engine.Deciding,
		Delivering:      engine.Delivering,
		Storing:         s.intake.Storing(),
		BodyMemory:      s.intake.Bytes(),
		Platforms:       s.platform.up(),
	}
	// A store that cannot be read shows in other ways; the rest is still true.
	if pending, err := s.store.Pending(ctx, 0, 1); err == nil && len(pending) > 0 {
		now.OldestPending = time.Since(pending[0].ReceivedAt)
	}
	if due, waits, err := s.store.NextOutbox(ctx); err == nil && waits {
		now.OutboxLate = time.Since(due)
	}
	if usage, err := s.keeper.Usage(ctx); err == nil {
		now.Disk = diskMetrics(usage)
	}
	return now
}

// diskMetrics is how much room is taken and left, as the metrics have it.
func diskMetrics(u state.DiskUsage) *metrics.Disk {
	d := &metrics.Disk{
		VolumeFree: u.Volume.Free, VolumeSize: u.Volume.Size, FreeInodes: u.Volume.FreeInodes,
		Database: u.Database.Size, DatabaseFree: u.Database.Free, Journal: u.Journal, Packed: u.Packed.Size,
		Sessions: u.Sessions, PackedSessions: u.Packed.Sessions,
	}
	if u.Volume.Inodes == 0 {
		d.FreeInodes = -1
	}
	return d
}
