package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/envfile"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/manifests"
	"github.com/liaison-bot/liaison/slack/install"
	"github.com/liaison-bot/liaison/slack/setup"
)

// envSlackConfigToken is read by these commands only, and is no setting: the token
// lasts 12 hours and is good for every app of its owner.
const envSlackConfigToken = "SLACK_CONFIG_TOKEN"

// setupSlack is what the command line asked for.
type setupSlack struct {
	con     *console
	answers *terminal.Answers

	publicURL, name, app, out string
	socket, oauth, force, yes bool
	link, manifestOnly        bool
	site                      setup.Site
	manifest                  setup.Manifest
	public                    *url.URL // nil with Socket Mode
	left                      []string // settings that nobody gave
	kept                      bool     // the file has something of the app
}

func newSetupSlack(con *console) *cobra.Command {
	s := &setupSlack{con: con}
	c := &cobra.Command{
		Use:   "slack",
		Short: "Create or update a Slack app and keep its secrets in a file",
		Long: `Create a Slack app for this service, or update one.

With a configuration token, from the end of https://api.slack.com/apps, the app
is created from Liaison's manifest: its scopes, events, command and shortcut.
Without one a link is printed, which opens Slack's page with that manifest. Then
you install the app, and give here what Slack shows you. Each token is tried, and
written into a file that only you can read. The configuration token is kept
nowhere; it is asked for, or taken from SLACK_CONFIG_TOKEN.

With --app an app that is there is compared with the manifest, and updated when
you agree. What you call it stays.`,
		Example: `  liaison setup slack --url https://liaison.example.com
  liaison setup slack --socket                  no public address needed
  liaison setup slack --url https://… --oauth   many workspaces, by /slack/install
  liaison setup slack --url https://… --app A0123456789   after an upgrade of Liaison`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&s.publicURL, "url", "", "where the service is reached from outside, by https (default LIAISON_PUBLIC_URL)")
	f.BoolVar(&s.socket, "socket", false, "use Socket Mode: the service asks Slack, and needs no public address")
	f.BoolVar(&s.oauth, "oauth", false, "let workspaces install the app themselves, at /slack/install")
	f.StringVar(&s.name, "name", "", "name of the app, at most 35 characters (default that of the manifest)")
	f.StringVar(&s.app, "app", "", "id of an app to compare and update instead of creating one")
	f.StringVar(&s.out, "out", ".env", "file for the app's secrets")
	f.BoolVar(&s.force, "force", false, "replace the app that the file names")
	f.BoolVar(&s.yes, "yes", false, "update without asking")
	f.BoolVar(&s.link, "link", false, "print the link to Slack's page and do nothing else")
	f.BoolVar(&s.manifestOnly, "manifest-only", false, "print the manifest as YAML and do nothing else")
	return c
}

