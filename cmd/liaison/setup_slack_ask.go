package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/envfile"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/slack/setup"
)

// question is about one setting.
type question struct {
	name, text string
	// check looks whether an answer can be right, and says what it is about; nil
	// takes everything.
	check func(ctx context.Context, answer string) (string, error)
}

// maxTries bounds how often somebody is asked for the same thing.
const maxTries = 3

// ask asks until the answer can be right, and keeps it. An empty answer, and the
// end of the input, leave the setting for later.
func (s *setupSlack) ask(ctx context.Context, q question) error {
	for try := 1; ; try++ {
		answer, err := s.prompt(ctx, q.text+", or Enter to set it later")
		if err != nil {
			return err
		}
		if answer == "" {
			s.left = append(s.left, q.name)
			return nil
		}
		about := ""
		if q.check != nil {
			about, err = q.check(ctx, answer)
		}
		if err == nil {
			// The value is shown by nobody, also where it cannot be written.
			err = s.keep(envfile.Value{Name: q.name, Value: answer})
			if err != nil {
				return err
			}
			if about != "" {
				fmt.Fprintln(s.con.out, terminal.Text(about))
			}
			return nil
		}
		if try == maxTries || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		fmt.Fprintf(s.con.out, "That cannot be used: %s\n", terminal.Text(err.Error()))
	}
}

// prompt asks for one line that is a secret.
func (s *setupSlack) prompt(ctx context.Context, text string) (string, error) {
	fmt.Fprintf(s.con.out, "%s: ", text)
	answer, err := s.answers.Next(ctx, true)
	fmt.Fprintln(s.con.out)
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	return answer, err
}

// configToken returns the configuration token, or nothing where nobody has one.
func (s *setupSlack) configToken(ctx context.Context, otherwise string) (string, error) {
	if token := s.con.getenv(envSlackConfigToken); token != "" {
		return token, nil
	}
	return s.prompt(ctx, fmt.Sprintf("Configuration token, from the end of %s/apps%s", s.site.Pages, otherwise))
}

// tokens asks for what Slack shows once the app is there, and tries it.
func (s *setupSlack) tokens(ctx context.Context, app setup.App) error {
	if s.oauth {
		return nil // each workspace gives one of its own
	}
	where := "on the app's page"
	if app.ID != "" {
		where = "on " + s.site.AppPage(app.ID, "general")
	}
	if s.socket {
		fmt.Fprintf(s.con.out, "Make an app-level token with the scope connections:write, %s.\n", where)
		err := s.ask(ctx, question{config.EnvSlackAppToken, "App-level token (xapp-…)", s.checkAppToken})
		if err != nil {
			return err
		}
	}
	if app.ID != "" {
		where = "on " + s.site.AppPage(app.ID, "install-on-team")
	}
	fmt.Fprintf(s.con.out, "Install the app into your workspace, %s. The bot token is then under \"OAuth & Permissions\".\n", where)
	return s.ask(ctx, question{config.EnvSlackBotToken, "Bot token (xoxb-…)", func(ctx context.Context, token string) (string, error) {
		return s.checkBotToken(ctx, token, app.ID)
	}})
}

// checkSigningSecret finds what was copied from the wrong place. With that the
// service would start, and refuse all that Slack sends.
func checkSigningSecret(_ context.Context, secret string) (string, error) {
	if strings.HasPrefix(secret, "xox") || strings.HasPrefix(secret, "xapp-") {
		return "", errors.New("it is a token, and not the signing secret")
	}
	return "", nil
}

func (s *setupSlack) checkAppToken(ctx context.Context, token string) (string, error) {
	if !strings.HasPrefix(token, "xapp-") {
		return "", errors.New("an app-level token begins with xapp-")
	}
	e := setup.Examine(ctx, setup.Asked{Site: s.site, AppToken: token, HTTPClient: s.client(), Now: time.Now})
	return "Slack opens Socket Mode for it.", e.SocketErr
}

func (s *setupSlack) checkBotToken(ctx context.Context, token, app string) (string, error) {
	if !strings.HasPrefix(token, "xoxb-") {
		return "", errors.New("a bot token begins with xoxb-")
	}
	e := setup.Examine(ctx, setup.Asked{Site: s.site, BotToken: token, HTTPClient: s.client(), Now: time.Now})
	switch b := e.Bot; {
	case e.BotErr != nil:
		return "", e.BotErr
	case b.ID == "":
		return "", errors.New("it is a person's token, and not a bot's")
	case app != "" && b.App != "" && b.App != app:
		return "", fmt.Errorf("it is of the app %s, and not of %s", b.App, app)
	}
	about := fmt.Sprintf("It speaks in %s (%s).", e.Bot.Workspace, e.Bot.Team)
	for _, lost := range setup.Missing(e.Bot.Scopes) {
		about += fmt.Sprintf("\nIt lacks the scope %s: %s", lost.Name, lost.Lost)
	}
	return about, nil
}
