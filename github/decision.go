package github

import (
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

// decision is what somebody says about a call that waits for people: by a button of
// its check run, or by a command.
type decision struct {
	Verdict approvals.Verdict `json:"verdict"`
	// Approval is the approval's id. It is empty where it is still to be read from
	// the check run, or where none was named.
	Approval string `json:"approval,omitempty"`
	// Check is the check run whose button was pressed; 0 where somebody wrote.
	Check int64 `json:"check,omitempty"`
	// Reason is theirs, in plain text.
	Reason string `json:"reason,omitempty"`
}

// maxDecisionReason bounds a reason in characters.
const maxDecisionReason = 1000

// decides reads a line that approves or denies, in what it says and in the reason
// on the lines after it. "/approve" alone is a word of other bots too, so that it is
// ours only before the id of an approval.
func (l spokenLine) decides(handle string, after []spokenLine) (command, bool) {
	if rest, ok := l.afterSlash(slashName); ok {
		c, ok := decisionCommand(rest, after)
		return c, ok
	}
	if before, rest, ok := cutMention(l.text, handle); ok && strings.TrimSpace(before) == "" {
		c, ok := decisionCommand(strings.TrimLeft(rest, ",:;!?.–—- "), after)
		return c, ok && approvals.ValidID(c.Argument)
	}
	if word, ok := strings.CutPrefix(l.text, "/"); ok && l.begins {
		c, ok := decisionCommand(word, after)
		return c, ok && approvals.ValidID(c.Argument)
	}
	return command{}, false
}

// decisionCommand reads "approve apr_… reason".
func decisionCommand(text string, after []spokenLine) (command, bool) {
	verb, rest := cutWord(text)
	switch verb = lowered(strings.TrimRight(verb, ".,:;!?")); verb {
	case verbApprove, verbDeny:
	default:
		return command{}, false
	}
	id, reason := cutWord(rest)
	lines := []string{reason}
	for _, l := range after {
		lines = append(lines, l.text)
	}
	said := strings.ReplaceAll(strings.Join(lines, "\n"), string(unspoken), " ")
	return command{
		Verb: verb, Argument: oneLine(strings.TrimRight(id, ".,:;!?")), Addressed: true,
		Reason: ellipsis(strings.TrimSpace(spellOut(said)), maxDecisionReason),
	}, true
}

// decides makes the intent of a decision that somebody wrote.
func (e event) decides(r request, fact string) sessions.Intent {
	d := decision{Verdict: approvals.Approve, Reason: r.Command.Reason}
	if r.Command.Verb == verbDeny {
		d.Verdict = approvals.Deny
	}
	if approvals.ValidID(r.Command.Argument) {
		d.Approval = r.Command.Argument
	}
	in := e.decision(r, d)
	in.Fact = fact
	in.Reason = fmt.Sprintf("%s by %s on %s", r.Trigger, oneLine(r.Actor.Login), r.name())
	return in
}

// pressed maps a press of a button of one of our check runs. The App that the
// signed payload names made the run, and with it its external id.
func (e event) pressed() (sessions.Intent, error) {
	verdict := approvals.Verdict(e.RequestedAction.Identifier)
	switch of := e.CheckRun; {
	case verdict != approvals.Approve && verdict != approvals.Deny:
		return ignore("%s: our checks have no button %s", e.word(), quote(e.RequestedAction.Identifier)), nil
	case e.self.AppID <= 0 || of.App.ID != e.self.AppID:
		return ignore("%s: another App's check", e.word()), nil
	case of.ID <= 0:
		return sessions.Intent{}, missing("check_run.id")
	case !validSHA(of.HeadSHA):
		return sessions.Intent{}, missing("check_run.head_sha")
	}
	r, err := e.origin()
	if err != nil {
		return sessions.Intent{}, err
	}
	r.Head, r.Number = e.CheckRun.HeadSHA, e.onlyPull(e.CheckRun.PullRequests)
	d := decision{Verdict: verdict, Check: e.CheckRun.ID}
	if approvals.ValidID(e.CheckRun.ExternalID) {
		d.Approval = e.CheckRun.ExternalID
	}
	in := e.decision(r, d)
	// Two honest presses have the same body: only GitHub's id tells them apart.
	in.Fact = fmt.Sprintf("github:press:%d/%d:%s", r.Repository, d.Check, e.delivery.ID)
	in.Reason = fmt.Sprintf("the button %s, pressed by %s on %s", verdict, oneLine(r.Actor.Login), r.name())
	return in, nil
}

// decision begins the intent of a decision. Who it is, and what they may, is
// found out as it is weighed: until then the ballot is nobody's.
func (e event) decision(r request, d decision) sessions.Intent {
	r.Decision = &d
	in := e.intent(sessions.ActionDecide, r)
	in.Weigh, in.Urgent = true, true
	in.Ballot = &approvals.Ballot{ApprovalID: d.Approval, Verdict: d.Verdict, Reason: d.Reason, Place: Name}
	return in
}
