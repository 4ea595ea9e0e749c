package github

import (
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/sessions"
)

// keptLonger is how long after its day a count is remembered, for deliveries
// that are decided about around midnight.
const keptLonger = time.Hour

// budgets are those of one message, for the day (UTC) that now is in.
func budgets(r request, limits repoconfig.Budgets, now time.Time) []sessions.Budget {
	day := now.UTC().Format(time.DateOnly)
	expires := nextDay(now).Add(keptLonger)
	budget := func(limit int, what, format string, args ...any) sessions.Budget {
		return sessions.Budget{
			Key: "github:" + day + ":" + fmt.Sprintf(format, args...), Limit: limit, Expires: expires, What: what,
		}
	}
	return []sessions.Budget{
		budget(limits.ActorPerDay, "reviews and questions a day by one person", "actor:%d", r.Actor.ID),
		budget(limits.PullPerDay, "reviews and questions a day on "+r.name(), "%s", strings.TrimPrefix(r.key(), "github:")),
		budget(limits.RepositoryPerDay, "reviews and questions a day in "+r.FullName, "repository:%d", r.Repository),
	}
}

func nextDay(now time.Time) time.Time {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
}

// overBudget says that a budget is used up and when it goes on: where somebody
// asked in words, as an answer; else as the check that people wait for.
func overBudget(r request, limits repoconfig.Budgets, now time.Time) []sessions.Effect {
	next := nextDay(now)
	text := fmt.Sprintf("A budget for today is used up: at most %d reviews and questions by one person, %d on one pull request or issue, and %d in this repository. "+
		"It goes on after %s.", limits.ActorPerDay, limits.PullPerDay, limits.RepositoryPerDay, next.Format("15:04 UTC on 2 January 2006"))
	if r.Caller != nil {
		return []sessions.Effect{refusedTo(*r.Caller, r.name(), "", text)}
	}
	if r.Comment != nil || r.Issue {
		return []sessions.Effect{effect("over-budget", kindReply, replyPayload{
			Request: r, To: r.Comment, Text: text, Failed: true, Key: fmt.Sprintf("budget:%s:%d", next.Format(time.DateOnly), r.Actor.ID),
		})}
	}
	return []sessions.Effect{effect("over-budget", kindNotice, noticePayload{
		Request: r, Name: checkName, External: "budget:" + next.Format(time.DateOnly), Title: "Not reviewed: the budget for today is used up",
		Summary: text + "\n\nA push after that is reviewed, and so is the present commit with `/liaison review`.",
	})}
}
