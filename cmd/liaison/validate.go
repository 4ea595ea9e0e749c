package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
)

func newValidate(con *console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "validate [DIR]",
		Short: "Check the folder of an agent",
		Long: `Check the folder of an agent, by default the working directory, and say what is
wrong with it, by file and line. Nothing is run, and nothing is asked for; the
programs that tools run are looked for on this machine, as the service does.

The exit status is 0 for a folder that can be used, also with warnings, and 1 for
one that cannot.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return con.validate(dir, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, `print JSON: {"ok", "problems": [{"severity", "file", "line", "text"}]}`)
	return c
}

func (c *console) validate(dir string, asJSON bool) error {
	def, problems := agent.LoadDir(dir, folderChecks())
	var verdict error
	if def == nil {
		verdict = exitStatus{status: exitFailed}
	}
	if asJSON {
		answer := struct {
			OK       bool          `json:"ok"`
			Problems []problemInfo `json:"problems"`
		}{def != nil, describeAgent(nil, problems).Problems}
		if err := writeJSON(c.out, answer); err != nil {
			return err
		}
		return verdict
	}
	out := c.screen()
	for _, p := range problems {
		p.File = filepath.Join(dir, filepath.FromSlash(p.File)) // as other programs find it
		fmt.Fprintln(out, terminal.Line(p.String()))
	}
	if def != nil {
		fmt.Fprintf(out, "%s can be used: %s.\n", dir, inventory(def))
	}
	if err := out.Err(); err != nil {
		return err
	}
	return verdict
}

// inventory counts what an agent has.
func inventory(def *agent.Definition) string {
	return fmt.Sprintf("tools %d, skills %d, subagents %d, connections %d",
		len(def.Tools), len(def.Skills), len(def.Subagents), len(def.Connections))
}
