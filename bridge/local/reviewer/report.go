package reviewer

import (
	"fmt"
	"os"
	"strings"
)

// Report is what a review says.
type Report struct {
	// Summary is one plain line, fit for a title.
	Summary string
	// Findings are sorted: worst first, then by rule, path and line.
	Findings []Finding
	// Areas says what changed by the files' role, Folders by their first folder.
	Areas   []Area
	Folders []Folder
	// Files, Additions and Deletions count everything that changed.
	Files, Additions, Deletions int
	// HeadSHA is the head that was read; empty when the evidence does not say.
	HeadSHA string
	// Deployment are the changed files that say how the software is deployed, as
	// they can be shown.
	Deployment []string
	// Unseen says what could not be seen, each in a few words of safe Markdown.
	Unseen []string
	// NoEvidence is set when the workspace has no pull request in it.
	NoEvidence bool

	// omitted counts findings that are not even in Findings.
	omitted map[ruleSeverity]int
}

// Area is the part of a change that has one role, such as tests.
type Area struct {
	Name                        string
	Languages                   []string
	Files, Additions, Deletions int
}

// Folder is a first folder, with a slash at its end, as the pull request names it.
type Folder struct {
	Name  string
	Files int
}

// Count returns how many findings have the severity, with those that are too
// many to be in Findings.
func (r Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	for key, more := range r.omitted {
		if key.severity == s {
			n += more
		}
	}
	return n
}

func (r Report) summary() string {
	var parts []string
	for _, kind := range []struct {
		severity Severity
		noun     string
	}{{SeverityError, "error"}, {SeverityWarning, "warning"}, {SeverityInfo, "note"}} {
		if n := r.Count(kind.severity); n > 0 {
			parts = append(parts, count(n, kind.noun))
		}
	}
	if len(parts) == 0 {
		parts = []string{"Nothing stands out"}
	}
	return fmt.Sprintf("%s in %s (%s)", joinAnd(parts), count(r.Files, "changed file"), lineCounts(r.Additions, r.Deletions))
}

// lineCounts writes added and removed lines as GitHub does.
func lineCounts(added, removed int) string {
	return "+" + thousands(added) + " −" + thousands(removed)
}

func dirExists(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// areaWords names the areas in lower case for a sentence.
func (r Report) areaWords() string {
	words := make([]string, len(r.Areas))
	for i, area := range r.Areas {
		words[i] = area.label()
	}
	return joinAnd(words)
}

func (a Area) label() string {
	name := strings.ToLower(a.Name)
	if a.Name == string(roleCI) {
		name = a.Name
	}
	return name
}
