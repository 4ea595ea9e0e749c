package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"
	"go.yaml.in/yaml/v3"
)

// maxName is the longest name of an app, in characters.
// https://docs.slack.dev/reference/app-manifest#display-information
const maxName = 35

// placeholder is what stands in a manifest for where the service is reached.
const placeholder = "https://liaison.example.com"

// Manifest describes an app to Slack. It keeps the order of its source, and what
// it does not know of.
type Manifest struct{ root *yaml.Node }

// Read reads a manifest from YAML. A key that Slack does not have is an error:
// Slack ignores some of them in silence.
func Read(source []byte) (Manifest, error) {
	d := yaml.NewDecoder(bytes.NewReader(source))
	d.KnownFields(true)
	if err := d.Decode(new(slack.Manifest)); err != nil {
		return Manifest{}, fmt.Errorf("read the app's manifest: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(source, &document); err != nil {
		return Manifest{}, fmt.Errorf("read the app's manifest: %w", err)
	}
	return Manifest{root: document.Content[0]}, nil
}

// WebhookPath is where the service takes what Slack sends.
const WebhookPath = "/webhooks/slack"

// For returns the manifest for a service at a public URL, which is nil for one
// that is reached by Socket Mode, and with a name, unless that is empty.
func (m Manifest) For(public *url.URL, name string) (Manifest, error) {
	m.root = copied(m.root)
	if public != nil {
		if public.Scheme != "https" {
			return m, fmt.Errorf("%s is not https, and Slack sends nothing to another; for a service without a public address there is --socket", public)
		}
		at := strings.TrimRight(public.String(), "/")
		each(m.root, func(n *yaml.Node) { n.Value = strings.Replace(n.Value, placeholder, at, 1) })
	} else {
		found := false
		each(m.root, func(n *yaml.Node) { found = found || strings.HasPrefix(n.Value, placeholder) })
		if found {
			return m, errors.New("the service has to be within reach of Slack: give its public URL (--url or LIAISON_PUBLIC_URL), or use Socket Mode (--socket)")
		}
	}
	if name != "" {
		switch n := utf8.RuneCountInString(name); {
		case strings.TrimSpace(name) == "":
			return m, errors.New("the app's name is empty")
		case n > maxName:
			return m, fmt.Errorf("the app's name has %d characters, and Slack takes at most %d", n, maxName)
		}
		for _, group := range [][2]string{{"display_information", "name"}, {"features.bot_user", "display_name"}} {
			at := m.root
			for key := range strings.SplitSeq(group[0], ".") {
				at = child(at, key)
			}
			if at = child(at, group[1]); at != nil {
				at.SetString(name)
			}
		}
	}
	return m, nil
}

// copied returns a copy without comments.
func copied(n *yaml.Node) *yaml.Node {
	c := *n
	c.HeadComment, c.LineComment, c.FootComment = "", "", ""
	c.Content = nil
	for _, part := range n.Content {
		c.Content = append(c.Content, copied(part))
	}
	return &c
}

// each visits the texts of a tree.
func each(n *yaml.Node, visit func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		visit(n)
	}
	for _, part := range n.Content {
		each(part, visit)
	}
}

// child is the value of a key, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// YAML is the manifest for a person, without comments.
func (m Manifest) YAML() string {
	var b strings.Builder
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(copied(m.root)); err != nil {
		panic(err) // what was read can be written
	}
	return b.String()
}

// JSON is the manifest for Slack's methods.
func (m Manifest) JSON() json.RawMessage {
	raw, err := json.Marshal(m.tree())
	if err != nil {
		panic(err) // maps with texts as keys, lists, texts, numbers and truths always encode
	}
	return raw
}

// tree is the manifest as JSON has it.
func (m Manifest) tree() map[string]any {
	var t map[string]any
	if err := m.root.Decode(&t); err != nil {
		panic(err) // Read has decoded it
	}
	return t
}

// Link is the page of Slack's on which a person creates the app from the manifest.
// https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests#creating_apps
func (m Manifest) Link(site Site) string {
	// Not every page takes a plus for a space.
	return site.Pages + "/apps?new_app=1&manifest_yaml=" + strings.ReplaceAll(url.QueryEscape(m.YAML()), "+", "%20")
}
