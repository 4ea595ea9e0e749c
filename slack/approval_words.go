package slack

import (
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
)

// called tells what people and groups are called, without calling them.
type called struct {
	person func(approvals.Identity) string
	// group is the name of a user group of Slack's.
	group func(id string) string
}

// heading says in a word or two how things are.
func (d drawing) heading() string {
	switch d.State {
	case approvals.Pending:
		return "Approval needed"
	case approvals.Approving:
		return "More approvals needed"
	case approvals.Approved:
		return "Approved"
	case approvals.Executing:
		return "Approved, running"
	case approvals.Done:
		return "Approved and done"
	case approvals.Failed:
		return "Approved, but it failed"
	case approvals.Unknown:
		return "Approved, outcome not known"
	case approvals.Denied:
		return "Denied"
	case approvals.Expired:
		return "Expired"
	case approvals.Superseded:
		return "Outdated"
	}
	return "Cancelled"
}

// facts are the lines of a card: who asked, how it stands, what came of it.
func (d drawing) facts() [][]run {
	var all [][]run
	add := func(name, text string, limit int) {
		if text = inLine(text, limit); text != "" {
			all = append(all, []run{{name + ": ", bold}, {text: text}})
		}
	}
	add("Asked for by", d.names.person(d.Requester), maxCardLine)
	if d.State.Open() {
		add("Risk", d.risk(), maxCardLine)
		add("May decide", d.mayDecide(), 2*maxCardLine)
		add("Approved so far", d.votes(), maxCardLine)
		return all
	}
	add("Decided", d.decided(), maxCardLine)
	if d.Decision != nil {
		add("Reason", d.Decision.Reason, maxCardLine)
	}
	add("Why", d.Reason, maxCardLine)
	if d.State == approvals.Unknown {
		add("Note", "It may have happened or not, and is not repeated. Look before you ask for it again.", maxCardLine)
	}
	if d.Outcome != nil && d.Outcome.Text != d.Reason {
		add("Outcome", d.Outcome.Text, maxOutcome)
	}
	add("Took", d.took(), maxCardLine)
	return all
}

func (d drawing) risk() string {
	if d.Risk == "" {
		return string(approvals.RiskMedium)
	}
	return string(d.Risk)
}

// mayDecide names who can, so that nobody waits for the wrong people.
func (d drawing) mayDecide() string {
	var all []string
	for _, group := range d.Deciders {
		all = append(all, d.names.approvers(group)...)
	}
	who := strings.Join(all, ", ")
	switch {
	case len(all) == 0 && d.Policy.OperatorMayDecide:
		who = "only the operator, by the command line or the API"
	case len(all) == 0:
		who = "nobody: no approvers are set"
	case d.Policy.OperatorMayDecide:
		who += ", the operator"
	}
	if d.Policy.MinApprovals > 1 {
		who = fmt.Sprintf("%d of: %s", d.Policy.MinApprovals, who)
	}
	return who
}

// approvers are the names of a group of people who may decide.
func (c called) approvers(a approvals.Approvers) []string {
	var all []string
	for _, id := range a.Slack {
		all = append(all, c.person(approvals.Identity{Slack: id}))
	}
	for _, id := range a.SlackGroups {
		all = append(all, c.group(id))
	}
	for _, login := range a.GitHub {
		all = append(all, login+" (GitHub)")
	}
	for _, team := range a.GitHubTeams {
		all = append(all, "team "+team+" (GitHub)")
	}
	if a.CodeOwners {
		all = append(all, "code owners (GitHub)")
	}
	return all
}

// votes are the approvals so far, where one is not enough.
func (d drawing) votes() string {
	if len(d.Votes) == 0 {
		return ""
	}
	var all []string
	for _, v := range d.Votes {
		all = append(all, d.names.person(v.By))
	}
	return fmt.Sprintf("%s (%d of %d)", strings.Join(all, ", "), len(d.Votes), d.Policy.MinApprovals)
}

// decided says who decided, where, and after how long.
func (d drawing) decided() string {
	var who []string
	for _, v := range d.Votes {
		who = append(who, d.names.person(v.By))
	}
	switch {
	case d.Decision == nil:
		return ""
	case d.Decision.Verdict == approvals.Deny:
		who = []string{d.names.person(d.Decision.By)}
	}
	return fmt.Sprintf("by %s, %s, after %s", strings.Join(who, " and "), placeName(d.Decision.Place), span(d.Decision.At.Sub(d.CreatedAt)))
}

// placeName is where somebody decided, for people.
func placeName(place string) string {
	switch place {
	case Name:
		return "in Slack"
	case "github":
		return "on GitHub"
	case "http":
		return "by the API"
	}
	return "by " + place
}

// took is how long it ran.
func (d drawing) took() string {
	if d.Outcome == nil || d.Outcome.DurationMS <= 0 {
		return ""
	}
	return span(time.Duration(d.Outcome.DurationMS) * time.Millisecond)
}

// span is a time for people, in its two greatest units.
func span(t time.Duration) string {
	switch {
	case t < time.Second:
		return "less than a second"
	case t < time.Minute:
		return fmt.Sprintf("%d s", t/time.Second)
	case t < time.Hour:
		return fmt.Sprintf("%d min", t/time.Minute)
	case t < 24*time.Hour:
		return fmt.Sprintf("%d h %d min", t/time.Hour, t%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d days %d h", t/(24*time.Hour), t%(24*time.Hour)/time.Hour)
}
