package slack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// The reactions that say how far an answer is. They are among the names that every
// workspace has.
const (
	reactionSeen    = "eyes"
	reactionDone    = "white_check_mark"
	reactionFailed  = "x"
	reactionStopped = "octagonal_sign"
)

// longRun is how long an agent may run until who asked is told by name that
// there is an answer: by then they look elsewhere.
const longRun = time.Minute

// askAgain tells a person what to do about a question without an answer.
const askAgain = "To have it answered, ask again."

// Effects says what Slack shall be told at a moment of a turn. It is pure.
func (c *Channel) Effects(t sessions.Turn, r sessions.Report) ([]sessions.Effect, error) {
	raw := t.Request
	if r.Moment == sessions.MomentAccepted {
		raw = r.Request
	}
	req, err := parseRequest(raw)
	if err != nil {
		return nil, err
	}
	switch r.Moment {
	case sessions.MomentAccepted:
		return c.accepted(req, r), nil
	case sessions.MomentStarted, sessions.MomentResumed:
		return nil, nil // what follows the turn shows that it goes on
	case sessions.MomentWaiting:
		return c.waiting(req, t, r), nil
	case sessions.MomentCompleted:
		return c.answered(req, t, r), nil
	case sessions.MomentFailed:
		text := "I could not answer this.\n\n" + quoted(c.redact(r.Reason)) + "\n\n" + askAgain
		return c.ended(req, t, reactionFailed, &postPayload{Markdown: text, Failed: true}), nil
	case sessions.MomentInterrupted:
		return c.interrupted(req, t, r), nil
	case sessions.MomentDropped:
		return c.dropped(req, t, r), nil
	}
	return nil, fmt.Errorf("slack: no effects are known for moment %d", r.Moment)
}

// accepted says that a message was heard and, where it has to wait for what the
// agent does already, that it does: once to each person for each turn.
func (c *Channel) accepted(req request, r sessions.Report) []sessions.Effect {
	effects := c.reaction("accepted", req, reactionSeen, "")
	if r.Behind && req.User != "" && req.Trigger != byWatch && req.Trigger != byOutcome {
		effects = append(effects, effect("queued-"+req.User, kindEphemeral, ephemeralPayload{
			To: req.address, User: req.User, Markdown: "I answer this after what I am doing now.", ResponseURL: req.ResponseURL,
		}))
	}
	return effects
}

// waiting says what the turn waits for, once for each thing.
func (c *Channel) waiting(req request, t sessions.Turn, r sessions.Report) []sessions.Effect {
	sum := sha256.Sum256([]byte(r.WaitsFor))
	name := "waiting-" + hex.EncodeToString(sum[:6])
	until := r.Until.UTC().Add(time.Minute - 1).Truncate(time.Minute)
	return []sessions.Effect{effect(name, kindPost, postPayload{
		To: req.address, Key: t.ID + "-" + name, Since: req.TS,
		Markdown: fmt.Sprintf("I have to wait for %s, until about %s. I go on by myself.", r.WaitsFor, until.Format("15:04 UTC")),
	})}
}

// answered are the effects of a turn with an answer.
func (c *Channel) answered(req request, t sessions.Turn, r sessions.Report) []sessions.Effect {
	text := strings.TrimSpace(c.redact(r.Text))
	p := &postPayload{Markdown: text, Feedback: true, Model: r.Model, Duration: r.Duration}
	if text == "" {
		p.Markdown, p.Feedback = "I ended without a word. "+askAgain, false
	}
	if all := askers(req, t); r.Duration >= longRun || len(people(all)) > 1 {
		p.Mention = req.User
	}
	effects := c.ended(req, t, reactionDone, p)
	if isDirect(req.ChannelType, req.Channel) && req.Thread != "" {
		effects = append(effects, effect("title", kindTitle, titlePayload{To: req.address, Title: title(t.Message)}))
	}
	return effects
}

