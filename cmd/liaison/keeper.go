package main

import (
	"context"
	"io"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/backup"
)

// newKeeper makes what lets old data go, and compacts and copies the rest.
func newKeeper(s *service, cfg *config.Config) *sessions.Keeper {
	source := backup.Source{Store: s.store, Log: s.events, Dir: cfg.StateDir, Version: buildVersion()}
	return sessions.NewKeeper(sessions.KeeperOptions{
		Store:     s.store,
		Log:       s.events,
		Retention: state.Retention(cfg.Retention),
		Backup: func(ctx context.Context, w io.Writer) (state.BackupInfo, error) {
			return backup.Write(ctx, w, source)
		},
		Logger: s.log,
	})
}
