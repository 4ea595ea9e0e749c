package slack

import (
	"slices"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// uninstalled ends all sessions of an installation. It is weighed so that what is
// known of the installation can be forgotten first.
func (m mapper) uninstalled(c event.Callback, reason string) sessions.Intent {
	r := request{address: address{Team: c.Team, Enterprise: c.Enterprise}, Trigger: byUninstall, At: c.Time}
	if r.At.IsZero() {
		r.At = m.delivery.ReceivedAt
	}
	return sessions.Intent{
		Action: sessions.ActionArchive, Reason: reason, KeyPrefixes: []string{r.teamKeys()},
		Request: r.encode(), Weigh: true,
	}
}

// tokensRevoked maps tokens_revoked. A person's token is nothing to us.
func (m mapper) tokensRevoked(c event.Callback) sessions.Intent {
	bots := c.Event.RevokedBots
	if len(bots) == 0 {
		return ignore("no bot's token was revoked")
	}
	if bot := m.bot(c); bot != "" && !slices.Contains(bots, bot) {
		return ignore("another bot's token was revoked")
	}
	return m.uninstalled(c, "the app's token was revoked")
}

// memberLeft maps member_left_channel, which matters when it was us.
func (m mapper) memberLeft(c event.Callback) (sessions.Intent, error) {
	if user := c.Event.Message.User; user == "" || user != m.bot(c) {
		return ignore("somebody else left"), nil
	}
	return m.channelGone(c, "the app was taken out of the channel")
}

// channelGone ends all sessions of a channel in which nothing can be said any more.
func (m mapper) channelGone(c event.Callback, reason string) (sessions.Intent, error) {
	a := address{Team: c.Team, Enterprise: c.Enterprise, Channel: c.Event.Message.Channel}
	if a.Channel == "" {
		return sessions.Intent{}, missing("channel")
	}
	return sessions.Intent{
		Action: sessions.ActionArchive, Reason: reason + ": " + a.Channel, KeyPrefixes: []string{a.channelKeys()},
	}, nil
}
