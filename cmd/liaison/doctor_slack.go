package main

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/doctor"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/manifests"
	"github.com/liaison-bot/liaison/slack/setup"
)

// examineSlack gathers the facts about Slack and has them judged.
func examineSlack(ctx context.Context, cfg *config.Config, configToken string) ([]doctor.Finding, error) {
	c := cfg.Slack
	if c == nil {
		return []doctor.Finding{{
			Subject: "Slack", Status: doctor.OK, Text: `is off: neither SLACK_SIGNING_SECRET nor SLACK_APP_TOKEN is set ("liaison setup slack" creates an app)`,
		}}, nil
	}
	client := &http.Client{Timeout: slackTimeout}
	defer client.CloseIdleConnections()
	settings := doctor.SlackSettings{
		Webhooks: len(c.SigningSecrets) > 0, Socket: c.AppToken != "", Token: c.BotToken != "", OAuth: c.OAuth != nil,
		Public: cfg.PublicURL, ConfigToken: configToken != "",
	}
	if settings.Webhooks && cfg.PublicURL != nil {
		settings.Challenge = setup.Challenge(ctx, client, cfg.PublicURL, c.SigningSecrets[0], rand.Text(), time.Now())
	}
	for _, w := range c.Talk.Watch {
		settings.Watched = append(settings.Watched, w.Channel)
	}
	site, err := setup.ParseSite(c.APIURL.String())
	if err != nil {
		return nil, err
	}
	asked := setup.Asked{
		Site: site, BotToken: c.BotToken, AppToken: c.AppToken, HTTPClient: client, Now: time.Now,
		Channels: slices.Concat(settings.Watched, c.Talk.Channels),
		People:   slices.Concat(c.Talk.Users, slices.Collect(maps.Keys(c.Talk.People))),
	}
	source, public := manifests.SlackApp, cfg.PublicURL
	if settings.Socket {
		source, public = manifests.SlackAppSocket, nil
	}
	if asked.Manifest, err = setup.Read(source); err != nil {
		return nil, err
	}
	// Without an address that Slack takes there is nothing to compare with.
	if wanted, err := asked.Manifest.For(public, ""); err == nil {
		asked.Manifest, asked.ConfigToken = wanted, configToken
	}
	return doctor.Slack(setup.Examine(ctx, asked), settings), nil
}
