package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/tools"
)

// actionChoice begins the ids of the buttons below a question of the agent's, whose
// value is what was chosen.
const actionChoice = "liaison.choice."

// asked tells the agent what comes next.
const askedPerson = "Asked. End your turn now; the answer comes as a message of its own."

// askPerson asks somebody in the thread. The answer is a message in the session, from
// whoever may start one.
func (c *Channel) askPerson(ctx context.Context, call tools.Call) (tools.Result, error) {
	p, choices, err := c.personAsked(call)
	if err != nil {
		return tools.Result{}, err
	}
	item := toolItem(call)
	r := c.render(item, p)
	if len(r.parts) > 0 {
		last := &r.parts[len(r.parts)-1]
		last.Blocks = append(last.Blocks, c.answerButtons(choices))
	}
	return c.toolPosted(ctx, item, p, r, askedPerson)
}

func (c *Channel) lookForQuestion(ctx context.Context, call tools.Call) (tools.Result, error) {
	p, _, err := c.personAsked(call)
	if err != nil {
		return tools.Result{}, tools.ErrOutcomeUnknown
	}
	return c.looked(ctx, call, p, askedPerson)
}

// personAsked is what a call of [toolAskPerson] asks, and whom.
func (c *Channel) personAsked(call tools.Call) (postPayload, []string, error) {
	var in struct {
		Question string
		Choices  []string
		Person   string
	}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return postPayload{}, nil, fmt.Errorf("read the input: %w", err)
	}
	r, err := parseRequest(call.Request)
	switch {
	case call.Channel != Name || err != nil || r.Channel == "":
		return postPayload{}, nil, errors.New("you are not asked in Slack: there is nobody to ask")
	case in.Person == "":
		in.Person = r.User
	case event.ID(in.Person) != in.Person:
		return postPayload{}, nil, fmt.Errorf("%.40q is no id of a person, such as U0123456789", in.Person)
	}
	return postPayload{To: r.address, Key: toolKey(call), Mention: in.Person, Markdown: in.Question, Since: r.TS}, in.Choices, nil
}

// answerButtons are the choices, and one for words.
func (c *Channel) answerButtons(choices []string) slackgo.Block {
	var all []slackgo.BlockElement
	for i, choice := range choices {
		if choice = markup.Plain(c.redact(choice), limits.ButtonText); choice != "" {
			all = append(all, slackgo.NewButtonBlockElement(actionChoice+strconv.Itoa(i), choice, plainText(choice)))
		}
	}
	return slackgo.NewActionBlock("", append(all, slackgo.NewButtonBlockElement(actionAsk, "", plainText("Answer in words")))...)
}

// chosen maps a click on a choice: a message in the session of the thread.
func (m mapper) chosen(r request) sessions.Intent {
	effects := tell(r, "Thank you, I pass it on.")
	r.Trigger, r.Verb, r.Text, r.TS = byAnswer, verbAsk, escaped(r.Value), ""
	r.Value, r.TriggerID, r.ResponseURL = "", "", "" // credentials have no place in a turn
	in := m.run(r)
	in.Existing, in.Effects = true, effects
	in.Fact = r.fact(r.MessageTS) + ":" + r.User + ":" + r.Text
	return in
}
