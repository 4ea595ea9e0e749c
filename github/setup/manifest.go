package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxName is the longest name of a GitHub App, in characters.
// https://docs.github.com/apps/creating-github-apps/registering-a-github-app/registering-a-github-app
const maxName = 34

// Manifest describes an App to GitHub. The names are GitHub's.
type Manifest struct {
	Name        string `yaml:"name" json:"name"`
	URL         string `yaml:"url" json:"url"`
	Description string `yaml:"description" json:"description,omitempty"`
	Public      bool   `yaml:"public" json:"public"`
	// RedirectURL is where GitHub sends the browser once the App exists.
	RedirectURL string            `yaml:"-" json:"redirect_url,omitempty"`
	Hook        Hook              `yaml:"hook_attributes" json:"hook_attributes"`
	Permissions map[string]string `yaml:"default_permissions" json:"default_permissions"`
	Events      []string          `yaml:"default_events" json:"default_events"`
}

// Hook is the App's webhook.
type Hook struct {
	URL    string `yaml:"url" json:"url"`
	Active bool   `yaml:"active" json:"active"`
}

// Read reads a manifest from YAML. Unknown keys are errors: GitHub ignores them in silence.
func Read(source []byte) (Manifest, error) {
	var m Manifest
	d := yaml.NewDecoder(bytes.NewReader(source))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("read the App's manifest: %w", err)
	}
	return m, nil
}

// WebhookPath is where the service takes GitHub's deliveries.
const WebhookPath = "/webhooks/github"

// For returns the manifest for a service at a public URL. Without one the
// webhook is inactive: GitHub wants some URL, and nothing must be sent there.
func (m Manifest) For(public *url.URL, name string) (Manifest, error) {
	if name != "" {
		m.Name = name
	}
	switch n := utf8.RuneCountInString(m.Name); {
	case strings.TrimSpace(m.Name) == "":
		return m, errors.New("the App's name is empty")
	case n > maxName:
		return m, fmt.Errorf("the App's name has %d characters, and GitHub takes at most %d", n, maxName)
	}
	m.Hook.Active = public != nil
	if public != nil {
		m.Hook.URL = public.JoinPath(WebhookPath).String()
	}
	return m, nil
}

// JSON is the manifest as GitHub's form takes it.
func (m Manifest) JSON() string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		panic(err) // strings and bools always encode
	}
	return strings.TrimSpace(b.String())
}
