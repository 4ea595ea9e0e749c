package reviewer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// checkOwners says who owns what others have changed, in one finding. Members of
// a team cannot be known from the evidence, so teams are always named.
func checkOwners(p *pull, found *collector) {
	files := map[string]int{}
	owned := 0
	for _, c := range p.changes {
		if slices.ContainsFunc(c.Owners, func(owner string) bool { return isAuthor(owner, p.facts.Author.Login) }) {
			continue
		}
		if len(c.Owners) > 0 {
			owned++
		}
		for _, owner := range c.Owners {
			if owner != "" {
				files[owner]++
			}
		}
	}
	if len(files) == 0 {
		return
	}
	names := sortedKeys(files)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(files[b], files[a]) })
	parts := make([]string, 0, maxNames)
	for _, name := range names[:min(len(names), maxNames)] {
		parts = append(parts, fmt.Sprintf("%s (%s)", quote(name, maxQuotedName), count(files[name], "file")))
	}
	list := strings.Join(parts, ", ")
	if rest := len(names) - len(parts); rest > 0 {
		list += " and " + count(rest, "more owner")
	}
	title := count(owned, "file") + " owned by someone other than the author"
	found.add(Finding{Severity: SeverityInfo, Title: title, Body: "CODEOWNERS names " + list + "."})
}

func isAuthor(owner, login string) bool {
	return login != "" && strings.EqualFold(strings.TrimPrefix(owner, "@"), login)
}
