package config

import (
	"strconv"
	"strings"
	"time"
)

// SlackTalk says whom Liaison answers in Slack, and how.
type SlackTalk struct {
	// MentionInThreads asks for a mention also in threads that we are part of.
	MentionInThreads bool
	// DirectIsOne makes all top-level direct messages of one person one session.
	DirectIsOne bool
	// Reply is "message", "stream" or "edit".
	Reply string
	Watch []SlackWatch
	// AllowGuests and AllowExternal let guests, and people of other organisations, in.
	AllowGuests, AllowExternal bool
	// Channels and Users are all that is answered; empty means no limit. Apps are
	// those whose bots are answered.
	Channels, Users, Apps []string
	Reactions             bool
	// People has GitHub logins by the ids of Slack users.
	People map[string]string
}

// SlackWatch is a channel in which messages need no mention.
type SlackWatch struct {
	Channel string
	// All takes replies in threads too.
	All      bool
	Debounce time.Duration
}

// maxDebounce is the most that a turn waits for quiet.
const maxDebounce = 10 * time.Minute

// maxSlackID bounds an id, whose length Slack leaves open
// (https://docs.slack.dev/reference/objects).
const maxSlackID = 64

// isSlackID reports whether s is an id of a kind that begins with one of the
// letters of kinds: capital letters and digits.
func isSlackID(kinds, s string) bool {
	if len(s) < 2 || len(s) > maxSlackID || !strings.ContainsRune(kinds, rune(s[0])) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
}

// The letters that ids of channels, people and apps begin with.
const (
	slackChannels = "CGD"
	slackPeople   = "UW"
	slackApps     = "A"
	// Workspaces and organisations.
	slackWorkspaces = "TE"
)

func buildSlackTalk(v *values, p *problems) SlackTalk {
	t := SlackTalk{
		MentionInThreads: flag(v, p, EnvSlackThreads),
		DirectIsOne:      oneOf(v, p, EnvSlackDirect, "thread", "conversation") == "conversation",
		Reply:            oneOf(v, p, EnvSlackReply, "message", "stream", "edit"),
		AllowGuests:      flag(v, p, EnvSlackGuests),
		AllowExternal:    flag(v, p, EnvSlackExternal),
		Channels:         ids(v, p, EnvSlackChannels, slackChannels, "a channel (C0123456789); names change, ids do not"),
		Users:            ids(v, p, EnvSlackUsers, slackPeople, "a person (U0123456789); names change, ids do not"),
		Apps:             ids(v, p, EnvSlackBots, slackApps, "an app (A0123456789)"),
		Reactions:        flag(v, p, EnvSlackReactions),
	}
	watched, _ := v.list(EnvSlackWatch)
	for _, text := range watched {
		if w, ok := parseWatch(p, text); ok {
			t.Watch = append(t.Watch, w)
		}
	}
	t.People = parsePeople(v, p)
	return t
}

func parseWatch(p *problems, text string) (SlackWatch, bool) {
	parts := strings.Split(text, setting(EnvSlackWatch).Separator)
	for len(parts) < 3 {
		parts = append(parts, "")
	}
	w := SlackWatch{Channel: parts[0], All: parts[1] == "all"}
	var err error
	if parts[2] != "" {
		w.Debounce, err = time.ParseDuration(parts[2])
	}
	switch {
	case len(parts) > 3 || !isSlackID(slackChannels, w.Channel):
		p.add(EnvSlackWatch, "%q is not channel:posts:debounce, such as C0123456789:all:30s", text)
	case parts[1] != "" && parts[1] != "all" && parts[1] != "top-level":
		p.add(EnvSlackWatch, "%q: %q is not one of top-level, all", text, parts[1])
	case err != nil || w.Debounce < 0 || w.Debounce > maxDebounce:
		p.add(EnvSlackWatch, "%q: debounce %q is not a duration from 0 to %s, such as 30s", text, parts[2], maxDebounce)
	default:
		return w, true
	}
	return w, false
}

func parsePeople(v *values, p *problems) map[string]string {
	entries, _ := v.list(EnvPeople)
	people := make(map[string]string, len(entries))
	for _, entry := range entries {
		user, login, _ := strings.Cut(entry, setting(EnvPeople).Separator)
		login = strings.TrimPrefix(login, "@")
		switch _, twice := people[user]; {
		case !isSlackID(slackPeople, user):
			p.add(EnvPeople, "%q: %q is not the id of somebody in Slack (U0123456789)", entry, user)
		case !loginPattern.MatchString(login):
			p.add(EnvPeople, "%q: %q is no login of GitHub's", entry, login)
		case twice:
			p.add(EnvPeople, "%s is there twice", user)
		default:
			people[user] = login
		}
	}
	return people
}

// flag reads yes or no.
func flag(v *values, p *problems, env string) bool {
	on, err := strconv.ParseBool(v.textOf(env))
	if err != nil {
		p.add(env, "%q is not one of true, false", v.textOf(env))
	}
	return on
}

// oneOf reads a word of a few.
func oneOf(v *values, p *problems, env string, words ...string) string {
	text := v.textOf(env)
	for _, word := range words {
		if text == word {
			return word
		}
	}
	p.add(env, "%q is not one of %s", text, strings.Join(words, ", "))
	return words[0]
}

// ids reads a list in which every item must be the id of something.
func ids(v *values, p *problems, env, kinds, of string) []string {
	items, _ := v.list(env)
	for _, item := range items {
		if !isSlackID(kinds, item) {
			p.add(env, "%q is not the id of %s", item, of)
		}
	}
	return items
}