func (s *setupSlack) run(ctx context.Context) error {
	if err := s.prepare(); err != nil {
		return unusable(err)
	}
	switch {
	case s.manifestOnly:
		_, err := fmt.Fprint(s.con.out, s.manifest.YAML())
		return err
	case s.link:
		_, err := fmt.Fprintln(s.con.out, s.manifest.Link(s.site))
		return err
	}
	s.answers = terminal.NewAnswers(s.con.in)
	if s.app != "" {
		return s.update(ctx)
	}
	// Slack hands the secrets out once: whether they can be kept is looked at before.
	if err := envfile.Check(s.out, s.names(), s.force); err != nil {
		return unusable(fmt.Errorf("%w (--out, --force); for the app that it names there is --app", err))
	}
	token, err := s.configToken(ctx, ", or Enter to create the app by hand")
	if err != nil {
		return err
	}
	var app setup.App
	if token != "" {
		app, err = s.create(ctx, token)
	} else {
		err = s.byHand(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.tokens(ctx, app); err != nil {
		return err
	}
	s.report(app)
	return nil
}

// prepare reads the flags into the manifest.
func (s *setupSlack) prepare() error {
	api := s.con.getenv(config.EnvSlackAPIURL)
	if api == "" {
		api = "https://slack.com/api/"
	}
	var err error
	if s.site, err = setup.ParseSite(api); err != nil {
		return fmt.Errorf("%s: %w", config.EnvSlackAPIURL, err)
	}
	source := manifests.SlackApp
	switch {
	case s.socket && s.oauth:
		return errors.New("--oauth needs a public address, and --socket is for having none")
	case s.socket:
		source = manifests.SlackAppSocket
	default:
		if s.publicURL == "" {
			s.publicURL = s.con.getenv(config.EnvPublicURL)
		}
		if s.publicURL != "" {
			s.public, err = url.Parse(s.publicURL)
			if err != nil || s.public.Host == "" {
				return fmt.Errorf("%q is not a URL such as https://liaison.example.com", s.publicURL)
			}
		}
	}
	if s.manifest, err = setup.Read(source); err != nil {
		return err
	}
	s.manifest, err = s.manifest.For(s.public, s.name)
	return err
}

// names are the settings that this way needs.
func (s *setupSlack) names() []string {
	switch {
	case s.socket:
		return []string{config.EnvSlackAppToken, config.EnvSlackBotToken}
	case s.oauth:
		return []string{config.EnvSlackSecret, config.EnvSlackClientID, config.EnvSlackClientKey}
	}
	return []string{config.EnvSlackSecret, config.EnvSlackBotToken}
}

// client asks Slack.
func (s *setupSlack) client() *http.Client { return &http.Client{Timeout: exchangeTime} }

// create makes the app and keeps its secrets at once.
func (s *setupSlack) create(ctx context.Context, token string) (setup.App, error) {
	app, err := setup.NewRegistrar(s.site, s.client(), token).Create(ctx, s.manifest)
	if err != nil {
		return app, err
	}
	if !s.socket {
		values := []envfile.Value{{Name: config.EnvSlackSecret, Value: app.SigningSecret}}
		if s.oauth {
			values = append(values, envfile.Value{Name: config.EnvSlackClientID, Value: app.ClientID}, envfile.Value{Name: config.EnvSlackClientKey, Value: app.ClientSecret})
		}
		if err := s.keep(values...); err != nil {
			return app, fmt.Errorf("the app %s is created, but its secrets could not be kept: %w. They are on %s", app.ID, err, s.site.AppPage(app.ID, "general"))
		}
	}
	fmt.Fprintf(s.con.out, "Created the app %s: %s\n", app.ID, s.site.AppPage(app.ID, "general"))
	return app, nil
}

// byHand has a person create the app.
func (s *setupSlack) byHand(ctx context.Context) error {
	fmt.Fprintf(s.con.out, "Open this page, choose your workspace and create the app:\n\n  %s\n\n", s.manifest.Link(s.site))
	if s.socket {
		return nil
	}
	asked := []question{{config.EnvSlackSecret, "Signing secret, under \"Basic Information\"", checkSigningSecret}}
	if s.oauth {
		asked = append(asked, question{config.EnvSlackClientID, "Client ID, from the same page", nil}, question{config.EnvSlackClientKey, "Client secret", nil})
	}
	for _, q := range asked {
		if err := s.ask(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// keep writes settings into the file, and those that go with them.
func (s *setupSlack) keep(values ...envfile.Value) error {
	if err := envfile.Set(s.out, values, s.force); err != nil {
		return err
	}
	s.kept = true
	var more []envfile.Value
	if s.public != nil && s.con.getenv(config.EnvPublicURL) == "" {
		more = append(more, envfile.Value{Name: config.EnvPublicURL, Value: s.public.String()})
	}
	if api := s.con.getenv(config.EnvSlackAPIURL); api != "" {
		more = append(more, envfile.Value{Name: config.EnvSlackAPIURL, Value: s.site.API})
	}
	if s.oauth && s.con.getenv(config.EnvEncryptionKey) == "" {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		more = append(more, envfile.Value{Name: config.EnvEncryptionKey, Value: base64.StdEncoding.EncodeToString(key)})
	}
	for _, v := range more {
		// What is there stays: another key would open none of the tokens that are kept.
		if err := envfile.Set(s.out, []envfile.Value{v}, false); err != nil {
			if _, taken := errors.AsType[*envfile.TakenError](err); !taken {
				return err
			}
		}
	}
	return nil
}

// report says what is left to do.
func (s *setupSlack) report(app setup.App) {
	out := s.con.out
	if !s.kept {
		fmt.Fprintf(out, "\nNothing is kept yet: %s are to be set. Once the app is there, run this again and press Enter at the configuration token.\n", strings.Join(s.left, " and "))
		return
	}
	fmt.Fprintf(out, "\nThe app's secrets are in %s, readable by you only.\n\n", s.out)
	if len(s.left) > 0 {
		fmt.Fprintf(out, "  still to set  %s, in that file\n", strings.Join(s.left, ", "))
	}
	fmt.Fprintf(out, "  run it here   %s\n", runHere(s.out))
	fmt.Fprintf(out, "  or on Fly.io  fly secrets import < %s\n", s.out)
	fmt.Fprintf(out, "  check it      liaison doctor\n")
	switch {
	case s.oauth:
		fmt.Fprintf(out, "  install it    %s, once the service runs; for workspaces other than your own\n"+
			"                activate \"Public Distribution\" under \"Manage Distribution\" first\n", s.public.JoinPath(install.PathInstall))
	case !s.socket && app.ID != "":
		fmt.Fprintf(out, "  once it runs  let Slack verify the request URL: %s\n", s.site.AppPage(app.ID, "event-subscriptions"))
	case !s.socket:
		fmt.Fprintf(out, "  once it runs  let Slack verify the request URL, on the app's page under \"Event Subscriptions\"\n")
	}
	fmt.Fprintf(out, "  talk to it    invite it to a channel (/invite @…) and mention it, or write to it directly\n")
}
