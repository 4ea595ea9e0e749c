package config

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/redact"
)

// DefaultFile is the settings file that is read when it exists and no other is named.
const DefaultFile = "liaison.yaml"

// Config holds the settings of one process, checked.
type Config struct {
	// Addr is the host and port to listen on.
	Addr string
	// StateDir is the absolute path of the directory with everything that is remembered.
	StateDir string
	// PublicURL is where the service is reached from outside; nil when unknown.
	PublicURL *url.URL
	// APIToken is the operator's bearer token; empty admits direct loopback callers only.
	APIToken string
	// Model is the model to ask for; empty takes the bridge's first.
	Model string
	// MaxRunningTurns bounds the agents that run at once.
	MaxRunningTurns int
	// TurnTimeout bounds one turn's wall clock.
	TurnTimeout time.Duration
	LogLevel    slog.Level
	LogFormat   string
	// GitHub is nil when the channel is off.
	GitHub *GitHub
	Bridge Bridge

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
		r := redact.New(raw.secrets...)
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
	known := map[string]bool{}
	for _, s := range Settings() {
		known[s.Env] = true
	}
	var names []string
	for name := range env {
		if strings.HasPrefix(name, "LIAISON_") && !known[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Secrets returns every secret value of the settings, for the redactor.
func (c *Config) Secrets() []string { return slices.Clone(c.secrets) }

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

// build makes a Config of what was given.
func build(v *values) (*Config, []error) {
	c := &Config{}
	var problems []error
	fail := func(setting, format string, args ...any) {
		problems = append(problems, &Error{Setting: setting, Problem: fmt.Sprintf(format, args...)})
	}
	text := func(env string) string {
		if s, ok := v.get(env); ok && s != "" {
			return s
		}
		return setting(env).Default
	}

	c.Addr = text(EnvAddr)
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		fail(EnvAddr, "%q is not host:port, such as 127.0.0.1:8080", c.Addr)
	}
	portFrom := EnvAddr
	if p := text(EnvPort); p != "" {
		port, portFrom = p, EnvPort
		c.Addr = net.JoinHostPort(host, port)
	}
	if _, portErr := strconv.ParseUint(port, 10, 16); err == nil && portErr != nil {
		fail(portFrom, "%q is not a port number from 0 to 65535", port)
	}

	if c.StateDir, err = filepath.Abs(text(EnvStateDir)); err != nil {
		fail(EnvStateDir, "cannot be made absolute: %v", err)
	}
	if s := text(EnvPublicURL); s != "" {
		if c.PublicURL, err = parseHTTPURL(s); err != nil {
			fail(EnvPublicURL, "%v", err)
		}
	}
	if s, ok := v.get(EnvAPIToken); ok {
		switch c.APIToken = s; {
		case len(s) < minTokenLength:
			fail(EnvAPIToken, "must have at least %d characters; remove it to admit loopback callers only", minTokenLength)
		case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
			fail(EnvAPIToken, "has characters that no Authorization header can carry; use letters, digits and punctuation without spaces")
		}
	}
	c.Model = text(EnvModel)
	if c.MaxRunningTurns, err = parseCount(text(EnvMaxRunningTurns)); err != nil {
		fail(EnvMaxRunningTurns, "%v", err)
	}
	if c.TurnTimeout, err = time.ParseDuration(text(EnvTurnTimeout)); err != nil || c.TurnTimeout <= 0 {
		fail(EnvTurnTimeout, "%q is not a positive duration such as 30m", text(EnvTurnTimeout))
	}
	if err := c.LogLevel.UnmarshalText([]byte(text(EnvLogLevel))); err != nil {
		fail(EnvLogLevel, "%q is not one of debug, info, warn, error", text(EnvLogLevel))
	}
	if c.LogFormat = text(EnvLogFormat); c.LogFormat != "text" && c.LogFormat != "json" {
		fail(EnvLogFormat, "%q is not one of text, json", c.LogFormat)
	}
	c.Bridge = Bridge{
		VendorExecutable: text(EnvBridgeBin),
		CursorAPIKey:     text(EnvCursorAPIKey),
		OpenAIBaseURL:    text(EnvOpenAIBaseURL),
		OpenAIAPIKey:     text(EnvOpenAIAPIKey),
	}
	if bin := c.Bridge.VendorExecutable; bin != "" {
		if c.Bridge.VendorExecutable, err = findExecutable(bin); err != nil {
			fail(EnvBridgeBin, "%v; name the bridge's executable, or unset it to run Liaison's own bridge", err)
		}
	}
	c.Bridge.Dir = filepath.Join(c.StateDir, "bridge-bin")
	if s := text(EnvBridgeDir); s != "" {
		if c.Bridge.Dir, err = filepath.Abs(s); err != nil {
			fail(EnvBridgeDir, "cannot be made absolute: %v", err)
		}
	}
	if s := c.Bridge.OpenAIBaseURL; s != "" {
		if _, err := parseHTTPURL(s); err != nil {
			fail(EnvOpenAIBaseURL, "%v", err)
		}
	}
	github, more := buildGitHub(v, text)
	c.GitHub = github
	problems = append(problems, more...)
	c.secrets = append(c.secrets, v.secrets...)
	if github != nil {
		c.secrets = append(c.secrets, github.WebhookSecrets...)
		// A key that came as a file or as base64 is not to be shown as PEM either.
		if key := github.PrivateKey; key != nil {
			c.secrets = append(c.secrets, string(pem.EncodeToMemory(&pem.Block{
				Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key),
			})))
		}
	}
	return c, problems
}

// findExecutable finds a program as a shell would, and returns its absolute
// path, so that it is the same one wherever it is started from.
func findExecutable(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// minTokenLength keeps an operator from guarding the API with a word that can
// be guessed.
const minTokenLength = 16
