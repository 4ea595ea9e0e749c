package sim

import (
	"slices"
	"strings"
)

// Workspace is one team with the app installed in it.
type Workspace struct {
	// ID such as "T0ACME", required. Names default to it.
	ID, Name, Domain string
	// Enterprise is the id of the grid that the workspace belongs to, if any.
	Enterprise string
	// BotUser, BotID and BotToken are the app's here. Empty ones are made up.
	BotUser, BotID, BotToken string
	// Scopes of the bot token. Nil means [SlackOptions.Scopes].
	Scopes []string
	// OrgInstall has the grid's organisation, not this workspace, hold the
	// installation; the token then works in every workspace of the grid.
	OrgInstall bool
	// NotInstalled leaves the app out: no token, no deliveries.
	NotInstalled bool
}

// SlackUser is a person or a bot.
type SlackUser struct {
	// ID such as "U0ANN" and Team are required. Name defaults to the id.
	ID, Team, Name, RealName, Email, Locale string

	Admin, Owner, Deleted, Bot bool
	// Guest is a multi-channel guest, SingleChannelGuest one of a single channel.
	Guest, SingleChannelGuest bool
	// Unconfirmed has an e-mail address that nobody has confirmed.
	Unconfirmed bool
	// BotID and AppID of a bot.
	BotID, AppID string
}

// ChannelKind is what a conversation is.
type ChannelKind string

// The kinds of conversations, as Slack's channel_type names them.
const (
	PublicChannel  ChannelKind = "channel"
	PrivateChannel ChannelKind = "group"
	DirectChannel  ChannelKind = "im"
	GroupDirect    ChannelKind = "mpim"
)

// SlackChannel is a conversation.
type SlackChannel struct {
	// ID such as "C0GENERAL" and Team are required. Name defaults to the id.
	ID, Team, Name string
	// Kind defaults to [PublicChannel].
	Kind ChannelKind
	// Members are user ids. Nil means everybody of the team at the time, the bot
	// included. In a direct channel they are the person and the bot.
	Members []string
	// SharedWith are other teams that share the channel by Slack Connect.
	SharedWith []string
	// Archived takes no messages; ReadOnly takes none from the bot.
	Archived, ReadOnly bool
	// Topic and Purpose.
	Topic, Purpose string
}

type workspace struct {
	Workspace
	uninstalled bool
}

type slackUser struct {
	SlackUser
}

type slackChannel struct {
	SlackChannel
	messages []*slackMessage // in order of their time stamps
}

func (c *slackChannel) has(user string) bool { return slices.Contains(c.Members, user) }

// in reports whether a team takes part in the channel.
func (c *slackChannel) in(team string) bool {
	return c.Team == team || slices.Contains(c.SharedWith, team)
}

// slackToken is a credential that Slack has given out.
type slackToken struct {
	value, kind string // "bot", "app" or "config"
	team        string
	enterprise  string // set where the whole organisation is meant
	scopes      []string
	revoked     bool
	expires     int64 // Unix seconds; 0 for never
	refresh     string
}

