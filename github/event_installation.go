package github

import (
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
)

// mapInstallation maps the event installation.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#installation
func mapInstallation(e event) (sessions.Intent, error) {
	switch e.Action {
	case "created", "unsuspend", "new_permissions_accepted":
		return e.resumed()
	case "suspend":
		return ignore("installation.suspend: what is owed there waits until the App is let in again"), nil
	case "deleted":
		return e.lost(e.Repositories)
	}
	return e.pointless()
}

// resumed maps that the App may do more than before: what is remembered of its
// refusals is forgotten when the intent is weighed.
func (e event) resumed() (sessions.Intent, error) {
	in, err := e.installed(sessions.ActionIgnore)
	in.Weigh = err == nil
	in.Reason = e.word() + ": what waited for it goes on"
	return in, err
}

// lost archives the sessions of repositories that the App cannot reach any more.
func (e event) lost(repos []hookRepo) (sessions.Intent, error) {
	in, err := e.installed(sessions.ActionArchive)
	if err != nil {
		return in, err
	}
	for _, r := range repos {
		if r.ID > 0 {
			in.KeyPrefixes = append(in.KeyPrefixes, repositoryKeys(r.ID))
		}
	}
	if len(in.KeyPrefixes) == 0 {
		return ignore("%s: it names no repository", e.word()), nil
	}
	in.Reason = e.word() + ": the App cannot reach the repository any more"
	return in, nil
}

// installed begins an intent about an installation as a whole.
func (e event) installed(action sessions.Action) (sessions.Intent, error) {
	if e.Installation.ID <= 0 {
		return sessions.Intent{}, errForeignHook
	}
	r := request{Installation: e.Installation.ID, Trigger: e.word(), Actor: e.Sender.account()}
	return sessions.Intent{
		Action:    action,
		Key:       installationKey(e.Installation.ID),
		Fact:      fmt.Sprintf("github:%s:%d:%s", e.word(), e.Installation.ID, version("", e.delivery.Body)),
		Principal: principal(r.Actor.ID),
		Request:   r.encode(),
	}, nil
}

// installationKey orders what is about an installation as a whole; no session has it.
func installationKey(id int64) string { return fmt.Sprintf("github:installation:%d", id) }
