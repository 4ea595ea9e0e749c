package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"
)

// AppInfo is what GitHub says about the App.
type AppInfo struct {
	ID int64
	// Slug is the App's name in URLs and in its bot's login.
	Slug  string
	Name  string
	Owner string
	// BotLogin and BotID are the account under which the App writes; the id is 0
	// where GitHub does not tell it to everybody.
	BotLogin string
	BotID    int64
	// Permissions and Events are what the App asks for, as it is registered.
	Permissions map[string]string
	Events      []string
	// ClockAhead is how far this machine's clock is ahead of GitHub's.
	ClockAhead time.Duration
}

// CheckApp asks GitHub who we are: one call with the App's own signature, and
// one for its bot account. It is for a look in the background; nothing waits for it.
func (c *Channel) CheckApp(ctx context.Context) (AppInfo, error) {
	info, err := c.app.identity(ctx)
	if err != nil {
		return AppInfo{}, fmt.Errorf("check the GitHub App: %w", err)
	}
	c.app.keepIdentity(info)
	return info, nil
}

// introduceWait bounds how long a first delivery waits for who we are: everything
// else waits with it.
const introduceWait = 3 * time.Second

// introduce learns what people call us, if nothing says so yet, as at the very
// first start: a question that was decided about before would be taken for words
// to somebody else. Where GitHub does not answer, people's comments are heard
// once it does.
func (c *Channel) introduce() {
	ctx, cancel := context.WithTimeout(context.Background(), introduceWait)
	defer cancel()
	if _, err := c.CheckApp(ctx); err != nil {
		c.app.log.Warn("what people call us at GitHub is not known yet, and comments to us are not heard before it is", "error", err)
	}
}

// keptIdentity is what is remembered of us over a restart. What people said
// meanwhile is read before GitHub was asked who we are: words to us must not be
// taken for words to somebody else then, nor our own for a stranger's.
type keptIdentity struct {
	Slug  string `json:"slug"`
	BotID int64  `json:"botId,omitempty"`
}

func (a *app) identityKey() string { return fmt.Sprintf("identity of App %d at %s", a.id, a.root) }

func (a *app) keepIdentity(info AppInfo) {
	if a.kept == nil {
		return
	}
	data, err := json.Marshal(keptIdentity{Slug: info.Slug, BotID: info.BotID})
	if err == nil {
		err = a.kept.Save(a.identityKey(), data)
	}
	if err != nil {
		a.log.Warn("who the GitHub App is was not kept; comments that wait at the next start may be missed", "error", err)
	}
}

// recallIdentity takes up what was kept. GitHub's own word replaces it soon.
func (a *app) recallIdentity() {
	if a.kept == nil {
		return
	}
	data, found := a.kept.Load(a.identityKey())
	var k keptIdentity
	if !found || json.Unmarshal(data, &k) != nil || !validName(k.Slug) {
		return
	}
	a.learn(k.Slug)
	a.bot.CompareAndSwap(0, k.BotID)
}

// learn notes the App's slug as what people call us; the operator's word stays.
func (a *app) learn(slug string) {
	if a.named {
		return
	}
	a.handle.Store(&slug)
}

// own returns a transport that signs as the App itself.
func (a *app) own() *ghinstallation.AppsTransport {
	t := ghinstallation.NewAppsTransportFromPrivateKey(a.wire, a.id, a.key)
	t.BaseURL = a.root.String()
	return t
}

func (a *app) identity(ctx context.Context) (AppInfo, error) {
	var app struct {
		ID    int64  `json:"id"`
		Slug  string `json:"slug"`
		Name  string `json:"name"`
		Owner struct {
			Login string `json:"login"`
		} `json:"owner"`
		Permissions map[string]string `json:"permissions"`
		Events      []string          `json:"events"`
	}
	if err := get(ctx, a.client(a.own()), "app", &app); err != nil {
		return AppInfo{}, a.identityError(err)
	}
	if app.ID != a.id || app.Slug == "" {
		return AppInfo{}, fmt.Errorf("%sapp answers for App %d, not %d: check GITHUB_API_URL", a.root, app.ID, a.id)
	}
	info := AppInfo{
		ID: app.ID, Slug: app.Slug, Name: app.Name, Owner: app.Owner.Login, BotLogin: app.Slug + "[bot]",
		Permissions: app.Permissions, Events: app.Events,
		ClockAhead: time.Duration(a.wire.clock.drift.Load()),
	}
	a.learn(info.Slug)
	// Anybody may ask for a user on github.com. Where that is closed, the id is
	// learned from our first comment.
	var bot struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	}
	if err := get(ctx, a.client(a.wire), "users/"+url.PathEscape(info.BotLogin), &bot); err == nil && bot.Type == "Bot" {
		a.bot.Store(bot.ID)
	}
	info.BotID = a.bot.Load()
	return info, nil
}

// identityError says which setting a refusal points to.
func (a *app) identityError(err error) error {
	switch status(err) {
	case http.StatusUnauthorized:
		ahead := time.Duration(a.wire.clock.drift.Load()).Round(time.Second)
		if ahead.Abs() > MaxDrift {
			return fmt.Errorf("GitHub does not accept the App's signature, and this machine's clock is %s ahead of GitHub's: set the clock: %w", ahead, err)
		}
		return fmt.Errorf("GitHub does not accept the signature of App %d: check that GITHUB_APP_ID and GITHUB_PRIVATE_KEY belong together: %w", a.id, err)
	case http.StatusNotFound:
		return fmt.Errorf("there is no GitHub API at %s, or no App %d: check GITHUB_API_URL and GITHUB_APP_ID: %w", a.root, a.id, err)
	}
	return err
}

// get reads one JSON answer.
func get(ctx context.Context, client *gh.Client, path string, into any) error {
	req, err := client.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	_, err = client.Do(ctx, req, into)
	return err
}
