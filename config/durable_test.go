package config_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/config"
)

func load(t *testing.T, environ ...string) *config.Config {
	t.Helper()
	c, err := config.Load(environ, noFile(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAdminAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		given        string
		addr         string
		named, local bool
	}{
		{"off", "", true, false},
		{"", "127.0.0.1:8081", false, true},
		{"127.0.0.1:9100", "127.0.0.1:9100", true, true},
		{"localhost:0", "localhost:0", true, true},
		{"[::1]:9100", "[::1]:9100", true, true},
		{"127.0.0.1:8081", "127.0.0.1:8081", true, true},
		{":9100", ":9100", true, false},
		{"0.0.0.0:9100", "0.0.0.0:9100", true, false},
		{"10.0.0.7:9100", "10.0.0.7:9100", true, false},
		{"metrics.internal:9100", "metrics.internal:9100", true, false},
	} {
		c := load(t, "LIAISON_ADMIN_ADDR="+tt.given)
		if c.AdminAddr != tt.addr || c.AdminAddrGiven != tt.named || c.AdminAddrIsLocal() != tt.local {
			t.Errorf("%q: %q, given %v, local %v", tt.given, c.AdminAddr, c.AdminAddrGiven, c.AdminAddrIsLocal())
		}
	}
}

func TestNamedTokens(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	longest := strings.Repeat("n", 63)
	c := load(t, "LIAISON_API_TOKEN=operator-token-123", "LIAISON_API_TOKENS= ci:"+token+" , a.b_c-9:x:y:"+token+","+longest+":z"+token+",")
	want := []config.APIToken{{Name: "ci", Token: token}, {Name: "a.b_c-9", Token: "x:y:" + token}, {Name: longest, Token: "z" + token}}
	if len(c.APITokens) != len(want) {
		t.Fatalf("got %+v", c.APITokens)
	}
	for i := range want {
		if c.APITokens[i] != want[i] {
			t.Errorf("entry %d: got %+v, want %+v", i+1, c.APITokens[i], want[i])
		}
	}
}

// A refusal tells which entry is meant without quoting it: a name and a token
// may have changed places.
func TestNamedTokensThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	const operator, token = "operator-token-123", "planted-0123456789"
	for name, tt := range map[string]struct{ entries, says string }{
		"nothing":                       {"", "set but empty"},
		"only commas":                   {" , ", "set but empty"},
		"no name":                       {token, "entry 1 is not name:token"},
		"empty name":                    {":" + token, "entry 1: the name"},
		"name and token changed":        {token + "12345678901234567890123456789012345678901234567890:ci", "entry 1: the name"},
		"short name in a token's place": {token + ":ci", "entry 1: the token must have"},
		"name in capitals":              {"CI:" + token, "entry 1: the name"},
		"name with a slash":             {"a/b:" + token, "entry 1: the name"},
		"name that begins with a dot":   {".ci:" + token, "entry 1: the name"},
		"name of 64 characters":         {strings.Repeat("n", 64) + ":" + token, "entry 1: the name"},
		"the operator's name":           {"operator:" + token, "entry 1: the names operator and local"},
		"the loopback caller's name":    {"local:" + token, "entry 1: the names operator and local"},
		"a token of 15 characters":      {"ci:123456789012345", "entry 1: the token must have at least 16"},
		"a token with a space":          {"ci:01234567 89abcdef", "entry 1: the token has characters"},
		"a token in another script":     {"ci:0123456789abcdefé", "entry 1: the token has characters"},
		"the operator's token":          {"ci:" + operator, "entry 1 has the operator's token"},
		"a name twice":                  {"ci:" + token + ",ci:" + token + "2", "entry 2 has the name or the token"},
		"a token twice":                 {"ci:" + token + ",ops:" + token, "entry 2 has the name or the token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load([]string{"LIAISON_API_TOKEN=" + operator, "LIAISON_API_TOKENS=" + tt.entries}, noFile(t))
			var problem *config.Error
			if !errors.As(err, &problem) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want %q", err, tt.says)
			}
			if strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), "0123456789") {
				t.Errorf("quotes a token: %v", err)
			}
		})
	}
}

func TestZeroMeansNoLimit(t *testing.T) {
	t.Parallel()
	c := load(t, "LIAISON_TURN_TOKENS=0", "LIAISON_TURN_TOOL_CALLS=0", "LIAISON_TURN_COST=0",
		"LIAISON_RETAIN_BODIES=0", "LIAISON_RETAIN_DELIVERIES=0", "LIAISON_RETAIN_WORKSPACES=0", "LIAISON_RETAIN_SESSIONS=0s", "LIAISON_RETAIN_AUDIT=0")
	if c.TurnLimits != (config.TurnLimits{}) || c.Retention != (config.Retention{}) {
		t.Errorf("got %+v, %+v", c.TurnLimits, c.Retention)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	c := load(t, "LIAISON_MODEL_PRICES= plain=3/15, a/b:c=0.5/2.5/0.05, x=y=1/2/0.1/1.25, free=0/0")
	want := map[string]config.Price{
		"plain": {Input: 3, Output: 15, CacheRead: 3, CacheWrite: 3},
		"a/b:c": {Input: 0.5, Output: 2.5, CacheRead: 0.05, CacheWrite: 0.5},
		"x=y":   {Input: 1, Output: 2, CacheRead: 0.1, CacheWrite: 1.25},
		"free":  {},
	}
	if !maps.Equal(c.Prices, want) {
		t.Errorf("got %+v", c.Prices)
	}
}

func TestLongDurations(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for given, want := range map[string]time.Duration{
		"1d": day, "7d12h": 7*day + 12*time.Hour, "36h": 36 * time.Hour, "106751d": 106751 * day, "1h30m": 90 * time.Minute, "0d": 0,
	} {
		if c := load(t, "LIAISON_RETAIN_WORKSPACES="+given); c.Retention.Workspaces != want {
			t.Errorf("%s is %s, want %s", given, c.Retention.Workspaces, want)
		}
	}
	// At the edges of what deliveries may be.
	if c := load(t, "LIAISON_RETAIN_BODIES=1d", "LIAISON_RETAIN_DELIVERIES=24h"); c.Retention.Deliveries != day {
		t.Errorf("got %+v", c.Retention)
	}
}

func TestSlackSecretsRotate(t *testing.T) {
	t.Parallel()
	c := load(t, "SLACK_SIGNING_SECRET= new-secret ,old-secret,")
	if c.Slack == nil || strings.Join(c.Slack.SigningSecrets, "|") != "new-secret|old-secret" {
		t.Errorf("got %+v", c.Slack)
	}
}
