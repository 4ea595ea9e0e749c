package config

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
	"github.com/liaison-bot/liaison/redact"
)

// DefaultFile is the settings file that is read when it exists and no other is named.
const DefaultFile = "liaison.yaml"

// Config holds the settings of one process, checked.
type Config struct {
	// Addr is the host and port to listen on.
	Addr string
	// AdminAddr is the host and port of the listener for operators; empty when it is off.
	AdminAddr string
	// AdminAddrGiven is set when somebody chose AdminAddr, and false for the default.
	AdminAddrGiven bool
	// StateDir is the absolute path of the directory with everything that is remembered.
	StateDir string
	// PublicURL is where the service is reached from outside; nil when unknown.
	PublicURL *url.URL
	// BotName is what people call us after "@"; empty where the App's name counts.
	BotName string
	// APIToken is the operator's bearer token; empty admits direct loopback callers only.
	APIToken string
	// APITokens are those of named callers, who see only their own sessions.
	APITokens []APIToken
	// Model is the model to ask for; empty takes the bridge's first.
	Model string
	Agent Agent
	// MaxRunningTurns bounds the agents that run at once.
	MaxRunningTurns int
	// TurnTimeout bounds one turn's wall clock.
	TurnTimeout time.Duration
	// TurnLimits bound what one turn may use up besides time.
	TurnLimits TurnLimits
	// Prices are what models cost, by the model's name.
	Prices    map[string]Price
	Retention Retention
	LogLevel  slog.Level
	LogFormat string
	// GitHub and Slack are nil when the channel is off.
	GitHub *GitHub
	Slack  *Slack
	Bridge Bridge

	// RedactPatterns are RE2 expressions of further secrets.
	RedactPatterns []string
	// Unknown are names in the environment that look like settings of ours and
	// are none, such as a misspelt one. They have no effect.
	Unknown []string

	secrets []string
}

// GitHub holds the settings of the GitHub App.
type GitHub struct {
	AppID int64
	// PrivateKey signs the App's tokens.
	PrivateKey *rsa.PrivateKey
	// WebhookSecrets are all accepted; more than one while a secret is being rotated.
	WebhookSecrets []string
	// APIURL is the REST root, with a trailing slash.
	APIURL *url.URL
	// GraphQLURL is where the GraphQL API is; nil for the place that belongs to APIURL.
	GraphQLURL *url.URL
	Upkeep     Upkeep
	Admission  Admission
}

// Bridge holds what decides which bridge runs, and with which keys.
type Bridge struct {
	// VendorExecutable is the vendor's bridge, where one is named.
	VendorExecutable string
	// Dir is where installed copies of the vendor's bridge are kept, absolute.
	Dir           string
	CursorAPIKey  string
	OpenAIBaseURL string
	OpenAIAPIKey  string
}

// Error is a setting that cannot be used.
type Error struct {
	// Setting is its environment name, or the place in the file.
	Setting string
	Problem string
}

// Error implements error.
func (e *Error) Error() string { return e.Setting + ": " + e.Problem }

// Load reads environ (as os.Environ gives it) and the file. An empty file name
// means [DefaultFile], which need not exist. All problems are reported at once,
// each as an [*Error].
func Load(environ []string, file string) (*Config, error) {
	env := map[string]string{}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	required := file != ""
	if !required {
		file = DefaultFile
	}
	fromFile, problems := readFile(file, required)

	raw := &values{source: map[string]string{}, text: map[string]string{}}
	for _, s := range Settings() {
		value, set := env[s.Env]
		source := fromEnvironment
		if !set && s.Key != "" {
			value, set = fromFile[s.Key]
			source = file
		}
		if !set {
			continue
		}
		raw.text[s.Env] = value
		raw.source[s.Env] = source
		if s.Secret {
			raw.secrets = append(raw.secrets, value)
		}
	}
	c, more := build(raw)
	problems = append(problems, more...)
	if len(problems) > 0 {
		// A problem may quote a value; none of them may be a secret's.
		r := redact.New(c.secrets...)
		for i := range problems {
			problems[i] = r.Error(problems[i])
		}
		return nil, errors.Join(problems...)
	}
	c.Unknown = unknown(env)
	return c, nil
}

