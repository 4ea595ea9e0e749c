package metrics_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/metrics"
	"github.com/liaison-bot/liaison/sessions"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What others tell goes in as they declare it.
var (
	_ sessions.Metrics = (*metrics.Metrics)(nil)
	_ handlers.Metrics = (*metrics.Metrics)(nil)
)

// told returns metrics that were told one of everything.
func told() *metrics.Metrics {
	m := metrics.New(metrics.Options{Version: "v1.2.3", Read: func(context.Context) metrics.Snapshot {
		return metrics.Snapshot{
			Running: true, ActiveSessions: 5, RunningTurns: 4, QueuedTurns: 3, MaxRunningTurns: 4, Deciding: 2, Delivering: 1,
			Storing: 6, BodyMemory: 7 << 12, OldestPending: 90 * time.Second, OutboxLate: 2500 * time.Millisecond,
			Platforms: map[string]bool{"bridge": true, "github": false},
			Disk: &metrics.Disk{
				VolumeFree: 1e9, VolumeSize: 3e9, FreeInodes: 100_000, Database: 5e8, DatabaseFree: 1e8,
				Journal: 2e6, Packed: 3e7, Sessions: 1_000_000, PackedSessions: 999_000,
			},
		}
	}})
	m.WebhookAnswered("github", "accepted", true, 24_000, 3*time.Millisecond)
	m.WebhookAnswered("github", "unsigned", false, 100, time.Millisecond)
	m.WebhookAnswered("slack", "duplicate", true, 2_000, 700*time.Millisecond)
	m.DeliveryDecided("github", "ignored", 20*time.Millisecond)
	m.TurnEnded("github", "completed", 2*time.Second, 90*time.Second)
	m.EffectSettled("github", "done", 400*time.Millisecond)
	m.EventsAppended(12)
	m.DeliveriesMissed("github", 3)
	m.DeliveriesRecovered("github", "fetched", 2)
	m.DeliveriesRecovered("github", "redelivered", 1)
	return m
}

func read(t *testing.T, m http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("got %d %s", w.Code, w.Header().Get("Content-Type"))
	}
	return w.Body.String()
}

// own returns the lines of text that are about metrics of ours.
func own(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "liaison_") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Names, types, help and labels are a contract: a change of them breaks graphs.
func TestNames(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "metrics.golden")
	got := own(read(t, told()))
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the metrics changed; look at the difference, then run the test with -update\n%s", got)
	}
}

func TestRuntimeAndProcessAreShown(t *testing.T) {
	t.Parallel()
	if text := read(t, told()); !strings.Contains(text, "\ngo_goroutines ") {
		t.Error("nothing of the Go runtime is shown")
	}
}

// docs/metrics.md lists exactly what there is, and its alerts use nothing else.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for line := range strings.Lines(read(t, told())) {
		var name, kind string
		if n, _ := fmt.Sscanf(line, "# TYPE %s %s", &name, &kind); n == 2 && strings.HasPrefix(name, "liaison_") {
			types[name] = kind
		}
	}
	listed := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| `(liaison_[a-z_]+)` \\| ([a-z]+) \\|")
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = true
		if types[m[1]] != m[2] {
			t.Errorf("%s is listed as a %s and is a %q", m[1], m[2], types[m[1]])
		}
	}
	for name := range types {
		if !listed[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, name := range regexp.MustCompile(`liaison_[a-z_]+`).FindAllString(string(doc), -1) {
		base := name
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			if cut, ok := strings.CutSuffix(name, suffix); ok && types[cut] == "histogram" {
				base = cut
			}
		}
		if types[base] == "" {
			t.Errorf("%s is mentioned and does not exist", name)
		}
	}
}

// What is not known is left out, rather than shown as zero.
func TestUnknownIsLeftOut(t *testing.T) {
	t.Parallel()
	nothing := metrics.New(metrics.Options{Read: func(context.Context) metrics.Snapshot { return metrics.Snapshot{} }})
	text := read(t, nothing)
	for _, name := range []string{"liaison_volume_", "liaison_store_", "liaison_sessions_stored", "liaison_platform_up"} {
		if strings.Contains(text, name) {
			t.Errorf("%s is shown though nobody knows it", name)
		}
	}
	noInodes := metrics.New(metrics.Options{Read: func(context.Context) metrics.Snapshot {
		return metrics.Snapshot{Disk: &metrics.Disk{VolumeSize: 1, FreeInodes: -1}}
	}})
	if text := read(t, noInodes); strings.Contains(text, "inodes") || !strings.Contains(text, "liaison_volume_size_bytes 1\n") {
		t.Error("a volume without a limit of files is not shown as such")
	}
	noVolume := metrics.New(metrics.Options{Read: func(context.Context) metrics.Snapshot {
		return metrics.Snapshot{Disk: &metrics.Disk{Database: 5, FreeInodes: -1}}
	}})
	if text := read(t, noVolume); strings.Contains(text, "liaison_volume_") || !strings.Contains(text, `liaison_store_size_bytes{part="database"} 5`) {
		t.Error("a volume that is not known hides the store, or is shown")
	}
}

func TestManyReadAndTell(t *testing.T) {
	t.Parallel()
	m := told()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				m.WebhookAnswered("github", "accepted", true, 1, time.Millisecond)
				w := httptest.NewRecorder()
				m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			}
		})
	}
	wg.Wait()
	if !slices.Contains(strings.Split(read(t, m), "\n"), `liaison_webhook_requests_total{answer="accepted",source="github"} 161`) {
		t.Error("not everything was counted")
	}
}

func BenchmarkWebhookAnswered(b *testing.B) {
	m := told()
	b.ReportAllocs()
	for b.Loop() {
		m.WebhookAnswered("github", "accepted", true, 24_000, 3*time.Millisecond)
	}
}
