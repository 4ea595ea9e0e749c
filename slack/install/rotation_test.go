package install_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/slack/workspace"
	"github.com/liaison-bot/liaison/state"
)

var errNoRoom = fmt.Errorf("no room: %w", state.ErrUnavailable)

// A token is used until two hours before its end, and then replaced.
func TestTokenIsReplacedAheadOfItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install()
	w.pass(10*time.Hour - time.Second)
	if got := w.token("T1", ""); got != "xoxe.xoxb-1" {
		t.Errorf("before: %s", got)
	}
	w.pass(time.Second)
	for i := 2; i < 6; i++ {
		if got := w.token("T1", ""); got != fmt.Sprint("xoxe.xoxb-", i) {
			t.Errorf("replacement %d: %s", i, got)
		}
		w.restart() // nothing of it is in memory only
		w.pass(11 * time.Hour)
	}
	// Also long after its end, as after a month without a message.
	w.pass(30 * 24 * time.Hour)
	if got := w.token("T1", ""); got != "xoxe.xoxb-6" {
		t.Errorf("after a month: %s", got)
	}
	w.wantNoSecret(w.logged() + w.stored())
}

// Many at once use a refresh token once, also where the token has ended, and all
// of them get the pair that is stored.
func TestRotationRace(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{11 * time.Hour, 13 * time.Hour} {
		w := newWorld(t)
		w.install()
		w.pass(age)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				got, err := w.store.Workspace(t.Context(), "T1", "")
				if err != nil || got.Token != "xoxe.xoxb-2" && (got.Token != "xoxe.xoxb-1" || age > 12*time.Hour) {
					t.Errorf("after %s: %s, %v", age, got.Token, err)
				}
			})
		}
		all.Wait()
		if n := w.asked("oauth.v2.access"); n != 2 {
			t.Errorf("after %s: asked %d times", age, n)
		}
		w.restart()
		if got := w.token("T1", ""); got != "xoxe.xoxb-2" {
			t.Errorf("after %s and a restart: %s", age, got)
		}
	}
}

// While a token is good for a while, nobody waits for Slack to give another.
func TestNobodyWaitsWithAGoodToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install()
	w.pass(11 * time.Hour)
	begun, release := make(chan struct{}), make(chan struct{})
	w.answer("oauth.v2.access", func(form url.Values) string {
		close(begun)
		<-release
		return w.access(form)
	})
	var slow sync.WaitGroup
	slow.Go(func() { _, _ = w.store.Workspace(t.Context(), "T1", "") })
	<-begun
	if got := w.token("T1", ""); got != "xoxe.xoxb-1" {
		t.Errorf("meanwhile: %s", got)
	}
	close(release)
	slow.Wait()
	if got := w.token("T1", ""); got != "xoxe.xoxb-2" {
		t.Errorf("afterwards: %s", got)
	}
}

// Slack being away costs nothing while the token is good, is asked again after a
// pause, and is an error that passes once the token has ended.
func TestSlackIsAwayWhenATokenEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install()
	w.pass(11 * time.Hour)
	w.answer("oauth.v2.access", func(url.Values) string { return `{"ok":false,"error":"internal_error"}` })
	for range 5 {
		if got := w.token("T1", ""); got != "xoxe.xoxb-1" {
			t.Errorf("while it is good: %s", got)
		}
	}
	if n := w.asked("oauth.v2.access"); n != 2 {
		t.Errorf("asked %d times at once", n)
	}
	w.pass(time.Hour)
	_, err := w.store.Workspace(t.Context(), "T1", "")
	if err == nil || errors.Is(err, workspace.ErrNotInstalled) || !strings.Contains(err.Error(), "internal_error") {
		t.Errorf("after its end: %v", err)
	}
	w.answer("oauth.v2.access", nil)
	if got := w.token("T1", ""); got != "xoxe.xoxb-2" {
		t.Errorf("when Slack is back: %s", got)
	}
	w.wantNoSecret(w.logged())
}

// A new pair is stored before it is used, and is not asked for twice when the
// store could not take it.
func TestNewTokenIsStoredBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install()
	w.pass(11 * time.Hour)
	w.vault.fail(errNoRoom)
	if got := w.token("T1", ""); got != "xoxe.xoxb-1" || w.asked("oauth.v2.access") != 1 {
		t.Errorf("with a store that takes nothing: %s, asked %d times", got, w.asked("oauth.v2.access"))
	}
	w.vault.fail(nil)
	w.pass(time.Minute)
	w.answer("oauth.v2.access", func(form url.Values) string {
		w.vault.fail(errNoRoom) // after the pair was asked for
		return w.access(form)
	})
	if got := w.token("T1", ""); got != "xoxe.xoxb-1" {
		t.Errorf("with a store that is full since: %s", got)
	}
	w.pass(time.Hour) // the old one has ended
	if got, err := w.store.Workspace(t.Context(), "T1", ""); !errors.Is(err, state.ErrUnavailable) || errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("with a store that is full still: %s, %v", got, err)
	}
	w.vault.fail(nil)
	if got := w.token("T1", ""); got != "xoxe.xoxb-2" || w.asked("oauth.v2.access") != 2 {
		t.Errorf("with room again: %s, asked %d times", got, w.asked("oauth.v2.access"))
	}
	w.restart()
	if got := w.token("T1", ""); got != "xoxe.xoxb-2" {
		t.Errorf("after a restart: %s", got)
	}
}

// A process that dies between Slack's answer and the store leaves a token that is
// good until its end, and then says what to do.
func TestCrashBetweenExchangeAndStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install()
	w.pass(11 * time.Hour)
	w.answer("oauth.v2.access", func(form url.Values) string {
		w.vault.fail(errNoRoom)
		return w.access(form)
	})
	_ = w.token("T1", "")
	w.vault.fail(nil)
	w.answer("oauth.v2.access", nil)
	w.restart()
	for range 3 {
		if got := w.token("T1", ""); got != "xoxe.xoxb-1" {
			t.Errorf("while it is good: %s", got)
		}
	}
	if n := w.asked("oauth.v2.access"); n != 3 {
		t.Errorf("a refresh token that Slack refused was tried %d times", n-2)
	}
	if log := w.logged(); !strings.Contains(log, "install the app anew") || !strings.Contains(log, "crashed=true") {
		t.Errorf("nothing says what to do: %s", log)
	}
	all, err := w.store.Installations(t.Context())
	if err != nil || len(all) != 1 || !all[0].Spent {
		t.Errorf("%+v, %v", all, err)
	}
	w.pass(time.Hour)
	if _, err := w.store.Workspace(t.Context(), "T1", ""); !errors.Is(err, workspace.ErrNotInstalled) || !strings.Contains(err.Error(), "install the app anew") {
		t.Errorf("after its end: %v", err)
	}
	w.install()
	if got := w.token("T1", ""); got != "xoxe.xoxb-3" {
		t.Errorf("installed anew: %s", got)
	}
}

// A wrong client secret is the operator's, and ends no installation.
func TestWrongClientSecretEndsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install()
	w.pass(13 * time.Hour)
	w.answer("oauth.v2.access", func(url.Values) string { return `{"ok":false,"error":"bad_client_secret"}` })
	if _, err := w.store.Workspace(t.Context(), "T1", ""); err == nil || errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
	w.answer("oauth.v2.access", nil)
	if got := w.token("T1", ""); got != "xoxe.xoxb-2" {
		t.Errorf("with the right one: %s", got)
	}
}
