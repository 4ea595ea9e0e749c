package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/config"
)

// gitHubOn is what turns the channel on.
func gitHubOn(t testing.TB, more ...string) []string {
	t.Helper()
	return append([]string{"GITHUB_APP_ID=1", "GITHUB_WEBHOOK_SECRET=a-secret-of-tests", "GITHUB_PRIVATE_KEY=" + pkcs1(t)}, more...)
}

func TestUpkeepOfGitHub(t *testing.T) {
	t.Parallel()
	c, err := config.Load(gitHubOn(t), noFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := (config.Upkeep{SweepEvery: 5 * time.Minute, ReconcileEvery: 30 * time.Minute, WritePause: time.Second}); c.GitHub.Upkeep != want {
		t.Errorf("by default %+v", c.GitHub.Upkeep)
	}
	c, err = config.Load(gitHubOn(t, "LIAISON_GITHUB_SWEEP=0", "LIAISON_GITHUB_RECONCILE=10s", "LIAISON_GITHUB_WRITE_PAUSE=0",
		"WEBHOOK_PROXY_URL=https://smee.example/abc?x=1"), noFile(t))
	if err != nil {
		t.Fatal(err)
	}
	u := c.GitHub.Upkeep
	if u.SweepEvery != 0 || u.ReconcileEvery != 10*time.Second || u.WritePause != 0 || u.WebhookProxy.String() != "https://smee.example/abc?x=1" {
		t.Errorf("got %+v", u)
	}
	for setting, says := range map[string]string{
		"LIAISON_GITHUB_SWEEP=9s":                                                      "at least 10s",
		"LIAISON_GITHUB_SWEEP=-1h":                                                     "at least 10s",
		"LIAISON_GITHUB_RECONCILE=often":                                               "0, which turns it off",
		"LIAISON_GITHUB_WRITE_PAUSE=11s":                                               "from 0 to 10s",
		"LIAISON_GITHUB_WRITE_PAUSE=-1s":                                               "from 0 to 10s",
		"WEBHOOK_PROXY_URL=smee.io/planted":                                            "https://smee.io/CHANNEL",
		"WEBHOOK_PROXY_URL=http://smee.example/planted":                                "unencrypted",
		"WEBHOOK_PROXY_URL=https://u:planted@smee.example/":                            "without credentials",
		"WEBHOOK_PROXY_URL=https://smee.io/planted LIAISON_PUBLIC_URL=https://x.co":    "LIAISON_PUBLIC_URL",
		"WEBHOOK_PROXY_URL=http://127.0.0.1:1/planted LIAISON_PUBLIC_URL=https://x.co": "for development",
	} {
		_, err := config.Load(gitHubOn(t, strings.Fields(setting)...), noFile(t))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
