package repoconfig

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// example is a file in which every key is set.
func example(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/example.yml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEveryKeyIsReadWithItsSource(t *testing.T) {
	t.Parallel()
	layer, problems := Parse("octo/shop@main", example(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got := Resolve(layer)
	want := Config{
		Enabled: true,
		Review: Review{
			On: []string{"opened", "push", "ready", "reopened", "label"}, Labels: []string{"!skip"}, Paths: []string{"!docs/**", "!**/*.lock"},
			Bases: []string{"main", "release/*"}, IgnoreAuthors: []string{"renovate[bot]"}, Teams: []string{"reviewers"}, Minimum: "anyone",
			After: "checks", Incremental: true, Style: "Be brief. Speak of what can break, not of taste.\n", Language: "English",
			Instructions: []string{"REVIEW.md", "docs/review/rules.md"}, MaxInline: 10, Suggestions: true, Verdicts: []string{"request_changes"},
			ResolveThreads: true,
		},
		Checks: Checks{FailOn: "error", OnError: "neutral"}, Commands: Commands{Bare: true, Minimum: "write"}, Ask: Ask{Minimum: "triage"},
		Issues: Issues{On: []string{"mention", "label"}, Labels: []string{"question"}}, Budgets: Budgets{20, 20, 200},
	}
	if !reflect.DeepEqual(got.Config, want) {
		t.Errorf("got  %+v\nwant %+v", got.Config, want)
	}
	for _, f := range fields() {
		if got.Source(f.key) != "octo/shop@main" {
			t.Errorf("%s: the example does not set it", f.key)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`"a", `, maxItems+1)
	for _, tt := range []struct{ name, file, want string }{
		{"unknown key", "review:\n  om: [push]\n", `line 2: there is no key "review.om"`},
		{"unknown group", "reviews: {}\n", `line 1: there is no key "reviews"`},
		{"twice", "enabled: true\nenabled: false\n", `line 2: "enabled" is there twice`},
		{"not a mapping", "- a\n", "line 1: the file must hold keys and values"},
		{"group is a list", "review: [a]\n", `line 1: "review" must hold keys and values`},
		{"text for a flag", "enabled: \"true\"\n", "line 1: enabled must be true or false"},
		{"old word for a flag", "enabled: yes\n", "line 1: enabled must be true or false"},
		{"nothing for a flag", "enabled:\n", "line 1: enabled must be true or false"},
		{"text for a list", "review: {on: push}\n", "line 1: review.on must be a list"},
		{"number in a list", "review:\n  labels:\n    - 7\n", "line 3: an entry of review.labels must be text; put it in quotes"},
		{"not a choice", "review: {on: [pushed]}\n", `an entry of review.on must be "opened" or "push" or "ready" or "reopened" or "label", not "pushed"`},
		{"minimum anyone for commands", "commands: {minimum: anyone}\n", `commands.minimum must be "read" or`},
		{"below a number", "review: {inline: {max: -1}}\n", "review.inline.max must be a whole number from 0 to 30"},
		{"above a number", "review: {inline: {max: 31}}\n", "review.inline.max must be a whole number from 0 to 30"},
		{"no whole number", "review: {inline: {max: 1.5}}\n", "must be a whole number"},
		{"bad glob", "review: {paths: [\"a[\"]}\n", `must be a glob, not "a["`},
		{"only an exclamation mark", "review: {labels: [\"!\"]}\n", "an entry of review.labels is empty"},
		{"path out of the repository", "review: {instructions: [../secrets]}\n", "must be a path in the repository"},
		{"absolute path", "review: {instructions: [/etc/passwd]}\n", "must be a path in the repository"},
		{"too many", "review: {labels: [" + many + "]}\n", "has 101 entries; at most 100"},
		{"too long", "review: {language: " + strings.Repeat("a", maxLanguage+1) + "}\n", "has 65 bytes; at most 64"},
		{"alias", "review:\n  labels: [&a x]\n  teams: [*a]\n", "line 3: an entry of review.teams is an alias"},
		{"alias of a mapping", "checks: &c {failOn: error}\nask: *c\n", `line 2: "ask" must hold keys and values`},
		{"merge", "checks: &c {failOn: error}\nask: {<<: *c}\n", `there is no key "ask.<<"`},
		{"two documents", "enabled: true\n---\nenabled: false\n", "must be one YAML document"},
		{"no YAML", "review: [\n", "line"},
		{"no text", "enabled: \xff\n", "not UTF-8"},
		{"too large", strings.Repeat("#", MaxFile+1), "has 65537 bytes; at most 65536"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			layer, problems := Parse("octo/shop@main", []byte(tt.file))
			if len(problems) == 0 {
				t.Fatal("no problem")
			}
			var all []string
			for _, p := range problems {
				all = append(all, p.Error())
			}
			if got := strings.Join(all, "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			if len(layer.values) > 0 {
				t.Errorf("half of the file is used: %v", layer.values)
			}
		})
	}
}

func TestFilesThatSayNothing(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "# nothing\n", "---\n", "{}\n", "review:\n", "review: {inline: }\n", strings.Repeat("#", MaxFile)} {
		layer, problems := Parse("x", []byte(file))
		if len(problems) > 0 || len(layer.values) > 0 {
			t.Errorf("%.20q: %v %v", file, problems, layer.values)
		}
	}
}

// A file of problems tells as many as a person reads.
func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	_, problems := Parse("x", []byte(strings.Repeat("? [a]\n: b\n", 200)))
	if len(problems) == 0 || len(problems) > maxProblems {
		t.Errorf("%d problems", len(problems))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example(f))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("review: {labels: [&x y, *x]}\n? {a: b}\n: c"))
	f.Add([]byte("review:\n  on: !!binary aGk=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		layer, problems := Parse("x", data)
		if len(problems) > maxProblems || len(problems) > 0 && len(layer.values) > 0 {
			t.Errorf("%d problems with %d values", len(problems), len(layer.values))
		}
		e := Resolve(layer)
		if len(e.YAML()) > MaxFile {
			return // quoting makes it longer
		}
		again, problems := Parse("y", []byte(e.YAML()))
		if len(problems) > 0 {
			t.Fatalf("what is printed cannot be read: %v\n%s", problems, e.YAML())
		}
		if got, want := fmt.Sprintf("%+v", Resolve(again).Config), fmt.Sprintf("%+v", e.Config); got != want {
			t.Errorf("what is printed says something else:\n%s\n%s", got, want)
		}
	})
}
