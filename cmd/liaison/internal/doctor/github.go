package doctor

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/github/setup"
)

// Wanted is what the App should be, by its manifest and the settings.
type Wanted struct {
	Manifest setup.Manifest
	// Public is where the service is reached from outside; nil when unknown.
	Public *url.URL
	// Lost says what does not work with the permissions that were granted.
	Lost func(granted map[string]string) []github.Lost
}

// GitHub judges what GitHub says about the App.
func GitHub(e github.Examination, w Wanted) []Finding {
	if e.AppErr != nil {
		return []Finding{failed("App", e.AppErr.Error(), "")}
	}
	return slices.Concat(
		[]Finding{ok("App", fmt.Sprintf("%s (%d) of %s, which writes as %s", e.App.Slug, e.App.ID, e.App.Owner, e.App.BotLogin))},
		clock(e.App.ClockAhead),
		permissions(e.App.Permissions, w),
		events(e.App.Events, w),
		webhook(e, w),
		deliveries(e),
		installations(e, w),
	)
}

func clock(ahead time.Duration) []Finding {
	if ahead.Abs() <= github.MaxDrift {
		return []Finding{ok("clock", "agrees with GitHub's")}
	}
	word := "ahead of"
	if ahead < 0 {
		word = "behind"
	}
	return []Finding{warning("clock", fmt.Sprintf("is %s %s GitHub's; 30 s ahead or 90 s behind the App cannot sign in", ahead.Abs().Round(time.Second), word),
		"Let NTP set this machine's clock.")}
}

// permissions says what the App is not registered with.
func permissions(registered map[string]string, w Wanted) []Finding {
	var found []Finding
	for _, lost := range w.Lost(registered) {
		f := warning("permissions", fmt.Sprintf("the App is not registered with %s: %s. %s", lost.Name, lost.Level, lost.Lost),
			"Set it on the App's settings page, under \"Permissions & events\". Each account then has to accept it.")
		switch {
		case lost.Essential:
			f.Status = Failed
		case lost.Optional:
			f = ok("permissions", fmt.Sprintf("%s: %s is left out, as most do. %s", lost.Name, lost.Level, lost.Lost))
		}
		found = append(found, f)
	}
	if Worst(found) == OK {
		found = append(found, ok("permissions", "all that the manifest asks for"))
	}
	return found
}

// unaccepted says what the App is registered with and an account has not granted.
func unaccepted(i github.InstallationInfo, registered map[string]string, w Wanted) []Finding {
	missing := map[string]bool{}
	for _, lost := range w.Lost(registered) {
		missing[lost.Name+":"+lost.Level] = true
	}
	var found []Finding
	for _, lost := range w.Lost(i.Permissions) {
		if missing[lost.Name+":"+lost.Level] {
			continue // said of the App
		}
		found = append(found, warning("installation", fmt.Sprintf("%s (%d) has not accepted %s: %s. %s", i.Account, i.ID, lost.Name, lost.Level, lost.Lost),
			"An owner of the account accepts the App's new permissions in the account's settings, under \"Installed GitHub Apps\"."))
	}
	return found
}

func events(registered []string, w Wanted) []Finding {
	var missing []string
	for _, event := range w.Manifest.Events {
		if !slices.Contains(registered, event) {
			missing = append(missing, event)
		}
	}
	if len(missing) == 0 {
		return []Finding{ok("events", "all that the manifest asks for")}
	}
	return []Finding{warning("events", "GitHub does not send "+strings.Join(missing, ", "),
		"Tick them on the App's settings page, under \"Permissions & events\".")}
}

