package doctor_test

import (
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/doctor"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/github/setup"
)

const address = "https://liaison.example.com"

// healthy is an App that lacks nothing.
func healthy() github.Examination {
	permissions := map[string]string{"checks": "write", "contents": "read", "metadata": "read"}
	return github.Examination{
		App: github.AppInfo{
			ID: 42, Slug: "liaison", Owner: "octo", BotLogin: "liaison[bot]",
			Permissions: permissions, Events: []string{"pull_request", "issue_comment"},
		},
		Hook:          github.HookConfig{URL: address + "/webhooks/github", ContentType: "json", Secret: true},
		Attempts:      []github.HookDelivery{{Event: "ping", Status: 202}},
		Installations: []github.InstallationInfo{{ID: 7, Account: "octo", Permissions: maps.Clone(permissions)}},
	}
}

func wanted(t *testing.T) doctor.Wanted {
	t.Helper()
	public, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return doctor.Wanted{
		Public: public,
		Manifest: setup.Manifest{
			Events: []string{"pull_request", "issue_comment"},
		},
		Lost: func(granted map[string]string) []github.Lost {
			var lost []github.Lost
			for _, p := range []github.Permission{
				{Name: "metadata", Level: "read", Essential: true, Lost: "Nothing works."},
				{Name: "checks", Level: "write", Lost: "There is no check."},
				{Name: "contents", Level: "write", Optional: true, Lost: "Threads stay open."},
			} {
				if granted[p.Name] != p.Level {
					lost = append(lost, github.Lost{Permission: p, Has: granted[p.Name]})
				}
			}
			return lost
		},
	}
}

func TestNothingIsWrongWithAHealthyApp(t *testing.T) {
	t.Parallel()
	found := doctor.GitHub(healthy(), wanted(t))
	if worst := doctor.Worst(found); worst != doctor.OK {
		t.Errorf("%s: %+v", worst, found)
	}
}

