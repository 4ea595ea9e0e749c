package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/envfile"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github/setup"
	"github.com/liaison-bot/liaison/manifests"
)

const (
	// setupTime is how long somebody may take on GitHub's pages.
	setupTime = 10 * time.Minute
	// exchangeTime bounds the one call for the App's secrets.
	exchangeTime = 30 * time.Second
)

func newSetup(con *console) *cobra.Command {
	return group("setup", "Register Liaison with a platform", newSetupGitHub(con), newSetupSlack(con))
}

// setupGitHub is what the command line asked for.
type setupGitHub struct {
	con *console

	publicURL, organization, site, name, out string
	port                                     int
	force, noBrowser, manifestOnly           bool
}

func newSetupGitHub(con *console) *cobra.Command {
	s := &setupGitHub{con: con}
	c := &cobra.Command{
		Use:   "github",
		Short: "Register a GitHub App and keep its secrets in a file",
		Long: `Register a GitHub App for this service.

A page opens in your browser, on this machine only. Its button takes you to
GitHub with the App's manifest: which permissions and events it asks for. When
you have confirmed there, GitHub sends the browser back, and the App's id,
private key and webhook secret are written into a file that only you can read.

On a machine without a browser, forward the port and open the page on yours:

  ssh -L 8899:127.0.0.1:8899 HOST liaison setup github --port 8899`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&s.publicURL, "url", "", "where the service is reached from outside (default LIAISON_PUBLIC_URL); without one the webhook stays inactive")
	f.StringVar(&s.organization, "org", "", "login of the organisation that shall own the App (default yourself)")
	f.StringVar(&s.site, "github", "https://github.com", "address of GitHub, such as https://github.example.com for an Enterprise Server")
	f.StringVar(&s.name, "name", "", "name of the App, at most 34 characters; names are unique on GitHub (default that of the manifest)")
	f.StringVar(&s.out, "out", ".env", "file for the App's id and secrets")
	f.IntVar(&s.port, "port", 0, "port of the local page (default any free one)")
	f.BoolVar(&s.force, "force", false, "replace the App that the file names")
	f.BoolVar(&s.noBrowser, "no-browser", false, "only print the address of the local page")
	f.BoolVar(&s.manifestOnly, "manifest-only", false, "print the manifest as JSON and do nothing else")
	return c
}

// settingsOf are the names of what is written.
func settingsOf(c setup.Credentials, site setup.Site) []envfile.Value {
	values := []envfile.Value{
		{Name: config.EnvGitHubAppID, Value: strconv.FormatInt(c.ID, 10)},
		// Base64 needs no quotes, about which shells and containers disagree.
		{Name: config.EnvGitHubKey, Value: base64.StdEncoding.EncodeToString([]byte(c.PrivateKey))},
		{Name: config.EnvGitHubSecret, Value: c.WebhookSecret},
	}
	if site.API.String() != "https://api.github.com/" {
		values = append(values, envfile.Value{Name: config.EnvGitHubAPIURL, Value: site.API.String()})
	}
	return values
}

