package slack

import (
	"slices"

	"github.com/liaison-bot/liaison/sessions"
)

// lateText answers what was asked so long ago that somebody else may have helped.
const lateText = "Slack told me of this only now, more than an hour after you wrote it. If you still need it, please ask again."

// tooLate is the intent of a message that came too late. Who spoke to us is told so
// once; who only spoke in our presence is left alone.
func (m mapper) tooLate(a asking) sessions.Intent {
	in := ignore("it came more than an hour late: %s", a.reason())
	if a.Trigger != byMention && a.Trigger != byDirect || a.Verb == verbStop || !m.listed(a.request) {
		return in
	}
	in.Key, in.Principal, in.Fact = a.key(), a.principal(), a.fact(a.TS)
	in.Effects = []sessions.Effect{effect("late", kindPost, postPayload{
		To: a.address, Key: "late:" + a.TS, Mention: a.User, Markdown: lateText,
	})}
	return in
}

// listed reports whether the operator's lists let somebody speak here, as far as
// that is known without asking Slack.
func (m mapper) listed(r request) bool {
	s := m.settings
	switch {
	case r.User == "", !s.takes(r):
		return false
	case len(s.Users) > 0 && !slices.Contains(s.Users, r.User):
		return false
	}
	return s.AllowExternal || r.UserTeam == "" || r.UserTeam == r.Team || r.UserTeam == r.Enterprise
}
