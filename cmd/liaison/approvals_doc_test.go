package main_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// documented returns the code blocks of a page, each with its language and the
// line before it.
func documented(t *testing.T, page string) (blocks []block) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split("\n"+strings.ReplaceAll(string(data), "\r\n", "\n"), "\n```")
	for i := 1; i+1 < len(parts); i += 2 {
		language, code, _ := strings.Cut(parts[i], "\n")
		before := strings.TrimSpace(parts[i-1])
		blocks = append(blocks, block{language, before[strings.LastIndexByte(before, '\n')+1:], code + "\n"})
	}
	return blocks
}

type block struct{ language, title, code string }

// agentOfDocs writes the agent's folder that docs/approvals.md shows, and returns
// where it is.
func agentOfDocs(t *testing.T) string {
	t.Helper()
	dir, files := t.TempDir(), 0
	for _, b := range documented(t, "approvals.md") {
		name, is := strings.CutPrefix(b.title, "`")
		name, closed := strings.CutSuffix(name, "`")
		if !is || !closed || b.language == "sh" || strings.ContainsAny(name, "`| ") {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.code), 0o700); err != nil {
			t.Fatal(err)
		}
		files++
	}
	if files != 4 {
		t.Fatalf("the page shows %d files", files)
	}
	return dir
}

// shell runs the sh blocks of a page as a reader would, and returns what they print.
func shell(t *testing.T, page string, environ ...string) string {
	t.Helper()
	var script strings.Builder
	for _, b := range documented(t, page) {
		if b.language == "sh" {
			script.WriteString(b.code)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-eu")
	cmd.Stdin = strings.NewReader(script.String())
	cmd.Env = append(environ, "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"), "LIAISON_API_TOKEN="+apiToken)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// inOrder fails unless each text comes after the one before.
func inOrder(t *testing.T, out string, texts ...string) {
	t.Helper()
	rest := out
	for _, want := range texts {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%s is missing or comes too early in\n%s", want, out)
		}
		rest = after
	}
}

// What docs/approvals.md shows works as it stands.
func TestTheExamplesOfApprovalsWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh")
	}
	w := newWorld(t)
	p := w.serveAPI("LIAISON_AGENT_DIR=" + agentOfDocs(t))
	out := shell(t, "approvals.md", "LIAISON_ADDR="+strings.TrimPrefix(p.url, "http://"))
	inOrder(t, out,
		"TOOL", "deploy", `input.service == "shop"`, "Deploys a service.",
		`deployed, with {"service":"blog"}`, "Operation acknowledged.",
		"the call waits for a person", "waits, with status 8", "pending", "deploy", "api:operator",
		"risk ", "high", "who decides", "Slack U012AB3CD, GitHub octo-cat, the operator", `"reason": "the fix"`,
		"is approved: deploy runs", "done", "approved by api:operator in http", "as agreed", `deployed, with {"service":"shop","reason":"the fix"}`,
		"is approved", "decided already: it is done", "was decided, with status 5", "is denied", "denied", "done",
		`"action":"called"`, `"action":"done"`, `"action":"asked"`, `"action":"approved"`, `"action":"executing"`, `"action":"done"`, `"action":"denied"`, "not on a Friday",
	)
}

// The cards that docs/approvals.md shows are those that people get: each line between two
// "…" follows the one before in the file that the tests hold the card to.
func TestTheCardsOfApprovalsAreAsShown(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, b := range documented(t, "approvals.md") {
		name, is := strings.CutPrefix(b.title, "<!-- ")
		if !is {
			continue
		}
		shown++
		name = strings.TrimSuffix(name, " -->")
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		// The goldens have spaces at the ends of lines, which an editor would take away.
		rest := "\n" + strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), " \n", "\n") + "\n"
		for part := range strings.SplitSeq("\n"+b.code, "\n…") {
			part = strings.TrimSuffix(part, "\n")
			_, after, found := strings.Cut(rest, part+"\n")
			if !found {
				t.Errorf("%s does not have%s", name, part)
				break
			}
			rest = "\n" + after
		}
	}
	if shown < 3 {
		t.Errorf("the page shows %d cards", shown)
	}
}
