package doctor

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/slack/setup"
)

// SlackSettings is what the settings say about Slack.
type SlackSettings struct {
	// Webhooks and Socket are the ways in, and Token and OAuth those to tokens.
	Webhooks, Socket, Token, OAuth bool
	// Public is where the service is reached from outside; nil when unknown.
	Public *url.URL
	// Challenge is how the service answered what Slack asks of its request URL; it
	// counts where there are webhooks and a public URL.
	Challenge error
	// ConfigToken says that the app's manifest could be read.
	ConfigToken bool
	// Watched are the channels that need no mention.
	Watched []string
}

// Clocks that differ by more: Slack's requests are refused, and ours may be late.
// https://docs.slack.dev/authentication/verifying-requests-from-slack
const (
	slackDrift    = 30 * time.Second
	slackMaxDrift = 5 * time.Minute
)

// Slack judges what Slack says about the app.
func Slack(e setup.Examination, s SlackSettings) []Finding {
	found := slices.Concat(wayIn(e, s), tokens(e, s))
	if !s.Token || e.BotErr != nil {
		return found
	}
	return slices.Concat(found, slackClock(e.ClockAhead), scopes(e.Bot), app(e, s), channels(e, s), people(e))
}

// wayIn is how what happens at Slack comes to us.
func wayIn(e setup.Examination, s SlackSettings) []Finding {
	var found []Finding
	if s.Socket {
		if e.SocketErr == nil {
			found = append(found, ok("Slack socket", "Slack opens Socket Mode"))
		} else {
			f := failed("Slack socket", "Slack does not open Socket Mode, so that nothing comes by it: "+e.SocketErr.Error(),
				"Make an app-level token with the scope connections:write on the app's page, under \"Basic Information\", and set it as SLACK_APP_TOKEN.")
			if s.Webhooks {
				f.Status = Warning
			}
			found = append(found, f)
		}
	}
	switch {
	case !s.Webhooks:
	case s.Public == nil:
		found = append(found, warning("Slack webhook", "whether Slack reaches this service is not known",
			"Set LIAISON_PUBLIC_URL to where the service is reached from outside."))
	case errors.Is(s.Challenge, setup.ErrForeignSecret):
		found = append(found, failed("Slack webhook", s.Challenge.Error(),
			"Compare SLACK_SIGNING_SECRET with the app's page, under \"Basic Information\", and restart the service; let NTP set the clock."))
	case s.Challenge != nil:
		found = append(found, warning("Slack webhook", s.Challenge.Error(),
			"Start the service, and see that LIAISON_PUBLIC_URL leads to it, with path, headers and body as they came."))
	default:
		found = append(found, ok("Slack webhook", s.Public.JoinPath(setup.WebhookPath).String()+" answers as Slack wants it"))
	}
	return found
}

// tokens is what we speak with.
func tokens(e setup.Examination, s SlackSettings) []Finding {
	var found []Finding
	if s.OAuth {
		found = append(found, ok("Slack installs", "workspaces install the app at /slack/install; the service has their tokens, and its log says what is wrong with one"))
	}
	switch {
	case !s.Token && s.OAuth:
	case !s.Token:
		found = append(found, failed("Slack bot", "there is no token, so that nothing can be said in Slack",
			"Install the app and set SLACK_BOT_TOKEN, or set SLACK_CLIENT_ID to let workspaces install it."))
	case e.BotErr != nil:
		found = append(found, failed("Slack bot", "the bot token cannot be used: "+e.BotErr.Error(),
			"Take the bot token from the app's page, under \"OAuth & Permissions\"; install the app again if it was revoked."))
	case e.Bot.ID == "":
		found = append(found, failed("Slack bot", "SLACK_BOT_TOKEN is a person's token: own messages would not be known as such",
			"Take the bot token (xoxb-) from the app's page, under \"OAuth & Permissions\"."))
	default:
		b := e.Bot
		found = append(found, ok("Slack bot", fmt.Sprintf("writes in %s (%s) as %s, bot %s of the app %s", b.Workspace, b.Team, b.User, b.ID, orUnknown(b.App))))
	}
	return found
}

func orUnknown(id string) string {
	if id == "" {
		return "(unknown)"
	}
	return id
}

func slackClock(ahead time.Duration) []Finding {
	if ahead.Abs() <= slackDrift {
		return []Finding{ok("Slack clock", "agrees with Slack's")}
	}
	word := "ahead of"
	if ahead < 0 {
		word = "behind"
	}
	f := warning("Slack clock", fmt.Sprintf("is %s %s Slack's; beyond %s every request of Slack's is refused", ahead.Abs().Round(time.Second), word, slackMaxDrift),
		"Let NTP set this machine's clock.")
	if ahead.Abs() > slackMaxDrift {
		f.Status = Failed
	}
	return []Finding{f}
}

