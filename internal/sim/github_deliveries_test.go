package sim_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim"
)

// appClient signs in as the App itself.
func (w *world) appClient() *github.Client {
	w.t.Helper()
	transport := &http.Transport{}
	w.t.Cleanup(transport.CloseIdleConnections)
	apps := ghinstallation.NewAppsTransportFromPrivateKey(w.judged(transport, false), appID, appKey())
	c := github.NewClient(&http.Client{Transport: apps})
	root, err := url.Parse(w.URL())
	if err != nil {
		w.t.Fatal(err)
	}
	c.BaseURL = root
	return c
}

func TestDeliveriesThatWereLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	apps := w.appClient().Apps
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- github.DeliveryID(r) }))
	defer server.Close()

	hook := w.Event(repoName, 1, "opened")
	if _, err := w.Deliver(t.Context(), server.URL, w.Event(repoName, 1, "edited")); err != nil {
		t.Fatal(err)
	}
	<-got
	id := w.Lose(hook, sim.Attempt{Ago: time.Hour, Status: http.StatusBadGateway})
	w.Lose(w.Event(repoName, 1, "closed"), sim.Attempt{Ago: 73 * time.Hour})

	first, resp, err := apps.ListHookDeliveries(t.Context(), &github.ListCursorOptions{PerPage: 1})
	if err != nil || len(first) != 1 || first[0].GetID() != id || first[0].GetStatusCode() != 502 || first[0].GetGUID() != hook.DeliveryID ||
		first[0].GetInstallationID() != installation || first[0].GetAction() != "opened" {
		t.Fatalf("first page: %v, %v", first, err)
	}
	second, resp, err := apps.ListHookDeliveries(t.Context(), &github.ListCursorOptions{PerPage: 1, Cursor: resp.Cursor})
	if err != nil || len(second) != 1 || second[0].GetStatusCode() != 200 || resp.Cursor != "" {
		t.Fatalf("second page: %v, %v, next %q", second, err, resp.Cursor)
	}
	one, _, err := apps.GetHookDelivery(t.Context(), id)
	if err != nil || one.Request.Headers["X-Github-Event"] != "pull_request" {
		t.Fatalf("one: %v, %v", one, err)
	}
	if _, err := one.ParseRequestPayload(); err != nil {
		t.Error(err)
	}

	w.SetWebhookURL(server.URL)
	var accepted *github.AcceptedError
	if _, _, err := apps.RedeliverHookDelivery(t.Context(), id); !errors.As(err, &accepted) {
		t.Fatalf("redelivered: %v", err)
	}
	if again := <-got; again != hook.DeliveryID {
		t.Errorf("sent again as %s", again)
	}
	if _, _, err := apps.GetHookDelivery(t.Context(), 7); err == nil {
		t.Error("there is a delivery that was never made")
	}
}
