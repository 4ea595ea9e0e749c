package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// pullRequest weighs what is about a pull request.
func (w *weighing) pullRequest(ctx context.Context) (sessions.Intent, error) {
	if w.Number == 0 {
		found, why, err := w.find(ctx)
		if err != nil || !found {
			return w.ignore("%s", why), err
		}
	}
	if w.in.Action == sessions.ActionWake {
		out := w.in
		w.identify(&out)
		return out, nil
	}
	pull, err := w.live(ctx)
	switch {
	case notFound(err):
		return w.ignore("pull request %s does not exist any more", w.name()), nil
	case err != nil:
		return sessions.Intent{}, fmt.Errorf("read pull request %s: %w", w.name(), err)
	case w.lags(pull):
		return sessions.Intent{}, w.lagging(pull)
	}
	if rerun := strings.HasPrefix(w.Trigger, "check_"); rerun && pull.Head.SHA != w.Head {
		return w.ignore("%s is not the head of %s any more", short(w.Head), w.name()), nil
	}
	w.pull = pull
	w.fill()
	if err := w.configure(ctx, pull.Repository.FullName, pull.Base.Ref); err != nil {
		return sessions.Intent{}, err
	}
	if err := w.learnHeadAuthor(ctx); err != nil {
		return sessions.Intent{}, err
	}
	if w.written() {
		return w.asked(ctx)
	}
	out, err := w.triggered(ctx)
	if err == nil {
		out.Effects = append(slices.Clip(out.Effects), w.outdated()...)
	}
	return out, err
}

// fill brings the request up to the pull request as it is now. What a person
// wrote stays as it was when we heard of it.
func (w *weighing) fill() {
	p := w.pull
	if _, _, named := splitName(p.Repository.FullName); named {
		w.FullName = p.Repository.FullName
	}
	moved := w.Head != p.Head.SHA // or was not known
	if moved {
		w.Previous = ""
	}
	w.Head, w.Base, w.Title, w.UpdatedAt = p.Head.SHA, oneLine(p.Base.Ref), oneLine(p.Title), p.UpdatedAt
	w.Draft, w.Labels = p.Draft, p.Labels
	w.HeadRepository = p.Head.RepositoryID
	w.Author = account{ID: p.Author.ID, Login: p.Author.Login, Bot: p.Author.Type == "Bot"}
	if w.Kind == kindReview && w.in.Action == sessions.ActionRun && (moved || w.in.Revision.At.IsZero()) {
		w.in.Revision = state.Revision{ID: w.Head, At: p.UpdatedAt}
		w.in.Message = fmt.Sprintf("Review pull request %s at %s.", w.name(), w.Head)
	}
}

// asked weighs what somebody wrote.
func (w *weighing) asked(ctx context.Context) (sessions.Intent, error) {
	bare := !w.Command.Addressed && w.Command.Verb != "" && w.cfg.Commands.Bare
	if !w.Command.Addressed && !bare {
		if ours, err := w.ownThread(ctx); err != nil || !ours {
			return w.ignore("it is not for us"), err
		}
		w.Kind, w.Command.Verb = kindAsk, verbAsk
	}
	minimum := w.cfg.Commands.Minimum
	if w.Kind == kindAsk && w.Command.Verb == verbAsk {
		minimum = w.cfg.Ask.Minimum
	}
	if w.in.Action == sessions.ActionStop {
		// Who may stop is judged with what is running.
		return w.in, nil
	}
	has, ok, err := w.may(ctx, minimum)
	if err != nil {
		return sessions.Intent{}, err
	}
	if !ok {
		return w.forbidden(has, levelOf(minimum)), nil
	}
	if out, done := w.words(); done {
		return out, nil
	}
	if w.Kind == kindReview {
		if w.pull.State == "closed" {
			return w.answer(fmt.Sprintf("closed:%d", w.remarkID()), "This pull request is closed. Open ones are reviewed; questions are answered here all the same.",
				"%s is closed", w.name()), nil
		}
		return w.regardless(), nil
	}
	return w.run(), nil
}

// ownThread reports whether a comment is a reply in a review thread that we
// began, which is a question to us without our name.
func (w *weighing) ownThread(ctx context.Context) (bool, error) {
	c := w.Comment
	if c == nil || c.On != onThread || c.Thread <= 0 || c.Thread == c.ID || w.Command.Verb != "" && w.Command.Verb != verbAsk {
		return false, nil
	}
	var first comment
	err := get(ctx, w.repo.client, w.path("pulls/comments/%d", c.Thread), &first)
	if notFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the beginning of the thread: %w", err)
	}
	return first.by(w.app.self()), nil
}

// regardless takes a review up that a person asked for: filters are for what
// happens by itself.
func (w *weighing) regardless() sessions.Intent {
	out := w.run()
	w.Settings.Drafts = true
	out.Request = w.encode()
	return out
}

