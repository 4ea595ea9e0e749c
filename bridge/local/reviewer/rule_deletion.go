package reviewer

import "fmt"

// checkLargeDeletions names pull requests that remove much more code than they
// add, in one finding.
func checkLargeDeletions(p *pull, found *collector) {
	added, removed, files := 0, 0, 0
	for _, c := range p.changes {
		if !c.written() || c.role != roleCode && c.role != roleDatabase {
			continue
		}
		added += c.Additions
		removed += c.Deletions
		if c.Status == statusRemoved {
			files++
		}
	}
	if removed-added < largeDeletionLines {
		return
	}
	body := "Is everything that used it gone as well, also outside this repository?"
	if files > 0 {
		body = fmt.Sprintf("%s gone altogether. %s", count(files, "file"), body)
	}
	found.add(Finding{Severity: SeverityInfo, Title: fmt.Sprintf("%s lines of code go away", thousands(removed-added)), Body: body})
}
