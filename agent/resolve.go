package agent

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// variable is a name as the environment has it.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// UnsetError says that a file refers to a variable that the environment has not.
type UnsetError struct {
	// Variable is its name, and File and Line are where it is referred to.
	Variable string
	File     string
	Line     int
}

// Error implements error.
func (e *UnsetError) Error() string {
	return fmt.Sprintf("%s:%d refers to ${%s}, which is not set where the service runs", e.File, e.Line, e.Variable)
}

// Resolve returns the connection with the values of the variables that it refers
// to as ${NAME}; "$${" stands for "${" itself. Lookup knows the environment. A
// variable that is not set is an [*UnsetError]; an address is checked as one that
// stands in the file. The result may hold secrets: it is
// for who makes the connection, and for no log.
func (c Connection) Resolve(lookup func(name string) (string, bool)) (Connection, error) {
	var failed error
	fill := func(at, text string) string {
		out, err := expand(text, func(name string) (string, error) {
			v, set := lookup(name)
			if !set || v == "" {
				return "", &UnsetError{Variable: name, File: c.file, Line: c.lines[at]}
			}
			return v, nil
		})
		if err != nil && failed == nil {
			failed = fmt.Errorf("connection %s: %w", c.Name, err)
		}
		return out
	}
	fillAll := func(at string, all map[string]string) map[string]string {
		out := maps.Clone(all)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			out[name] = fill(within(at, name), all[name])
		}
		return out
	}
	fillEach := func(at string, all []string) []string {
		out := slices.Clone(all)
		for i, text := range out {
			out[i] = fill(at, text)
		}
		return out
	}
	c.Command = fill("command", c.Command)
	c.Args = fillEach("args", c.Args)
	c.HeadersCommand = fillEach("headersCommand", c.HeadersCommand)
	c.Env = fillAll("env", c.Env)
	c.URL = fill("url", c.URL)
	c.Headers = fillAll("headers", c.Headers)
	if failed == nil && c.URL != "" {
		if err := checkAddress(c.URL); err != nil {
			failed = fmt.Errorf("connection %s: its url %w", c.Name, err)
		}
	}
	return c, failed
}

// texts are those in which a variable can be referred to, and where they stand.
func (c Connection) texts() iter.Seq2[string, string] {
	return func(yield func(at, text string) bool) {
		all := func(at string, of map[string]string) bool {
			for _, name := range slices.Sorted(maps.Keys(of)) {
				if !yield(within(at, name), of[name]) {
					return false
				}
			}
			return true
		}
		each := func(at string, of []string) bool {
			return !slices.ContainsFunc(of, func(text string) bool { return !yield(at, text) })
		}
		_ = yield("command", c.Command) && yield("url", c.URL) && each("args", c.Args) && each("headersCommand", c.HeadersCommand) &&
			all("env", c.Env) && all("headers", c.Headers)
	}
}

// checkReferences checks how variables are referred to.
func checkReferences(text string) error {
	_, err := expand(text, func(string) (string, error) { return "", nil })
	return err
}

// expand puts values in the place of references.
func expand(text string, value func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		if literal, escaped := strings.CutSuffix(before, "$"); found && escaped {
			b.WriteString(literal + "${")
			text = rest
			continue
		}
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !variable.MatchString(name) {
			return "", fmt.Errorf(`has a "${" that is followed by no name and "}"; "$${" stands for the characters themselves`)
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
		text = after
	}
}
