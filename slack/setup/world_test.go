package setup_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/manifests"
	"github.com/liaison-bot/liaison/slack/setup"
)

const (
	configToken = "xoxe.xoxp-1-config"
	appToken    = "xapp-1-app"
	team        = "T0ACME"
)

// world is a simulated Slack with one workspace.
type world struct {
	*sim.Slack
	site   setup.Site
	client *http.Client
}

func newWorld(t *testing.T, edit func(*sim.SlackOptions)) *world {
	t.Helper()
	o := sim.SlackOptions{ConfigToken: configToken, AppToken: appToken}
	if edit != nil {
		edit(&o)
	}
	s := sim.NewSlack(o)
	api, err := s.Start()
	must(t, err)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = s.Close()
	})
	site, err := setup.ParseSite(api)
	must(t, err)
	return &world{Slack: s, site: site, client: &http.Client{Transport: transport}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func address(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	must(t, err)
	return u
}

func read(t *testing.T, source []byte) setup.Manifest {
	t.Helper()
	m, err := setup.Read(source)
	must(t, err)
	return m
}

// ours is the manifest of a service at a public URL.
func ours(t *testing.T) setup.Manifest {
	t.Helper()
	m, err := read(t, manifests.SlackApp).For(address(t, "https://bots.example.com/liaison/"), "")
	must(t, err)
	return m
}
