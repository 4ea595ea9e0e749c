package reviewer

import (
	"maps"
	"path"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// tomlSection matches a table's header; the group is its name.
var tomlSection = lazyregexp.New(`^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(#.*)?$`)

// sections returns the section of each line of the head, by line number, for
// formats that have sections. Where it is not known, there is none.
func (c *change) sections() map[int]string {
	base := strings.ToLower(c.base())
	switch {
	case path.Ext(base) == ".json" && c.headSeen:
		return jsonSections(c.head)
	case path.Ext(base) != ".toml" && base != "pipfile":
		return nil
	case c.headSeen:
		return tomlSections(strings.Split(c.head, "\n"), 1)
	}
	byLine := map[int]string{}
	var hunk []string
	start := 0
	flush := func() {
		maps.Copy(byLine, tomlSections(hunk, start))
		hunk = nil
	}
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if l.starts {
			flush()
			start = l.new
		}
		if l.kind != lineRemoved {
			hunk = append(hunk, l.scanned())
		}
	}
	flush()
	return byLine
}

// tomlSections reads the tables' headers of lines, of which the first has the number first.
func tomlSections(lines []string, first int) map[int]string {
	byLine := make(map[int]string, len(lines))
	section := ""
	for i, text := range lines {
		if m := tomlSection.FindStringSubmatch(strings.TrimRight(text, "\r")); m != nil && !strings.ContainsAny(m[1], `,"'`) {
			section = m[1]
		}
		byLine[first+i] = section
	}
	return byLine
}

// jsonSections tells in which object each line begins: by its key, and by "."
// for the outermost.
func jsonSections(text string) map[int]string {
	byLine := map[int]string{}
	open := []string{"."}
	number, key := 1, "."
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			number++
			byLine[number] = open[len(open)-1]
		case '"':
			end := i + 1
			for end < len(text) && text[end] != '"' && text[end] != '\n' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(text))
			key = text[i+1 : end]
			if end < len(text) && text[end] == '\n' {
				end-- // a string that does not end; the line does
			}
			i = end
		case '{', '[':
			if len(open) < maxNesting {
				open = append(open, key)
			}
		case '}', ']':
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
			key = "."
		}
	}
	return byLine
}

// maxNesting bounds how deep a manifest is followed.
const maxNesting = 64
