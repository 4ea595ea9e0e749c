package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/doctor"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/github/setup"
	"github.com/liaison-bot/liaison/manifests"
	"github.com/liaison-bot/liaison/redact"
)

// doctorTime bounds all that is asked.
const doctorTime = time.Minute

func newDoctor(con *console) *cobra.Command {
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps an installation from working",
		Long: `Look for what keeps an installation from working: settings, the GitHub App with
its permissions, events, webhook, deliveries and installations, the Slack app with
its token, scopes and events, the clock, the public address, the state directory
and the bridge. Each gap is named with what is lost by it and what to do.

With a configuration token of Slack's in SLACK_CONFIG_TOKEN the Slack app is
compared with its manifest too; that token is kept nowhere.

It reads and changes nothing, and the service need not run. Exit status: 0 when
the main job can work (there may be warnings), 1 when it cannot, 2 when a
setting cannot be used.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := config.Load(con.environ, file)
			if err != nil {
				return unusable(err)
			}
			ctx, cancel := context.WithTimeout(c.Context(), doctorTime)
			defer cancel()
			configToken := con.getenv(envSlackConfigToken)
			mask := cfg.Redactor()
			mask.Add(configToken)
			findings, err := examine(ctx, cfg, mask)
			if err != nil {
				return mask.Error(err)
			}
			ofSlack, err := examineSlack(ctx, cfg, configToken)
			if err != nil {
				return mask.Error(err)
			}
			return con.showFindings(append(findings, ofSlack...), asJSON, mask)
		},
	}
	c.Flags().StringVar(&file, "config", "", "settings file (default: "+config.DefaultFile+", if it exists)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// examine gathers the facts, but for those about Slack, and has them judged.
func examine(ctx context.Context, cfg *config.Config, mask *redact.Redactor) ([]doctor.Finding, error) {
	findings := []doctor.Finding{stateDirectory(cfg.StateDir), bridgeFinding(cfg)}
	if cfg.PublicURL != nil {
		findings = append(findings, reachable(ctx, cfg.PublicURL))
	}
	if cfg.GitHub == nil {
		off := doctor.Finding{Subject: "GitHub", Status: doctor.OK, Text: `is off: GITHUB_APP_ID is not set ("liaison setup github" registers an App)`}
		if cfg.Slack == nil {
			off = doctor.Finding{
				Subject: "GitHub", Status: doctor.Warning, Text: "is off: GITHUB_APP_ID is not set",
				Fix: `Register an App with "liaison setup github".`,
			}
		}
		return append(findings, off), nil
	}
	channel, err := github.New(githubOptions(cfg, mask.String))
	if err != nil {
		return nil, err
	}
	manifest, err := setup.Read(manifests.GitHubApp)
	if err != nil {
		return nil, err
	}
	return append(findings, doctor.GitHub(channel.Examine(ctx), doctor.Wanted{
		Manifest: manifest, Public: cfg.PublicURL, Lost: channel.Lost,
	})...), nil
}

// stateDirectory looks whether what has to be remembered can be. The database
// is left alone: the service may have it.
func stateDirectory(dir string) doctor.Finding {
	f := doctor.Finding{Subject: "state", Status: doctor.Failed}
	at := dir
	info, err := os.Stat(at)
	for errors.Is(err, os.ErrNotExist) && at != filepath.Dir(at) {
		at = filepath.Dir(at) // it is made at the first start
		info, err = os.Stat(at)
	}
	switch {
	case err != nil:
		f.Text, f.Fix = err.Error(), "Name another directory in LIAISON_STATE_DIR."
		return f
	case !info.IsDir():
		f.Text, f.Fix = at+" is not a directory", "Name another directory in LIAISON_STATE_DIR."
		return f
	}
	probe, err := os.CreateTemp(at, ".liaison-doctor-*")
	if err != nil {
		f.Text, f.Fix = fmt.Sprintf("nothing can be written below %s: %v", at, err), "Give the directory to the user who runs the service."
		return f
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		f.Text, f.Fix = err.Error(), "Give the directory to the user who runs the service."
		return f
	}
	return doctor.Finding{Subject: "state", Status: doctor.OK, Text: dir + " can be written"}
}

func bridgeFinding(cfg *config.Config) doctor.Finding {
	choice, err := chooseBridge(cfg)
	if err != nil {
		return doctor.Finding{Subject: "bridge", Status: doctor.Failed, Text: err.Error()}
	}
	return doctor.Finding{Subject: "bridge", Status: doctor.OK, Text: fmt.Sprintf("%s: %s", choice.Name, choice.Reason)}
}

// reachable asks this service for its health, the way that GitHub would come.
func reachable(ctx context.Context, public *url.URL) doctor.Finding {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	to := public.JoinPath("/healthz").String()
	f := doctor.Finding{
		Subject: "address", Status: doctor.Warning,
		Fix: "Start the service, and see that LIAISON_PUBLIC_URL leads to it: DNS, certificate, proxy.",
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to, http.NoBody)
	if err != nil {
		f.Text = err.Error()
		return f
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		f.Text = "nothing answers: " + err.Error()
		return f
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		f.Text = fmt.Sprintf("%s answers %s", to, resp.Status)
		return f
	}
	return doctor.Finding{Subject: "address", Status: doctor.OK, Text: public.String() + " answers"}
}

// showFindings prints what was found. What strangers named is shown harmless.
func (con *console) showFindings(findings []doctor.Finding, asJSON bool, mask *redact.Redactor) error {
	for i, f := range findings {
		findings[i].Text, findings[i].Fix = mask.String(f.Text), mask.String(f.Fix)
	}
	if asJSON {
		if err := writeJSON(con.out, findings); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintf(con.out, "%-8s %-14s %s\n", f.Status, f.Subject, terminal.Line(f.Text))
			if f.Fix != "" {
				fmt.Fprintf(con.out, "%-8s %-14s → %s\n", "", "", terminal.Line(f.Fix))
			}
		}
	}
	if doctor.Worst(findings) == doctor.Failed {
		return exitStatus{status: exitFailed}
	}
	return nil
}
