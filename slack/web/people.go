package web

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/slack-go/slack"
)

// User is an account as the app's workspace sees it.
type User struct {
	ID string
	// Team is the workspace in which the account is at home.
	Team string
	// Name is for people only.
	Name string
	// Bot is an app's account; Deleted one that is deactivated.
	Bot, Deleted bool
	// Guest is set for guests of the workspace, of one channel or of several.
	Guest bool
	// Stranger is set for people of other organisations, who are here by a shared channel.
	Stranger bool
	// Enterprise is the organisation of the account, where it has one.
	Enterprise string
	// Admin is set for admins and owners of the workspace, or of its organisation.
	Admin bool
	// Timezone is an IANA name, or empty.
	Timezone string
}

// refusable reports whether somebody is let in less than others, so that a change
// of that should be noticed soon.
func (u User) refusable() bool { return u.Bot || u.Deleted || u.Guest || u.Stranger }

// User returns what Slack says of an account, which may be an hour old, or two
// minutes where it is a guest's, a stranger's, a bot's or a deleted one's. That
// there is no such account is an error of class [ErrGone].
func (c *Client) User(ctx context.Context, at Place, id string) (User, error) {
	return c.UserAsOf(ctx, at, id, knownFor)
}

// UserAsOf is [Client.User] where what Slack said may be no older than within.
func (c *Client) UserAsOf(ctx context.Context, at Place, id string, within time.Duration) (User, error) {
	key := knownKey{at.Team, id}
	if e, ok := c.people.get(key); ok && c.now().Sub(e.since) <= within {
		return e.value, e.err
	}
	const method = "users.info"
	var said struct {
		User *struct {
			ID         string `json:"id"`
			TeamID     string `json:"team_id"`
			Name       string `json:"name"`
			RealName   string `json:"real_name"`
			Timezone   string `json:"tz"`
			Deleted    bool   `json:"deleted"`
			Bot        bool   `json:"is_bot"`
			Restricted bool   `json:"is_restricted"`
			Ultra      bool   `json:"is_ultra_restricted"`
			Stranger   bool   `json:"is_stranger"`
			Admin      bool   `json:"is_admin"`
			Owner      bool   `json:"is_owner"`
			Grid       struct {
				Enterprise string `json:"enterprise_id"`
				Admin      bool   `json:"is_admin"`
				Owner      bool   `json:"is_owner"`
			} `json:"enterprise_user"`
			Profile struct {
				DisplayName string `json:"display_name"`
				RealName    string `json:"real_name"`
			} `json:"profile"`
		} `json:"user"`
	}
	err := c.do(ctx, call{method: method, at: at, into: &said}, func(ctx context.Context, api *slack.Client) error {
		_, err := api.GetUserInfoContext(ctx, id)
		return err
	})
	if err == nil && (said.User == nil || said.User.ID != id) {
		err = &Error{Class: ErrAmbiguous, Method: method, Err: errors.New("the answer is about nobody, or somebody else")}
	}
	if err != nil {
		if errors.Is(err, ErrGone) {
			c.people.put(key, User{}, err, refusedFor)
		}
		return User{}, err
	}
	u := said.User
	user := User{
		ID: u.ID, Team: u.TeamID, Timezone: u.Timezone,
		Name: cmp.Or(u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name),
		Bot:  u.Bot, Deleted: u.Deleted, Guest: u.Restricted || u.Ultra, Stranger: u.Stranger,
		Enterprise: u.Grid.Enterprise, Admin: u.Admin || u.Owner || u.Grid.Admin || u.Grid.Owner,
	}
	lasts := knownFor
	if user.refusable() {
		lasts = refusedFor
	}
	c.people.put(key, user, nil, lasts)
	return user, nil
}

// Channel is a channel, a direct message or a group's as the app sees it.
type Channel struct {
	ID   string
	Name string // for people only; empty for direct messages
	// Direct is one person with the app; Group several of them.
	Direct, Group bool
	Private       bool
	Archived      bool
	// Member is set where the app is in.
	Member bool
	// Shared is set where other organisations are in, or are invited.
	Shared bool
	// User is the person in a direct message.
	User string
}

// Channel returns what Slack says of a place's channel, which may be an hour old.
// That there is none for us is an error of class [ErrGone].
func (c *Client) Channel(ctx context.Context, at Place) (Channel, error) {
	key := knownKey{at.Team, at.Channel}
	if e, ok := c.channels.get(key); ok {
		return e.value, e.err
	}
	const method = "conversations.info"
	var said struct {
		Channel *struct {
			ID        string `json:"id"`
			Name      string `json:"name"`
			Direct    bool   `json:"is_im"`
			Group     bool   `json:"is_mpim"`
			Private   bool   `json:"is_private"`
			Archived  bool   `json:"is_archived"`
			Member    bool   `json:"is_member"`
			ExtShared bool   `json:"is_ext_shared"`
			Pending   bool   `json:"is_pending_ext_shared"`
			User      string `json:"user"`
		} `json:"channel"`
	}
	err := c.do(ctx, call{method: method, at: at, into: &said}, func(ctx context.Context, api *slack.Client) error {
		_, err := api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: at.Channel})
		return err
	})
	if err == nil && (said.Channel == nil || said.Channel.ID != at.Channel) {
		err = &Error{Class: ErrAmbiguous, Method: method, Err: errors.New("the answer is about no channel, or another one")}
	}
	if err != nil {
		if errors.Is(err, ErrGone) {
			c.channels.put(key, Channel{}, err, refusedFor)
		}
		return Channel{}, err
	}
	ch := said.Channel
	channel := Channel{
		ID: ch.ID, Name: ch.Name, Direct: ch.Direct, Group: ch.Group, Private: ch.Private, Archived: ch.Archived,
		Member: ch.Member, Shared: ch.ExtShared || ch.Pending, User: ch.User,
	}
	c.channels.put(key, channel, nil, knownFor)
	return channel, nil
}

// OpenDirect returns the channel of the direct messages with somebody.
func (c *Client) OpenDirect(ctx context.Context, at Place, user string) (channel string, err error) {
	const method = "conversations.open"
	var said struct {
		Channel struct {
			ID string `json:"id"`
		} `json:"channel"`
	}
	err = c.do(ctx, call{method: method, at: at, into: &said}, func(ctx context.Context, api *slack.Client) error {
		_, _, _, err := api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{user}})
		return err
	})
	if err == nil && said.Channel.ID == "" {
		err = &Error{Class: ErrAmbiguous, Method: method, Err: errors.New("the answer names no channel")}
	}
	return said.Channel.ID, err
}
