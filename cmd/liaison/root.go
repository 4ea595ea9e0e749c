package main

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/redact"
)

// newRoot builds the command line.
func newRoot(con *console) *cobra.Command {
	environ, stdout, stderr := con.environ, con.out, con.err
	var showVersion bool
	root := &cobra.Command{
		Use:   "liaison",
		Short: "A coding agent in your pull requests",
		Long: `Liaison puts a coding agent into GitHub pull requests.

It verifies and stores webhooks before it answers, prepares the evidence that
the agent needs, runs the agent behind a bridge without any credential, and
posts a check and a review.

  liaison demo          watch the main job on simulated platforms, no account needed
  liaison serve         run the service
  liaison send "…"      ask the running service something
  liaison help config   every setting

` + exitHelp(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if showVersion {
				return writeVersion(stdout)
			}
			return c.Help()
		},
	}
	// Not the library's own flag: its template keeps text/template in the binary,
	// and with it every method of every type, 10 MB of them.
	root.Flags().BoolVarP(&showVersion, "version", "v", false, "version for liaison")
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetHelpCommand(newHelp(root))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return unusable(fmt.Errorf("%w\nRun \"%s --help\" for its flags", err, c.CommandPath()))
	})
	root.CompletionOptions.DisableDefaultCmd = true // ours keeps to the exit statuses
	add := func(group, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: group, Title: title})
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("setup", "Setting it up:",
		newSetup(con),
		newDoctor(con),
	)
	add("agent", "The agent:",
		newInit(con),
		newValidate(con),
		newInfo(con),
	)
	add("service", "The service:",
		newServe(environ, stderr),
		newDemo(environ, stdout, stderr),
		newBridge(environ, stderr),
		newRestore(con),
	)
	add("client", "Against the running service:",
		newSend(con),
		newSessions(con),
		newTrajectory(con),
		newCost(con),
		newApprovals(con),
		newCall(con),
		newToolsList(con),
		newAudit(con),
		newDeliveries(con),
		newGitHub(con),
		newDead(con),
		newCompact(con),
		newBackup(con),
	)
	root.AddCommand(
		newVersion(stdout),
		newCompletion(root, stdout),
		newHelpConfig(stdout),
	)
	checkUsage(root)
	return root
}

// checkUsage makes what is wrong about arguments, of commands of commands too,
// an unusable command line.
func checkUsage(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.Args != nil {
			c.Args = usage(c.Args)
		}
		checkUsage(c)
	}
}

// usage makes a wrong number of arguments an unusable command line.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return unusable(fmt.Errorf("%w\nRun \"%s --help\" for its usage", err, c.CommandPath()))
		}
		return nil
	}
}

func newVersion(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return writeVersion(stdout) },
	}
}

func writeVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "liaison %s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// newHelp replaces the library's help command, which answers a topic that does
// not exist with the help of the program and status 0.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unusable(fmt.Errorf("there is no help about %q\nRun \"liaison --help\" for what there is", strings.Join(args, " ")))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// newHelpConfig is a help topic: "liaison help config" finds commands by name.
func newHelpConfig(stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Every setting: names, meanings, defaults",
	}
	c.SetHelpFunc(func(*cobra.Command, []string) {
		// A terminal that went away is nobody to tell.
		_ = config.WriteHelp(stdout)
	})
	return c
}

// newLogger returns the process's logger, which masks secrets in what it writes
// to w and to further handlers.
func newLogger(w io.Writer, format string, level slog.Level, r *redact.Redactor, more ...slog.Handler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(w, options)
	if format == "json" {
		h = slog.NewJSONHandler(w, options)
	}
	return slog.New(redact.Handler(slog.NewMultiHandler(append(more, h)...), r))
}
