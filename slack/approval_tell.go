package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// DecisionEffects implements [sessions.DecisionWitness]: whoever said something about
// a call learns what came of it, alone. Who pressed Approve and settled it sees that
// on the card.
func (c *Channel) DecisionEffects(raw json.RawMessage, v sessions.DecisionVerdict) []sessions.Effect {
	r, err := parseRequest(raw)
	if err != nil || r.App != "" || r.User == "" {
		return nil
	}
	var shown approvals.View
	if v.Approval != nil {
		shown = *v.Approval
	}
	var ids ids
	text := answerTo(shown, v.Err, ids.called())
	if v.Err == nil && !shown.State.Open() && r.Trigger == byClick && r.MessageTS != "" {
		return nil
	}
	effects := aside(r, "decided", text)
	for i, e := range effects {
		if e.Kind == kindEphemeral {
			effects[i] = effect(e.Name, e.Kind, ephemeralPayload{
				To: r.address, User: r.User, Markdown: text, Names: ids, ResponseURL: r.ResponseURL,
			})
		}
	}
	return effects
}

// ids are people of whom a text speaks by their ids, until their names are looked up.
type ids []string

// called puts ids into a text, and remembers them.
func (i *ids) called() called {
	return called{
		person: func(who approvals.Identity) string {
			switch {
			case event.ID(who.Slack) != "":
				if !slices.Contains(*i, who.Slack) {
					*i = append(*i, who.Slack)
				}
				return who.Slack
			case who.GitHub != "":
				return literalMarkdown(who.GitHub) + " (GitHub)"
			case who.Principal == operator:
				return "the operator"
			}
			return literalMarkdown(who.Principal)
		},
		group: func(id string) string { return "user group " + literalMarkdown(id) },
	}
}

// ApprovalEffects implements [sessions.ApprovalSurface].
func (c *Channel) ApprovalEffects(v approvals.View, m sessions.ApprovalMoment) []sessions.Effect {
	switch m {
	case sessions.ApprovalReminded:
		return c.reminders(v)
	case sessions.ApprovalParked, sessions.ApprovalSettled:
		return c.toRequester(v, m)
	}
	return nil
}

// toRequester tells who asked, in the thread, that a call waits or how it ended.
func (c *Channel) toRequester(v approvals.View, m sessions.ApprovalMoment) []sessions.Effect {
	r, err := parseRequest(v.Request)
	if v.Channel != Name || err != nil || r.Channel == "" || r.App != "" {
		return nil
	}
	var ids ids
	d := drawing{View: v, names: ids.called()}
	what := d.toolName()
	name, text := "parked", fmt.Sprintf("I asked for an approval of %s and go on when somebody has decided. May decide: %s. Until %s.",
		what, d.mayDecide(), stampOf(v.ExpiresAt))
	if m == sessions.ApprovalSettled {
		name, text = "settled", what+": "+lower(d.heading())
		if by := d.decided(); by != "" {
			text += ", " + by
		}
		text += "."
		for _, why := range []string{v.Reason, reasonOf(v.Decision)} {
			if why != "" {
				text += "\n\n" + quoted(why)
			}
		}
	}
	return []sessions.Effect{effect("approval-"+v.ID+"-"+name, kindNote, notePayload{
		To: cardAddress{address: r.address}, Key: cardKey(v.ID, name), Users: []string{r.User}, Markdown: text, Names: ids, Since: before(v),
	})}
}

// lower is a heading within a sentence.
func lower(heading string) string { return strings.ToLower(heading[:1]) + heading[1:] }

func reasonOf(v *approvals.Vote) string {
	if v == nil {
		return ""
	}
	return v.Reason
}

// reminders call the group of people who may decide since now: where the card is, and
// directly those who have none.
func (c *Channel) reminders(v approvals.View) []sessions.Effect {
	if len(v.Deciders) == 0 {
		return nil
	}
	next := v.Deciders[len(v.Deciders)-1]
	people := slackPeople([]approvals.Approvers{next})
	var ids ids
	d := drawing{View: v, names: ids.called()}
	text := fmt.Sprintf("A decision is still missing: %s, asked for by %s. It expires at %s. `/liaison approvals` shows what waits for you.",
		d.toolName(), d.names.person(v.Requester), stampOf(v.ExpiresAt))
	name := fmt.Sprintf("reminder-%d", len(v.Deciders))
	remind := func(place string, to cardAddress, users, groups []string) sessions.Effect {
		return effect("approval-"+v.ID+"-"+name+"-"+place, kindNote, notePayload{
			To: to, Key: cardKey(v.ID, name), Users: users, Groups: groups, Markdown: text, Names: ids, Since: before(v),
		})
	}
	var effects []sessions.Effect
	direct := false
	for _, card := range v.Cards {
		var at cardAddress
		if card.Channel != Name || json.Unmarshal(card.Address, &at) != nil {
			continue
		}
		if at.User != "" {
			direct = true // each hears of it from us directly
			continue
		}
		if channel, ts := readRef(card.Ref); at.Thread == "" && ts != "" {
			at.Channel, at.Thread = channel, ts // below the card
		}
		effects = append(effects, remind(card.Place, at, people, next.SlackGroups))
	}
	if direct {
		for _, id := range people {
			effects = append(effects, remind("direct:"+id, cardAddress{User: id}, []string{id}, nil))
		}
	}
	return effects
}

// toolName is the tool's name as Markdown, and stampOf a time for everybody.
func (d drawing) toolName() string {
	return "`" + strings.ReplaceAll(inLine(d.Tool, maxCardLine), "`", "'") + "`"
}

func stampOf(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

// answerTo is what somebody is told whose ballot was taken, or changed nothing.
func answerTo(v approvals.View, err error, names called) string {
	var (
		notAllowed *approvals.NotAllowedError
		decided    *approvals.DecidedError
	)
	d := drawing{View: v, names: names}
	switch {
	case err == nil && v.State.Open():
		return fmt.Sprintf("Your approval counts: %d of %d.", len(v.Votes), v.Policy.MinApprovals)
	case err == nil:
		return d.heading() + "."
	case errors.Is(err, approvals.ErrUnknown):
		return "No such approval is known here any more, so nothing was decided."
	case errors.As(err, &notAllowed):
		return notAllowed.Why + " May decide: " + d.mayDecide() + "."
	case errors.As(err, &decided) && decided.State.Open():
		return fmt.Sprintf("Your approval counts already: %d of %d.", len(v.Votes), v.Policy.MinApprovals)
	case errors.As(err, &decided):
		text := "Nothing is left to decide: " + lower(d.heading())
		if by := d.decided(); by != "" {
			text += ", " + by
		}
		return text + "."
	}
	return "That is no decision; a decision is approve or deny."
}
