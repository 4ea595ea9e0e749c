package reviewer

import (
	"fmt"
	"path"
	"strings"
)

// checkSymlinks finds links, above all those that leave the repository: whatever
// follows them on a build machine reads or writes somewhere else.
func checkSymlinks(p *pull, found *collector) {
	for _, c := range p.changes {
		if c.Kind != kindSymlink && c.newMode != gitModeSymlink || c.Status == statusRemoved {
			continue
		}
		target := c.linkTarget()
		switch {
		case target == "":
			found.add(c.about(SeverityWarning, "Symbolic link", "Where it points cannot be seen in the evidence."))
		case leavesRepository(c.Path, target):
			found.add(c.about(SeverityError, "Symbolic link out of the repository",
				fmt.Sprintf("It points to %s. Whatever follows it reads or writes outside the checkout.", quote(target, maxQuotedPath))))
		default:
			found.add(c.about(SeverityInfo, "Symbolic link", fmt.Sprintf("It points to %s.", quote(target, maxQuotedPath))))
		}
	}
}

// linkTarget is the link's content, from the head or else from the patch.
func (c *change) linkTarget() string {
	if c.headSeen {
		return strings.TrimSuffix(c.head, "\n")
	}
	for i := range c.patch.lines {
		if l := &c.patch.lines[i]; l.kind == lineAdded {
			return l.scanned()
		}
	}
	return ""
}

func leavesRepository(name, target string) bool {
	target = strings.ReplaceAll(target, `\`, "/")
	if strings.HasPrefix(target, "/") || strings.HasPrefix(target, "~") || len(target) > 1 && target[1] == ':' {
		return true
	}
	joined := path.Join(path.Dir(name), target)
	return joined == ".." || strings.HasPrefix(joined, "../") || joined == ".git" || strings.HasPrefix(joined, ".git/")
}

// checkSubmodules finds code that comes in by reference.
func checkSubmodules(p *pull, found *collector) {
	for _, c := range p.changes {
		if c.Kind == kindSubmodule || c.newMode == gitModeSubmodule {
			if c.Status != statusRemoved {
				found.add(c.about(SeverityWarning, "Submodule points to another commit",
					"The change is in the other repository: review what lies between the two commits there."))
			}
			continue
		}
		if c.Path != ".gitmodules" {
			continue
		}
		c.eachAdded(func(_ int, l *line) {
			key, address, ok := strings.Cut(strings.TrimSpace(l.scanned()), "=")
			if ok && strings.TrimSpace(key) == "url" {
				found.add(c.at(l, SeverityWarning, "Submodule comes from another address",
					fmt.Sprintf("Every recursive clone fetches %s.", quote(strings.TrimSpace(address), maxQuotedPath))))
			}
		})
	}
}
