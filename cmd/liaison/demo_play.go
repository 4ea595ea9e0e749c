package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// play is the demo's plot: what happens on GitHub, and what must follow.
type play struct {
	hub     *sim.GitHub
	webhook string
	// events is the directory with the sessions' records.
	events  string
	show    *screen
	printed map[string]int
}

func (p *play) run(ctx context.Context) error {
	p.hub.CreateRepository(demoRepository, shopFiles())
	p.hub.Install(demoInstallation, "octo", demoRepository)
	p.hub.SetPermission(demoRepository, "mona", "write")
	p.hub.SetPermission(demoRepository, demoApprover, "write")
	pull := p.hub.OpenPullRequest(demoRepository, sim.NewPullRequest{
		Title:  "Retry payments that time out",
		Body:   "Customers are charged again when the provider answers late. This retries with a key instead.",
		Author: "mona",
		Branch: "retry-payments",
		Files:  firstPush(),
	})
	p.show.step("mona opens pull request #%d in %s: %q, %d files, +%d −%d",
		pull.Number, demoRepository, "Retry payments that time out", pull.ChangedFiles, pull.Additions, pull.Deletions)
	first, err := p.review(ctx, pull.Number, pull.HeadSHA, "opened")
	if err != nil {
		return err
	}
	for _, scene := range []func(context.Context, int) error{p.inline, p.label, p.ask, p.pushDuringReview, p.rerun, p.stop} {
		if err := p.bounded(ctx, pull.Number, scene); err != nil {
			return err
		}
	}
	return p.verify(pull.Number, first)
}

// bounded plays a scene within the time of a step.
func (p *play) bounded(ctx context.Context, number int, scene func(context.Context, int) error) error {
	ctx, cancel := context.WithTimeout(ctx, demoStep)
	defer cancel()
	return scene(ctx, number)
}

// review sends the webhook and follows what it leads to, until the check is
// concluded and the comment is there.
func (p *play) review(ctx context.Context, number int, head, action string) (sim.Comment, error) {
	ctx, cancel := context.WithTimeout(ctx, demoStep)
	defer cancel()
	if err := p.deliver(ctx, p.hub.Event(demoRepository, number, action), action); err != nil {
		return sim.Comment{}, err
	}
	var check sim.CheckRun
	var err error
	err = p.wait(ctx, "a check on "+short(head), func() bool {
		check, err = p.onlyCheck(head)
		return check.ID != 0
	})
	if err != nil {
		return sim.Comment{}, err
	}
	p.show.line("check %q on %s: %s", check.Name, short(head), strings.ReplaceAll(check.Status, "_", " "))

	err = p.wait(ctx, "the check's conclusion", func() bool {
		check, err = p.onlyCheck(head)
		return check.Status == "completed"
	})
	if err != nil {
		return sim.Comment{}, err
	}
	var comment sim.Comment
	err = p.wait(ctx, "the review comment", func() bool {
		comments := p.hub.Comments(demoRepository, number)
		if len(comments) == 1 {
			comment = comments[0]
		}
		return len(comments) == 1 && strings.Contains(comment.Body, head[:7])
	})
	if err != nil {
		return sim.Comment{}, err
	}
	p.show.line("check %q on %s: %s, %s (%s)", check.Name, short(head), check.Status, check.Conclusion, check.Title)
	verb := "posted"
	if comment.Edits > 0 {
		verb = "updated in place"
	}
	p.show.line("comment %d %s by %s:", comment.ID, verb, comment.Author)
	p.show.quote(comment.Body)
	if check.Conclusion != "success" && check.Conclusion != "neutral" {
		return sim.Comment{}, fmt.Errorf("the check concluded as %s: %s", check.Conclusion, check.Summary)
	}
	return comment, nil
}

// deliver sends a webhook and shows how it was answered.
func (p *play) deliver(ctx context.Context, hook sim.Webhook, action string) error {
	begin := time.Now()
	status, err := p.hub.Deliver(ctx, p.webhook, hook)
	if err != nil {
		return fmt.Errorf("deliver the webhook: %w", err)
	}
	p.show.line("webhook %s/%s, signed, %d bytes, delivery %s", hook.Event, action, len(hook.Body), hook.DeliveryID)
	p.show.line("answered %d in %s: verified, stored and synced", status, time.Since(begin).Round(100*time.Microsecond))
	if status != http.StatusAccepted {
		return fmt.Errorf("the webhook was answered %d, not %d", status, http.StatusAccepted)
	}
	return nil
}

// wait follows the sessions' records on the screen until cond holds.
func (p *play) wait(ctx context.Context, what string, cond func() bool) error {
	const look = 50 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		changed := p.hub.Changed()
		met := cond()
		p.follow()
		if met {
			return nil
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("waited %s for %s in vain; --verbose shows the service's whole log", demoStep, what)
			}
			return ctx.Err()
		case <-changed:
		case <-tick.C:
		}
	}
}

// onlyCheck returns Liaison's check on a commit, the zero value while there is none.
func (p *play) onlyCheck(head string) (sim.CheckRun, error) {
	runs := p.checks(head)
	switch len(runs) {
	case 0:
		return sim.CheckRun{}, nil
	case 1:
		return runs[0], nil
	default:
		return sim.CheckRun{}, fmt.Errorf("%s has %d checks, not one", short(head), len(runs))
	}
}

// verify looks at the whole result once more, as a maintainer would find it.
func (p *play) verify(number int, first sim.Comment) error {
	results := 0
	for _, c := range p.hub.Comments(demoRepository, number) {
		if c.AppID != demoAppID || !strings.Contains(c.Body, "<!-- liaison:review ") {
			continue
		}
		if results++; c.ID != first.ID || c.Edits == 0 {
			return fmt.Errorf("comment %d was to be updated in place, but there is comment %d with %d edits", first.ID, c.ID, c.Edits)
		}
	}
	if results != 1 {
		return fmt.Errorf("the pull request has %d comments with results, not one", results)
	}
	for _, r := range p.hub.Requests() {
		// A token with more permissions than the installation granted is asked for in vain
		// once, and then one with fewer.
		if r.Status >= http.StatusBadRequest && r.Status != http.StatusNotFound && !strings.HasSuffix(r.Path, "/access_tokens") {
			return fmt.Errorf("the simulator refused %s %s with %d", r.Method, r.Path, r.Status)
		}
	}
	return nil
}

func short(sha string) string { return sha[:min(7, len(sha))] }
