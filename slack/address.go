package slack

import (
	"strings"

	"github.com/liaison-bot/liaison/slack/web"
)

// address is a place in Slack in which people talk with the agent.
type address struct {
	// Team is the workspace in which the app is installed that heard of it.
	Team string `json:"team"`
	// Enterprise is the organisation, where the app is installed for all of it.
	Enterprise string `json:"enterprise,omitempty"`
	// Channel is the id of a channel, a direct message or a group of people.
	Channel string `json:"channel"`
	// Thread is the ts of the thread's root. It is empty for a direct message that
	// is one conversation.
	Thread string `json:"thread,omitempty"`
}

// install is the workspace, or the organisation where the app is installed in all
// of it: a click there may come from another workspace than the message, or name none.
func (a address) install() string {
	if a.Enterprise != "" {
		return a.Enterprise
	}
	return a.Team
}

// key is the continuation key. Ids only: names change.
func (a address) key() string {
	return strings.Join([]string{Name, a.install(), a.Channel, a.Thread}, ":")
}

// channelKeys is what the keys of everything in a channel begin with, and
// teamKeys the same of all that one installation hears of.
func (a address) channelKeys() string { return Name + ":" + a.install() + ":" + a.Channel + ":" }

func (a address) teamKeys() string { return Name + ":" + a.install() + ":" }

// fact is the meaning of a message: whatever deliveries tell of it, it asks once.
func (a address) fact(ts string) string {
	return strings.Join([]string{Name, a.install(), a.Channel, ts}, ":")
}

// principal names the person who acted. Nobody can be on a list as "unknown".
// Team is the installation, so that one person is the same everywhere in it.
func principal(team, user string) string {
	if user == "" {
		user = "unknown"
	}
	return Name + ":user:" + team + ":" + user
}

// place is the address as the Web API's client has it.
func (a address) place() web.Place {
	return web.Place{Team: a.Team, Enterprise: a.Enterprise, Channel: a.Channel, Thread: a.Thread}
}
