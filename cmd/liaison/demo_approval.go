package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/internal/sim"
)

// approvalChecks begins the names of the checks that are approvals.
const approvalChecks = "Liaison approval: "

// checks are the checks of a commit that are reviews.
func (p *play) checks(head string) []sim.CheckRun {
	return slices.DeleteFunc(p.hub.CheckRuns(demoRepository, head), func(c sim.CheckRun) bool {
		return strings.HasPrefix(c.Name, approvalChecks)
	})
}

// approval is the check of a commit that is the approval of a tool's call.
func (p *play) approval(head, tool string) (sim.CheckRun, bool) {
	runs := p.hub.CheckRuns(demoRepository, head)
	i := slices.IndexFunc(runs, func(c sim.CheckRun) bool { return c.Name == approvalChecks+tool })
	if i < 0 {
		return sim.CheckRun{}, false
	}
	return runs[i], true
}

// label has lee approve the label that the review has asked for.
func (p *play) label(ctx context.Context, number int) error {
	const tool, label = "set_labels", "deployment"
	head := p.hub.PullRequest(demoRepository, number).HeadSHA
	var check sim.CheckRun
	err := p.wait(ctx, "the approval's check", func() (found bool) {
		check, found = p.approval(head, tool)
		return found
	})
	if err != nil {
		return err
	}
	p.show.step("The change touches how the shop is deployed, so the review asked for a label, which a person has to approve")
	p.showCheck(check, head)
	if labels := p.hub.Labels(demoRepository, number); len(labels) > 0 {
		return fmt.Errorf("before anybody has decided the pull request has the labels %q", labels)
	}
	p.show.step("%s, whom the agent's folder names, presses %q", demoApprover, "Approve")
	hook, err := p.hub.PressButton(check.ID, demoApprover, "approve")
	if err != nil {
		return err
	}
	if err := p.deliver(ctx, hook, "requested_action"); err != nil {
		return err
	}
	err = p.wait(ctx, "the label", func() bool {
		check, _ = p.approval(head, tool)
		return slices.Contains(p.hub.Labels(demoRepository, number), label) && check.Conclusion == "success"
	})
	if err != nil {
		return err
	}
	p.show.line("labels of #%d: %s", number, strings.Join(p.hub.Labels(demoRepository, number), ", "))
	p.showCheck(check, head)
	if len(check.Actions) > 0 {
		return fmt.Errorf("the check of %s is settled and has buttons", check.ExternalID)
	}
	var heard sim.Comment
	err = p.wait(ctx, "what the agent says of it", func() bool {
		for _, c := range p.hub.Comments(demoRepository, number) {
			if c.AppID == demoAppID && strings.Contains(c.Body, "The call of `"+tool+"` was approved") {
				heard = c
			}
		}
		return heard.ID != 0
	})
	if err != nil {
		return err
	}
	p.show.line("and the agent, which was told, says in comment %d:", heard.ID)
	p.show.quote(heard.Body)
	return nil
}

// showCheck shows the check of an approval as people see it.
func (p *play) showCheck(check sim.CheckRun, head string) {
	p.show.line("check %q on %s: %s, %s (%s)", check.Name, short(head), check.Status, check.Conclusion, check.Title)
	p.show.quote(check.Summary)
	for _, a := range check.Actions {
		p.show.line("[ %s ]  %s", a.Label, a.Description)
	}
}
