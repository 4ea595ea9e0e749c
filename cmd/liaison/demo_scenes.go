package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/internal/sim"
)

// inline shows the remarks of the first review at their lines.
func (p *play) inline(ctx context.Context, number int) error {
	var ours []sim.ReviewComment
	err := p.wait(ctx, "remarks on lines", func() bool {
		ours = p.remarks(number)
		return len(ours) > 0
	})
	if err != nil {
		return err
	}
	p.show.line("and %d remarks on the lines that they are about:", len(ours))
	for _, c := range ours {
		p.show.line("  %s:%d  %s", c.Path, c.Line, headline(c.Body))
	}
	return nil
}

// remarks are Liaison's comments on lines.
func (p *play) remarks(number int) []sim.ReviewComment {
	var ours []sim.ReviewComment
	for _, c := range p.hub.ReviewComments(demoRepository, number) {
		if c.AppID == demoAppID {
			ours = append(ours, c)
		}
	}
	return ours
}

// headline is the first line of a text that a person sees.
func headline(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<!--") {
			return line
		}
	}
	return ""
}

// ask has a person ask a question in a comment, and waits for the answer.
func (p *play) ask(ctx context.Context, number int) error {
	const question = "@liaison what is wrong with payments/client.go?"
	p.show.step("mona asks in a comment: %s", question)
	id, hook := p.hub.Comment(demoRepository, number, "mona", question)
	if err := p.deliver(ctx, hook, "created"); err != nil {
		return err
	}
	var answer sim.Comment
	err := p.wait(ctx, "the answer", func() bool {
		seen := false
		for _, c := range p.hub.Comments(demoRepository, number) {
			if c.AppID == demoAppID && c.ID > id {
				answer = c
			}
			seen = seen || c.ID == id && c.Reactions["rocket"] == 1 && c.Reactions["eyes"] == 0
		}
		return answer.ID != 0 && seen
	})
	if err != nil {
		return err
	}
	p.show.line("comment %d by %s, and a reaction under the question:", answer.ID, answer.Author)
	p.show.quote(answer.Body)
	return nil
}

// hold makes the next review stand still while it lists the changed files, until
// what is returned is called; begun is closed once it does.
func (p *play) hold() (begun <-chan struct{}, release func()) {
	gate, reached := make(chan struct{}), make(chan struct{})
	// Nothing but a review's evidence lists the files of a pull request.
	p.hub.Fail(sim.Fault{
		Method: "GET", PathPattern: "/repos/*/*/pulls/*/files", Gate: gate,
		Hook: func(sim.RecordedRequest) { close(reached) },
	})
	return reached, func() { close(gate) }
}

// pushDuringReview pushes twice; the second time while the first push is reviewed.
func (p *play) pushDuringReview(ctx context.Context, number int) error {
	begun, release := p.hold()
	held := p.hub.Push(demoRepository, number, secondPush())
	p.show.step("mona pushes %s, which answers the review", short(held))
	if err := p.deliver(ctx, p.hub.Event(demoRepository, number, "synchronize"), "synchronize"); err != nil {
		release()
		return err
	}
	err := p.wait(ctx, "the review of "+short(held), func() bool {
		return isClosed(begun) && len(p.checks(held)) == 1
	})
	if err != nil {
		release()
		return err
	}
	head := p.hub.Push(demoRepository, number, thirdPush())
	p.show.step("While that is reviewed, mona pushes %s", short(head))
	hook := p.hub.Event(demoRepository, number, "synchronize")
	if err := p.deliver(ctx, hook, "synchronize"); err != nil {
		release()
		return err
	}
	release()
	if err := p.concluded(ctx, held, 1, "cancelled"); err != nil {
		return err
	}
	return p.concluded(ctx, head, 1, "success", "neutral")
}

// rerun presses the button of the check.
func (p *play) rerun(ctx context.Context, number int) error {
	head := p.hub.PullRequest(demoRepository, number).HeadSHA
	p.show.step("mona presses \"Re-run\" on the check of %s", short(head))
	runs := p.checks(head)
	if err := p.deliver(ctx, p.hub.CheckRunEvent(runs[0].ID, "rerequested", "mona", ""), "rerequested"); err != nil {
		return err
	}
	return p.concluded(ctx, head, 2, "success", "neutral")
}

// stop asks for a whole review by a command, and stops it by another.
func (p *play) stop(ctx context.Context, number int) error {
	head := p.hub.PullRequest(demoRepository, number).HeadSHA
	begun, release := p.hold()
	defer release()
	for _, said := range []string{"/liaison review full", "/liaison stop"} {
		p.show.step("mona writes: %s", said)
		_, hook := p.hub.Comment(demoRepository, number, "mona", said)
		if err := p.deliver(ctx, hook, "created"); err != nil {
			return err
		}
		err := p.wait(ctx, "the review of "+short(head), func() bool {
			return isClosed(begun) && len(p.checks(head)) == 3
		})
		if err != nil {
			return err
		}
	}
	return p.concluded(ctx, head, 3, "cancelled")
}

// concluded waits until a head has so many checks and the newest one is concluded
// in one of these ways.
func (p *play) concluded(ctx context.Context, head string, checks int, as ...string) error {
	var check sim.CheckRun
	err := p.wait(ctx, "the conclusion of a check on "+short(head), func() bool {
		runs := p.checks(head)
		if len(runs) == checks {
			check = runs[checks-1]
		}
		return check.Status == "completed"
	})
	if err != nil {
		return err
	}
	p.show.line("check %q on %s: %s, %s (%s)", check.Name, short(head), check.Status, check.Conclusion, check.Title)
	for _, want := range as {
		if check.Conclusion == want {
			return nil
		}
	}
	return fmt.Errorf("the check of %s concluded as %s, not as %s: %s", short(head), check.Conclusion, strings.Join(as, " or "), check.Summary)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
