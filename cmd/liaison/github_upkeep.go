package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/relay"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/metrics"
)

// gitHubUpkeep keeps the GitHub channel up with what nobody told it.
type gitHubUpkeep struct {
	config.Upkeep
	sweeper    *github.Sweeper
	reconciler *github.Reconciler
	relay      *relay.Relay // nil when deliveries come by themselves
}

func newGitHubUpkeep(s *service, cfg *config.Config, counts *metrics.Metrics) *gitHubUpkeep {
	return &gitHubUpkeep{
		Upkeep: cfg.GitHub.Upkeep,
		sweeper: s.github.NewSweeper(github.SweepOptions{
			Inbox: s.store, Ledger: s.store, Dir: cfg.StateDir, Metrics: counts,
		}),
		reconciler: s.github.NewReconciler(github.ReconcileOptions{Sessions: s.store, Inbox: s.store}),
	}
}

// relayTo has deliveries relayed to the service's own door, if a channel is set.
func (u *gitHubUpkeep) relayTo(door http.Handler, secrets []string, log *slog.Logger) {
	if u.WebhookProxy != nil {
		u.relay = &relay.Relay{
			URL: u.WebhookProxy, Secrets: secrets, Door: door, Logger: log, UserAgent: "liaison/" + buildVersion(),
		}
	}
}

// run works until ctx ends.
func (u *gitHubUpkeep) run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(checkAfter):
	}
	var parts sync.WaitGroup
	defer parts.Wait()
	if u.SweepEvery > 0 {
		parts.Go(func() { u.sweeper.Run(ctx, u.SweepEvery) })
	}
	if u.relay != nil {
		parts.Go(func() { u.relay.Run(ctx) })
	}
	if u.ReconcileEvery > 0 {
		parts.Go(func() { u.reconcile(ctx) })
	}
}

// reconcile compares sessions with their pull requests, after the first sweep:
// GitHub's own deliveries say more than what can be seen afterwards.
func (u *gitHubUpkeep) reconcile(ctx context.Context) {
	if u.SweepEvery > 0 {
		select {
		case <-u.sweeper.Swept():
		case <-ctx.Done():
			return
		}
	}
	u.reconciler.Run(ctx, u.ReconcileEvery)
}
