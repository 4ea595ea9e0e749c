package reviewer

import (
	"strings"
	"testing"
)

func TestOwners(t *testing.T) {
	t.Parallel()
	owned := func(path string, owners ...string) file {
		return file{path: path, patch: added("x"), entry: map[string]any{"owners": owners}}
	}
	runRule(t, "owners", []ruleTest{
		{"a team and a person", []file{owned("a.md", "@octo/docs", "@hubot"), owned("b.md", "@octo/docs")},
			[]string{"info :0 2 files owned by someone other than the author"}},
		{"the author is an owner", []file{owned("a.md", "@Mona", "@hubot")}, nil},
		{"nobody owns it", []file{owned("a.md")}, nil},
	})
	text := review(t, evidence{files: []file{owned("a.md", "@octo/docs")}}.write(t)).Markdown()
	if !strings.Contains(text, "`@octo/docs` (1 file)") {
		t.Errorf("the owner is not named in a code span:\n%s", text)
	}
}
