package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/redeliver"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

func newGitHub(con *console) *cobra.Command {
	c := group("github", "GitHub's deliveries, for development")
	c.AddCommand(newGitHubReplay(newConnection(con, c)))
	return c
}

// deliveryName is what GitHub calls a delivery, or one attempt at it, in
// maxDeliveryName bytes at most.
var deliveryName = lazyregexp.New(`^[0-9A-Fa-f-]+$`)

const maxDeliveryName = 64

func newGitHubReplay(conn *connection) *cobra.Command {
	r := &replaying{conn: conn}
	var event string
	c := &cobra.Command{
		Use:   "replay FILE|DELIVERY",
		Short: "Post a delivery from a file, or from GitHub's record, to the running service",
		Long: `Post a delivery to the running service, as GitHub would.

A file is an HTTP message (headers, an empty line, the body), what "deliveries
show --body --json" printed, or a body alone, with --event; - is standard input.
Anything else is the id of a delivery, or of one attempt at it, as the App's
settings show them under Advanced; it is fetched from GitHub with the App's key,
which GitHub allows for three days.

The delivery is signed anew with the first of GITHUB_WEBHOOK_SECRET and gets a
fresh id, unless --same-id is set: the service takes each id once.`,
		Example: `  liaison github replay opened.http
  liaison github replay opened.json --event pull_request
  liaison github replay 72d3162e-cc78-11e3-81ab-4c9367dc0958 --same-id`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := r.named(c.Context(), args[0], event)
			if err != nil {
				return err
			}
			if d.Source != redeliver.GitHub {
				return unusable(fmt.Errorf("%s holds a delivery of %s; \"liaison deliveries replay\" posts those", args[0], d.Source))
			}
			return r.post(c.Context(), d)
		},
	}
	c.Flags().StringVar(&event, "event", "", "the event, such as pull_request, where the file does not say it")
	c.Flags().BoolVar(&r.sameID, "same-id", false, "keep the delivery's id")
	return c
}

// named reads a delivery from a file, or else fetches it from GitHub.
func (r *replaying) named(ctx context.Context, name, event string) (*redeliver.Delivery, error) {
	if _, err := os.Stat(name); name != "-" && errors.Is(err, fs.ErrNotExist) {
		if len(name) > maxDeliveryName || !deliveryName.MatchString(name) {
			return nil, unusable(fmt.Errorf("%s is neither a file nor the id of a delivery", name))
		}
		return r.fetched(ctx, name)
	}
	saved, err := r.contents(name)
	if err != nil {
		return nil, unusable(err)
	}
	d, err := redeliver.ParseFile(saved, event)
	if err != nil {
		return nil, unusable(fmt.Errorf("%s: %w", name, err))
	}
	return d, nil
}

// fetched asks GitHub for a delivery, as the App of the settings.
func (r *replaying) fetched(ctx context.Context, id string) (*redeliver.Delivery, error) {
	cfg, err := config.Load(r.conn.con.environ, r.conn.config)
	switch {
	case err != nil:
		return nil, unusable(err)
	case cfg.GitHub == nil:
		return nil, unusable(fmt.Errorf("set %s and the App's key: the delivery is fetched from GitHub in its name", config.EnvGitHubAppID))
	}
	channel, err := github.New(github.Options{
		AppID: cfg.GitHub.AppID, Key: cfg.GitHub.PrivateKey, APIURL: cfg.GitHub.APIURL.String(), Version: buildVersion(),
	})
	if err != nil {
		return nil, unusable(err)
	}
	d, err := channel.HookDelivery(ctx, id)
	if err != nil {
		return nil, err
	}
	return &redeliver.Delivery{Source: redeliver.GitHub, Event: d.Event, ID: d.GUID, Headers: d.Headers, Body: d.Body}, nil
}
