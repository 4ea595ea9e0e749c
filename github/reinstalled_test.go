package github

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// Who removes the App and installs it again gives it a new id, which what is
// owed from before does not name.
func TestWhatIsOwedSurvivesANewInstallation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		start := w.items(w.turn("trn_1"), started)[0]
		w.Remove(installation)
		_, err := w.deliver(start)
		if retry := wantRetry(t, err); !retry.Paused {
			t.Fatalf("got %+v", retry)
		}
		w.Install(installation+1, "octo", repoName)
		time.Sleep(pausedFor)
		start.Attempts++
		w.mustDeliver(start)
		w.review("trn_1", "Fine.")
		if len(w.checks()) != 1 || len(w.comments()) != 1 {
			t.Errorf("%d checks, %d comments", len(w.checks()), len(w.comments()))
		}
	})
}

// A delivery of before is weighed by the new installation, the organization's
// defaults included.
func TestADeliveryOfBeforeSurvivesANewInstallation(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	in := w.did("pull_request.opened", "mona", nil)
	w.Remove(installation)
	w.Install(installation+1, "octo", repoName)
	if r := w.weighed(in); r.Head != w.pull.HeadSHA {
		t.Errorf("taken up at %s", r.Head)
	}
}

// The name of a removed repository may be somebody else's by now.
func TestANewInstallationElsewhereIsNotUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Remove(installation)
		w.Rename(repoName, "mona/shop")
		w.CreateRepository(repoName, map[string]string{"main.go": "package main\n"})
		w.Install(installation+1, "octo", repoName)
		start := w.items(w.turn("trn_1"), started)[0]
		for range 3 {
			_, err := w.deliver(start)
			if retry := wantRetry(t, err); !retry.Paused {
				t.Fatalf("got %+v", retry)
			}
			time.Sleep(pausedFor)
		}
		for _, r := range w.Requests() {
			if r.Method == http.MethodPost && r.Status == http.StatusCreated {
				t.Errorf("%s %s", r.Method, r.Path)
			}
		}
	})
}

// No connection says nothing about the one call; a call that was cut off may.
func TestOnlyAnOutageIsWaitedOut(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"refused":     {refused, true},
		"no name":     {&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.github.com"}}, true},
		"proxy":       {&net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New("refused")}, true},
		"wrapped":     {fmt.Errorf("read pull request: %w", refused), true},
		"reset":       {&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, false},
		"bad gateway": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := tt.err
			if err == nil {
				w := newWorld(t)
				w.Fail(sim.Fault{PathPattern: "/repos/**", Status: http.StatusBadGateway})
				_, err = w.deliver(w.items(w.turn("trn_1"), started)[0])
			}
			if retry := wantRetry(t, retryable(err, time.Now())); retry.Uncounted != tt.want {
				t.Errorf("got %+v", retry)
			}
		})
	}
}
