package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// The names of the tools, as agents' restrictions spell them.
const (
	NameGlob = "glob"
	NameGrep = "grep"
	NameList = "ls"
	NameRead = "read"
)

// Names are those of all tools, sorted.
func Names() []string { return []string{NameGlob, NameGrep, NameList, NameRead} }

// Tool is one tool as a model is told about it.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of its arguments.
	Schema map[string]any

	call func(context.Context, arguments) (string, error)
}

// Call runs the tool. The text is for the model, at most about 64 KiB. A
// [*Refusal] is for the model, too; any other error is that of ctx.
func (t Tool) Call(ctx context.Context, args map[string]any) (string, error) {
	if err := arguments(args).known(t.Schema); err != nil {
		return "", err
	}
	return t.call(ctx, args)
}

// Tools are the tools over this workspace.
func (w *Workspace) Tools() []Tool {
	pathOf := func(what string) map[string]any { return typed("string", what) }
	return []Tool{
		{
			Name:        NameGlob,
			Description: "Find files by name. Returns the paths that match a pattern such as **/*.go or pr/files/*/patch.diff, sorted.",
			Schema: object(map[string]any{
				"pattern": typed("string", "Pattern of paths relative to the directory: * and ? stay within a name, ** stands for any directories, {a,b} for either."),
				"path":    pathOf("Directory to look in; the working directory by default."),
			}, "pattern"),
			call: w.glob,
		},
		{
			Name:        NameGrep,
			Description: "Search file contents by a regular expression (RE2 syntax). Returns lines as path:line: text. Binary files are skipped.",
			Schema: object(map[string]any{
				"pattern":     typed("string", "Regular expression, matched against each line."),
				"path":        pathOf("File or directory to search; the working directory by default."),
				"glob":        typed("string", "Only files whose path, relative to the directory, matches this pattern; one without a slash is matched against the name."),
				"ignore_case": typed("boolean", "Match upper and lower case alike."),
				"context":     typed("integer", fmt.Sprintf("Lines to show before and after each match, at most %d.", maxContext)),
			}, "pattern"),
			call: w.grep,
		},
		{
			Name:        NameList,
			Description: "List a directory. Directories end with a slash; files are shown with their size in bytes.",
			Schema: object(map[string]any{
				"path": pathOf("Directory to list; the working directory by default."),
			}),
			call: w.list,
		},
		{
			Name:        NameRead,
			Description: fmt.Sprintf("Read a text file. Returns its lines with their numbers, at most %d lines or %d KiB at a time.", maxReadLines, maxResultBytes>>10),
			Schema: object(map[string]any{
				"path":   pathOf("File to read, relative to the working directory."),
				"offset": typed("integer", "First line to show; 1 is the first of the file."),
				"limit":  typed("integer", "How many lines to show."),
			}, "path"),
			call: w.read,
		},
	}
}

func typed(kind, description string) map[string]any {
	return map[string]any{"type": kind, "description": description}
}

func object(properties map[string]any, required ...string) map[string]any {
	o := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// arguments are what a model gave. Models write numbers as text and give nulls
// for what they leave out; both are taken.
type arguments map[string]any

// known refuses arguments that the tool does not have: a misspelt one must not
// pass for one that was obeyed.
func (a arguments) known(schema map[string]any) error {
	properties, _ := schema["properties"].(map[string]any)
	for name := range a {
		if _, ok := properties[name]; !ok {
			names := make([]string, 0, len(properties))
			for n := range properties {
				names = append(names, n)
			}
			slices.Sort(names)
			return refuse("there is no argument %.80q; the arguments are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

func (a arguments) text(name string) (string, error) {
	switch v := a[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return "", refuse("the argument %s is not text", name)
}

func (a arguments) number(name string, otherwise int) (int, error) {
	n, ok := 0.0, true
	switch v := a[name].(type) {
	case nil:
		return otherwise, nil
	case float64:
		n = v
	case string:
		ok = json.Unmarshal([]byte(v), &n) == nil
	default:
		ok = false
	}
	if !ok || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		return 0, refuse("the argument %s is not a whole number", name)
	}
	return int(n), nil
}

func (a arguments) flag(name string) (bool, error) {
	switch v := a[name].(type) {
	case nil, string:
		return v == "true", nil
	case bool:
		return v, nil
	}
	return false, refuse("the argument %s is not true or false", name)
}

// report is a result that grows up to its limit.
type report struct {
	text strings.Builder
	full bool
}

// line adds a line, or notes that there is no room for it.
func (r *report) line(s string) bool {
	if r.full || r.text.Len()+len(s)+1 > maxResultBytes {
		r.full = true
		return false
	}
	r.text.WriteString(s)
	r.text.WriteByte('\n')
	return true
}

// note adds a remark of ours, for which there is always room.
func (r *report) note(format string, args ...any) {
	fmt.Fprintf(&r.text, "("+format+")\n", args...)
}

// clean makes one line of a file fit to be shown: valid UTF-8, not too long.
func clean(line []byte) string {
	if len(line) > maxLineBytes {
		return strings.ToValidUTF8(string(line[:maxLineBytes]), "\uFFFD") + " … (line cut)"
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

// errTimeUp ends a walk that has taken long enough.
var errTimeUp = errors.New("the time for one search is up")

// limited is ctx for a walk.
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, maxWalkTime, errTimeUp)
}

// ended reports whether a walk has to end: timeUp, or with the error of the run.
func ended(ctx context.Context) (timeUp bool, err error) {
	if ctx.Err() == nil {
		return false, nil
	}
	if errors.Is(context.Cause(ctx), errTimeUp) {
		return true, nil
	}
	return false, ctx.Err()
}

// roundSeconds is a limit as a person says it.
func roundSeconds(d time.Duration) int { return int(d / time.Second) }
