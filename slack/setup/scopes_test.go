package setup_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/manifests"
	"github.com/liaison-bot/liaison/slack/setup"
)

// unscoped are the methods that are called and need no scope.
var unscoped = []string{"auth.test", "views.open", "views.publish"}

// methodName is how a method of Slack's stands in source.
var methodName = regexp.MustCompile(`"((?:agents|assistant|auth|bots|chat|conversations|files|reactions|team|usergroups|users|views)\.[A-Za-z.]+)"`)

// The table has exactly the methods that the client calls, and examining the app.
func TestScopesAreThoseOfWhatIsCalled(t *testing.T) {
	t.Parallel()
	called := map[string]bool{"bots.info": true}
	sources, err := filepath.Glob(filepath.Join("..", "web", "*.go"))
	must(t, err)
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		must(t, err)
		for _, found := range methodName.FindAllStringSubmatch(string(text), -1) {
			called[found[1]] = true
		}
	}
	if len(called) < 10 {
		t.Fatalf("found only %v", called)
	}
	listed := map[string]bool{"auth.test": true}
	for _, name := range unscoped {
		listed[name] = true
	}
	for _, s := range setup.Scopes() {
		if s.Feature == "" || s.Lost == "" {
			t.Errorf("%s has no reason", s.Name)
		}
		for _, method := range s.Methods {
			listed[method] = true
		}
	}
	delete(listed, "auth.test")
	delete(called, "auth.test") // by slack/install and the examination
	for method := range called {
		if !listed[method] {
			t.Errorf("%s is called, and the table does not say what it needs", method)
		}
	}
	for method := range listed {
		if !called[method] {
			t.Errorf("%s is in the table, and nothing calls it", method)
		}
	}
}

// Each scope opens its methods, and nothing else of the table does.
func TestScopesAreWhatSlackAsksFor(t *testing.T) {
	t.Parallel()
	lacks := func(method string, scopes []string) bool {
		w := newWorld(t, nil)
		workspace := w.AddWorkspace(sim.Workspace{ID: team, Scopes: scopes})
		resp, err := w.client.PostForm(w.site.API+method, url.Values{"token": {workspace.BotToken}})
		must(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		must(t, err)
		var answer struct{ Error string }
		must(t, json.Unmarshal(data, &answer))
		if resp.StatusCode != http.StatusOK || answer.Error == "unknown_method" {
			t.Fatalf("%s: %d %s", method, resp.StatusCode, data)
		}
		return answer.Error == "missing_scope"
	}
	for _, s := range setup.Scopes() {
		for _, method := range s.Methods {
			if lacks(method, []string{s.Name}) {
				t.Errorf("%s does not open %s", s.Name, method)
			}
			var others []string
			for _, other := range setup.Scopes() {
				if !slices.Contains(other.Methods, method) && other.Name != "assistant:write" {
					others = append(others, other.Name)
				}
			}
			if method == "agents.sessions.setStatus" || s.Name == "assistant:write" {
				others = []string{"commands"} // either of two scopes will do
			}
			if !lacks(method, others) {
				t.Errorf("%s is not needed for %s", s.Name, method)
			}
		}
	}
	for _, method := range unscoped {
		if lacks(method, []string{"commands"}) {
			t.Errorf("%s needs a scope", method)
		}
	}
}

func TestMissingScopes(t *testing.T) {
	t.Parallel()
	if missing := setup.Missing(setup.ScopeNames()); len(missing) != 0 {
		t.Errorf("missing %v of all", missing)
	}
	granted := slices.DeleteFunc(setup.ScopeNames(), func(name string) bool { return name == "users:read" })
	missing := setup.Missing(append(granted, "emoji:read"))
	if len(missing) != 1 || missing[0].Name != "users:read" || !missing[0].Essential {
		t.Errorf("missing %+v", missing)
	}
}

// manifest is what is looked at of one.
type manifest struct {
	Features struct {
		Shortcuts []struct {
			CallbackID string `json:"callback_id"`
		} `json:"shortcuts"`
	} `json:"features"`
	OAuth struct {
		Scopes struct{ Bot, User []string } `json:"scopes"`
	} `json:"oauth_config"`
	Settings struct {
		Events struct {
			Bot []string `json:"bot_events"`
		} `json:"event_subscriptions"`
	} `json:"settings"`
}

func TestManifestsAskForTheLeast(t *testing.T) {
	t.Parallel()
	var events []string
	for _, e := range setup.Events() {
		events = append(events, e.Name)
	}
	for name, source := range map[string][]byte{"http": manifests.SlackApp, "socket": manifests.SlackAppSocket} {
		var m manifest
		must(t, json.Unmarshal(read(t, source).JSON(), &m))
		if got := m.OAuth.Scopes; !slices.Equal(got.Bot, setup.ScopeNames()) || len(got.User) > 0 {
			t.Errorf("%s: scopes %+v, want %v", name, got, setup.ScopeNames())
		}
		if got := m.Settings.Events.Bot; !slices.Equal(got, events) {
			t.Errorf("%s: events %v, want %v", name, got, events)
		}
	}
}
