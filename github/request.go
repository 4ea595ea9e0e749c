package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// request is what a turn carries from the event to the work.
type request struct {
	Installation int64 `json:"installation"`
	// Repository is the id, which stays when FullName changes.
	Repository int64  `json:"repository"`
	FullName   string `json:"fullName"`
	Number     int    `json:"number"`
	Head       string `json:"head"`
	// Previous is the head that this one replaced, where the event said so.
	Previous string `json:"previous,omitempty"`
	Base     string `json:"base"`
	Title    string `json:"title"`
	// UpdatedAt is when the pull request was in this state, at GitHub; zero if
	// the event did not say.
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

func parseRequest(raw json.RawMessage) (request, error) {
	var r request
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, unreadable("turn's request", err)
	}
	return r, r.check()
}

// unreadable hides the cause of what was stored in a form that is not ours:
// the same cause in an answer of GitHub's would be worth another try.
func unreadable(what string, err error) error {
	return errors.New("read the " + what + ": " + err.Error())
}

// check refuses what could not have come from mapping, before it gets near a URL.
func (r request) check() error {
	if r.Installation <= 0 {
		return errForeignHook
	}
	if _, _, ok := splitName(r.FullName); !ok || r.Repository <= 0 || r.Number <= 0 || !validSHA(r.Head) {
		return errors.New("the turn's request names no pull request")
	}
	return nil
}

func (r request) encode() json.RawMessage {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings, numbers and a time always encode
	}
	return raw
}

// key is the continuation key: ids only, so that it survives a rename.
func (r request) key() string {
	return fmt.Sprintf("github:repo:%d:pull:%d", r.Repository, r.Number)
}

// name is how people call the pull request, and its alias.
func (r request) name() string {
	return fmt.Sprintf("%s#%d", r.FullName, r.Number)
}

// short is the part of a SHA that people read.
func short(sha string) string {
	return sha[:min(7, len(sha))]
}

// maxTitle bounds the title in bytes; GitHub's own form allows 256 characters.
const maxTitle = 1024

// oneLine makes a stranger's text safe to keep on a line of a record.
func oneLine(s string) string {
	out := make([]rune, 0, min(len(s), maxTitle))
	size := 0
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			r = ' '
		}
		if size += utf8.RuneLen(r); size > maxTitle {
			break
		}
		out = append(out, r)
	}
	return string(out)
}