func (s *setupGitHub) run(ctx context.Context) error {
	manifest, site, err := s.prepare()
	if err != nil {
		return unusable(err)
	}
	if s.manifestOnly {
		_, err := fmt.Fprintln(s.con.out, manifest.JSON())
		return err
	}
	// GitHub hands the secrets out once: whether they can be kept is looked at before.
	var names []string
	for _, v := range settingsOf(setup.Credentials{}, site) {
		names = append(names, v.Name)
	}
	if err := envfile.Check(s.out, names, s.force); err != nil {
		return unusable(fmt.Errorf("%w (--out, --force)", err))
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	if err != nil {
		return unusable(fmt.Errorf("the local page has no port: %w", err))
	}
	app, err := s.serve(ctx, listener, site, manifest)
	if err != nil {
		return err
	}
	return s.report(app, manifest.Hook.Active)
}

// prepare reads the flags into the manifest and the address of GitHub.
func (s *setupGitHub) prepare() (setup.Manifest, setup.Site, error) {
	var none setup.Manifest
	site, err := setup.ParseSite(s.site, s.con.getenv(config.EnvGitHubAPIURL))
	if err != nil {
		return none, site, err
	}
	var public *url.URL
	if s.publicURL == "" {
		s.publicURL = s.con.getenv(config.EnvPublicURL)
	}
	if s.publicURL != "" {
		public, err = url.Parse(s.publicURL)
		if err != nil || public.Host == "" || public.Scheme != "https" && public.Scheme != "http" {
			return none, site, fmt.Errorf("%q is not a URL such as https://liaison.example.com", s.publicURL)
		}
	}
	manifest, err := setup.Read(manifests.GitHubApp)
	if err != nil {
		return none, site, err
	}
	manifest, err = manifest.For(public, s.name)
	return manifest, site, err
}

// serve shows the local page until the App is registered.
func (s *setupGitHub) serve(ctx context.Context, l net.Listener, site setup.Site, m setup.Manifest) (setup.Credentials, error) {
	type outcome struct {
		app setup.Credentials
		err error
	}
	ended := make(chan outcome, 1)
	addr := l.Addr().String()
	page, err := setup.NewPage(site, s.organization, m, addr, rand.Text(), func(code string) (string, error) {
		app, err := s.exchange(ctx, site, code)
		ended <- outcome{app, err}
		return app.InstallURL(), err
	})
	if err != nil {
		return setup.Credentials{}, errors.Join(unusable(err), l.Close())
	}
	server := &http.Server{Handler: page, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // always ErrServerClosed after Shutdown
	}()
	defer func() {
		// The browser gets its last page.
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(closing)
		<-served
	}()

	address := "http://" + addr + "/"
	if !s.noBrowser && browse(ctx, address) == nil {
		fmt.Fprintf(s.con.out, "Your browser opens %s\nWaiting for GitHub, at most %s …\n", address, setupTime)
	} else {
		fmt.Fprintf(s.con.out, "Open %s in your browser.\nWaiting for GitHub, at most %s …\n", address, setupTime)
	}
	late := time.NewTimer(setupTime)
	defer late.Stop()
	select {
	case o := <-ended:
		return o.app, o.err
	case <-late.C:
		return setup.Credentials{}, fmt.Errorf("nobody came back from GitHub within %s; run the command again", setupTime)
	case <-ctx.Done():
		return setup.Credentials{}, ctx.Err()
	}
}

// exchange fetches the secrets and keeps them at once.
func (s *setupGitHub) exchange(ctx context.Context, site setup.Site, code string) (setup.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	app, err := setup.Exchange(ctx, client, site, code, "liaison/"+buildVersion())
	if err != nil {
		return app, err
	}
	if err := envfile.Set(s.out, settingsOf(app, site), s.force); err != nil {
		return app, fmt.Errorf("the App %q is registered, but its secrets could not be kept: %w. "+
			"Make a new private key and webhook secret on %s", app.Name, err, app.URL)
	}
	return app, nil
}

// report says what is left to do.
func (s *setupGitHub) report(app setup.Credentials, active bool) error {
	fmt.Fprintf(s.con.out, "\nRegistered the App %s (%d), owned by %s.\n", terminal.Text(app.Name), app.ID, terminal.Text(app.Owner))
	fmt.Fprintf(s.con.out, "Its id, private key and webhook secret are in %s, readable by you only.\n\n", s.out)
	fmt.Fprintf(s.con.out, "  install it    %s\n", terminal.Text(app.InstallURL()))
	fmt.Fprintf(s.con.out, "  run it here   %s\n", runHere(s.out))
	fmt.Fprintf(s.con.out, "  or on Fly.io  fly secrets import < %s\n", s.out)
	fmt.Fprintf(s.con.out, "  check it      liaison doctor\n")
	if !active {
		fmt.Fprintf(s.con.out, "\nThe webhook is inactive, since no public URL is known. Once there is one, set it\n"+
			"and tick \"Active\" on the App's page: %s\n", terminal.Text(app.URL))
	}
	return nil
}

// runHere is the command that runs the service with a file's settings.
func runHere(file string) string {
	if filepath.Base(file) == file {
		file = "./" + file // a shell looks for a bare name elsewhere
	}
	return "set -a; . " + file + "; set +a; liaison serve"
}

// browse opens an address in the person's browser.
func browse(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("no display")
		}
	}
	c := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // how the browser ends is its own affair
	return nil
}
