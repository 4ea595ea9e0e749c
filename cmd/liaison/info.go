package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack"
	"github.com/liaison-bot/liaison/state"
)

// information is what GET /v1/info shows. It holds no secret.
type information struct {
	started  time.Time
	cfg      *config.Config
	choice   bridgeChoice
	engine   *sessions.Engine
	keeper   *sessions.Keeper
	platform *platforms
	agents   *agents
}

func (i *information) snapshot() any {
	type channel struct {
		On    bool  `json:"on"`
		AppID int64 `json:"appId,omitempty"`
		Check check `json:"check,omitzero"`
		// Socket is how Slack's Socket Mode is, where that is on.
		Socket check `json:"socket,omitzero"`
	}
	type bridgeInfo struct {
		bridgeChoice
		Check check `json:"check"`
	}
	info := struct {
		OK        bool               `json:"ok"`
		Version   string             `json:"version"`
		StartedAt time.Time          `json:"startedAt"`
		Model     string             `json:"model,omitempty"`
		Agent     agentInfo          `json:"agent"`
		Bridge    bridgeInfo         `json:"bridge"`
		Channels  map[string]channel `json:"channels"`
		Engine    sessions.Status    `json:"engine"`
		Disk      state.DiskUsage    `json:"disk,omitzero"`
	}{
		OK:        true,
		Version:   buildVersion(),
		StartedAt: i.started,
		Model:     i.cfg.Model,
		Agent:     i.agents.info(),
		Bridge:    bridgeInfo{i.choice, i.platform.result("bridge")},
		Channels:  map[string]channel{"github": {}, "slack": {}, sessions.ChannelHTTP: {On: true}},
		Engine:    i.engine.Status(),
		Disk:      i.disk(),
	}
	if g := i.cfg.GitHub; g != nil {
		info.Channels["github"] = channel{On: true, AppID: g.AppID, Check: i.platform.result("github")}
	}
	if i.cfg.Slack != nil {
		c := channel{On: true, Check: i.platform.result("slack")}
		if i.cfg.Slack.AppToken != "" {
			c.Socket = i.platform.result(slackSocket)
		}
		info.Channels["slack"] = c
	}
	return info
}

// disk is how much room everything takes, or nothing where that cannot be told.
func (i *information) disk() state.DiskUsage {
	ctx, cancel := context.WithTimeout(context.Background(), diskBudget)
	defer cancel()
	usage, err := i.keeper.Usage(ctx)
	if err != nil {
		return state.DiskUsage{}
	}
	return usage
}

// diskBudget bounds how long an answer waits for it.
const diskBudget = 5 * time.Second

// check is the last result of asking a platform how it is.
type check struct {
	// State is "pending" until the first answer, then "ok" or "failed".
	State   string    `json:"state"`
	At      time.Time `json:"at,omitzero"`
	Detail  string    `json:"detail,omitempty"`
	Problem string    `json:"problem,omitempty"`
}

const (
	// checkEvery is how often platforms are asked; a failed check is asked again sooner.
	checkEvery = 10 * time.Minute
	recheck    = time.Minute
	// checkAfter is how long after the start anybody is asked anything: the bridge is
	// a process that starts with it, and deliveries that come at once go before.
	checkAfter  = 250 * time.Millisecond
	checkBudget = 45 * time.Second
)

// slackSocket is the name of the check on Socket Mode.
const slackSocket = "slack-socket"

// platforms asks, in the background, whether what we depend on is there. It
// never stops intake: what cannot be done now is stored and done later.
type platforms struct {
	log    *slog.Logger
	redact func(string) string
	checks map[string]func(context.Context) (string, error)

	mu      sync.Mutex
	results map[string]check
}

func newPlatforms(client *bridge.Client, channel *github.Channel, talk *slack.Channel, reach *slackAccess, redact func(string) string, log *slog.Logger) *platforms {
	p := &platforms{log: log, redact: redact, results: map[string]check{}, checks: map[string]func(context.Context) (string, error){}}
	p.checks["bridge"] = func(ctx context.Context) (string, error) {
		v, err := client.Version(ctx)
		if err != nil {
			return "", err
		}
		models, err := client.Models(ctx)
		if err != nil {
			return "", err
		}
		detail := "bridge " + v.Bridge
		for i, m := range models {
			if i == 0 {
				detail += ", models:"
			}
			detail += " " + m.ID
		}
		return detail, nil
	}
	if channel != nil {
		p.checks["github"] = func(ctx context.Context) (string, error) {
			app, err := channel.CheckApp(ctx)
			if err != nil {
				return "", err
			}
			return "App " + app.Slug, nil
		}
	}
	if talk != nil {
		p.checks["slack"] = reach.speaks(talk.CheckApp)
	}
	if reach != nil && reach.socket != nil {
		p.checks[slackSocket] = reach.linked
	}
	return p
}

// run asks each platform until ctx ends.
func (p *platforms) run(ctx context.Context) {
	var all sync.WaitGroup
	for name, ask := range p.checks {
		all.Go(func() {
			for wait := checkAfter; ; {
				select {
				case <-ctx.Done():
					return
				case <-time.After(wait):
				}
				wait = checkEvery
				if !p.ask(ctx, name, ask) {
					wait = recheck
				}
			}
		})
	}
	all.Wait()
}

// ask runs one check, records it, and logs it when its state changed.
func (p *platforms) ask(ctx context.Context, name string, ask func(context.Context) (string, error)) bool {
	budget, cancel := context.WithTimeout(ctx, checkBudget)
	defer cancel()
	detail, err := ask(budget)
	if ctx.Err() != nil {
		return true
	}
	result := check{State: "ok", At: time.Now(), Detail: detail}
	if err != nil {
		result.State, result.Problem = "failed", p.redact(err.Error())
	}
	p.mu.Lock()
	before := p.results[name].State
	p.results[name] = result
	p.mu.Unlock()
	switch {
	case before == result.State:
	case err != nil:
		p.log.Warn("platform check failed", "platform", name, "error", err)
	default:
		p.log.Info("platform check passed", "platform", name, "detail", detail)
	}
	return err == nil
}

func (p *platforms) result(name string) check {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.results[name]; ok {
		return r
	}
	return check{State: "pending"}
}

// up says of the platforms that were asked whether they answered.
func (p *platforms) up() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	up := make(map[string]bool, len(p.results))
	for name, r := range p.results {
		up[name] = r.State == "ok"
	}
	return up
}