// unknown returns the names in env that only we could have a use for and do not know.
func unknown(env map[string]string) []string {
	var names []string
	for name := range env {
		if _, known := declared()[name]; !known && strings.HasPrefix(name, "LIAISON_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Secrets returns every secret value of the settings.
func (c *Config) Secrets() []string { return slices.Clone(c.secrets) }

// Redactor returns what masks every secret of the settings, and all that has one of
// the forms that they name.
func (c *Config) Redactor() *redact.Redactor {
	r := redact.New(c.secrets...)
	// They were held against the same rules when they were read.
	_ = r.AddPatterns(c.RedactPatterns...)
	return r
}

// fromEnvironment is the source of a setting that the environment gave.
const fromEnvironment = "environment"

// values is what was given, before it is understood.
type values struct {
	text    map[string]string
	source  map[string]string
	secrets []string
}

// get returns a setting's trimmed text and whether it was given at all.
func (v *values) get(env string) (string, bool) {
	text, ok := v.text[env]
	return strings.TrimSpace(text), ok
}

// textOf returns a setting's text, or its default when it is unset or empty.
func (v *values) textOf(env string) string {
	if s, ok := v.get(env); ok && s != "" {
		return s
	}
	return setting(env).Default
}

// list returns the items of a setting that are not empty, and whether it was given at all.
func (v *values) list(env string) ([]string, bool) {
	text, set := v.get(env)
	var items []string
	for item := range strings.SplitSeq(text, setting(env).between()) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items, set
}

// problems gathers what cannot be used, so that all of it is said at once.
type problems []error

func (p *problems) add(setting, format string, args ...any) {
	*p = append(*p, &Error{Setting: setting, Problem: fmt.Sprintf(format, args...)})
}

// handlePattern is what GitHub allows as a login.
// https://docs.github.com/enterprise-cloud@latest/admin/managing-iam/iam-configuration-reference/username-considerations-for-external-authentication
var handlePattern = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$`)

// build makes a Config of what was given.
func build(v *values) (*Config, []error) {
	c := &Config{secrets: slices.Clone(v.secrets)}
	p := &problems{}
	buildAddresses(c, v, p)
	buildTokens(c, v, p)
	c.Agent = buildAgent(v, p)
	buildTurns(c, v, p)
	buildRetention(c, v, p)
	buildRedact(c, v, p)
	buildBridge(c, v, p)
	c.GitHub = buildGitHub(v, p)
	c.Slack = buildSlack(v, p, c.PublicURL)

	var err error
	if c.StateDir, err = filepath.Abs(v.textOf(EnvStateDir)); err != nil {
		p.add(EnvStateDir, "cannot be made absolute: %v", err)
	}
	if c.BotName = strings.TrimPrefix(v.textOf(EnvBotName), "@"); c.BotName != "" && !handlePattern.MatchString(c.BotName) {
		p.add(EnvBotName, "%q is no name that can be mentioned: up to 39 letters, digits and hyphens", c.BotName)
	}
	c.Model = v.textOf(EnvModel)
	if err := c.LogLevel.UnmarshalText([]byte(v.textOf(EnvLogLevel))); err != nil {
		p.add(EnvLogLevel, "%q is not one of debug, info, warn, error", v.textOf(EnvLogLevel))
	}
	if c.LogFormat = v.textOf(EnvLogFormat); c.LogFormat != "text" && c.LogFormat != "json" {
		p.add(EnvLogFormat, "%q is not one of text, json", c.LogFormat)
	}
	keys, _ := v.list(EnvEncryptionKey)
	c.secrets = append(append(c.secrets, keys...), c.parts()...)
	return c, *p
}

// parts returns the secrets that the settings hold in another form than the one
// in which they were given: each of a list, and a key as PEM.
func (c *Config) parts() []string {
	var parts []string
	for _, t := range c.APITokens {
		parts = append(parts, t.Token)
	}
	if c.Slack != nil {
		parts = append(parts, c.Slack.SigningSecrets...)
	}
	if c.GitHub == nil {
		return parts
	}
	parts = append(parts, c.GitHub.WebhookSecrets...)
	// A key that came as a file or as base64 is not to be shown as PEM either.
	if key := c.GitHub.PrivateKey; key != nil {
		parts = append(parts, string(pem.EncodeToMemory(&pem.Block{
			Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key),
		})))
	}
	return parts
}
