package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// Asked is what shall be looked at. What is empty is left out.
type Asked struct {
	Site Site
	// BotToken and AppToken are those of the settings; ConfigToken reads the app's
	// manifest, which is compared with Manifest.
	BotToken, AppToken, ConfigToken string
	Manifest                        Manifest
	// Channels and People are ids that the settings name.
	Channels, People []string
	// HTTPClient asks Slack. It is copied, and follows no redirect.
	HTTPClient *http.Client
	Now        func() time.Time
}

// maxNamed bounds how many channels, and how many people, are asked about.
const maxNamed = 100

// Examination is what Slack says. A part that could not be read has its error;
// where that is the bot token, nothing that needs it was asked.
type Examination struct {
	Bot    Bot
	BotErr error
	// ClockAhead is how far our clock is ahead of Slack's, to about a second.
	ClockAhead time.Duration

	SocketErr error
	// Compared is set when the app's manifest was read, and Differences are what is
	// not as it should be.
	Compared    bool
	Differences []Difference
	ManifestErr error

	Channels []Channel
	People   []Person
}

// Bot is whom the bot token speaks for.
type Bot struct {
	// Workspace is its name, and Team its id; Enterprise is that of an organisation.
	Workspace, Team, Enterprise string
	// User, ID and App are the ids of the bot's user, of the bot and of the app; a
	// token that is none of a bot has no ID.
	User, ID, App string
	Scopes        []string
}

// Channel is one that the settings name.
type Channel struct {
	ID, Name         string
	Member, Archived bool
	Err              error
}

// Person is somebody whom the settings name.
type Person struct {
	ID, Name     string
	Deleted, Bot bool
	Err          error
}

// ErrUnknown says that Slack knows no such channel or person, or shows it not to us.
var ErrUnknown = errors.New("no such id is known to Slack, or shown to the app")

// Examine asks Slack about the app.
func Examine(ctx context.Context, a Asked) Examination {
	x := examiner{Asked: a, api: newAPI(a.Site, a.HTTPClient, a.BotToken, a.AppToken)}
	var e Examination
	if a.AppToken != "" {
		_, _, err := x.api.StartSocketModeContext(ctx)
		e.SocketErr = said("apps.connections.open", err)
	}
	if a.BotToken == "" {
		return e
	}
	if e.Bot, e.ClockAhead, e.BotErr = x.bot(ctx); e.BotErr != nil {
		return e
	}
	if a.ConfigToken != "" {
		e.Compared, e.Differences, e.ManifestErr = x.compare(ctx, e.Bot.App)
	}
	for _, id := range first(a.Channels) {
		e.Channels = append(e.Channels, x.channel(ctx, id))
	}
	for _, id := range first(a.People) {
		e.People = append(e.People, x.person(ctx, id))
	}
	return e
}

// first are the ids that are asked about, each once.
func first(ids []string) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return ids[:min(len(ids), maxNamed)]
}

type examiner struct {
	Asked
	api *slack.Client
}

func (x examiner) bot(ctx context.Context) (Bot, time.Duration, error) {
	who, err := x.api.AuthTestContext(ctx)
	if err != nil {
		return Bot{}, 0, said("auth.test", err)
	}
	b := Bot{Workspace: who.Team, Team: who.TeamID, Enterprise: who.EnterpriseID, User: who.UserID, ID: who.BotID}
	for scope := range strings.SplitSeq(who.Header.Get("X-OAuth-Scopes"), ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			b.Scopes = append(b.Scopes, scope)
		}
	}
	var ahead time.Duration
	if at, err := http.ParseTime(who.Header.Get("Date")); err == nil {
		// The header has whole seconds: half of one is the best guess.
		ahead = x.Now().Sub(at.Add(time.Second / 2))
	}
	// What the app is called serves the comparison of manifests only.
	if info, err := x.api.GetBotInfoContext(ctx, slack.GetBotInfoParameters{Bot: b.ID}); err == nil {
		b.App = info.AppID
	}
	return b, ahead, nil
}

func (x examiner) compare(ctx context.Context, app string) (bool, []Difference, error) {
	if app == "" {
		return false, nil, errors.New("which app the bot is of was not said by Slack")
	}
	has, err := NewRegistrar(x.Site, x.HTTPClient, x.ConfigToken).Export(ctx, app)
	if err != nil {
		return false, nil, err
	}
	_, differences, err := x.Manifest.Onto(has)
	return err == nil, differences, err
}

func (x examiner) channel(ctx context.Context, id string) Channel {
	c, err := x.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
	if err != nil {
		return Channel{ID: id, Err: said("conversations.info", err)}
	}
	return Channel{ID: id, Name: c.Name, Member: c.IsMember || c.IsIM || c.IsMpIM, Archived: c.IsArchived}
}

func (x examiner) person(ctx context.Context, id string) Person {
	u, err := x.api.GetUserInfoContext(ctx, id)
	if err != nil {
		return Person{ID: id, Err: said("users.info", err)}
	}
	return Person{ID: id, Name: u.Name, Deleted: u.Deleted, Bot: u.IsBot}
}

// said is the error of a call in Slack's words.
func said(method string, err error) error {
	answer, ok := errors.AsType[slack.SlackErrorResponse](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return fmt.Errorf("%s: %w", method, err)
	case answer.Err == "channel_not_found" || answer.Err == "user_not_found" || answer.Err == "user_not_visible":
		return ErrUnknown
	case answer.Needed != "":
		return fmt.Errorf("%s: the token lacks the scope %s", method, answer.Needed)
	}
	return fmt.Errorf("%s: Slack answers %q", method, answer.Err)
}
