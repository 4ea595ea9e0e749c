package setup_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/manifests"
	"github.com/liaison-bot/liaison/slack/setup"
)

var (
	// readEvents is the place in which events are told apart, and word a name in it.
	readEvents = regexp.MustCompile(`(?s)\nfunc \(m mapper\) callback\(.*?\n}\n`)
	word       = regexp.MustCompile(`"([a-z_]+)"`)
	shortcut   = regexp.MustCompile(`shortcutAsk\s*=\s*"([^"]+)"`)
)

// The subscriptions are exactly what the channel reads, but for what only apps of
// the older kind are told.
func TestEventsAreThoseThatAreRead(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "map.go"))
	must(t, err)
	text := strings.ReplaceAll(string(source), "\r\n", "\n")
	reads := map[string]bool{}
	for line := range strings.Lines(readEvents.FindString(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "case ") {
			for _, found := range word.FindAllStringSubmatch(line, -1) {
				reads[found[1]] = true
			}
		}
	}
	if !reads["assistant_thread_started"] {
		t.Fatalf("read are %v", reads)
	}
	delete(reads, "assistant_thread_started") // an app with assistant_view has it
	subscribed := map[string]bool{}
	for _, e := range setup.Events() {
		kind, _, _ := strings.Cut(e.Name, ".")
		subscribed[kind] = true
		if e.Feature == "" {
			t.Errorf("%s has no reason", e.Name)
		}
	}
	if !maps.Equal(reads, subscribed) {
		t.Errorf("read are %v\nsubscribed to are %v", slices.Sorted(maps.Keys(reads)), slices.Sorted(maps.Keys(subscribed)))
	}
}

func TestTheShortcutIsTheOneThatIsRead(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "request.go"))
	must(t, err)
	found := shortcut.FindSubmatch(source)
	var m manifest
	must(t, json.Unmarshal(read(t, manifests.SlackApp).JSON(), &m))
	if found == nil || len(m.Features.Shortcuts) != 1 || m.Features.Shortcuts[0].CallbackID != string(found[1]) {
		t.Errorf("%+v, and %q is read", m.Features.Shortcuts, found)
	}
}
