package install_test

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/install"
	"github.com/liaison-bot/liaison/slack/workspace"
	"github.com/liaison-bot/liaison/state/memstore"
)

// The whole way over HTTP, by a Slack that refuses what the real one refuses:
// installed, in use, replaced ahead of its end, and gone.
func TestInstallationOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t) // for its clock and its log
	slack := sim.NewSlack(sim.SlackOptions{
		ClientID: clientID, ClientSecret: clientSecret, RedirectURLs: []string{publicURL + "/slack/oauth"}, TokenRotation: true, Now: w.now,
	})
	slack.AddWorkspace(sim.Workspace{ID: "T0NEW", NotInstalled: true})
	slack.AddUser(sim.SlackUser{ID: "U0NEW", Team: "T0NEW"})
	address, err := slack.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slack.Close() })
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	if w.store, err = install.NewStore(install.Options{
		Vault: memstore.New(memstore.Options{}), Keys: w.keys, ClientID: clientID, ClientSecret: clientSecret, APIURL: address,
		HTTPClient: &http.Client{Transport: transport}, Now: w.now, Rand: rand.Reader, Logger: slog.New(slog.NewTextHandler(w, nil)),
	}); err != nil {
		t.Fatal(err)
	}
	b := w.browser()
	back, err := slack.Authorize(b.get("/slack/install").Header().Get("Location"), "U0NEW")
	if err != nil {
		t.Fatal(err)
	}
	if rw := b.get(back); rw.Code != http.StatusOK {
		t.Fatalf("%d %s\n%s", rw.Code, rw.Body, w.logged())
	}
	first := w.token("T0NEW", "")
	if first == "" || first != slack.Token("T0NEW") {
		t.Errorf("got another token than Slack gave")
	}
	w.pass(11 * time.Hour)
	if second := w.token("T0NEW", ""); second == first || second != slack.Token("T0NEW") {
		t.Errorf("the token was not replaced\n%s", w.logged())
	}
	if err := w.store.Removed(t.Context(), "T0NEW", "", w.now()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Workspace(t.Context(), "T0NEW", ""); !errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("after it was uninstalled: %v", err)
	}
}
