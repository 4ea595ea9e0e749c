package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/sessions"
)

var _ sessions.Weigher = (*Channel)(nil)

// Weigh implements sessions.Weigher: it looks at the pull request as it is, at
// who asks and at the configuration of the base branch, and says what the
// intent comes to. What cannot be read is tried again and never taken up.
func (c *Channel) Weigh(ctx context.Context, in sessions.Intent) (sessions.Intent, error) {
	out, err := c.weigh(ctx, in)
	if err != nil {
		return sessions.Intent{}, retryable(fmt.Errorf("github: weigh %s: %w", in.Reason, err), c.app.now())
	}
	out.Weigh = false
	return out, nil
}

func (c *Channel) weigh(ctx context.Context, in sessions.Intent) (sessions.Intent, error) {
	r, err := parseUnweighed(in.Request)
	if err != nil {
		return sessions.Intent{}, err
	}
	if r.Repository == 0 && r.Caller != nil {
		return c.handed(ctx, in, r)
	}
	if r.Repository == 0 && in.Action == sessions.ActionIgnore {
		// The installation may do more than before; see event.resumed.
		c.Resumed(r.Installation)
		c.app.forgetGrants(r.Installation)
		return in, nil
	}
	if r.Repository == 0 || r.Kind == kindMergeGroup || in.Action == sessions.ActionIgnore || in.Action == sessions.ActionArchive {
		return in, nil
	}
	repo, err := c.app.repository(r.Installation, r.Repository)
	if err != nil {
		return sessions.Intent{}, err
	}
	w := &weighing{Channel: c, target: target{request: r, repo: repo}, in: in}
	switch {
	case w.written() && w.deaf():
		return w.ignore("a bot that is not on the operator's list is not answered"), nil
	case w.written() && r.Actor.ID <= 0:
		return w.ignore("nobody knows who wrote it"), nil
	case r.Decision != nil:
		return w.decide(ctx)
	case r.Issue:
		return w.issue(ctx)
	}
	return w.pullRequest(ctx)
}

// weighing is one intent on its way to a decision.
type weighing struct {
	*Channel
	target
	in   sessions.Intent
	pull evidence.PullRequest
	cfg  configured
}

// written reports whether somebody asked in words.
func (w *weighing) written() bool { return w.Comment != nil || w.Command.Verb != "" }

// deaf reports whether the actor is a bot that is not listened to. Bots that
// answer each other would go on for ever
// (https://github.com/anthropics/claude-code-action/issues/1445).
func (w *weighing) deaf() bool {
	return w.Actor.Bot && !w.bots[w.Actor.ID] || w.app.bot.Load() != 0 && w.Actor.ID == w.app.bot.Load()
}

// ignore is the decision to do nothing, with the reason.
func (w *weighing) ignore(format string, args ...any) sessions.Intent {
	out := w.in
	out.Action = sessions.ActionIgnore
	out.Reason = fmt.Sprintf("%s: %s", w.in.Reason, fmt.Sprintf(format, args...))
	out.Budgets, out.OverBudget = nil, nil
	w.identify(&out)
	return out
}

// answer is the decision to do nothing but say why. Who did not speak to us in
// so many words gets no answer.
func (w *weighing) answer(key, text, format string, args ...any) sessions.Intent {
	out := w.ignore(format, args...)
	if w.Caller != nil {
		out.Effects = append(slices.Clip(out.Effects), refusedTo(*w.Caller, w.name(), w.pullPage(w.request), text))
		return out
	}
	if w.Command.Addressed && !w.Actor.Bot {
		out.Effects = append(slices.Clip(out.Effects), effect("reply-"+key, kindReply, replyPayload{
			Request: w.request, To: w.Comment, Text: text, Key: key,
		}))
	}
	return out
}

// forbidden is the decision about somebody who may not. They are told once on
// each pull request or issue, by a fact of its own: more would be an echo that anybody can start.
func (w *weighing) forbidden(has, needs level) sessions.Intent {
	key := fmt.Sprintf("refused:%d", w.Actor.ID)
	out := w.answer(key, fmt.Sprintf("Sorry, this needs the permission %s in this repository, and you have %s. "+
		"Somebody who has it can ask instead, or change what is needed in %s.", code(needs.String()), code(has.String()), code(configPaths[0])),
		"%s may not: it needs %s, and they have %s", quote(w.Actor.Login), needs, has)
	if len(out.Effects) > len(w.in.Effects) && w.Caller == nil {
		out.Fact = "github:refused:" + strings.TrimPrefix(w.key(), "github:") + ":" + fmt.Sprint(w.Actor.ID)
	}
	return out
}

// words answers the commands that need no agent, and drops what is no command of
// ours; done is false for what goes on.
func (w *weighing) words() (out sessions.Intent, done bool) {
	verb := w.Command.Verb
	comment := w.remarkID()
	switch {
	case verb == verbHelp:
		return w.answer(fmt.Sprintf("help:%d", comment), helpText(w.app.self().Handle, "", w.cfg.Config), "help is given"), true
	case !slices.Contains(allVerbs(), verb):
		return w.answer(fmt.Sprintf("help:%d", comment), helpText(w.app.self().Handle, verb, w.cfg.Config), "there is no command %s", quote(verb)), true
	case verb == verbConfig:
		text := configText(w.cfg, w.Base)
		return w.answer(fmt.Sprintf("config:%d", comment), text, "the configuration is shown"), true
	case w.cfg.broken():
		return w.answer(fmt.Sprintf("broken:%d", comment), "Nothing is done here until the configuration can be read.\n"+w.cfg.troubles(),
			"the configuration cannot be used and never could"), true
	case !w.cfg.Enabled:
		return w.answer(fmt.Sprintf("off:%d", comment), fmt.Sprintf("Liaison is turned off here, by %s in %s.", code("enabled: false"), code(w.cfg.Source("enabled"))),
			"turned off by the configuration"), true
	}
	return sessions.Intent{}, false
}

// remarkID is the id of what was written, or 0 where it is the issue itself.
func (w *weighing) remarkID() int64 {
	if w.Comment == nil {
		return 0
	}
	return w.Comment.ID
}

// run is the decision to take the message up, under the configuration as it is now.
func (w *weighing) run() sessions.Intent {
	s := w.settings()
	w.Settings = &s
	out := w.in
	w.identify(&out)
	now := w.app.now()
	out.Budgets = budgets(w.request, w.cfg.Budgets, now)
	out.OverBudget = overBudget(w.request, w.cfg.Budgets, now)
	return out
}

// settings is the part of the configuration that goes with the turn.
func (w *weighing) settings() settings {
	r := w.cfg.Review
	return settings{
		FailOn: w.cfg.Checks.FailOn, OnError: w.cfg.Checks.OnError,
		MaxInline: r.MaxInline, Suggestions: r.Suggestions, Verdicts: r.Verdicts, ResolveThreads: r.ResolveThreads,
		AfterChecks: r.After == repoconfig.AfterChecks, Incremental: r.Incremental, Drafts: r.Drafts,
		Paths: r.Paths, Style: r.Style, Instructions: r.Instructions, Language: r.Language,
	}
}

// configure reads the configuration for a base branch.
func (w *weighing) configure(ctx context.Context, fullName, base string) error {
	var err error
	w.cfg, err = w.configuration(ctx, w.target, fullName, base)
	return err
}

// may compares what the actor may do with a minimum.
func (w *weighing) may(ctx context.Context, minimum string) (has level, ok bool, err error) {
	has, err = w.level(ctx, w.target, w.Actor)
	return has, err == nil && has >= levelOf(minimum), err
}
