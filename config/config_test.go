package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/redact"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// testKey is made once: an RSA key takes a while.
var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func pkcs1(t testing.TB) string {
	t.Helper()
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(testKey())}))
}

func pkcs8(t testing.TB, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// noFile names a file that exists and says nothing, so that no liaison.yaml of
// the working directory takes part.
func noFile(t testing.TB) string {
	t.Helper()
	return writeFile(t, "")
}

func writeFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "liaison.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := config.Load(nil, noFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if c.Addr != "127.0.0.1:8080" || c.MaxRunningTurns != 4 || c.TurnTimeout != 30*time.Minute {
		t.Errorf("unexpected defaults: %+v", c)
	}
	if c.GitHub != nil || c.Slack != nil {
		t.Error("a channel is on though nothing of it is set")
	}
	if c.AdminAddr != "127.0.0.1:8081" || c.AdminAddrGiven || !c.AdminAddrIsLocal() {
		t.Errorf("admin listener at %q, given: %v", c.AdminAddr, c.AdminAddrGiven)
	}
	if want := (config.TurnLimits{Tokens: 5_000_000, ToolCalls: 300, CostUSD: 10}); c.TurnLimits != want {
		t.Errorf("limits %+v, want %+v", c.TurnLimits, want)
	}
	const day = 24 * time.Hour
	if want := (config.Retention{Bodies: 7 * day, Deliveries: 30 * day, Workspaces: day, Sessions: 90 * day, Audit: 400 * day}); c.Retention != want {
		t.Errorf("retention %+v, want %+v", c.Retention, want)
	}
	if !filepath.IsAbs(c.StateDir) || filepath.Base(c.StateDir) != ".liaison" {
		t.Errorf("state directory %q", c.StateDir)
	}
}

func TestPortReplacesOnlyThePort(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ env, want string }{
		{"PORT=9000", "127.0.0.1:9000"},
		{"PORT=9000 LIAISON_ADDR=0.0.0.0:8080", "0.0.0.0:9000"},
		{"LIAISON_ADDR=:8081", ":8081"},
		{"LIAISON_ADDR=[::1]:8081", "[::1]:8081"},
	} {
		c, err := config.Load(strings.Fields(tt.env), noFile(t))
		if err != nil {
			t.Errorf("%s: %v", tt.env, err)
		} else if c.Addr != tt.want {
			t.Errorf("%s: got %s, want %s", tt.env, c.Addr, tt.want)
		}
	}
}

func TestEnvironmentWinsOverFile(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "model: from-file\nlimits: {maxRunningTurns: 2, turnTimeout: 5m}\n")
	c, err := config.Load([]string{"LIAISON_MODEL=from-env"}, file)
	if err != nil {
		t.Fatal(err)
	}
	if c.Model != "from-env" || c.MaxRunningTurns != 2 || c.TurnTimeout != 5*time.Minute {
		t.Errorf("got %+v", c)
	}
}