func webhook(e github.Examination, w Wanted) []Finding {
	if e.HookErr != nil {
		return []Finding{warning("webhook", e.HookErr.Error(), "")}
	}
	var found []Finding
	if e.Hook.ContentType != "json" {
		found = append(found, failed("webhook", fmt.Sprintf("GitHub sends %q, which is refused", e.Hook.ContentType),
			"Choose the content type application/json on the App's settings page, under \"Webhook\"."))
	}
	if !e.Hook.Secret {
		found = append(found, failed("webhook", "has no secret, so that GitHub signs nothing and everything is refused",
			"Set the secret of GITHUB_WEBHOOK_SECRET on the App's settings page."))
	}
	if e.Hook.Unverified {
		found = append(found, warning("webhook", "GitHub does not verify this service's certificate: others could read what is sent",
			"Turn SSL verification on on the App's settings page."))
	}
	ours := ""
	if w.Public != nil {
		ours = w.Public.JoinPath(setup.WebhookPath).String()
	}
	switch {
	case ours == "":
		found = append(found, warning("webhook", fmt.Sprintf("goes to %s; whether that is this service is not known", e.Hook.URL),
			"Set LIAISON_PUBLIC_URL to where the service is reached from outside."))
	case !sameURL(e.Hook.URL, ours):
		found = append(found, failed("webhook", fmt.Sprintf("goes to %s, and this service is at %s", e.Hook.URL, ours),
			"Correct the webhook URL on the App's settings page, or LIAISON_PUBLIC_URL. GitHub follows no redirect."))
	}
	if len(found) == 0 {
		found = append(found, ok("webhook", "goes to "+e.Hook.URL+", signed, as JSON"))
	}
	return found
}

// sameURL compares addresses; a slash at the end would be a redirect, which
// GitHub counts as a failure.
func sameURL(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && u.Scheme == v.Scheme && strings.EqualFold(u.Host, v.Host) && u.Path == v.Path
}

func deliveries(e github.Examination) []Finding {
	if e.AttemptsErr != nil {
		return []Finding{warning("deliveries", e.AttemptsErr.Error(), "")}
	}
	if len(e.Attempts) == 0 {
		return []Finding{ok("deliveries", "none so far")}
	}
	var bad int
	var last github.HookDelivery
	for _, a := range e.Attempts {
		if a.Status < 200 || a.Status > 299 {
			if bad == 0 {
				last = a
			}
			bad++
		}
	}
	if bad == 0 {
		return []Finding{ok("deliveries", fmt.Sprintf("the last %d arrived", len(e.Attempts)))}
	}
	return []Finding{warning("deliveries", fmt.Sprintf("%d of the last %d failed; the newest of them, %s at %s: %s",
		bad, len(e.Attempts), last.Event, last.At.UTC().Format("2006-01-02 15:04 UTC"), answer(last)),
		"The service fetches what it missed by itself. If they go on failing, see the App's settings page, under \"Advanced\".")}
}

func answer(d github.HookDelivery) string {
	if d.Status == 0 {
		return "nobody answered"
	}
	return fmt.Sprintf("answered %d", d.Status)
}

func installations(e github.Examination, w Wanted) []Finding {
	var found []Finding
	if e.InstallationsErr != nil {
		found = append(found, warning("installations", e.InstallationsErr.Error(), ""))
	}
	working := 0
	for _, i := range e.Installations {
		who := fmt.Sprintf("%s (%d)", i.Account, i.ID)
		if i.Suspended {
			found = append(found, warning("installation", who+" is suspended; nothing happens there until it is not",
				"An owner of the account unsuspends it in the account's settings, under \"Installed GitHub Apps\"."))
			continue
		}
		working++
		found = append(found, unaccepted(i, e.App.Permissions, w)...)
	}
	switch {
	case e.InstallationsErr != nil:
	case len(e.Installations) == 0:
		found = append(found, warning("installations", "the App is not installed anywhere",
			fmt.Sprintf("Install it on an account: the App's page, or https://github.com/apps/%s/installations/new.", e.App.Slug)))
	case working > 0:
		found = append(found, ok("installations", fmt.Sprintf("%d at work", working)))
	}
	return found
}
