package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/slack/install"
	"github.com/liaison-bot/liaison/slack/setup"
	"github.com/liaison-bot/liaison/slack/socket"
	"github.com/liaison-bot/liaison/slack/workspace"
	"github.com/liaison-bot/liaison/state"
)

// slackTimeout bounds a call of Slack's API about tokens and links.
const slackTimeout = 30 * time.Second

// slackAccess is how Slack is reached and who is known there.
type slackAccess struct {
	workspaces workspace.Source
	installs   *install.Store   // nil where workspaces cannot install the app themselves
	pages      *install.Handler // likewise
	socket     *socket.Client   // nil where Socket Mode is off
	bot        setup.Asked      // the one token that was given; empty without
	log        *slog.Logger
}

// newSlackAccess asks nobody yet. take stores what comes by Socket Mode.
func newSlackAccess(cfg *config.Config, vault state.Vault, take *handlers.Direct, log *slog.Logger) (*slackAccess, error) {
	a := &slackAccess{log: log}
	client := &http.Client{Timeout: slackTimeout}
	api := cfg.Slack.APIURL.String()
	var sources install.First
	if o := cfg.Slack.OAuth; o != nil {
		var err error
		a.installs, err = install.NewStore(install.Options{
			Vault: vault, Keys: o.Keys, ClientID: o.ClientID, ClientSecret: o.ClientSecret,
			Allowed: o.Workspaces, APIURL: api, HTTPClient: client, Now: time.Now, Rand: rand.Reader, Logger: log,
		})
		if err != nil {
			return nil, err
		}
		a.pages, err = install.NewHandler(install.HandlerOptions{Store: a.installs, PublicURL: cfg.PublicURL, Scopes: setup.ScopeNames()})
		if err != nil {
			return nil, err
		}
		sources = append(sources, a.installs)
	}
	if token := cfg.Slack.BotToken; token != "" {
		site, err := setup.ParseSite(api)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", config.EnvSlackAPIURL, err)
		}
		a.bot = setup.Asked{Site: site, BotToken: token, HTTPClient: client, Now: time.Now}
		sources = append(sources, install.NewSingle(install.SingleOptions{Token: token, APIURL: api, HTTPClient: client, Now: time.Now}))
	}
	if len(sources) == 0 {
		log.Warn(errMute.Error())
	}
	a.workspaces = sources
	if token := cfg.Slack.AppToken; token != "" {
		a.socket = socket.New(socket.Options{
			AppToken: token, APIURL: api, HTTPClient: client, Now: time.Now, Rand: mathrand.Float64, Logger: log,
			Accept: func(ctx context.Context, f socket.Frame) error {
				return take.Take(ctx, f.Delivery(time.Now()))
			},
		})
	}
	return a, nil
}

// errMute is that there is no token, and no way to one.
var errMute = fmt.Errorf("nothing can be said in Slack: set %s once the app is installed, or %s to let workspaces install it", config.EnvSlackBotToken, config.EnvSlackClientID)

// speaks adds to a check of who we are whether that can answer anybody: a token
// that is taken and lacks a scope looks well, and questions wait in silence.
func (a *slackAccess) speaks(who func(context.Context) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if a.installs == nil && a.bot.BotToken == "" {
			return "", errMute
		}
		detail, err := who(ctx)
		if err != nil || a.bot.BotToken == "" {
			return detail, err
		}
		e := setup.Examine(ctx, a.bot)
		if e.BotErr != nil {
			return "", e.BotErr
		}
		if len(e.Bot.Scopes) == 0 {
			return detail, nil // a proxy may keep the header to itself
		}
		var missing []string
		essential := false
		for _, s := range setup.Missing(e.Bot.Scopes) {
			missing = append(missing, s.Name)
			essential = essential || s.Essential
		}
		if len(missing) == 0 {
			return detail, nil
		}
		lacks := fmt.Sprintf(`the bot token lacks scopes: %s ("liaison doctor" says what is lost)`, strings.Join(missing, ", "))
		if essential {
			return "", errors.New(lacks)
		}
		return detail + "; " + lacks, nil
	}
}

// prepare seals what is kept with the first key, so that others can be dropped.
func (a *slackAccess) prepare(ctx context.Context) {
	if a.installs == nil {
		return
	}
	sealed, err := a.installs.Reseal(ctx)
	if sealed > 0 {
		a.log.Info("tokens of Slack's were sealed anew with the first key", "installations", sealed)
	}
	if err != nil {
		a.log.Error("an installation of the Slack app cannot be used", "error", err)
	}
}

// socketPause is how long Socket Mode is left alone after Slack refused it for
// good: somebody has to change something first, perhaps at Slack.
const socketPause = 10 * time.Minute

// run receives by Socket Mode, if it is on, until ctx ends. What ends it never
// ends the service, which has other doors.
func (a *slackAccess) run(ctx context.Context) {
	for a.socket != nil {
		err := a.socket.Run(ctx)
		if ctx.Err() != nil {
			return
		}
		a.log.Error("nothing comes from Slack by Socket Mode", "error", err, "retry_in", socketPause.String())
		select {
		case <-ctx.Done():
			return
		case <-time.After(socketPause):
		}
	}
}

// linked says how the link of Socket Mode is, with an error while there is none.
func (a *slackAccess) linked(context.Context) (string, error) {
	s := a.socket.Status()
	if !s.Connected {
		return "", fmt.Errorf("there is no link to Slack by Socket Mode: %s", cmp.Or(s.Reason, "it is being opened"))
	}
	if s.LastPing.IsZero() {
		return "linked since " + s.Since.UTC().Format(time.RFC3339), nil
	}
	return fmt.Sprintf("linked since %s, last ping %s", s.Since.UTC().Format(time.RFC3339), s.LastPing.UTC().Format(time.RFC3339)), nil
}

// routes are the pages of an installation, or nil.
func (a *slackAccess) routes() http.Handler {
	if a.pages == nil {
		return nil
	}
	return a.pages
}
