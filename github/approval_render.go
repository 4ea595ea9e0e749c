package github

import (
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/approvals"
)

// approvalText is an approval as people read it.
type approvalText struct {
	name, title, summary, text string
	// whole is set when all of the arguments are there.
	whole bool
}

// markdown is all of it in one text, for a place without a title.
func (t approvalText) markdown() string {
	all := "**" + t.name + "**\n\n" + t.summary
	if t.text != "" {
		all += "\n\n" + t.text
	}
	return all
}

// Bounds of the parts of a card that are shown beside the arguments, in characters.
const (
	maxCardLine    = 300
	maxCardOutcome = 4000
	// fenceRoom is what goes around a part of the arguments, besides a fence that is
	// longer than what is in it.
	fenceRoom = 400
)

// renderApproval fits an approval into a summary of limit characters, which begins
// with all that is known, and a text of more characters, in which the arguments go
// on. Without a text there are no buttons either.
func renderApproval(v approvals.View, limit, more int) approvalText {
	out := approvalText{name: "Liaison approval: " + code(v.Tool), title: ellipsis(strings.TrimSuffix(v.Status(titleWords()), "."), maxCheckTitle)}
	facts := approvalFacts(v, more > 0) + "### The arguments, as they run\n\n"
	below := approvalBelow(v)
	around := fenceRoom + 2*longestRun(v.Input)
	first, rest := splitAt(v.Input, limit-runes(facts)-runes(below)-around)
	if rest == "" {
		out.summary, out.whole = facts+fenceAs("json", first)+below, true
		return out
	}
	out.summary = facts + fenceAs("json", first) + "\n\n*They go on below.*" + below
	second, left := splitAt(rest, more-around)
	out.text, out.whole = "### The arguments go on\n\n", left == ""
	if !out.whole {
		out.text += fmt.Sprintf("*%d characters more do not fit here, so that there is no button to approve. %s shows them all.*\n\n",
			runes(left), code("liaison approvals show "+v.ID))
	}
	if second != "" {
		out.text += fenceAs("json", second)
	}
	return out
}

// approvalFacts are what is known besides the arguments, and how to decide.
func approvalFacts(v approvals.View, buttons bool) string {
	var b strings.Builder
	b.WriteString(v.Status(cardWords()) + "\n\n")
	if v.State.Open() {
		b.WriteString(v.WhoMayDecide(cardWords()) + "\n\n")
	}
	b.WriteString("| | |\n|---|---|\n")
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", name, value)
		}
	}
	plain := func(s string) string {
		if s == "" {
			return ""
		}
		return code(ellipsis(oneLine(spellOut(s)), maxCardLine))
	}
	row("Tool", plain(v.Tool))
	row("What it does", plain(v.Summary))
	row("About", plain(v.Subject))
	row("Risk", riskWord(v.Risk))
	row("Asked for by", called(v.Requester))
	row("Approvals", votesWord(v))
	row("Hash of the arguments", plain(v.InputHash))
	row("Approval", plain(v.ID))
	if v.State.Open() {
		press := "Comment"
		if buttons {
			press = "Press a button of this check, or comment"
		}
		fmt.Fprintf(&b, "\n%s %s or %s; what you write on the following lines is the reason.\n", press, code("/approve "+v.ID), code("/deny "+v.ID))
	}
	return b.String() + "\n"
}

// approvalBelow is what was said of it, and what came of it.
func approvalBelow(v approvals.View) string {
	var b strings.Builder
	if v.Decision != nil && v.Decision.Reason != "" {
		fmt.Fprintf(&b, "\n\n### The reason of %s\n\n%s", called(v.Decision.By), fence(ellipsis(spellOut(v.Decision.Reason), maxDecisionReason)))
	}
	if v.Outcome != nil && v.Outcome.Text != "" {
		fmt.Fprintf(&b, "\n\n### What came of it\n\n%s", fence(ellipsis(spellOut(v.Outcome.Text), maxCardOutcome)))
	}
	return b.String()
}

func riskWord(r approvals.Risk) string {
	switch r {
	case approvals.RiskHigh:
		return "**high**"
	case approvals.RiskLow:
		return "low"
	}
	return "medium"
}

func votesWord(v approvals.View) string {
	needs := max(v.Policy.MinApprovals, 1)
	if len(v.Votes) == 0 && needs == 1 {
		return ""
	}
	text := fmt.Sprintf("%d of %d", len(v.Votes), needs)
	for i, vote := range v.Votes {
		sign := ", "
		if i == 0 {
			sign = ": "
		}
		text += sign + called(vote.By)
	}
	return text
}

// splitAt cuts a text after at most n characters, at the end of a line where one is near.
func splitAt(s string, n int) (head, rest string) {
	head, cut := firstRunes(s, max(n, 0))
	if !cut {
		return s, ""
	}
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		return head[:i], s[i+1:]
	}
	return head, s[len(head):]
}
