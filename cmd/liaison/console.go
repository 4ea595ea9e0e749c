package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
)

// console is what a command has of the world around it.
type console struct {
	environ  []string
	in       io.Reader
	out, err io.Writer
	now      func() time.Time
}

func (c *console) getenv(name string) string { return lookup(c.environ)(name) }

// screen is standard output for a person.
func (c *console) screen() *terminal.Output { return terminal.New(c.out, c.getenv) }

// notes is standard error for a person: what is not the answer itself.
func (c *console) notes() *terminal.Output { return terminal.New(c.err, c.getenv) }

// ago says how long ago t was.
func (c *console) ago(t time.Time) string { return terminal.Ago(c.now(), t) }

// writeJSON writes one value for a program. HTML is not escaped: it is not for a page.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// group returns a command that only holds others. Without one of them it shows
// its help; with a word that is none of them it is used wrongly.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q for \"liaison %s\"", args[0], use)
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(commands...)
	return c
}

// set returns what p points to, or the zero value: optional fields of the API are pointers.
func set[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}

// given returns a pointer to v, or nil for the zero value.
func given[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// orDash stands for what is empty in a table.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
