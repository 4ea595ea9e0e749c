package main_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/internal/sim/openapi"
)

var (
	localPage  = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)
	setupField = regexp.MustCompile(`(?s)action="([^"]*)".*name="manifest" value="([^"]*)"`)
)

// A new user registers an App, and the service signs in with what was written.
func TestSetupGitHub(t *testing.T) {
	t.Parallel()
	hub := sim.NewGitHub(sim.GitHubOptions{Watch: openapi.Watch(t)})
	api, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hub.Close() })
	file := filepath.Join(t.TempDir(), "liaison.env")

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "setup", "github", "--no-browser", "--github", api, "--out", file,
		"--org", "octo", "--name", "Our Liaison", "--url", "https://liaison.example.com")
	cmd.Env = append(os.Environ(), "GITHUB_API_URL="+api)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	page := localPage.FindString(first)

	// The browser: the page, the form at GitHub, and the way back.
	found := setupField.FindStringSubmatch(fetch(t, page))
	if found == nil {
		t.Fatal("the page has no form")
	}
	back := submit(t, html.UnescapeString(found[1]), html.UnescapeString(found[2]))
	if done := fetch(t, back); !strings.Contains(done, "/apps/our-liaison/installations/new") {
		t.Errorf("the last page names no place to install the App:\n%s", done)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}

	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		set[name] = value
	}
	key, err := base64.StdEncoding.DecodeString(set["GITHUB_PRIVATE_KEY"])
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{set["GITHUB_PRIVATE_KEY"], string(key), set["GITHUB_WEBHOOK_SECRET"]} {
		if secret == "" || strings.Contains(first+string(rest)+stderr.String(), secret) {
			t.Errorf("a secret is missing or was shown: %.10q", secret)
		}
	}
	if !strings.HasPrefix(string(key), "-----BEGIN RSA PRIVATE KEY-----") || set["GITHUB_API_URL"] != api || set["GITHUB_APP_ID"] == "" {
		t.Errorf("the file does not say what is needed:\n%s", data)
	}

	// A second App does not take the first one's place by accident.
	again := exec.CommandContext(ctx, binary, "setup", "github", "--no-browser", "--github", api, "--out", file)
	again.Env = cmd.Env
	if out, err := again.CombinedOutput(); again.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "GITHUB_APP_ID already") {
		t.Errorf("%v: %s", err, out)
	}
}

func fetch(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s", address, resp.StatusCode, body)
	}
	return string(body)
}

// submit posts the form as a browser does and returns where it is sent.
func submit(t *testing.T, action, manifest string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"manifest": {manifest}}.Encode()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, action, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("GitHub does not take the form: %d %s", resp.StatusCode, body)
	}
	return resp.Header.Get("Location")
}