func TestGitHubSettings(t *testing.T) {
	t.Parallel()
	key := pkcs1(t)
	escaped := strings.ReplaceAll(key, "\n", `\n`)
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string]string{
		"PEM":                  "GITHUB_PRIVATE_KEY=" + key,
		"PEM with literal \\n": "GITHUB_PRIVATE_KEY=" + escaped,
		"base64":               "GITHUB_PRIVATE_KEY=" + encoded,
		"base64 in lines":      "GITHUB_PRIVATE_KEY=" + encoded[:64] + "\n" + encoded[64:],
		"PKCS#8":               "GITHUB_PRIVATE_KEY=" + pkcs8(t, testKey()),
		"a file":               "GITHUB_PRIVATE_KEY_PATH=" + path,
	} {
		c, err := config.Load([]string{"GITHUB_APP_ID=42", pair, "GITHUB_WEBHOOK_SECRET= new-secret , old-secret,"}, noFile(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.GitHub == nil || c.GitHub.AppID != 42 || !c.GitHub.PrivateKey.Equal(testKey()) {
			t.Errorf("%s: got %+v", name, c.GitHub)
		}
		if got := strings.Join(c.GitHub.WebhookSecrets, "|"); got != "new-secret|old-secret" {
			t.Errorf("%s: secrets %q", name, got)
		}
		if got := c.GitHub.APIURL.String(); got != "https://api.github.com/" {
			t.Errorf("%s: API URL %s", name, got)
		}
	}
}

func TestEnterpriseURLIsTakenAsItStands(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://ghe.example.com/api/v3":  "https://ghe.example.com/api/v3/",
		"https://ghe.example.com/api/v3/": "https://ghe.example.com/api/v3/",
		"http://127.0.0.1:1234":           "http://127.0.0.1:1234/",
	} {
		c, err := config.Load([]string{"GITHUB_APP_ID=1", "GITHUB_PRIVATE_KEY=" + pkcs1(t), "GITHUB_WEBHOOK_SECRET=s3cret", "GITHUB_API_URL=" + in}, noFile(t))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if got := c.GitHub.APIURL.String(); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
}

func TestRefusedSettingsAreNamed(t *testing.T) {
	t.Parallel()
	key := pkcs1(t)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	on := []string{"GITHUB_APP_ID=42"}
	good := append(on, "GITHUB_PRIVATE_KEY="+key, "GITHUB_WEBHOOK_SECRET=s3cret")
	for _, tt := range []struct {
		name    string
		env     []string
		setting string
	}{
		{"App id without the rest", on, config.EnvGitHubKey},
		{"no secret", append(on, "GITHUB_PRIVATE_KEY="+key), config.EnvGitHubSecret},
		{"empty secret", append(on, "GITHUB_PRIVATE_KEY="+key, "GITHUB_WEBHOOK_SECRET="), config.EnvGitHubSecret},
		{"secret of commas", append(on, "GITHUB_PRIVATE_KEY="+key, "GITHUB_WEBHOOK_SECRET= , ,"), config.EnvGitHubSecret},
		{"empty key", append(on, "GITHUB_PRIVATE_KEY=", "GITHUB_WEBHOOK_SECRET=s3cret"), config.EnvGitHubKey},
		{"key that is no PEM", append(on, "GITHUB_PRIVATE_KEY=hello", "GITHUB_WEBHOOK_SECRET=s3cret"), config.EnvGitHubKey},
		{"key cut short", append(on, "GITHUB_PRIVATE_KEY="+key[:200], "GITHUB_WEBHOOK_SECRET=s3cret"), config.EnvGitHubKey},
		{"elliptic key", append(on, "GITHUB_PRIVATE_KEY="+pkcs8(t, ec), "GITHUB_WEBHOOK_SECRET=s3cret"), config.EnvGitHubKey},
		{"key file that is not there", append(on, "GITHUB_PRIVATE_KEY_PATH=/no/such/key.pem", "GITHUB_WEBHOOK_SECRET=s3cret"), config.EnvGitHubKeyPath},
		{"key twice", append(on, "GITHUB_PRIVATE_KEY="+key, "GITHUB_PRIVATE_KEY_PATH=/run/key.pem", "GITHUB_WEBHOOK_SECRET=s3cret"), config.EnvGitHubKeyPath},
		{"App id in words", []string{"GITHUB_APP_ID=liaison", "GITHUB_PRIVATE_KEY=" + key, "GITHUB_WEBHOOK_SECRET=s3cret"}, config.EnvGitHubAppID},
		{"App id empty", []string{"GITHUB_APP_ID=", "GITHUB_PRIVATE_KEY=" + key, "GITHUB_WEBHOOK_SECRET=s3cret"}, config.EnvGitHubAppID},
		{"API URL without a scheme", append(good, "GITHUB_API_URL=ghe.example.com"), config.EnvGitHubAPIURL},
		{"API URL with a password", append(good, "GITHUB_API_URL=https://a:b@ghe.example.com"), config.EnvGitHubAPIURL},
		{"address without a port", []string{"LIAISON_ADDR=localhost"}, config.EnvAddr},
		{"API URL without TLS", append(good, "GITHUB_API_URL=http://ghe.example.com/api/v3"), config.EnvGitHubAPIURL},
		{"GraphQL URL without TLS", append(good, "GITHUB_GRAPHQL_URL=http://ghe.example.com/api/graphql"), config.EnvGitHubGraphQLURL},
		{"GraphQL URL without a scheme", append(good, "GITHUB_GRAPHQL_URL=ghe.example.com"), config.EnvGitHubGraphQLURL},
		{"address with a port too large", []string{"LIAISON_ADDR=:99999"}, config.EnvAddr},
		{"operator token on two lines", []string{"LIAISON_API_TOKEN=0123456789abcdef\n0123456789"}, config.EnvAPIToken},
		{"bridge that cannot be executed", []string{"CURSOR_SDK_BRIDGE_BIN=" + noFile(t)}, config.EnvBridgeBin},
		{"model API without a scheme", []string{"OPENAI_BASE_URL=models.example.com"}, config.EnvOpenAIBaseURL},
		{"port in words", []string{"PORT=http!"}, config.EnvPort},
		{"short operator token", []string{"LIAISON_API_TOKEN=abc"}, config.EnvAPIToken},
		{"empty operator token", []string{"LIAISON_API_TOKEN="}, config.EnvAPIToken},
		{"no turns", []string{"LIAISON_MAX_RUNNING_TURNS=0"}, config.EnvMaxRunningTurns},
		{"timeout without a unit", []string{"LIAISON_TURN_TIMEOUT=30"}, config.EnvTurnTimeout},
		{"log level", []string{"LIAISON_LOG_LEVEL=loud"}, config.EnvLogLevel},
		{"log format", []string{"LIAISON_LOG_FORMAT=xml"}, config.EnvLogFormat},
		{"bridge that is not there", []string{"CURSOR_SDK_BRIDGE_BIN=/no/such/bridge"}, config.EnvBridgeBin},
		{"bridge that is a directory", []string{"CURSOR_SDK_BRIDGE_BIN=" + t.TempDir()}, config.EnvBridgeBin},
		{"admin address without a port", []string{"LIAISON_ADMIN_ADDR=localhost"}, config.EnvAdminAddr},
		{"admin address with a port too large", []string{"LIAISON_ADMIN_ADDR=127.0.0.1:70000"}, config.EnvAdminAddr},
		{"admin address that means off but does not say so", []string{"LIAISON_ADMIN_ADDR=false"}, config.EnvAdminAddr},
		{"negative tokens", []string{"LIAISON_TURN_TOKENS=-1"}, config.EnvTurnTokens},
		{"tokens beyond counting", []string{"LIAISON_TURN_TOKENS=9223372036854775808"}, config.EnvTurnTokens},
		{"tool calls in words", []string{"LIAISON_TURN_TOOL_CALLS=many"}, config.EnvTurnToolCalls},
		{"negative cost", []string{"LIAISON_TURN_COST=-0.01"}, config.EnvTurnCost},
		{"cost that is no number", []string{"LIAISON_TURN_COST=NaN"}, config.EnvTurnCost},
		{"endless cost", []string{"LIAISON_TURN_COST=Inf"}, config.EnvTurnCost},
		{"cost with a currency", []string{"LIAISON_TURN_COST=$5"}, config.EnvTurnCost},
		{"price without a model", []string{"LIAISON_MODEL_PRICES==3/15"}, config.EnvModelPrices},
		{"model without a price", []string{"LIAISON_MODEL_PRICES=my-model"}, config.EnvModelPrices},
		{"one price", []string{"LIAISON_MODEL_PRICES=m=3"}, config.EnvModelPrices},
		{"five prices", []string{"LIAISON_MODEL_PRICES=m=1/2/3/4/5"}, config.EnvModelPrices},
		{"negative price", []string{"LIAISON_MODEL_PRICES=m=3/-15"}, config.EnvModelPrices},
		{"price of a model twice", []string{"LIAISON_MODEL_PRICES=m=3/15,m=4/16"}, config.EnvModelPrices},
		{"retention without a unit", []string{"LIAISON_RETAIN_SESSIONS=90"}, config.EnvRetainSessions},
		{"negative retention", []string{"LIAISON_RETAIN_WORKSPACES=-1h"}, config.EnvRetainWorkspaces},
		{"negative days", []string{"LIAISON_RETAIN_WORKSPACES=-1d"}, config.EnvRetainWorkspaces},
		{"days in the middle", []string{"LIAISON_RETAIN_SESSIONS=12h1d"}, config.EnvRetainSessions},
		{"days twice", []string{"LIAISON_RETAIN_SESSIONS=1d1d"}, config.EnvRetainSessions},
		{"days beyond counting", []string{"LIAISON_RETAIN_SESSIONS=106752d"}, config.EnvRetainSessions},
		{"duplicates forgotten within a day", []string{"LIAISON_RETAIN_BODIES=1h", "LIAISON_RETAIN_DELIVERIES=23h59m59s"}, config.EnvRetainDeliveries},
		{"bodies kept longer than deliveries", []string{"LIAISON_RETAIN_BODIES=31d"}, config.EnvRetainDeliveries},
		{"bodies kept for ever", []string{"LIAISON_RETAIN_BODIES=0"}, config.EnvRetainDeliveries},
		{"empty Slack secret", []string{"SLACK_SIGNING_SECRET="}, config.EnvSlackSecret},
		{"Slack secret of commas", []string{"SLACK_SIGNING_SECRET= ,, "}, config.EnvSlackSecret},
		{"bot name", []string{"LIAISON_BOT_NAME=liaison bot"}, config.EnvBotName},
		{"bot name of a bot", []string{"LIAISON_BOT_NAME=liaison[bot]"}, config.EnvBotName},
		{"public URL", []string{"LIAISON_PUBLIC_URL=liaison.example.com"}, config.EnvPublicURL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(tt.env, noFile(t))
			var problem *config.Error
			if !errors.As(err, &problem) || !strings.Contains(err.Error(), tt.setting+": ") {
				t.Errorf("got %v, want a problem with %s", err, tt.setting)
			}
		})
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{"GITHUB_APP_ID=42", "LIAISON_LOG_FORMAT=xml"}, writeFile(t, "modelname: x\n"))
	for _, want := range []string{config.EnvGitHubKey, config.EnvGitHubSecret, config.EnvLogFormat, `unknown key "modelname"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestErrorsNeverQuoteASecret(t *testing.T) {
	t.Parallel()
	const planted = "planted-credential-1234567890"
	_, err := config.Load([]string{
		"GITHUB_APP_ID=" + planted, "GITHUB_PRIVATE_KEY=" + planted, "GITHUB_WEBHOOK_SECRET=" + planted,
		"LIAISON_ADDR=" + planted,
	}, noFile(t))
	if err == nil || strings.Contains(err.Error(), planted) {
		t.Errorf("got %v", err)
	}
}

func TestFileProblemsHaveTheirLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, want string }{
		{"unknown key", "addr: 127.0.0.1:1\naddress: x\n", `:2: unknown key "address"`},
		{"unknown key in a group", "limits:\n  turns: 3\n", `:2: unknown key "limits.turns"`},
		{"a group that is a value", "limits: 3\n", ":1: limits must hold keys and values"},
		{"a value that is a group", "model:\n  name: x\n", ":2: model must be a single value"},
		{"a group that is a list", "people:\n  U0123456789: octocat\n", ":2: people must be a list"},
		{"a list for a single value", "model: [a, b]\n", ":1: model must be a single value"},
		{"a key twice", "model: a\nmodel: b\n", "model is there twice"},
		{"a key without a value", "model:\n", ":1: model has no value"},
		{"a list item with a comma", "github: {webhookSecret: ['a,b']}\n", ":1: github.webhookSecret must be a list of values without commas"},
		{"not YAML", "a: [", "did not find"},
		{"a list at the top", "- a\n", "the file must hold keys and values"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(nil, writeFile(t, tt.content))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNamedFileMustExist(t *testing.T) {
	t.Parallel()
	if _, err := config.Load(nil, filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is named but missing was accepted")
	}
}

func TestMisspeltSettingsAreNoticed(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{"LIAISON_ADRR=127.0.0.1:1", "LIAISON_MODEL=m", "LIAISON_AGENT=x", "HOME=/"}, noFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Unknown, " "); got != "LIAISON_ADRR LIAISON_AGENT" {
		t.Errorf("unknown: %q", got)
	}
}

func TestSecretsAreKnownToTheRedactor(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{
		"GITHUB_APP_ID=42", "GITHUB_PRIVATE_KEY=" + pkcs1(t), "GITHUB_WEBHOOK_SECRET=first-secret,second-secret",
		"SLACK_SIGNING_SECRET=first-signing, second-signing", "LIAISON_API_TOKENS=ci:named-token-12345678, ops:other-token-12345678",
		"CURSOR_API_KEY=cursor-key-1234", "OPENAI_API_KEY=openai-key-1234", "LIAISON_API_TOKEN=operator-token-1234",
	}, noFile(t))
	if err != nil {
		t.Fatal(err)
	}
	all := c.Secrets()
	for _, want := range []string{
		"BEGIN RSA PRIVATE KEY", "first-secret", "second-secret", "cursor-key-1234", "openai-key-1234", "operator-token-1234",
		"first-signing", "second-signing", "named-token-12345678", "other-token-12345678",
	} {
		if !slices.ContainsFunc(all, func(s string) bool { return s == want || strings.HasPrefix(s, "-----"+want) }) {
			t.Errorf("%q is not registered", want)
		}
	}
}

func TestLinesOfTheKeyAreMaskedHoweverItCame(t *testing.T) {
	t.Parallel()
	key := pkcs1(t)
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	line := strings.Split(key, "\n")[3]
	for name, setting := range map[string]string{
		"as it is":    "GITHUB_PRIVATE_KEY=" + key,
		"on one line": "GITHUB_PRIVATE_KEY=" + strings.ReplaceAll(key, "\n", `\n`),
		"base64":      "GITHUB_PRIVATE_KEY=" + base64.StdEncoding.EncodeToString([]byte(key)),
		"a file":      "GITHUB_PRIVATE_KEY_PATH=" + path,
	} {
		c, err := config.Load([]string{"GITHUB_APP_ID=42", "GITHUB_WEBHOOK_SECRET=first-secret", setting}, noFile(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := redact.New(c.Secrets()...).String("leaked: " + line); got != "leaked: "+redact.Mask {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSchemaFileIsCurrent(t *testing.T) {
	t.Parallel()
	got, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "liaison.schema.json", got)
}

func TestHelpText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := config.WriteHelp(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "help.golden"), []byte(b.String()))
	for _, s := range config.Settings() {
		if s.Secret && s.Default != "" {
			t.Errorf("%s is secret and has a default", s.Env)
		}
		if s.Doc == "" {
			t.Errorf("%s is not documented", s.Env)
		}
	}
}

// The example must stay loadable, and valid by the schema that editors use.
func TestExampleFile(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("liaison.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := yaml.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("liaison.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
	_, err = config.Load([]string{"GITHUB_PRIVATE_KEY=" + pkcs1(t)}, "liaison.example.yaml")
	if err != nil {
		t.Error(err)
	}
	for _, s := range config.Settings() {
		at := document
		for part := range strings.SplitSeq(s.Key, ".") {
			group, _ := at.(map[string]any)
			at = group[part]
		}
		if at == nil && !s.Secret && strings.HasPrefix(s.Key, "slack.") {
			t.Errorf("%s is not in the example", s.Key)
		}
	}
}

func FuzzLoadFile(f *testing.F) {
	example, err := os.ReadFile("liaison.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Add("a: &a [*a]")
	f.Add("retention: {bodies: 1d1h, deliveries: 0}\nmodelPrices: ['a=b=1/2', c=1/2/3/4]\nadminAddr: 'off'")
	f.Add("limits: {turnTimeout: -1s}\n? {x: y}\n: z")
	f.Fuzz(func(t *testing.T, content string) {
		c, err := config.Load(nil, writeFile(t, content))
		if err != nil {
			return
		}
		r := c.Retention
		switch {
		case c.MaxRunningTurns < 1, c.TurnTimeout <= 0,
			c.TurnLimits.Tokens < 0, c.TurnLimits.ToolCalls < 0, !(c.TurnLimits.CostUSD >= 0),
			r.Bodies < 0, r.Workspaces < 0, r.Sessions < 0,
			r.Deliveries != 0 && (r.Deliveries < 24*time.Hour || r.Bodies == 0 || r.Bodies > r.Deliveries):
			t.Errorf("accepted %+v", c)
		}
	})
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not current; look at the difference, then run the test with -update\ngot:\n%s", path, got)
	}
}

func TestBotName(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"acme-bot", "@acme-bot", " acme-bot "} {
		c, err := config.Load([]string{"LIAISON_BOT_NAME=" + given}, noFile(t))
		if err != nil || c.BotName != "acme-bot" {
			t.Errorf("%q: %q, %v", given, c.BotName, err)
		}
	}
}
