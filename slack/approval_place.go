package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// maxDirectCards is how many people are asked directly, at most.
const maxDirectCards = 10

// cardAddress is where a card is drawn.
type cardAddress struct {
	address
	// User is asked directly; Channel and Thread are empty then.
	User string `json:"user,omitempty"`
}

// ApprovalCards implements [sessions.ApprovalSurface]: in the thread that asked;
// for what was asked elsewhere in the operator's channel for approvals, or else to
// those people directly who may decide.
func (c *Channel) ApprovalCards(v approvals.View) []sessions.ApprovalCard {
	if r, err := parseRequest(v.Request); v.Channel == Name && err == nil && r.Channel != "" {
		return []sessions.ApprovalCard{cardAt("thread", cardAddress{address: r.address})}
	}
	if !c.oneToken {
		return nil // which workspace is meant is known where something was asked only
	}
	if id := c.approvalsIn(); id != "" {
		return []sessions.ApprovalCard{cardAt("channel:"+id, cardAddress{address: address{Channel: id}})}
	}
	var all []sessions.ApprovalCard
	for _, id := range slackPeople(v.Deciders) {
		all = append(all, cardAt("direct:"+id, cardAddress{User: id}))
	}
	return all
}

func cardAt(place string, at cardAddress) sessions.ApprovalCard {
	return sessions.ApprovalCard{Place: place, Address: encode(at)}
}

// approvalsIn is the channel in which approvals are asked for that no thread of
// Slack's asked for; empty for none.
func (c *Channel) approvalsIn() string {
	if c.approvalChannel == nil {
		return ""
	}
	return event.ID(strings.TrimSpace(c.approvalChannel()))
}

// slackPeople are the people of Slack's whom groups of approvers name one by one.
func slackPeople(groups []approvals.Approvers) []string {
	var all []string
	for _, g := range groups {
		for _, id := range g.Slack {
			if event.ID(id) == id && id != "" && !slices.Contains(all, id) && len(all) < maxDirectCards {
				all = append(all, id)
			}
		}
	}
	return all
}

// located is a card's address with all that it takes to write there.
func (c *Channel) located(ctx context.Context, raw json.RawMessage) (cardAddress, error) {
	var at cardAddress
	if err := json.Unmarshal(raw, &at); err != nil || at.Channel == "" && at.User == "" {
		return at, errors.New("the card names no place in Slack")
	}
	return c.here(ctx, at)
}

// here fills in the one workspace where an address names none, and the channel of
// the direct messages with a person.
func (c *Channel) here(ctx context.Context, at cardAddress) (cardAddress, error) {
	if at.Team == "" && at.Enterprise == "" {
		w, err := c.web.Workspace(ctx, at.place())
		if err != nil {
			return at, fmt.Errorf("find the workspace: %w", err)
		}
		at.Team, at.Enterprise = w.Team, w.Enterprise
	}
	if at.Channel == "" {
		id, err := c.web.OpenDirect(ctx, at.place(), at.User)
		if err != nil {
			return at, err
		}
		at.Channel = id
	}
	return at, nil
}

// cardRef finds a card again: its channel and its ts.
func cardRef(channel, ts string) string { return channel + "/" + ts }

func readRef(ref string) (channel, ts string) {
	channel, ts, _ = strings.Cut(ref, "/")
	return event.ID(channel), event.TS(ts)
}
