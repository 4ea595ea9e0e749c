package github

import (
	"time"

	"github.com/liaison-bot/liaison/approvals"
)

// cardTime is a point of time as people read it here.
const cardTime = "15:04 UTC on 2 January 2006"

// cardWords render the texts that all surfaces share in Markdown. They call nobody.
func cardWords() approvals.Words {
	return approvals.Words{Person: called, Group: calledGroup, Time: atTime, Text: quoted}
}

// titleWords are those for a check's title, which is no Markdown.
func titleWords() approvals.Words { return approvals.Words{Time: atTime} }

func atTime(t time.Time) string { return t.UTC().Format(cardTime) }

// quoted shows a stranger's words in a sentence.
func quoted(s string) string { return code(oneLine(spellOut(s))) }

// called names somebody without calling them: a mention would.
func called(who approvals.Identity) string {
	switch {
	case who.GitHub != "":
		return code(oneLine(who.GitHub))
	case who.Slack != "":
		return code(oneLine(who.Slack)) + " in Slack"
	case who.Principal != "":
		return code(ellipsis(oneLine(who.Principal), maxQuoted))
	}
	return "somebody"
}

func calledGroup(g approvals.Group) string {
	switch g.Kind {
	case approvals.CodeOwner:
		return "the code owners of the changed files"
	case approvals.GitHubTeam:
		return "the team " + code(oneLine(g.Name))
	}
	return "the group " + code(oneLine(g.Name)) + " in Slack"
}
