package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/metrics"
	"github.com/liaison-bot/liaison/redact"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/eventlog"
)

// Bounds of a stop. Together they stay below the 25 s that the service promises.
const (
	// stopAcknowledging is how long acknowledgements under way may take.
	stopAcknowledging = 10 * time.Second
	// stopBridge is how long the bridge may take; the engine has ended its runs by then.
	stopBridge = 4 * time.Second
)

// maxBlobCache bounds the cache of file contents on disk, in bytes: room for the
// changed files of some hundred pull requests on a 3 GB volume.
const maxBlobCache = 512 << 20

// service is the running process: its parts in the order in which they are made.
type service struct {
	log    *slog.Logger
	store  *boltstore.Store
	events *eventlog.Log
	keeper *sessions.Keeper
	bridge *bridge.Client
	cache  *evidence.DiskCache // nil, as github, when the channel is off

	configurations *repoconfig.Folder // likewise

	github   *github.Channel
	slack    *slack.Channel // nil when the channel is off
	reach    *slackAccess   // likewise
	upkeep   *gitHubUpkeep  // likewise
	agents   *agents
	engine   *sessions.Engine
	platform *platforms
	api      *api.API
	listener net.Listener
	server   *http.Server
	intake   *handlers.Intake
	admin    *adminListener // nil when it is off
}

// newService makes every part and listens. On an error nothing stays open.
func newService(ctx context.Context, cfg *config.Config, secrets *redact.Redactor, log *slog.Logger, logs *api.Logs) (_ *service, err error) {
	s := &service{log: log, intake: &handlers.Intake{}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()

	if err := prepareStateDir(cfg.StateDir); err != nil {
		return nil, unusable(fmt.Errorf("%s: %w", config.EnvStateDir, err))
	}
	if s.store, err = boltstore.Open(filepath.Join(cfg.StateDir, "liaison.db"), boltstore.Options{Logger: log}); err != nil {
		return nil, fmt.Errorf("%s: %w", config.EnvStateDir, err)
	}
	if s.events, err = eventlog.Open(cfg.StateDir, eventlog.Options{Logger: log, Index: s.store}); err != nil {
		return nil, err
	}
	s.keeper = newKeeper(s, cfg)

	choice, err := chooseBridge(cfg)
	if err != nil {
		return nil, err
	}
	if err := choice.prepare(); err != nil {
		return nil, err
	}
	log.Info("bridge chosen", "bridge", choice.Name, "reason", choice.Reason)
	choice.options.Logger = log
	choice.options.Redact = secrets.String
	choice.options.MaxConcurrentRuns = cfg.MaxRunningTurns
	if choice.store == "" {
		choice.options.Store = sessions.NewAgentStore(s.store)
	}
	if s.bridge, err = bridge.New(choice.options); err != nil {
		return nil, err
	}

	counts := metrics.New(metrics.Options{Version: buildVersion(), Read: s.snapshot, Logger: log})
	channels := []sessions.Channel{api.Channel{}}
	var githubSecrets, slackSecrets []string
	if g := cfg.GitHub; g != nil {
		if s.cache, err = evidence.NewDiskCache(filepath.Join(cfg.StateDir, "blobs"), maxBlobCache); err != nil {
			return nil, err
		}
		if s.configurations, err = repoconfig.OpenFolder(filepath.Join(cfg.StateDir, "configurations")); err != nil {
			return nil, err
		}
		o := githubOptions(cfg, secrets.String)
		o.Cache, o.Configurations, o.Logger = s.cache, s.configurations, log
		o.Approval = func(ctx context.Context, id string) (approvals.View, error) {
			return s.engine.Approval(ctx, id) // which is made below
		}
		s.github, err = github.New(o)
		if err != nil {
			return nil, err
		}
		channels = append(channels, s.github)
		githubSecrets = g.WebhookSecrets
	}
	var slackPages http.Handler
	if cfg.Slack != nil {
		direct := handlers.NewDirect(handlers.Options{
			Inbox: s.store, Metrics: counts, Intake: s.intake, Now: time.Now, Logger: log,
			Hasten: func(source, id string) { s.engine.Hasten(source, id) }, // which is made below
		})
		if s.reach, err = newSlackAccess(cfg, s.store, direct, log); err != nil {
			return nil, err
		}
		s.reach.prepare(ctx)
		slackPages = s.reach.routes()
		if s.slack, err = slack.New(slackOptions(s, cfg, secrets.String)); err != nil {
			return nil, err
		}
		channels = append(channels, s.slack)
		slackSecrets = cfg.Slack.SigningSecrets
	}
	if cfg.GitHub == nil && cfg.Slack == nil {
		log.Warn(`no webhooks are taken: set GITHUB_APP_ID to turn GitHub on ("liaison help config"), or try "liaison demo"; the HTTP API is served all the same`)
	}
	if s.agents, err = newAgents(s, cfg, secrets.String, log); err != nil {
		return nil, err
	}
	if s.github != nil {
		s.upkeep = newGitHubUpkeep(s, cfg, counts)
	}

	s.engine, err = sessions.New(sessions.Options{
		Store:           s.store,
		Log:             s.events,
		Channels:        channels,
		Runner:          sessions.NewBridgeRunner(s.bridge, log),
		Dir:             cfg.StateDir,
		MaxRunningTurns: cfg.MaxRunningTurns,
		TurnTimeout:     cfg.TurnTimeout,
		Limits:          turnLimits(cfg.TurnLimits),
		Prices:          prices(cfg.Prices),
		Agent:           s.agents.agent,
		Redact:          secrets.String,
		Logger:          log,
		Metrics:         counts,
		Intake:          s.intake.Storing,
	})
	if err != nil {
		return nil, err
	}

	s.platform = newPlatforms(s.bridge, s.github, s.slack, s.reach, secrets.String, log)
	info := &information{started: time.Now(), cfg: cfg, choice: choice, engine: s.engine, keeper: s.keeper, platform: s.platform, agents: s.agents}
	s.api = newAPI(s, cfg, info, logs)
	s.server = handlers.NewServer(handlers.New(handlers.Options{
		Inbox:         s.store,
		Check:         s.store.Check,
		GitHubSecrets: githubSecrets,
		SlackSecrets:  slackSecrets,
		SlackInstall:  slackPages,
		Metrics:       counts,
		Intake:        s.intake,
		Hasten:        s.engine.Hasten,
		API:           s.api,
		Now:           time.Now,
		Logger:        log,
	}), log)
	s.server.RegisterOnShutdown(s.api.Stop)
	if s.upkeep != nil {
		s.upkeep.relayTo(s.server.Handler, githubSecrets, log)
	}
	if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr); err != nil {
		err = fmt.Errorf("%s: %w", config.EnvAddr, err)
		if errors.Is(err, syscall.EADDRINUSE) {
			// The other process may be our predecessor: starting again can help.
			return nil, fmt.Errorf("%w; stop what listens there, or choose another port with %s or %s", err, config.EnvAddr, config.EnvPort)
		}
		return nil, unusable(err)
	}
	if s.admin, err = newAdminListener(ctx, cfg, counts, log); err != nil {
		return nil, err
	}
	return s, nil
}

