package reviewer

import (
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

var todoComment = lazyregexp.New(`(//|#|/\*|^\s*\*|--|<!--|;).*\b(TODO|FIXME|HACK)\b`)

// checkTodos counts the work that is left for later, in one finding.
func checkTodos(p *pull, found *collector) {
	total := 0
	var first Finding
	var others []string
	for _, c := range p.changes {
		if !c.written() || c.role == roleDocs || c.fixture {
			continue
		}
		c.eachAdded(func(_ int, l *line) {
			text := l.scanned()
			if !containsAny(text, "TODO", "FIXME", "HACK") || !todoComment.MatchString(text) {
				return
			}
			total++
			if total == 1 {
				first = c.at(l, SeverityInfo, "", "")
				return
			}
			if len(others) < maxNames {
				others = append(others, quotePlace(c.Path, l.new))
			}
		})
	}
	if total == 0 {
		return
	}
	first.Title = count(total, "TODO, FIXME or HACK comment") + " added"
	first.Body = "Is each of them tracked, or meant to be done in this pull request?"
	if total > 1 {
		first.Body = fmt.Sprintf("Also at %s. %s", strings.Join(others, ", "), first.Body)
		if rest := total - 1 - len(others); rest > 0 {
			first.Body = fmt.Sprintf("Also at %s and %s more. Are they tracked?", strings.Join(others, ", "), thousands(rest))
		}
	}
	found.add(first)
}
