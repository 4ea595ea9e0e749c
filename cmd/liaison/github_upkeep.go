package main

import (
	"context"
	"sync"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/metrics"
)

// gitHubUpkeep keeps the GitHub channel up with what nobody told it.
type gitHubUpkeep struct {
	config.Upkeep
	sweeper *github.Sweeper
}

func newGitHubUpkeep(s *service, cfg *config.Config, counts *metrics.Metrics) *gitHubUpkeep {
	return &gitHubUpkeep{
		Upkeep: cfg.GitHub.Upkeep,
		sweeper: s.github.NewSweeper(github.SweepOptions{
			Inbox: s.store, Ledger: s.store, Dir: cfg.StateDir, Metrics: counts,
		}),
	}
}

// run works until ctx ends.
func (u *gitHubUpkeep) run(ctx context.Context) {
	var parts sync.WaitGroup
	defer parts.Wait()
	if u.SweepEvery > 0 {
		parts.Go(func() { u.sweeper.Run(ctx, u.SweepEvery) })
	}
}
