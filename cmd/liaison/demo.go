package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/internal/sim"
)

func newDemo(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var once, verbose bool
	var record string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch the main job on simulated platforms",
		Long: `Watch signed webhooks become reviews and answers on a pull request: a review
with remarks on lines, a label that a person approves by a button, a question, a
push during the review, a re-run, a stop. Then in Slack: a mention, a follow-up
while the agent is busy, a stop, a review that is handed over to a pull request
and reported back, and an announcement that a person approves on a card.

Simulators of GitHub and Slack and the service, with its bridge as a child
process, run on loopback in a temporary directory. Of your environment only
LIAISON_LOG_LEVEL is used, and nothing leaves this machine. Each step is
verified on the simulators' side.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			seen, err := newExchanges(record)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, seen.close()) }()
			if verbose {
				return demo(c.Context(), environ, once, seen.watch(), stdout, stderr)
			}
			var logs lastLines
			err = demo(c.Context(), environ, once, seen.watch(), stdout, &logs)
			if err != nil && c.Context().Err() == nil {
				logs.writeTo(stderr)
			}
			return err
		},
	}
	c.Flags().BoolVar(&once, "once", false, "leave when every step is verified, with status 0 only then")
	c.Flags().StringVar(&record, "exchanges", "", "write each request to the simulated GitHub and its answer to this file, as lines of JSON")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show the service's own log on standard error")
	return c
}

const (
	// demoStep bounds each step: generous for a slow machine, and no reason to wait for ever.
	demoStep = 60 * time.Second

	demoAppID        = 424242
	demoInstallation = 7
	demoRepository   = "octo/shop"
)

// demo plays the main job against the service.
func demo(ctx context.Context, environ []string, once bool, watch func(sim.Exchange), stdout, logs io.Writer) (err error) {
	// A reader that goes away is noticed below, and everything is cleaned up;
	// by default the signal would end the process at once.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)

	dir, err := os.MkdirTemp("", "liaison-demo-")
	if err != nil {
		return fmt.Errorf("the demo needs a temporary directory (TMPDIR names where): %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	secret := randomHex(24)
	hub := sim.NewGitHub(sim.GitHubOptions{AppID: demoAppID, Slug: "liaison", PublicKey: &key.PublicKey, WebhookSecret: secret, Watch: watch})
	apiURL, err := hub.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hub.Close()) }()

	chat := sim.NewSlack(sim.SlackOptions{SigningSecret: secret})
	chatURL, err := chat.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, chat.Close()) }()
	acme := chat.AddWorkspace(sim.Workspace{ID: demoTeam, Name: "Acme"})
	chat.AddUser(sim.SlackUser{ID: demoPerson, Team: demoTeam, Name: "mona"})
	chat.AddUser(sim.SlackUser{ID: demoApproverSlack, Team: demoTeam, Name: demoApprover})
	chat.AddChannel(sim.SlackChannel{ID: demoChannel, Team: demoTeam, Name: "payments"})
	chat.AddChannel(sim.SlackChannel{ID: demoLaunches, Team: demoTeam, Name: "launches"})
	folder, err := demoAgent(dir)
	if err != nil {
		return err
	}

	show := &screen{w: stdout, lost: abandon}
	show.step("A GitHub on %s, a Slack on %s, and Liaison %s beside them", apiURL, chatURL, buildVersion())
	cfg, err := demoConfig(environ, dir, apiURL, key, secret,
		config.EnvSlackSecret+"="+secret, config.EnvSlackBotToken+"="+acme.BotToken, config.EnvSlackAPIURL+"="+chatURL,
		config.EnvPeople+"="+demoPerson+"=mona,"+demoApproverSlack+"="+demoApprover, config.EnvAgentDir+"="+folder)
	if err != nil {
		return unusable(err)
	}
	secrets := cfg.Redactor()
	recent := api.NewLogs(cfg.LogLevel)
	s, err := newService(ctx, cfg, secrets, newLogger(logs, "text", cfg.LogLevel, secrets, recent), recent)
	if err != nil {
		return err
	}
	// The service outlives ctx, so that it is always stopped in the same way.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan error, 1)
	go func() { stopped <- s.run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-stopped)
		s.close()
	}()

	play := &play{
		hub:     hub,
		webhook: "http://" + s.listener.Addr().String() + "/webhooks/github",
		events:  filepath.Join(dir, "sessions"),
		show:    show,
		printed: map[string]int{},
	}
	err = play.run(ctx)
	if err == nil {
		chat.SetTarget("http://" + s.listener.Addr().String() + "/webhooks/slack")
		err = (&talk{play: play, chat: chat, bot: acme.BotUser}).run(ctx)
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.Canceled):
		return errors.New("stopped before every step was verified")
	case cause != nil:
		return cause
	case err != nil:
		return fmt.Errorf("the demo failed: %w", err)
	}
	show.step("Verified on the simulators' side: each check concluded, one comment with results, updated in place; in Slack one answer to each question; what needed a person was done once, after a person's decision")
	if !once {
		show.line("Stop with Ctrl-C. The service listens on http://%s; try /healthz, /readyz, /v1/info.", s.listener.Addr())
		<-ctx.Done()
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// demoConfig is what an operator would put into the environment.
func demoConfig(environ []string, dir, apiURL string, key *rsa.PrivateKey, secret string, more ...string) (*config.Config, error) {
	encoded := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	level := "info"
	if l := lookup(environ)(config.EnvLogLevel); l != "" {
		level = l
	}
	// An empty file, so that no liaison.yaml of the working directory takes part.
	file := filepath.Join(dir, "liaison.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return nil, err
	}
	return config.Load(append(more,
		config.EnvAddr+"=127.0.0.1:0",
		config.EnvStateDir+"="+dir,
		config.EnvLogLevel+"="+level,
		config.EnvGitHubAppID+"="+strconv.Itoa(demoAppID),
		config.EnvGitHubKey+"="+string(encoded),
		config.EnvGitHubSecret+"="+secret,
		config.EnvGitHubAPIURL+"="+apiURL,
		config.EnvBotName+"=liaison",
		config.EnvGitHubWritePause+"=0", // the simulated GitHub has no limit on bursts
	), file)
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails: https://pkg.go.dev/crypto/rand#Read
	return hex.EncodeToString(b)
}
