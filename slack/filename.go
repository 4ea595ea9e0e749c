package slack

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/liaison-bot/liaison/internal/unseen"
	"github.com/liaison-bot/liaison/slack/event"
)

// maxSavedName bounds the name of a saved file in bytes, and maxExtension what is
// kept of its end where it is cut.
const (
	maxSavedName = 120
	maxExtension = 16
)

// savedName is the name under which a file is saved. It begins with the file's id, so
// that no two have the same, none is hidden and none is a device's; what follows is
// for the reader, without anything that a file system, a shell or Markdown acts on.
func savedName(f event.File) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unseen.Invisible(r):
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, norm.NFC.String(strings.ToValidUTF8(f.Name, "")))
	name = strings.Trim(name, "._-")
	if name == "" {
		return f.ID
	}
	if room := maxSavedName - len(f.ID) - 1; len(name) > room {
		end := path.Ext(name)
		if len(end) > maxExtension {
			end = ""
		}
		name = strings.ToValidUTF8(name[:max(room-len(end), 0)], "") + end
	}
	return f.ID + "-" + name
}
