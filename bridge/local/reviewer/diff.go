package reviewer

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// section is one file's part of a whole diff: its header's facts and its hunks.
type section struct {
	path, previous   string
	status           string
	oldMode, newMode uint32
	binary           bool
	hunks            string
}

// splitDiff cuts a whole diff into its files. A section whose header cannot be
// read is left out and counted.
func splitDiff(diff string) (sections []section, unreadable int) {
	for diff != "" {
		var raw string
		raw, diff = nextSection(diff)
		if !strings.HasPrefix(raw, "diff --git ") {
			continue
		}
		if s, ok := parseSection(raw); ok {
			sections = append(sections, s)
		} else {
			unreadable++
		}
	}
	return sections, unreadable
}

// nextSection returns the text up to the next file header. Lines of a hunk have
// a mark in front, so a line that begins with the header's words is one.
func nextSection(diff string) (raw, rest string) {
	const header = "\ndiff --git "
	if i := strings.Index(diff, header); i >= 0 {
		return diff[:i+1], diff[i+1:]
	}
	return diff, ""
}

func parseSection(raw string) (section, bool) {
	header, hunks := raw, ""
	if i := strings.Index(raw, "\n@@ "); i >= 0 {
		header, hunks = raw[:i+1], raw[i+1:]
	}
	binary := false
	// The library wants a binary patch's content after its header; only the
	// header is of interest here.
	for _, mark := range []string{"\nGIT binary patch", "\nBinary files "} {
		if i := strings.Index(header, mark); i >= 0 {
			header, binary = header[:i+1], true
		}
	}
	files, _, err := gitdiff.Parse(strings.NewReader(header))
	if err != nil || len(files) != 1 {
		return section{}, false
	}
	file := files[0]
	s := section{
		path: file.NewName, previous: file.OldName, status: statusModified,
		oldMode: uint32(file.OldMode), newMode: uint32(file.NewMode), binary: binary, hunks: hunks,
	}
	switch {
	case file.IsNew:
		s.status, s.previous = statusAdded, ""
	case file.IsDelete:
		s.status, s.path, s.previous = statusRemoved, file.OldName, ""
	case file.IsRename:
		s.status = statusRenamed
	default:
		s.previous = ""
	}
	return s, s.path != ""
}

// Modes as git writes them; the library keeps their numbers.
const (
	gitModeExecutable = 0o100755
	gitModeSymlink    = 0o120000
	gitModeSubmodule  = 0o160000
)
