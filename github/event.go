package github

import (
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// event is one delivery on its way to an intent.
type event struct {
	payload
	name     string
	delivery sessions.Delivery
	self     Self
}

// word is the event with its action, as in GitHub's documentation.
func (e event) word() string {
	if e.Action == "" {
		return e.name
	}
	action := []rune(oneLine(e.Action))
	return e.name + "." + string(action[:min(len(action), 40)])
}

// pointless ignores an action, because nothing here depends on it.
func (e event) pointless() (sessions.Intent, error) {
	if e.Action == "" {
		return sessions.Intent{}, errors.New("the payload names no action")
	}
	return ignore("%s: action %s asks for nothing", e.name, quote(e.Action)), nil
}

func missing(field string) error {
	return fmt.Errorf("the payload has no usable %s", field)
}

// old reports whether something was written so long before it came that it may
// have been caught and sent again.
func (e event) old(written string) bool {
	at := parseTime(written)
	return !at.IsZero() && e.delivery.ReceivedAt.Sub(at) > maxAge
}

// isBot reports whether somebody is our own bot account.
func (s Self) isBot(u hookUser) bool { return s.BotID != 0 && u.ID == s.BotID }

// wrote reports whether a text is our own. The App that wrote it is named also
// where our bot account is not known yet.
func (s Self) wrote(w hookText) bool {
	return s.isBot(w.User) || s.AppID != 0 && w.App.ID == s.AppID
}

// origin is what every request about a repository begins with.
func (e event) origin() (request, error) {
	switch _, _, named := splitName(e.Repository.FullName); {
	case e.Installation.ID <= 0:
		return request{}, errForeignHook
	case e.Repository.ID <= 0:
		return request{}, missing("repository.id")
	case !named:
		return request{}, missing("repository.full_name")
	}
	return request{
		Installation: e.Installation.ID,
		Repository:   e.Repository.ID,
		FullName:     e.Repository.FullName,
		Trigger:      e.word(),
		Actor:        e.Sender.account(),
	}, nil
}

// intent begins an intent about what the request names.
func (e event) intent(action sessions.Action, r request) sessions.Intent {
	in := sessions.Intent{
		Action:    action,
		Reason:    e.word() + " on " + r.subject(),
		Principal: principal(r.Actor.ID),
		Mode:      state.ModeChat,
	}
	r.identify(&in)
	return in
}

// principal names the person who acted. Nobody can be on a list as "unknown".
func principal(id int64) string {
	if id <= 0 {
		return "github:user:unknown"
	}
	return fmt.Sprintf("github:user:%d", id)
}
