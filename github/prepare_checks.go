package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
)

const (
	// checksLongest is how long after a push its review waits for the other checks;
	// a build that hangs shall not keep people from a review.
	checksLongest = 30 * time.Minute
	// checksAppear is how long after a push there may be no other check yet although
	// there will be some: GitHub makes them as their Apps get to it.
	checksAppear = time.Minute
	// checksLook is the time between two looks; an event of a check that ended
	// wakes the turn before.
	checksLook = time.Minute
)

// theOtherChecks is what people read that a review waits for.
const theOtherChecks = "the other checks"

// awaitChecks has an automatic review wait until the head's other checks and
// statuses are over, if the configuration says so. The string is for the record.
func (c *Channel) awaitChecks(ctx context.Context, tgt target, t sessions.Turn) (string, error) {
	pushed := t.Revision.At
	if pushed.IsZero() {
		pushed = tgt.UpdatedAt
	}
	// Whoever asks for a review by a command does not mean later.
	if !tgt.settings().AfterChecks || pushed.IsZero() || strings.HasPrefix(tgt.Trigger, "command") {
		return "", nil
	}
	owner, repo := tgt.names()
	others, err := evidence.OtherChecks(ctx, tgt.repo.client, owner, repo, tgt.Head, c.app.id, checkName)
	if err != nil {
		return "", fmt.Errorf("look at the other checks of %s: %w", tgt.name(), err)
	}
	note := ""
	if others.Missing != "" {
		note = "; of the other checks could not be read: " + others.Missing
	}
	age := c.app.now().Sub(pushed)
	var why error
	switch {
	case len(others.Pending) > 0 && age >= checksLongest:
		return fmt.Sprintf("%s; not waited longer than %s for %s", note, checksLongest, others), nil
	case len(others.Pending) > 0:
		why = fmt.Errorf("not over yet: %s", others)
	case others.Total == 0 && age < checksAppear:
		why = errors.New("there are none yet")
	default:
		return note, nil
	}
	return "", &sessions.RetryError{After: checksLook, Uncounted: true, WaitsFor: theOtherChecks, Err: why}
}
