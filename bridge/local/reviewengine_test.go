package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeEvidence is a small pull request below dir.
func writeEvidence(t testing.TB, dir string) {
	t.Helper()
	files := map[string]string{
		"pull_request.json": `{"number":7,"repository":{"full_name":"octo/shop"},"title":"Fix","head":{"sha":"1111111"},"base":{"sha":"2222222"}}`,
		"files.json": `{"head_sha":"1111111","base_sha":"2222222","complete":true,"files":[{"number":1,"path":"main.go","status":"modified",` +
			`"additions":1,"deletions":0,"counts_known":true,"kind":"text","size":20,"patch":"files/0001/patch.diff"}]}`,
		"files/0001/patch.diff": "@@ -1,1 +1,2 @@\n package main\n+<<<<<<< HEAD\n",
	}
	for name, content := range files {
		path := filepath.Join(dir, "pr", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheReviewerStreamsLikeAnAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeEvidence(t, dir)
	var text strings.Builder
	open := make(map[string]string)
	read := false
	ans, err := reviewEngine{}.Run(testContext(t), task{RunID: "run-1", Dir: dir, Tools: []string{toolRead}}, func(e event) {
		switch e := e.(type) {
		case said:
			text.WriteString(e.Text)
		case toolStart:
			open[e.CallID] = e.Name
		case toolEnd:
			if open[e.CallID] != e.Name {
				t.Errorf("the call %s of %s ended without a start", e.CallID, e.Name)
			}
			delete(open, e.CallID)
			read = read || e.Args["path"] == "pr/files.json"
			if e.Name != toolRead {
				t.Errorf("the tool %s was used and is not allowed", e.Name)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != ans.Text || !strings.Contains(ans.Text, "main.go") {
		t.Errorf("the fragments make %q, the answer is %q", text.String(), ans.Text)
	}
	if len(open) != 0 || !read {
		t.Errorf("calls without an end: %v; the manifest was read: %v", open, read)
	}
	if ans.Usage != (usage{}) {
		t.Errorf("a reviewer without a model used tokens: %v", ans.Usage)
	}
}

func TestTheReviewerSaysWhyItCannotReview(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeEvidence(t, dir)
	_, err := reviewEngine{}.Run(testContext(t), task{Dir: dir, Tools: []string{toolGrep}}, func(e event) {
		t.Errorf("it did %v without the tool that it needs", e)
	})
	var failure *runFailure
	if !errors.As(err, &failure) || failure.Code != "tool_not_allowed" || !strings.Contains(failure.Reason, "read") {
		t.Errorf("got %v, want a reason that names the tool", err)
	}
	if _, err := (reviewEngine{}).Run(testContext(t), task{Dir: filepath.Join(dir, "gone"), Tools: []string{toolRead}}, func(event) {}); err == nil {
		t.Error("a directory that is gone was reviewed")
	}
	// Without a pull request it says what it can do, which is an answer.
	ans, err := reviewEngine{}.Run(testContext(t), task{Dir: t.TempDir(), Tools: []string{toolRead}}, func(event) {})
	if err != nil || ans.Text == "" {
		t.Errorf("without a pull request it answers %q, %v", ans.Text, err)
	}
}

func TestTheReviewerHandsItsFindingsIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeEvidence(t, dir)
	var handed map[string]any
	calls := 0
	offered := task{
		RunID: "run-1", Dir: dir, Tools: []string{toolRead}, Custom: []customTool{{Name: "submit_review"}},
		CallCustom: func(_ context.Context, _, name string, args map[string]any) (map[string]any, error) {
			if calls++; name != "submit_review" {
				t.Errorf("it called %s", name)
			}
			handed = args
			return nil, errors.New("not now")
		},
	}
	with, err := reviewEngine{}.Run(testContext(t), offered, func(event) {})
	if err != nil || calls != 1 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	findings, _ := handed["findings"].([]any)
	if len(findings) == 0 || handed["verdict"] != "comment" || strings.Contains(handed["summary"].(string), "main.go") {
		t.Fatalf("handed in is %v", handed)
	}
	first, _ := findings[0].(map[string]any)
	if first["path"] != "main.go" || first["line"] != 2 || first["side"] != "RIGHT" || first["severity"] != "error" || first["title"] == "" || first["body"] == "" {
		t.Errorf("the first finding is %v", first)
	}
	other := offered
	other.Custom = []customTool{{Name: "another"}}
	without, err := reviewEngine{}.Run(testContext(t), other, func(event) {})
	if err != nil || calls != 1 || with.Text != without.Text {
		t.Errorf("without the tool: %d calls, %v, and the answer is %q, not %q", calls, err, without.Text, with.Text)
	}
	offered.Dir = t.TempDir()
	if _, err := (reviewEngine{}).Run(testContext(t), offered, func(event) {}); err != nil || calls != 1 {
		t.Errorf("without a pull request it handed a review in: %d, %v", calls, err)
	}
}

func TestTheReviewerAnswersWhatIsAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeEvidence(t, dir)
	question := `{"questions":[{"verb":"ask","text":"@liaison why?","path":"main.go","line":2}]}`
	if err := os.WriteFile(filepath.Join(dir, "pr", "question.json"), []byte(question), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	ans, err := reviewEngine{}.Run(testContext(t), task{RunID: "run-1", Dir: dir, Tools: []string{toolRead}}, collect(&said))
	if err != nil {
		t.Fatal(err)
	}
	if said.String() != ans.Text || !strings.Contains(ans.Text, "`conflict-marker`") || strings.Contains(ans.Text, "liaison:findings") {
		t.Errorf("it says %q and answers %q", said.String(), ans.Text)
	}
}

// collect keeps what an engine says.
func collect(text *strings.Builder) func(event) {
	return func(e event) {
		if s, ok := e.(said); ok {
			text.WriteString(s.Text)
		}
	}
}

func FuzzFragments(f *testing.F) {
	f.Add("one\ntwo\n\nthree", 4)
	f.Add(strings.Repeat("é\n", 100), 7)
	f.Fuzz(func(t *testing.T, text string, size int) {
		pieces := fragments(text, size)
		if strings.Join(pieces, "") != text {
			t.Errorf("the fragments of %q do not make it again", text)
		}
		for i, p := range pieces {
			if p == "" || i < len(pieces)-1 && !strings.HasSuffix(p, "\n") {
				t.Errorf("fragment %d is %q", i, p)
			}
		}
	})
}
