package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
)

const (
	// completeWithin bounds what a shell waits for the service's answer.
	completeWithin = 2 * time.Second
	// maxCompleted is how many sessions, or approvals, a shell is offered.
	maxCompleted = 50
)

// newCompletion prints a shell's completion script.
func newCompletion(root *cobra.Command, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `Print the script that lets a shell complete commands, flags, and what the running
service has: sessions, approvals, tools.

  bash        liaison completion bash > /etc/bash_completion.d/liaison
              (needs the package bash-completion)
  zsh         liaison completion zsh > "${fpath[1]}/_liaison"
  fish        liaison completion fish > ~/.config/fish/completions/liaison.fish
  powershell  liaison completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(stdout, true)
			case "zsh":
				return root.GenZshCompletion(stdout)
			case "fish":
				return root.GenFishCompletion(stdout, true)
			}
			return root.GenPowerShellCompletionWithDesc(stdout)
		},
	}
}

// completeSession offers the newest sessions of the service. A service that is
// not there offers nothing: a shell is no place for an error.
func (c *connection) completeSession(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, func(ctx context.Context, s *remote.Service) ([]cobra.Completion, error) {
		list, err := listSessions(ctx, s, "", "", maxCompleted)
		if err != nil {
			return nil, err
		}
		offers := make([]cobra.Completion, 0, len(list.Sessions))
		for _, session := range list.Sessions {
			offers = append(offers, cobra.CompletionWithDesc(session.Id, terminal.Line(set(session.Title))))
		}
		return offers, nil
	})
}

// complete offers what the service has; nothing where it is not there.
func (c *connection) complete(cmd *cobra.Command, list func(context.Context, *remote.Service) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, err := c.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	offers, err := list(ctx, s)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
