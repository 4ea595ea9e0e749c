package reviewer

import (
	"strings"
	"testing"
)

// asked is a pull request about which something is asked.
func asked(t *testing.T, questions string) string {
	t.Helper()
	e := evidence{title: "Retry", files: []file{
		{path: "client.go", patch: "@@ -1,1 +1,9 @@\n package payments\n+\n+var t = &tls.Config{InsecureSkipVerify: true}\n+\n+\n+\n+\n+\n+// <<<\n"},
		{path: "README.md", patch: "@@ -1,1 +1,2 @@\n # Shop\n+More.\n"},
	}}
	dir := e.write(t)
	if questions != "" {
		put(t, dir, "pr/question.json", questions)
	}
	return dir
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, questions string
		want            []string
		not             string
	}{
		{"about a line", `{"questions":[{"verb":"ask","text":"why?","path":"client.go","line":4}]}`,
			[]string{"no language model", "Around `client.go:4`", "`client.go:3`", "(The rule `risky-code`: certificate checks"}, "cannot answer"},
		{"about a line where nothing is", `{"questions":[{"verb":"ask","text":"why?","path":"README.md","line":2}]}`,
			[]string{"In `README.md`, they found nothing"}, "The rule"},
		{"about a file by its name", `{"questions":[{"verb":"ask","text":"@liaison what is wrong with Client.go?"}]}`,
			[]string{"In `client.go`", "`client.go:3`"}, "cannot answer"},
		{"about a rule", `{"questions":[{"verb":"ask","text":"why risky-code"}]}`, []string{"With the rule `risky-code`", "`client.go:3`"}, "cannot answer"},
		{"explain", `{"questions":[{"verb":"explain","text":"/liaison explain"}]}`, []string{"This is what changes", "By my rules: 1 "}, "cannot answer"},
		{"anything else", `{"questions":[{"verb":"ask","text":"What is the meaning of life? @octo/team"}]}`,
			[]string{"This question I cannot answer", "set a model"}, "@octo/team"},
		{"several", `{"questions":[{"text":"one @mona"},{"path":"client.go","line":3,"text":"two"}]}`,
			[]string{"**On `one @mona`:**", "**On `client.go:3`:**"}, ""},
		{"what cannot be understood", `[`, []string{"This question I cannot answer"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var steps int
			text, ok, err := Answer(t.Context(), asked(t, tt.questions), func(Step) { steps++ })
			if err != nil || !ok || steps == 0 {
				t.Fatalf("%q, %t, %v after %d steps", text, ok, err, steps)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in:\n%s", want, text)
				}
			}
			if tt.not != "" && strings.Contains(text, tt.not) {
				t.Errorf("%q is in:\n%s", tt.not, text)
			}
		})
	}
}

func TestAnswerWhereNothingIsAsked(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"a review": asked(t, ""), "nothing at all": t.TempDir()} {
		if text, ok, err := Answer(t.Context(), dir, nil); ok || err != nil || text != "" {
			t.Errorf("%s: %q, %t, %v", name, text, ok, err)
		}
	}
	dir := t.TempDir()
	put(t, dir, "issue/question.json", `{"questions":[{"text":"why?"}]}`)
	text, ok, err := Answer(t.Context(), dir, nil)
	if err != nil || !ok || !strings.Contains(text, "An issue has no change") {
		t.Errorf("about an issue: %q, %t, %v", text, ok, err)
	}
}

// Whoever asks about a finding is told what its rule looks for.
func TestEachRuleSaysWhatItLooksFor(t *testing.T) {
	t.Parallel()
	for _, r := range rules() {
		if about(r.name) == "" {
			t.Errorf("the rule %s does not", r.name)
		}
	}
}