// prepareStateDir makes the directory and proves that it can be written, so
// that a wrong owner or a read-only mount is found now and not by the first
// turn. A full disk is let through: the store answers for it, and recovers.
func prepareStateDir(dir string) error {
	for _, part := range []string{"", "bridge", "sessions"} {
		part = filepath.Join(dir, part)
		err := os.MkdirAll(part, 0o700)
		if err == nil {
			err = probeWrite(part)
		}
		if err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
			return fmt.Errorf("%w; it must be a directory that this user can write", err)
		}
	}
	return nil
}

func probeWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// run starts the parts, waits until ctx ends or one of them fails, and stops
// them: intake first, then the engine, which hands over what is running.
func (s *service) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.log.Info("listening", "addr", s.listener.Addr().String(), "version", buildVersion())

	var parts sync.WaitGroup
	parts.Go(func() {
		if err := s.engine.Run(ctx); err != nil {
			stop(err)
		}
	})
	parts.Go(func() { s.platform.run(ctx) })
	if s.upkeep != nil {
		parts.Go(func() { s.upkeep.run(ctx) })
	}
	if s.reach != nil {
		parts.Go(func() { s.reach.run(ctx) })
	}
	if s.admin != nil {
		parts.Go(func() { s.admin.run(ctx) })
	}
	parts.Go(func() { s.keeper.Run(ctx) })
	parts.Go(func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			stop(fmt.Errorf("serve %s: %w", s.listener.Addr(), err))
		}
	})

	<-ctx.Done()
	failure := context.Cause(ctx)
	if errors.Is(failure, context.Canceled) {
		failure = nil
		s.log.Info("stopping")
	} else {
		s.log.Error("stopping because a part failed", "error", failure)
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopAcknowledging)
	defer cancel()
	if err := s.server.Shutdown(grace); err != nil {
		s.log.Warn("connections were cut off", "error", err)
		_ = s.server.Close()
	}
	parts.Wait()
	return failure
}

// close releases what was made, in reverse order.
func (s *service) close() {
	if s.listener != nil {
		_ = s.listener.Close()
	}
	if s.admin != nil {
		_ = s.admin.listener.Close()
	}
	if s.configurations != nil {
		_ = s.configurations.Close()
	}
	if s.cache != nil {
		_ = s.cache.Close()
	}
	if s.bridge != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopBridge)
		defer cancel()
		if err := s.bridge.Close(ctx); err != nil {
			s.log.Warn("the bridge did not stop cleanly", "error", err)
		}
	}
	if s.events != nil {
		if err := s.events.Close(); err != nil {
			s.log.Error("event log", "error", err)
		}
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.log.Error("store", "error", err)
		}
	}
	if s.listener != nil {
		s.log.Info("stopped")
	}
}

// githubOptions is the GitHub channel as the settings have it.
func githubOptions(cfg *config.Config, redact func(string) string) github.Options {
	g := cfg.GitHub
	o := github.Options{
		AppID:      g.AppID,
		Key:        g.PrivateKey,
		APIURL:     g.APIURL.String(),
		PublicURL:  cfg.PublicURL,
		BotName:    cfg.BotName,
		Version:    buildVersion(),
		Redact:     redact,
		WritePause: g.Upkeep.WritePause,

		AllowedBots: g.Admission.AllowedBots,
		Budgets: repoconfig.Budgets{
			ActorPerDay: g.Admission.ActorPerDay, PullPerDay: g.Admission.PullPerDay, RepositoryPerDay: g.Admission.RepositoryPerDay,
		},
	}
	if cfg.Slack != nil {
		o.People = cfg.Slack.Talk.People
	}
	if g.GraphQLURL != nil {
		o.GraphQLURL = g.GraphQLURL.String()
	}
	return o
}