func scopes(b setup.Bot) []Finding {
	var found []Finding
	for _, lost := range setup.Missing(b.Scopes) {
		f := warning("Slack scopes", fmt.Sprintf("the token lacks %s. %s", lost.Name, lost.Lost),
			"Add it on the app's page, under \"OAuth & Permissions\", and install the app again.")
		if lost.Essential {
			f.Status = Failed
		}
		found = append(found, f)
	}
	if len(found) == 0 {
		found = append(found, ok("Slack scopes", "all that the manifest asks for"))
	}
	return found
}

// maxShown bounds how many differences one finding lists.
const maxShown = 8

// app says where the app is not as its manifest has it: events, request URL,
// command, shortcut, the tabs of its home, that it is an agent.
func app(e setup.Examination, s SlackSettings) []Finding {
	switch {
	case !s.ConfigToken:
		return []Finding{warning("Slack app", "was not compared with its manifest: events, request URL, command, shortcut and agent view are not known",
			"Give a configuration token, from the end of https://api.slack.com/apps, as SLACK_CONFIG_TOKEN to this command; or compare \"App Manifest\" on the app's page with \"liaison setup slack --manifest-only\".")}
	case e.ManifestErr != nil:
		return []Finding{warning("Slack app", "its manifest could not be read: "+e.ManifestErr.Error(), "")}
	case !e.Compared:
		return []Finding{warning("Slack app", "was not compared with its manifest, which needs the public URL", "Set LIAISON_PUBLIC_URL to one with https.")}
	case len(e.Differences) == 0:
		return []Finding{ok("Slack app", "is as its manifest has it: events, request URL, command, shortcut, agent view")}
	}
	f := warning("Slack app", "", fmt.Sprintf("Run \"liaison setup slack --app %s\".", e.Bot.App))
	var all []string
	for _, d := range e.Differences {
		if strings.HasPrefix(d.Path, "settings.event_subscriptions.") && !s.Socket || d.Path == "settings.socket_mode_enabled" {
			f.Status = Failed // nothing, or not all of it, would come
		}
		all = append(all, strings.ReplaceAll(d.String(), "\n", " "))
	}
	f.Text = "differs from its manifest: " + strings.Join(all[:min(len(all), maxShown)], "; ")
	if more := len(all) - maxShown; more > 0 {
		f.Text += fmt.Sprintf("; and %d more", more)
	}
	return []Finding{f}
}

func channels(e setup.Examination, s SlackSettings) []Finding {
	var found []Finding
	for _, c := range e.Channels {
		which := "allowed channel "
		if slices.Contains(s.Watched, c.ID) {
			which = "watched channel "
		}
		which += c.ID
		if c.Name != "" {
			which += " (#" + c.Name + ")"
		}
		switch {
		case errors.Is(c.Err, setup.ErrUnknown):
			found = append(found, warning("Slack channel", "the "+which+" does not exist, or is private and without the bot", "Correct slack.watch and slack.channels, or invite the bot."))
		case c.Err != nil:
			found = append(found, warning("Slack channel", "the "+which+" could not be read: "+c.Err.Error(), ""))
		case c.Archived:
			found = append(found, warning("Slack channel", "the "+which+" is archived", "Take it out of slack.watch and slack.channels."))
		case !c.Member:
			found = append(found, warning("Slack channel", "the bot is not in the "+which+", and hears nothing there", "Write /invite and its name there."))
		}
	}
	if len(found) == 0 && len(e.Channels) > 0 {
		found = append(found, ok("Slack channel", fmt.Sprintf("the bot is in all %d that the settings name", len(e.Channels))))
	}
	return found
}

func people(e setup.Examination) []Finding {
	const fix = "Correct people and slack.users."
	var found []Finding
	for _, p := range e.People {
		switch {
		case errors.Is(p.Err, setup.ErrUnknown):
			found = append(found, warning("Slack people", p.ID+" does not exist", fix))
		case p.Err != nil:
			found = append(found, warning("Slack people", p.ID+" could not be read: "+p.Err.Error(), ""))
		case p.Deleted:
			found = append(found, warning("Slack people", fmt.Sprintf("%s (%s) is deactivated", p.ID, p.Name), fix))
		case p.Bot:
			found = append(found, warning("Slack people", fmt.Sprintf("%s (%s) is a bot; bots are let in by slack.allowedApps", p.ID, p.Name), fix))
		}
	}
	if len(found) == 0 && len(e.People) > 0 {
		found = append(found, ok("Slack people", fmt.Sprintf("all %d that the settings name exist", len(e.People))))
	}
	return found
}
