package reviewer

import (
	"path"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

var hidesDiff = lazyregexp.New(`(^|\s)(linguist-generated(=true)?|-diff|linguist-vendored(=true)?|binary)(\s|$)`)

// checkRepositoryRules finds changes of the rules that reviewers and agents work
// under.
func checkRepositoryRules(p *pull, found *collector) {
	for _, c := range p.changes {
		if c.vendored {
			continue
		}
		lower := strings.ToLower(c.Path)
		base := path.Base(lower)
		switch {
		case isOwnersFile(lower), isOwnersFile(strings.ToLower(c.PreviousPath)):
			found.add(c.about(SeverityWarning, "CODEOWNERS changed",
				"It decides whose review is required from now on."))
		case c.AgentConfig:
			found.add(c.about(SeverityWarning, "Configuration of coding agents changed",
				"Whoever runs an agent in this repository after the merge runs it under these instructions, hooks or servers. Liaison did not load it."))
		case lower == ".github/liaison.yml":
			found.add(c.about(SeverityWarning, "Liaison's own configuration changed",
				"It takes effect after the merge; this review ran under the base branch's."))
		case strings.HasPrefix(lower, ".husky/") && base != ".gitignore", base == ".pre-commit-config.yaml", base == "lefthook.yml":
			found.add(c.about(SeverityInfo, "Git hooks changed", "They run on every contributor's machine."))
		case base == ".gitattributes":
			c.eachAdded(func(_ int, l *line) {
				if !strings.HasPrefix(l.text, "#") && hidesDiff.MatchString(l.scanned()) {
					found.add(c.at(l, SeverityInfo, "Attribute hides files in diffs",
						"GitHub folds or leaves out the diff of files that match, so reviewers will not see their changes."))
				}
			})
		}
	}
}

func isOwnersFile(lower string) bool {
	return lower == "codeowners" || lower == ".github/codeowners" || lower == "docs/codeowners" || lower == ".gitlab/codeowners"
}