// AddWorkspace adds a team with the app in it and returns it with its ids filled in.
func (s *Slack) AddWorkspace(w Workspace) Workspace {
	if w.ID == "" {
		panic("sim: a workspace needs an id")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.Name == "" {
		w.Name = w.ID
	}
	if w.Domain == "" {
		w.Domain = "team-" + digest(w.ID)[:6]
	}
	owner := w.ID // of the installation
	if w.OrgInstall {
		owner = w.Enterprise
	}
	if w.BotUser == "" {
		w.BotUser = "U0BOT" + strings.ToUpper(digest(owner)[:4])
	}
	if w.BotID == "" {
		w.BotID = "B0BOT" + strings.ToUpper(digest(owner)[:4])
	}
	if w.BotToken == "" && !w.NotInstalled {
		w.BotToken = "xoxb-" + owner + "-" + digest("bot token", owner)[:24]
	}
	if w.Scopes == nil {
		w.Scopes = s.opts.Scopes
	}
	if w.Scopes == nil {
		w.Scopes = s.allScopes()
	}
	t := &workspace{Workspace: w, uninstalled: w.NotInstalled}
	s.workspaces[w.ID] = t
	s.users[w.BotUser] = &slackUser{SlackUser: SlackUser{
		ID: w.BotUser, Team: w.ID, Name: s.opts.BotName, RealName: s.opts.BotName, Bot: true, BotID: w.BotID, AppID: s.opts.AppID,
	}}
	if !w.NotInstalled && s.tokens[w.BotToken] == nil {
		s.tokens[w.BotToken] = s.botToken(t, w.BotToken)
	}
	s.notify()
	return w
}

// botToken makes a credential of an installation. Callers hold the lock.
func (s *Slack) botToken(t *workspace, value string) *slackToken {
	tok := &slackToken{value: value, kind: "bot", team: t.ID, scopes: t.Scopes}
	if t.OrgInstall {
		tok.enterprise = t.Enterprise
	}
	return tok
}

// AddUser adds a person or a bot and returns it with its names filled in.
func (s *Slack) AddUser(u SlackUser) SlackUser {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.ID == "" {
		panic("sim: a user needs an id")
	}
	s.mustTeam(u.Team)
	if u.Name == "" {
		u.Name = u.ID
	}
	if u.RealName == "" {
		u.RealName = u.Name
	}
	if u.Bot && u.BotID == "" {
		u.BotID = "B" + u.ID[1:]
	}
	s.users[u.ID] = &slackUser{SlackUser: u}
	s.notify()
	return u
}

// EditUser changes a user in place, such as to make somebody a guest.
func (s *Slack) EditUser(id string, edit func(*SlackUser)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&s.mustUser(id).SlackUser)
	s.notify()
}

// AddChannel adds a conversation and returns it with its members filled in.
func (s *Slack) AddChannel(c SlackChannel) SlackChannel {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.ID == "" {
		panic("sim: a channel needs an id")
	}
	s.mustTeam(c.Team)
	if c.Kind == "" {
		c.Kind = PublicChannel
	}
	if c.Name == "" {
		c.Name = c.ID
	}
	if c.Members == nil {
		for _, id := range sortedKeys(s.users) {
			if s.users[id].Team == c.Team {
				c.Members = append(c.Members, id)
			}
		}
	}
	s.channels[c.ID] = &slackChannel{SlackChannel: c}
	s.notify()
	return c
}

// EditChannel changes a conversation in place, such as to archive it or to add
// a member. No event tells the app of it.
func (s *Slack) EditChannel(id string, edit func(*SlackChannel)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&s.mustChannel(id).SlackChannel)
	s.notify()
}

// direct finds or makes the conversation of the app's bot with a person.
// Callers hold the lock.
func (s *Slack) direct(team, user string) *slackChannel {
	bot := s.mustTeam(team).BotUser
	for _, id := range sortedKeys(s.channels) {
		c := s.channels[id]
		if c.Kind == DirectChannel && c.Team == team && c.has(user) && c.has(bot) {
			return c
		}
	}
	c := &slackChannel{
		SlackChannel: SlackChannel{ID: s.newID("D"), Team: team, Kind: DirectChannel, Members: []string{user, bot}},
	}
	s.channels[c.ID] = c
	return c
}

func (s *Slack) mustTeam(id string) *workspace {
	t := s.workspaces[id]
	if t == nil {
		panic("sim: no workspace " + id)
	}
	return t
}

func (s *Slack) mustUser(id string) *slackUser {
	u := s.users[id]
	if u == nil {
		panic("sim: no user " + id)
	}
	return u
}

func (s *Slack) mustChannel(id string) *slackChannel {
	c := s.channels[id]
	if c == nil {
		panic("sim: no channel " + id)
	}
	return c
}

// botOf is the installation that sees a channel: that of its own team, or else
// of a team that shares it. It is nil if there is none. Callers hold the lock.
func (s *Slack) botOf(c *slackChannel) *workspace {
	for _, id := range append([]string{c.Team}, c.SharedWith...) {
		if t := s.workspaces[id]; t != nil && !t.uninstalled {
			return t
		}
	}
	return nil
}