// Each gap is named, with what is lost and what to do, and nothing else is blamed.
func TestEachGapIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spoil  func(*github.Examination, *doctor.Wanted)
		status doctor.Status
		text   string
		fix    string
	}{
		{"unknown App", func(e *github.Examination, _ *doctor.Wanted) {
			*e = github.Examination{AppErr: errors.New("GitHub does not accept the signature")}
		}, doctor.Failed, "does not accept", ""},
		{"clock ahead", func(e *github.Examination, _ *doctor.Wanted) { e.App.ClockAhead = 45 * time.Second },
			doctor.Warning, "45s ahead of GitHub's", "NTP"},
		{"clock behind", func(e *github.Examination, _ *doctor.Wanted) { e.App.ClockAhead = -21 * time.Second },
			doctor.Warning, "21s behind GitHub's", "NTP"},
		{"permission of the App", func(e *github.Examination, _ *doctor.Wanted) {
			e.App.Permissions = map[string]string{"checks": "read", "contents": "read", "metadata": "read"}
		}, doctor.Warning, "not registered with checks: write. There is no check.", "settings page"},
		{"essential permission", func(e *github.Examination, _ *doctor.Wanted) {
			e.App.Permissions = map[string]string{"checks": "write", "contents": "read"}
		}, doctor.Failed, "not registered with metadata: read. Nothing works.", "settings page"},
		{"event", func(e *github.Examination, _ *doctor.Wanted) { e.App.Events = []string{"pull_request"} },
			doctor.Warning, "does not send issue_comment", "Tick"},
		{"content type", func(e *github.Examination, _ *doctor.Wanted) { e.Hook.ContentType = "form" },
			doctor.Failed, `"form"`, "application/json"},
		{"no secret", func(e *github.Examination, _ *doctor.Wanted) { e.Hook.Secret = false },
			doctor.Failed, "no secret", "GITHUB_WEBHOOK_SECRET"},
		{"certificate", func(e *github.Examination, _ *doctor.Wanted) { e.Hook.Unverified = true },
			doctor.Warning, "does not verify", "SSL"},
		{"other address", func(e *github.Examination, _ *doctor.Wanted) { e.Hook.URL = "https://old.example.com/webhooks/github" },
			doctor.Failed, "old.example.com", "LIAISON_PUBLIC_URL"},
		{"slash at the end", func(e *github.Examination, _ *doctor.Wanted) { e.Hook.URL += "/" },
			doctor.Failed, "/webhooks/github/", "no redirect"},
		{"http", func(e *github.Examination, _ *doctor.Wanted) {
			e.Hook.URL = strings.Replace(e.Hook.URL, "https", "http", 1)
		}, doctor.Failed, "http://liaison", "LIAISON_PUBLIC_URL"},
		{"no public address", func(_ *github.Examination, w *doctor.Wanted) { w.Public = nil },
			doctor.Warning, "not known", "LIAISON_PUBLIC_URL"},
		{"failed deliveries", func(e *github.Examination, _ *doctor.Wanted) {
			e.Attempts = []github.HookDelivery{
				{Event: "push", Status: 202},
				{Event: "issues", Status: 503, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
				{Event: "ping"},
			}
		}, doctor.Warning, "2 of the last 3 failed; the newest of them, issues at 2026-01-02 03:04 UTC: answered 503", "fetches"},
		{"nobody answered", func(e *github.Examination, _ *doctor.Wanted) {
			e.Attempts = []github.HookDelivery{{Event: "ping"}}
		}, doctor.Warning, "nobody answered", "Advanced"},
		{"suspended", func(e *github.Examination, _ *doctor.Wanted) {
			e.Installations = append(e.Installations, github.InstallationInfo{ID: 8, Account: "mona", Suspended: true})
		}, doctor.Warning, "mona (8) is suspended", "unsuspends"},
		{"not accepted", func(e *github.Examination, _ *doctor.Wanted) {
			e.Installations[0].Permissions = map[string]string{"contents": "read", "metadata": "read"}
		}, doctor.Warning, "octo (7) has not accepted checks: write", "accepts"},
		{"not installed", func(e *github.Examination, _ *doctor.Wanted) { e.Installations = nil },
			doctor.Warning, "not installed anywhere", "installations/new"},
		{"unreadable webhook", func(e *github.Examination, _ *doctor.Wanted) { e.HookErr = errors.New("no hook today") },
			doctor.Warning, "no hook today", ""},
		{"unreadable deliveries", func(e *github.Examination, _ *doctor.Wanted) { e.AttemptsErr = errors.New("no list today") },
			doctor.Warning, "no list today", ""},
		{"unreadable installations", func(e *github.Examination, _ *doctor.Wanted) {
			e.Installations, e.InstallationsErr = nil, errors.New("no accounts today")
		}, doctor.Warning, "no accounts today", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, w := healthy(), wanted(t)
			c.spoil(&e, &w)
			var gaps []doctor.Finding
			for _, f := range doctor.GitHub(e, w) {
				if f.Status != doctor.OK {
					gaps = append(gaps, f)
				}
			}
			if len(gaps) != 1 {
				t.Fatalf("%d gaps, want one: %+v", len(gaps), gaps)
			}
			g := gaps[0]
			if g.Status != c.status || !strings.Contains(g.Text, c.text) || !strings.Contains(g.Fix, c.fix) {
				t.Errorf("%+v\nwant %s, %q and %q", g, c.status, c.text, c.fix)
			}
		})
	}
}

// What the App itself lacks is not blamed on every account that has it.
func TestAMissingPermissionIsBlamedOnce(t *testing.T) {
	t.Parallel()
	e := healthy()
	delete(e.App.Permissions, "checks")
	for range 3 {
		e.Installations = append(e.Installations, github.InstallationInfo{ID: 9, Account: "more", Permissions: e.App.Permissions})
	}
	n := 0
	for _, f := range doctor.GitHub(e, wanted(t)) {
		if strings.Contains(f.Text, "checks: write") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("named %d times", n)
	}
}
