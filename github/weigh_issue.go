package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/sessions"
)

// issue weighs what is about an issue. The default branch's configuration holds.
func (w *weighing) issue(ctx context.Context) (sessions.Intent, error) {
	owner, repo := w.names()
	if err := w.configure(ctx, owner+"/"+repo, ""); err != nil {
		return sessions.Intent{}, err
	}
	// Somebody who mentions us asks; what comes by itself has no words to us.
	event, action, _ := strings.Cut(w.Trigger, ".")
	asked := event != "issues" || w.Command.Verb != ""
	if asked && !w.Command.Addressed && !w.cfg.Commands.Bare {
		return w.ignore("it is not for us"), nil
	}
	if w.in.Action == sessions.ActionStop || w.in.Action == sessions.ActionWake {
		return w.in, nil
	}
	if why := w.unwantedIssue(asked, action); why != "" {
		return w.ignore("%s", why), nil
	}
	minimum := w.cfg.Ask.Minimum
	if asked && w.Command.Verb != verbAsk {
		minimum = w.cfg.Commands.Minimum
	}
	has, ok, err := w.may(ctx, minimum)
	if err != nil {
		return sessions.Intent{}, err
	}
	if !ok {
		return w.forbidden(has, levelOf(minimum)), nil
	}
	if asked {
		if out, done := w.words(); done {
			return out, nil
		}
		if w.Kind == kindReview {
			return w.answer(fmt.Sprintf("issue:%d", w.remarkID()), "This is an issue; pull requests are reviewed. Questions are answered here too.",
				"%s is an issue", w.name()), nil
		}
		return w.run(), nil
	}
	if w.cfg.broken() {
		return w.ignore("the configuration cannot be used and never could"), nil
	}
	if !w.cfg.Enabled {
		return w.ignore("turned off by the configuration of %s", w.cfg.Source("enabled")), nil
	}
	return w.run(), nil
}

// unwantedIssue says why an issue is not answered, or "".
func (w *weighing) unwantedIssue(asked bool, action string) string {
	cfg := w.cfg.Issues
	word := repoconfig.OnMention
	if !asked {
		switch action {
		case "opened":
			word = repoconfig.OnOpened
		case "labeled":
			word = repoconfig.OnLabel
			if !containsFold(cfg.Labels, w.Label) || strings.HasPrefix(w.Label, "!") {
				return fmt.Sprintf("the label %s starts nothing", quote(w.Label))
			}
		default:
			return fmt.Sprintf("issues.%s starts nothing", oneLine(ellipsis(action, 40)))
		}
	}
	if !slices.Contains(cfg.On, word) {
		return fmt.Sprintf("issues.on does not list %q", word)
	}
	if !asked {
		return unwantedLabels(cfg.Labels, w.Labels)
	}
	return ""
}