// triggered weighs what happens by itself.
func (w *weighing) triggered(ctx context.Context) (sessions.Intent, error) {
	switch {
	case w.pull.State == "closed":
		return w.ignore("%s is closed", w.name()), nil
	case w.cfg.broken():
		out := w.ignore("the configuration cannot be used and never could")
		out.Effects = append(slices.Clip(out.Effects), w.configNotice(checkName, "Not reviewed: the configuration cannot be used",
			"Nothing is reviewed here until the configuration can be read."))
		return out, nil
	case !w.cfg.Enabled:
		return w.ignore("turned off by the configuration of %s", w.cfg.Source("enabled")), nil
	}
	minimum := w.cfg.Commands.Minimum
	chosen := true // by a person, for this pull request
	switch event, action, _ := strings.Cut(w.Trigger, "."); {
	case event == "check_run", event == "check_suite":
		// Somebody pressed "Re-run".
	case action == "review_requested":
		if !containsFold(w.cfg.Review.Teams, w.Team) {
			return w.ignore("the configuration names no team %s", quote(w.Team)), nil
		}
	default:
		chosen = false
		if why := unwantedTrigger(w.cfg.Review, action, w.Label); why != "" {
			return w.ignore("%s", why), nil
		}
		if why := unwanted(w.cfg.Review, w.request); why != "" {
			return w.ignore("%s", why), nil
		}
		if action != "labeled" && action != "unlabeled" {
			minimum = w.cfg.Review.Minimum
		}
	}
	if minimum != repoconfig.Anyone {
		has, ok, err := w.may(ctx, minimum)
		if err != nil {
			return sessions.Intent{}, err
		}
		if !ok {
			return w.ignore("it needs the permission %s, and who did it has %s", levelOf(minimum), has), nil
		}
	}
	take := w.run
	if chosen {
		take = w.regardless
	}
	out := take()
	if w.cfg.blobs() != "" {
		out.Effects = append(slices.Clip(out.Effects), w.configNotice(configurationCheckName, "The configuration cannot be used",
			"Reviews go on by an earlier version of it."))
	}
	return out, nil
}

// configNotice shows what is wrong with the configuration, once for a head and
// the contents that are wrong.
func (w *weighing) configNotice(name, title, consequence string) sessions.Effect {
	return effect("configuration", kindNotice, noticePayload{
		Request: w.request, Name: name, External: "configuration:" + w.cfg.blobs(), Title: title,
		Summary: consequence + "\n" + w.cfg.troubles(),
	})
}

// unwantedTrigger says why an action starts no review under a configuration, or "".
func unwantedTrigger(r repoconfig.Review, action, label string) string {
	word := repoconfig.OnPush // a push, another base, or a look for what was missed
	switch action {
	case "opened":
		word = repoconfig.OnOpened
	case "reopened":
		word = repoconfig.OnReopened
	case "ready_for_review":
		word = repoconfig.OnReady
	case "labeled":
		word = repoconfig.OnLabel
		if !containsFold(r.Labels, label) || strings.HasPrefix(label, "!") {
			return fmt.Sprintf("the label %s starts nothing", quote(label))
		}
	case "unlabeled":
		word = repoconfig.OnLabel
		if !containsFold(r.Labels, "!"+label) {
			return fmt.Sprintf("nothing waits for the label %s to be taken away", quote(label))
		}
	}
	if !slices.Contains(r.On, word) {
		return fmt.Sprintf("review.on does not list %q", word)
	}
	return ""
}

// unwanted says why a pull request is not reviewed by itself, or "".
func unwanted(r repoconfig.Review, pull request) string {
	switch {
	case pull.Draft && !r.Drafts:
		return fmt.Sprintf("%s is a draft; it is reviewed when it is marked ready for review", pull.name())
	case !matches(r.Bases, pull.Base):
		return fmt.Sprintf("pull requests into %s are not reviewed by themselves", quote(pull.Base))
	case containsFold(r.IgnoreAuthors, pull.Author.Login):
		return fmt.Sprintf("pull requests of %s are not reviewed by themselves", quote(pull.Author.Login))
	}
	return unwantedLabels(r.Labels, pull.Labels)
}

// unwantedLabels says why labels keep something from being taken up, or "".
func unwantedLabels(filter, labels []string) string {
	var needed []string
	for _, f := range filter {
		name, against := strings.CutPrefix(f, "!")
		if against && containsFold(labels, name) {
			return fmt.Sprintf("the label %s is set", quote(name))
		}
		if !against {
			needed = append(needed, name)
		}
	}
	for _, name := range needed {
		if containsFold(labels, name) {
			return ""
		}
	}
	if len(needed) > 0 {
		return fmt.Sprintf("it has none of the labels that are needed, such as %s", quote(needed[0]))
	}
	return ""
}

// containsFold reports whether a list has a word. GitHub's logins, labels and
// slugs do not tell upper case from lower.
func containsFold(list []string, word string) bool {
	return word != "" && slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
}