// interrupted are the effects of a turn that began and has no answer.
func (c *Channel) interrupted(req request, t sessions.Turn, r sessions.Report) []sessions.Effect {
	switch {
	case r.Superseded:
		// The turn that took its place answers whoever asked.
		return []sessions.Effect{c.silence(req, t)}
	case r.Stopped && c.settings.Reply == ReplyMessage && c.reacts(req):
		// Who stopped it sees that it has stopped; there is nothing to add.
		return c.ended(req, t, reactionStopped, nil)
	case r.Stopped:
		return c.ended(req, t, reactionStopped, &postPayload{Markdown: "Stopped.", Failed: true})
	}
	text := "I did not finish this.\n\n" + quoted(c.redact(r.Reason)) + "\n\n" + askAgain
	return c.ended(req, t, reactionFailed, &postPayload{Markdown: text, Failed: true})
}

// dropped are the effects of a turn that never began.
func (c *Channel) dropped(req request, t sessions.Turn, r sessions.Report) []sessions.Effect {
	switch {
	case r.Superseded:
		return nil
	case r.Withdrawn:
		return c.results(req, t, "")
	case r.Stopped && c.reacts(req):
		return c.results(req, t, reactionStopped)
	}
	text := "I did not begin this.\n\n" + quoted(c.redact(r.Reason)) + "\n\n" + askAgain
	return append([]sessions.Effect{c.answer(req, t, postPayload{Markdown: text, Failed: true})}, c.results(req, t, reactionFailed)...)
}

// ended are the effects of a turn that is over: the answer, if there is one, the
// reactions, and the end of what was shown meanwhile.
func (c *Channel) ended(req request, t sessions.Turn, reaction string, p *postPayload) []sessions.Effect {
	var effects []sessions.Effect
	if p != nil {
		effects = append(effects, c.answer(req, t, *p))
	}
	effects = append(effects, c.silence(req, t))
	return append(effects, c.results(req, t, reaction)...)
}

// answer is the turn's last word.
func (c *Channel) answer(req request, t sessions.Turn, p postPayload) sessions.Effect {
	p.To, p.Turn, p.Key = req.address, t.ID, t.ID+"-answer"
	p.User, p.Since = req.User, req.TS
	return effect("answer", kindPost, p)
}

// silence takes away what says that the agent is at work, should that have been
// left by a process that is gone.
func (c *Channel) silence(req request, t sessions.Turn) sessions.Effect {
	return effect("silence", kindStatus, statusPayload{To: req.address, Turn: t.ID})
}

// results put a reaction in the place of the one that said "heard", on all that
// was asked.
func (c *Channel) results(req request, t sessions.Turn, reaction string) []sessions.Effect {
	var effects []sessions.Effect
	for _, q := range askers(req, t) {
		effects = append(effects, c.reaction("result", q, reaction, reactionSeen)...)
	}
	return effects
}

// reaction is one to a message, where that takes one.
func (c *Channel) reaction(moment string, req request, add, remove string) []sessions.Effect {
	if !c.reacts(req) {
		return nil
	}
	return []sessions.Effect{effect(moment+"-"+req.TS, kindReaction, reactionPayload{
		To: req.address, TS: req.TS, Add: add, Remove: remove,
	})}
}

// reacts reports whether who asked sees a reaction.
func (c *Channel) reacts(req request) bool { return c.settings.Reactions && req.TS != "" }

// people are those who asked.
func people(all []request) []string {
	var ids []string
	for _, r := range all {
		if r.User != "" && !slices.Contains(ids, r.User) {
			ids = append(ids, r.User)
		}
	}
	return ids
}

// maxReason bounds the reason of a failure in characters.
const maxReason = 2000

// quoted shows a reason as a quotation.
func quoted(reason string) string {
	if runes := []rune(reason); len(runes) > maxReason {
		reason = string(runes[:maxReason-1]) + "…"
	}
	return "> " + strings.ReplaceAll(strings.TrimSpace(reason), "\n", "\n> ")
}

func effect(name, kind string, payload any) sessions.Effect {
	return sessions.Effect{Name: name, Kind: kind, Payload: encode(payload)}
}
