package slack

import (
	"encoding/json"
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
	text := shown.Answer(v.Err, ids.words())
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

// words puts ids into a text in Markdown, and remembers them.
func (i *ids) words() approvals.Words {
	return approvals.Words{
		Person: func(who approvals.Identity) string {
			switch {
			case event.ID(who.Slack) != "":
				if !slices.Contains(*i, who.Slack) {
					*i = append(*i, who.Slack)
				}
				return who.Slack
			case who.GitHub != "":
				return literalMarkdown(who.GitHub) + " (GitHub)"
			case who.Principal == approvals.OperatorPrincipal:
				return "the operator"
			}
			return literalMarkdown(who.Principal)
		},
		Group: func(g approvals.Group) string {
			if g.Kind == approvals.SlackGroup {
				return "the user group " + g.Name
			}
			return literalMarkdown(groupName(g))
		},
		Text: literalMarkdown,
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
	d := drawing{View: v, words: ids.words()}
	what := d.toolName()
	name, text := "parked", "I asked for an approval of "+what+" and go on when it is decided. "+v.WhoMayDecide(d.words)
	if m == sessions.ApprovalSettled {
		name, text = "settled", what+": "+v.Status(d.words)
		if v.Decision != nil && v.Decision.Reason != "" {
			text += "\n\n" + quoted(v.Decision.Reason)
		}
	}
	told := []sessions.Effect{effect("approval-"+v.ID+"-"+name, kindNote, notePayload{
		To: cardAddress{address: r.address}, Key: cardKey(v.ID, name), Users: []string{r.User}, Markdown: text, Names: ids, Since: before(v),
	})}
	if m == sessions.ApprovalSettled {
		told = append(told, effect("approval-"+v.ID+"-rest", kindRest, restPayload{To: r.address, Turn: v.TurnID, Approval: v.ID, User: r.recipient().User}))
	}
	return told
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
	d := drawing{View: v, words: ids.words()}
	text := fmt.Sprintf("A decision is still missing: %s, asked for by %s. It expires at %s. `/liaison approvals` shows what waits for you.",
		d.toolName(), d.words.Person(v.Requester), stampOf(v.ExpiresAt))
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
