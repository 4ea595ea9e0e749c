package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// InnerEvents is what the names of events begin with that no platform sends: what
// one channel hands to another. The door takes no delivery of such a name.
const InnerEvents = "liaison."

// eventHanded is a review that somebody asked for on another channel.
const eventHanded = InnerEvents + "review"

// HandedReview is a review that somebody asked for on another channel, with what
// they may do here.
type HandedReview struct {
	// URL is the pull request's page, as it was written.
	URL string `json:"url"`
	// Login is who asks, as the operator's file says.
	Login string `json:"login"`
	// Caller is told how it goes.
	Caller sessions.Caller `json:"caller"`
}

// Delivery returns the review as a delivery for the inbox. The same id is taken
// up once.
func (h HandedReview) Delivery(id string, now time.Time) (state.Delivery, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return state.Delivery{}, fmt.Errorf("hand over the review of %s: %w", h.URL, err)
	}
	return state.Delivery{Source: Name, ID: id, Event: eventHanded, Body: body, ReceivedAt: now}, nil
}

// mapHanded maps a handed review. Which repository it is, and who asks, is looked
// up as it is weighed.
func (c *Channel) mapHanded(d sessions.Delivery) (sessions.Intent, error) {
	var h HandedReview
	if err := json.Unmarshal(d.Body, &h); err != nil {
		return sessions.Intent{}, fmt.Errorf("%s: %w", eventHanded, err)
	}
	if h.Caller.Channel == "" {
		return sessions.Intent{}, fmt.Errorf("%s: nobody is named who wants it", eventHanded)
	}
	in := sessions.Intent{
		Action: sessions.ActionRun, Mode: state.ModeChat, Fact: "github:handed:" + d.ID,
		Admission: sessions.AdmitPreempt, Force: true, Weigh: true,
	}
	name, number, err := parsePull(h.URL, c.app.pages())
	if err != nil {
		in.Action, in.Weigh, in.Reason = sessions.ActionIgnore, false, "a review that was asked for on "+h.Caller.Channel+": "+err.Error()
		in.Effects = []sessions.Effect{refusedTo(h.Caller, quote(h.URL), "", capitalised(err.Error())+".")}
		return in, nil
	}
	r := request{
		FullName: name, Number: number, Trigger: "command:" + verbReview, Caller: &h.Caller,
		Actor: account{Login: h.Login}, Command: command{Verb: verbReview, Addressed: true},
	}
	in.Key = strings.ToLower("github:handed:" + r.name())
	in.Reason = "a review asked for on " + h.Caller.Channel + ", of " + r.name()
	in.Message = fmt.Sprintf("Review pull request %s.", r.name())
	in.Request = r.encode()
	return in, nil
}

// parsePull reads the address of a pull request's page, or of one below it, at
// the pages' root.
func parsePull(text, web string) (name string, number int, err error) {
	none := errors.New("this is no link to a pull request, such as " + web + "/octocat/hello-world/pull/7")
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" {
		return "", 0, none
	}
	if root, parseErr := url.Parse(web); parseErr != nil || !strings.EqualFold(u.Host, root.Host) {
		return "", 0, fmt.Errorf("pull requests are reviewed at %s, and this link leads to %s", web, quote(u.Host))
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) < 4 || parts[2] != "pull" {
		return "", 0, none
	}
	name = parts[0] + "/" + parts[1]
	number, err = strconv.Atoi(parts[3])
	if _, _, ok := splitName(name); !ok || err != nil || number <= 0 {
		return "", 0, none
	}
	return name, number, nil
}

// notToSee is what somebody is told about what they may not see. Whether there is
// such a thing is nothing that they may know either.
const notToSee = "There is no such pull request, or the GitHub App is not installed there, or your GitHub account may not see it."

// handed weighs a review that was asked for on another channel: what was looked
// up makes it what a comment would have been.
func (c *Channel) handed(ctx context.Context, in sessions.Intent, r request) (sessions.Intent, error) {
	refuse := func(reason, text string) sessions.Intent {
		in.Action, in.Reason = sessions.ActionIgnore, in.Reason+": "+reason
		in.Effects = append(in.Effects, refusedTo(*r.Caller, r.name(), "", text))
		return in
	}
	switch err := c.locate(ctx, &r); {
	case notFound(err), status(err) == http.StatusMovedPermanently:
		return refuse("the App is not installed there", notToSee), nil
	case err != nil:
		return sessions.Intent{}, err
	}
	switch err := c.who(ctx, &r); {
	case notFound(err), err == nil && r.Actor.ID <= 0:
		return refuse("GitHub has no user "+quote(r.Actor.Login), fmt.Sprintf("GitHub has no user %s; the operator has to mend %s.", code(r.Actor.Login), code("people:"))), nil
	case err != nil:
		return sessions.Intent{}, err
	}
	repo, err := c.app.repository(r.Installation, r.Repository)
	if err != nil {
		return sessions.Intent{}, err
	}
	w := &weighing{Channel: c, target: target{request: r, repo: repo}, in: in}
	w.in.Principal = principal(r.Actor.ID)
	has, err := w.level(ctx, w.target, w.Actor)
	if err != nil {
		return sessions.Intent{}, err
	}
	if has < levelRead {
		return refuse("they may not see it", notToSee), nil
	}
	out, err := w.pullRequest(ctx)
	if err == nil && out.Action == sessions.ActionIgnore && len(out.Effects) == len(in.Effects) {
		out.Effects = append(out.Effects, refusedTo(*r.Caller, r.name(), c.pullPage(r), capitalised(strings.TrimPrefix(out.Reason, in.Reason+": "))+"."))
	}
	return out, err
}

// locate finds the installation and the repository by name.
func (c *Channel) locate(ctx context.Context, r *request) error {
	var installed, found struct {
		ID       int64  `json:"id"`
		FullName string `json:"full_name"`
	}
	if err := get(ctx, c.app.client(c.app.own()), "repos/"+r.FullName+"/installation", &installed); err != nil {
		return fmt.Errorf("find the installation of %s: %w", r.FullName, err)
	}
	if err := get(ctx, c.app.byName(installed.ID, r.FullName), "repos/"+r.FullName, &found); err != nil {
		return fmt.Errorf("find the repository %s: %w", r.FullName, err)
	}
	r.Installation, r.Repository = installed.ID, found.ID
	if _, _, ok := splitName(found.FullName); ok {
		r.FullName = found.FullName
	}
	return nil
}

// byName returns a client that can read what one repository is, which is known by
// its name only.
func (a *app) byName(installation int64, fullName string) *gh.Client {
	_, name, _ := splitName(fullName)
	t := ghinstallation.NewFromAppsTransport(a.own(), installation)
	t.InstallationTokenOptions = &gh.InstallationTokenOptions{
		Repositories: []string{name},
		Permissions:  &gh.InstallationPermissions{Metadata: gh.String("read")},
	}
	return a.client(t)
}

// who finds the account of a login.
func (c *Channel) who(ctx context.Context, r *request) error {
	var user struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
		Type  string `json:"type"`
	}
	repo, err := c.app.repository(r.Installation, r.Repository)
	if err != nil {
		return err
	}
	if err := get(ctx, repo.client, "users/"+url.PathEscape(r.Actor.Login), &user); err != nil {
		return fmt.Errorf("find the user %s: %w", r.Actor.Login, err)
	}
	r.Actor = account{ID: user.ID, Login: user.Login, Bot: user.Type != "User"}
	return nil
}

// capitalised begins a sentence.
func capitalised(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
