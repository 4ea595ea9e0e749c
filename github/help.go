package github

import (
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/github/repoconfig"
)

// verbs are the commands, as help shows them.
var verbs = []struct{ verb, argument, does string }{
	{verbReview, "[full]", "reviews the pull request as it is now; `full` looks at everything again"},
	{verbAsk, "<question>", "answers a question about the pull request or the issue"},
	{verbExplain, "[what]", "explains the change, or the lines of the thread it is written in"},
	{verbApprove, "apr_…", "approves a call that waits for a decision; what you write on the following lines is the reason"},
	{verbDeny, "apr_…", "denies it"},
	{verbStop, "", "stops what is being done"},
	{verbConfig, "", "shows the configuration that holds here, and where each value comes from"},
	{verbHelp, "", "shows this"},
}

// helpText is what people get who ask for help or write a command that there is
// not. The handle is empty while it is not known.
func helpText(handle, unknown string, cfg repoconfig.Config) string {
	var b strings.Builder
	if unknown != "" {
		fmt.Fprintf(&b, "There is no command %s. ", code(ellipsis(unknown, 40)))
	}
	b.WriteString("A comment that begins a line with one of these is a command:\n\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "- %s %s\n", code(strings.TrimSpace("/liaison "+v.verb+" "+v.argument)), v.does)
	}
	if handle != "" {
		fmt.Fprintf(&b, "\n%s anywhere in a comment does the same, and any other words after it are a question.\n", code("@"+handle+" review"))
	}
	if cfg.Commands.Bare {
		fmt.Fprintf(&b, "\nHere %s, %s, %s and %s work by themselves too.\n", code("/review"), code("/ask"), code("/explain"), code("/stop"))
	}
	who := "Commands and questions need the permission " + code(cfg.Commands.Minimum) + " in this repository"
	if cfg.Ask.Minimum != cfg.Commands.Minimum {
		who = "Commands need the permission " + code(cfg.Commands.Minimum) + " in this repository, and questions " + code(cfg.Ask.Minimum)
	}
	b.WriteString("\n" + who + ".\n")
	return b.String()
}

// configText is the answer to the command config.
func configText(c configured, base string) string {
	var b strings.Builder
	where := ""
	if base != "" {
		where = " for pull requests into " + code(base)
	}
	fmt.Fprintf(&b, "This is the configuration that holds%s, with the source of each value.\n\n%s\n", where, fence(c.YAML()))
	b.WriteString(c.troubles())
	return strings.TrimRight(b.String(), "\n") + "\n"
}
