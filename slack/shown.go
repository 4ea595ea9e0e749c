package slack

import (
	"encoding/json"
	"os"
	"path"

	"github.com/liaison-bot/liaison/sessions"
)

// shownFile remembers in the workspace up to where an agent was told what was said.
const shownFile = "shown.json"

// shown is what agents of the session were told of a conversation. It says nothing
// of the turn that is being prepared: an earlier attempt may have reached no agent.
type shown struct {
	// Turn is the last one that was prepared, and Latest the ts of the newest message
	// that it was told of. Before is that of the turn before it.
	Turn   string `json:"turn"`
	Latest string `json:"latest"`
	Before string `json:"before,omitempty"`
}

// readShown returns what is remembered; where that is missing or cannot be read,
// everything is told again.
func readShown(root *os.Root) shown {
	var s shown
	name := path.Join(threadFolder, shownFile)
	// An agent can write there: what is no file might never end.
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxShown {
		return shown{}
	}
	raw, err := root.ReadFile(name)
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return shown{}
	}
	return s
}

// maxShown is far above the size of [shownFile] in bytes.
const maxShown = 4 << 10

// upTo is the ts of the newest message that the agent of a turn was told of before.
func (s shown) upTo(t sessions.Turn) string {
	if s.Turn == t.ID {
		return s.Before
	}
	return s.Latest
}

// after is what is to be remembered once a turn is prepared.
func (s shown) after(t sessions.Turn, latest string) shown {
	return shown{Turn: t.ID, Latest: latest, Before: s.upTo(t)}
}
