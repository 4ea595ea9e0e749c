package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/slack/workspace"
	"github.com/liaison-bot/liaison/state"
)

// Workspace implements [workspace.Source].
func (s *Store) Workspace(ctx context.Context, team, enterprise string) (workspace.Workspace, error) {
	for _, id := range candidates(team, enterprise) {
		r, err := s.usable(ctx, id)
		if errors.Is(err, state.ErrNotFound) {
			continue
		}
		if err != nil {
			return workspace.Workspace{}, err
		}
		return r.workspace(team), nil
	}
	return workspace.Workspace{}, fmt.Errorf("workspace %q of organisation %q: %w", team, enterprise, workspace.ErrNotInstalled)
}

// candidates are the ids under which an installation for a workspace may be.
func candidates(team, enterprise string) []string {
	var ids []string
	if team != "" {
		ids = append(ids, teamID(team))
	}
	if enterprise != "" {
		ids = append(ids, enterpriseID(enterprise))
	}
	return ids
}

// First is a source that asks others, one after the other, until one has the
// workspace.
type First []workspace.Source

// Workspace implements [workspace.Source].
func (f First) Workspace(ctx context.Context, team, enterprise string) (workspace.Workspace, error) {
	for _, source := range f {
		w, err := source.Workspace(ctx, team, enterprise)
		if !errors.Is(err, workspace.ErrNotInstalled) {
			return w, err
		}
	}
	return workspace.Workspace{}, fmt.Errorf("workspace %q of organisation %q: %w", team, enterprise, workspace.ErrNotInstalled)
}

// Removed is told that the app was uninstalled in a workspace at a time (the events
// app_uninstalled and tokens_revoked). An installation that came later stays. That of a whole
// organisation goes only once Slack refuses its token, since the app may have
// been taken from one workspace of many.
func (s *Store) Removed(ctx context.Context, team, enterprise string, at time.Time) error {
	for _, id := range candidates(team, enterprise) {
		if err := s.remove(ctx, id, at); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) remove(ctx context.Context, id string, at time.Time) error {
	unlock, err := s.lock(ctx, id, true)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := s.get(ctx, id)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil
	case err != nil:
		return err
	case r.InstalledAt.After(at):
		return nil
	case r.Whole:
		_, err := s.slack.test(ctx, r.Token)
		if err == nil {
			return nil
		}
		if !refused(err) {
			return err
		}
	}
	if err := s.vault.DeleteSecret(ctx, id); err != nil {
		return fmt.Errorf("slack: remove the installation %s: %w", id, err)
	}
	s.forget(id)
	s.log.Info("the Slack app is installed no more", "installation", id)
	return nil
}
