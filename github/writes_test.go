package github

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// writers are the files that change something at GitHub, and how each keeps a
// second attempt from doing it twice. The transport repeats no write by itself
// after GitHub may have done it (https://github.com/palantir/bulldozer/issues/372),
// so that whoever adds a write says here what a second attempt looks for.
var writers = map[string]string{
	"approval_card.go":          "the external_id of the card's check run, or the hidden marker of its comment",
	"approval_effects.go":       "the hidden marker of the comment that calls people",
	"tool_merge.go":             "GitHub itself: the head in the request, and that a pull request is merged once",
	"tool_post_comment.go":      "the hidden marker with the approval's or the call's id",
	"tool_request_reviewers.go": "GitHub itself: who is asked for a review is asked",
	"tool_set_labels.go":        "GitHub itself: a label is set or not",
	"check_run.go":              "the turn's id as external_id; an update says the same again",
	"comment.go":                "the hidden marker of our one comment; an update says the same again",
	"dismiss.go":                "the state of the review, which is read before",
	"graphql.go":                "no write of its own: a mutation is its caller's, and resolving twice is resolving",
	"notice.go":                 "the turn's or notice's external_id",
	"post_refused.go":           "the hidden marker of the posted review",
	"post_review.go":            "the hidden marker of the posted review; deleting a pending one twice is deleting",
	"reaction.go":               "GitHub itself: one reaction of a kind for each account",
	"reply.go":                  "the hidden marker with the reply's key",
	"resolve.go":                "the hidden marker of the answer in the thread",
	"status.go":                 "the context of the status; the last one counts",
}

func TestEachWriteHasItsMark(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	must(t, err)
	found := map[string]bool{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		must(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && changesGitHub(s) {
				found[f.Name()] = true
			}
			return true
		})
	}
	for name := range found {
		if writers[name] == "" {
			t.Errorf("%s changes something at GitHub: say in this test how a second attempt finds what the first one did", name)
		}
	}
	for name := range writers {
		if !found[name] {
			t.Errorf("%s changes nothing any more", name)
		}
	}
}

// changesGitHub reports whether an expression names a method of HTTP that writes, or a
// call of a service of go-github's that does.
func changesGitHub(s *ast.SelectorExpr) bool {
	if p, ok := s.X.(*ast.Ident); ok && p.Name == "http" {
		return slices.Contains([]string{"MethodPost", "MethodPatch", "MethodPut", "MethodDelete"}, s.Sel.Name)
	}
	service, ok := s.X.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Checks", "Issues", "PullRequests", "Repositories", "Reactions"}, service.Sel.Name) {
		return false
	}
	for _, verb := range []string{"Create", "Update", "Edit", "Delete", "Dismiss", "Submit", "Add", "Remove", "Replace", "Merge"} {
		if strings.HasPrefix(s.Sel.Name, verb) {
			return true
		}
	}
	return false
}
