package chat

import (
	"encoding/json"
	"strings"

	"github.com/liaison-bot/liaison/bridge/local/chat/completions"
)

// rawCall is a tool call as it arrives, in pieces.
type rawCall struct {
	index     completions.Number
	id        string
	name      string
	arguments strings.Builder
	overflow  bool
	extra     json.RawMessage
}

// assembly puts tool calls together from the pieces of a stream. By the
// specification a piece belongs to the call of its index. Endpoints leave the
// index out, give every call the same, repeat id and name with every piece, or
// send the rest of a call under an index of its own.
type assembly struct {
	calls []*rawCall
}

// add takes one piece.
func (a *assembly) add(piece completions.ToolCallPiece) {
	c := a.find(piece)
	if c == nil {
		if len(a.calls) >= 2*maxCalls {
			return // more than are answered; the excess is dropped
		}
		c = &rawCall{index: piece.Index}
		a.calls = append(a.calls, c)
	}
	if c.id == "" {
		c.id = piece.ID
	}
	if c.name == "" {
		c.name = piece.Function.Name
	}
	if extra := piece.ExtraContent; len(extra) > 0 && string(extra) != "null" && len(extra) <= maxReasoningBytes {
		c.extra = extra
	}
	part := string(piece.Function.Arguments)
	if c.arguments.Len()+len(part) > maxArgumentBytes {
		c.overflow = true
		return
	}
	c.arguments.WriteString(part)
}

// find is the call that a piece belongs to, or nil for one that begins a new one.
func (a *assembly) find(piece completions.ToolCallPiece) *rawCall {
	var last, byIndex *rawCall
	for _, c := range a.calls {
		if piece.ID != "" && c.id == piece.ID && !c.restarted(piece) {
			return c
		}
		if piece.Index.Valid && c.index == piece.Index {
			byIndex = c
		}
		last = c
	}
	into := byIndex
	if into == nil && (!piece.Index.Valid || piece.Function.Name == "" && piece.ID == "") {
		into = last
	}
	switch {
	case into == nil:
		return nil
	case piece.ID != "" && into.id != "" && piece.ID != into.id:
		return nil
	case into.restarted(piece):
		return nil
	}
	return into
}

// restarted reports whether a piece with a name begins a new call although c
// could go on: c is whole already, or has another name.
func (c *rawCall) restarted(piece completions.ToolCallPiece) bool {
	name := piece.Function.Name
	if name == "" || c.name == "" {
		return false
	}
	if name != c.name {
		return true
	}
	return piece.Function.Arguments != "" && isObject(c.arguments.String())
}

// list is the calls in the order in which they began.
func (a *assembly) list() []*rawCall { return a.calls }
