package sim

import (
	"fmt"
	"strings"
)

// diffText renders changed files as `git diff` does, names quoted where needed.
func diffText(files []fileDiff) string {
	var b strings.Builder
	for _, f := range files {
		writeFileDiff(&b, f)
	}
	return b.String()
}

func writeFileDiff(b *strings.Builder, f fileDiff) {
	if len(f.halves) > 0 { // git shows a change of type as a removal and an addition
		for _, half := range f.halves {
			writeFileDiff(b, half)
		}
		return
	}
	from := f.path
	if f.from != "" {
		from = f.from
	}
	fmt.Fprintf(b, "diff --git %s %s\n", quoteName("a/"+from), quoteName("b/"+f.path))
	switch {
	case f.status == "added":
		fmt.Fprintf(b, "new file mode %s\n", f.new.mode)
	case f.status == "removed":
		fmt.Fprintf(b, "deleted file mode %s\n", f.old.mode)
	case f.old.mode != f.new.mode:
		fmt.Fprintf(b, "old mode %s\nnew mode %s\n", f.old.mode, f.new.mode)
	}
	if f.status == "renamed" {
		fmt.Fprintf(b, "similarity index %d%%\nrename from %s\nrename to %s\n", f.similarity, quoteName(f.from), quoteName(f.path))
	}
	if f.old.sha == f.new.sha {
		return
	}
	fmt.Fprintf(b, "index %s..%s", short(f.old.sha), short(f.new.sha))
	if f.old.mode == f.new.mode {
		b.WriteString(" " + f.new.mode)
	}
	b.WriteString("\n")
	before, after := "a/"+from, "b/"+f.path
	if f.status == "added" {
		before = "/dev/null"
	}
	if f.status == "removed" {
		after = "/dev/null"
	}
	if f.binary {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", quoteName(before), quoteName(after))
		return
	}
	if f.hunks == "" {
		return
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n%s", headerName(before), headerName(after), f.hunks)
}

// headerName ends in a tab if the name has a space, so that readers of the
// old time stamp syntax are not misled. git does the same.
func headerName(name string) string {
	q := quoteName(name)
	if strings.Contains(name, " ") && !strings.HasPrefix(q, `"`) {
		return q + "\t"
	}
	return q
}

func short(sha string) string {
	if sha == "" {
		return "0000000"
	}
	return sha[:7]
}

// quoteName is git's C-style quoting: control bytes, quotes, backslashes and
// everything beyond ASCII, in octal (core.quotePath).
func quoteName(name string) string {
	var b strings.Builder
	quoted := false
	for i := range len(name) {
		c := name[i]
		if named := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); named >= 0 {
			b.WriteByte('\\')
			b.WriteByte("abtnvfr\"\\"[named])
			quoted = true
			continue
		}
		if c < 0x20 || c >= 0x7f {
			fmt.Fprintf(&b, "\\%03o", c)
			quoted = true
			continue
		}
		b.WriteByte(c)
	}
	if !quoted {
		return name
	}
	return `"` + b.String() + `"`
}

// patchText renders commits as `git format-patch` does.
func patchText(n *network, commits []*commit) string {
	var b strings.Builder
	for i, c := range commits {
		count := ""
		if len(commits) > 1 {
			count = fmt.Sprintf(" %d/%d", i+1, len(commits))
		}
		parent := ""
		if len(c.parents) > 0 {
			parent = c.parents[0]
		}
		subject, rest, _ := strings.Cut(c.message, "\n")
		fmt.Fprintf(&b, "From %s Mon Sep 17 00:00:00 2001\nFrom: %s <%s>\nDate: %s\nSubject: [PATCH%s] %s\n\n%s---\n",
			c.sha, c.name, c.email, c.when.Format("Mon, 2 Jan 2006 15:04:05 -0700"), count, subject, rest)
		files := n.compare(parent, c.sha)
		for _, f := range files {
			fmt.Fprintf(&b, " %s | %d\n", quoteName(f.path), f.additions+f.deletions)
		}
		fmt.Fprintf(&b, " %d files changed\n\n%s-- \n2.45.0\n\n", len(files), diffText(files))
	}
	return b.String()
}
