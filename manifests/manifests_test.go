// Package manifests_test holds the files that deployments start from to the
// program: a manifest that asks for too much, or a fly.toml with a key that the
// platform ignores, fails here and not on somebody's evening.
package manifests_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func parseYAML(t *testing.T, path string, into any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(read(t, path)))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Fatalf("%s holds more than one document", path)
	}
}

// The permissions are those of the calls that the github package makes, which
// its own tests hold to its list.
func TestGitHubAppAsksForTheLeast(t *testing.T) {
	t.Parallel()
	var app struct {
		Name           string
		URL            string
		Description    string
		Public         bool
		HookAttributes struct {
			URL    string
			Active bool
		} `yaml:"hook_attributes"`
		Permissions map[string]string `yaml:"default_permissions"`
		Events      []string          `yaml:"default_events"`
	}
	parseYAML(t, "github-app.yml", &app)
	want := map[string]string{}
	for _, p := range github.Permissions() {
		if !p.Optional {
			want[p.Name] = p.Level
		}
	}
	for name, level := range app.Permissions {
		if want[name] != level {
			t.Errorf("%s: %s is asked for and nothing needs it", name, level)
		}
	}
	for name := range want {
		if app.Permissions[name] == "" {
			t.Errorf("%s is needed and not asked for", name)
		}
	}
	var events []string
	for _, s := range github.Subscriptions() {
		events = append(events, s.Event)
		if app.Permissions[s.Permission] == "" {
			t.Errorf("event %s cannot be subscribed to without %s", s.Event, s.Permission)
		}
	}
	if !slices.Equal(app.Events, events) {
		t.Errorf("events %v, acted on are %v", app.Events, events)
	}
	if !strings.HasSuffix(app.HookAttributes.URL, "/webhooks/github") || app.Public {
		t.Errorf("webhook %q, public %v", app.HookAttributes.URL, app.Public)
	}
}

// The keys are those of https://fly.io/docs/reference/configuration/; flyctl
// ignores others silently.
type flyConfig struct {
	App           string
	PrimaryRegion string            `toml:"primary_region"`
	KillSignal    string            `toml:"kill_signal"`
	KillTimeout   string            `toml:"kill_timeout"`
	Build         map[string]string `toml:"build"`
	Env           map[string]string
	Mounts        struct {
		Source              string
		Destination         string
		InitialSize         string `toml:"initial_size"`
		SnapshotRetention   int    `toml:"snapshot_retention"`
		AutoExtendThreshold int    `toml:"auto_extend_size_threshold"`
		AutoExtendIncrement string `toml:"auto_extend_size_increment"`
		AutoExtendLimit     string `toml:"auto_extend_size_limit"`
	}
	HTTPService struct {
		InternalPort       int    `toml:"internal_port"`
		ForceHTTPS         bool   `toml:"force_https"`
		AutoStop           string `toml:"auto_stop_machines"`
		AutoStart          bool   `toml:"auto_start_machines"`
		MinMachinesRunning int    `toml:"min_machines_running"`
		Concurrency        struct {
			Type      string
			SoftLimit int `toml:"soft_limit"`
			HardLimit int `toml:"hard_limit"`
		}
		Checks []struct {
			Method, Path, Interval, Timeout string
			GracePeriod                     string `toml:"grace_period"`
			Headers                         map[string]string
		}
	} `toml:"http_service"`
	Deploy struct {
		Strategy    string
		WaitTimeout string `toml:"wait_timeout"`
	}
	Restart []struct{ Policy string }
	VM      []struct{ Size, Memory string }
}

func TestFlyConfiguration(t *testing.T) {
	t.Parallel()
	var fly flyConfig
	meta, err := toml.Decode(read(t, filepath.Join("..", "fly.toml")), &fly)
	if err != nil {
		t.Fatal(err)
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		t.Errorf("keys that the platform does not know: %v", extra)
	}
	if fly.HTTPService.AutoStop != "off" || fly.HTTPService.MinMachinesRunning != 1 {
		t.Errorf("a machine at work in the background would be stopped: %+v", fly.HTTPService)
	}
	if fly.KillSignal != "SIGTERM" || fly.KillTimeout != "45s" {
		t.Errorf("kill %s after %s; a stop takes up to 25 s", fly.KillSignal, fly.KillTimeout)
	}
	if len(fly.HTTPService.Checks) != 1 || fly.HTTPService.Checks[0].Path != "/healthz" || fly.HTTPService.Checks[0].Method != http.MethodGet {
		t.Errorf("checks %+v", fly.HTTPService.Checks)
	}
	if len(fly.Restart) != 1 || fly.Restart[0].Policy != "always" {
		t.Errorf("restart %+v", fly.Restart)
	}
	if fly.Deploy.Strategy != "rolling" {
		t.Errorf("strategy %q cannot work with a volume", fly.Deploy.Strategy)
	}
	if !strings.HasPrefix(fly.Env[config.EnvStateDir], fly.Mounts.Destination+"/") {
		t.Errorf("state in %s is not on the volume %s", fly.Env[config.EnvStateDir], fly.Mounts.Destination)
	}
	if !strings.HasSuffix(fly.Env[config.EnvAddr], ":8080") || fly.HTTPService.InternalPort != 8080 {
		t.Errorf("listens on %s, is expected on %d", fly.Env[config.EnvAddr], fly.HTTPService.InternalPort)
	}
	for name := range fly.Env {
		i := slices.IndexFunc(config.Settings(), func(s config.Setting) bool { return s.Env == name })
		if i < 0 || config.Settings()[i].Secret {
			t.Errorf("%s in [env] is no setting, or a secret", name)
		}
	}
}

func TestImageDropsRoot(t *testing.T) {
	t.Parallel()
	dockerfile := read(t, filepath.Join("..", "Dockerfile"))
	for _, want := range []string{
		`ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/entrypoint"]`,
		"CGO_ENABLED=0", "-X main.version=", "--uid 10001", "LIAISON_ADDR=0.0.0.0:8080",
	} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("the Dockerfile has no %q", want)
		}
	}
	entrypoint := read(t, "entrypoint")
	for _, want := range []string{"setpriv --reuid liaison --regid liaison --clear-groups --no-new-privs", "10001", `exec /usr/local/bin/liaison "$@"`} {
		if !strings.Contains(entrypoint, want) {
			t.Errorf("the entrypoint has no %q", want)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh to check the entrypoint's syntax with")
	}
	if out, err := exec.Command(sh, "-n", "entrypoint").CombinedOutput(); err != nil {
		t.Errorf("entrypoint: %v\n%s", err, out)
	}
}
