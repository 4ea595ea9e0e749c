package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// A bridge knows no key that would make a second Send of one message harmless.
// So the intention to send is stored first, with the newest run that the agent
// had before. Whoever finds an intention without an end looks among the runs
// that came after it: one that is live or has ended is this turn's, and nothing
// is sent again.

// olderInARow is after how many runs in a row that are older than the newest a
// list is taken to be newest first, as those of bridges are, and left.
const olderInARow = 20

// maxListedRuns bounds the search among an agent's runs: a pull request with as
// many pushes is beyond what is known.
const maxListedRuns = 10_000

// begun is a run of a turn, and what is to be known before its end is trusted.
type begun struct {
	run
	// listed is what the bridge's list said of a run that was adopted.
	listed bridge.RunSnapshot
}

// start returns the turn's run: that of an earlier attempt, or a new one.
func (r *bridgeRunner) start(ctx context.Context, a agent, fresh bool, t *attempt) (begun, error) {
	if t.sent != nil && !fresh {
		found, err := r.adopt(ctx, t)
		if err != nil || found.run != nil {
			return found, err
		}
	}
	if t.Acted != nil && t.Acted() {
		return begun{}, errActed
	}
	t.first = fresh
	if err := r.intend(ctx, t); err != nil {
		return begun{}, err
	}
	return r.send(ctx, a, t)
}

// intend stores that a run is about to be sent. A bridge that cannot list runs
// leaves nothing to be found by. A new agent is asked about like any other: some
// bridges list a run that waits for an agent's first message.
func (r *bridgeRunner) intend(ctx context.Context, t *attempt) error {
	t.sent = nil
	newest, err := r.newest(ctx, t.AgentID, "")
	if errors.Is(err, bridge.ErrFeatureUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	t.first = newest.ID == ""
	s := state.Sending{After: newest.ID}
	if t.Note != nil {
		if err := t.Note(ctx, s); err != nil {
			return fmt.Errorf("store the intention to send a run: %w", err)
		}
	}
	t.sent = &s
	return nil
}

// send starts a run. One that a dead process left may stand in its way; bridges
// report that as busy or as an internal error without a code, and it is expired
// at most once, and not if it turns out to be our own.
func (r *bridgeRunner) send(ctx context.Context, a agent, t *attempt) (begun, error) {
	prompt := t.Prompt
	if t.first && t.Cloud != nil && t.Preamble != "" {
		prompt = t.Preamble + "\n\n" + prompt
	}
	message := bridge.Message{Text: prompt, Images: t.Images}
	running, err := a.Send(ctx, message, bridge.SendOptions{})
	if errors.Is(err, bridge.ErrFeatureUnavailable) && len(t.Images) > 0 && ctx.Err() == nil {
		r.logger.Info("the bridge takes no images; going on without", "session", t.SessionID, "turn", t.TurnID)
		message = bridge.Message{Text: prompt + unseenImages}
		running, err = a.Send(ctx, message, bridge.SendOptions{})
	}
	stuck := errors.Is(err, bridge.ErrAgentBusy) || errors.Is(err, bridge.ErrInternal)
	if (stuck || errors.Is(err, bridge.ErrUnknownOutcome)) && ctx.Err() == nil {
		t.mayLive = true
		if found, lookErr := r.adopt(ctx, t); lookErr == nil && found.run != nil {
			return found, nil
		}
	}
	if stuck && t.Force && ctx.Err() == nil {
		r.logger.Warn("agent is stuck in a run that nobody knows; expiring it",
			"session", t.SessionID, "agent", t.AgentID, "error", err)
		running, err = a.Send(ctx, message, bridge.SendOptions{Force: true})
	}
	if err != nil {
		return begun{}, err
	}
	r.name(ctx, t, running.ID())
	return begun{run: running}, nil
}

// name stores how the run is called. It goes on without: the list tells it too.
func (r *bridgeRunner) name(ctx context.Context, t *attempt, runID string) {
	if t.sent == nil {
		return
	}
	t.sent.RunID = runID
	if t.Note == nil {
		return
	}
	if err := t.Note(ctx, *t.sent); err != nil && ctx.Err() == nil {
		r.logger.Warn("the name of a run is not stored", "session", t.SessionID, "run", runID, "error", err)
	}
}

// adopt finds the run that an intention led to. It returns none when nothing
// was sent, and when what was sent ended without a result: cancelled with its
// host, expired, or left running by a bridge that is dead.
func (r *bridgeRunner) adopt(ctx context.Context, t *attempt) (begun, error) {
	if t.sent == nil {
		return begun{}, nil
	}
	found, err := r.after(ctx, t)
	if errors.Is(err, bridge.ErrFeatureUnavailable) || errors.Is(err, bridge.ErrNotFound) {
		return begun{}, nil
	}
	if err != nil || found.ID == "" {
		return begun{}, err
	}
	switch found.Status {
	case bridge.RunFinished, bridge.RunError:
	case bridge.RunRunning, bridge.RunCreating:
		if !t.mayLive {
			return begun{}, nil
		}
	default:
		return begun{}, nil
	}
	running, err := r.agents.Attach(ctx, t.AgentID, found.ID)
	if err != nil {
		return begun{}, err
	}
	r.logger.Info("going on with a run that was sent before",
		"session", t.SessionID, "turn", t.TurnID, "run", found.ID, "status", string(found.Status))
	r.name(ctx, t, found.ID)
	return begun{run: running, listed: found}, nil
}

// after returns the run that the intention names, or the newest one that came
// after it, if there is one.
func (r *bridgeRunner) after(ctx context.Context, t *attempt) (bridge.RunSnapshot, error) {
	newest, err := r.newest(ctx, t.AgentID, t.sent.RunID)
	if err != nil || t.sent.RunID == "" && newest.ID == t.sent.After {
		return bridge.RunSnapshot{}, err
	}
	return newest, nil
}

// newest returns the agent's newest run, or the one that is named; an empty one
// if there is none. One that is being created counts only by its name: it may
// wait for the agent's first message.
func (r *bridgeRunner) newest(ctx context.Context, agentID, named string) (bridge.RunSnapshot, error) {
	var newest bridge.RunSnapshot
	n, older := 0, 0
	for s, err := range r.agents.Runs(ctx, agentID) {
		if err != nil {
			return bridge.RunSnapshot{}, err
		}
		if n++; n > maxListedRuns {
			return bridge.RunSnapshot{}, fmt.Errorf("agent %s has more than %d runs", agentID, maxListedRuns)
		}
		switch {
		case named != "" && s.ID != named, named == "" && s.Status == bridge.RunCreating:
		case newest.ID == "", s.Created.After(newest.Created):
			newest, older = s, 0 // of two without a time, the one that is listed first
		case s.Created.Before(newest.Created):
			older++
		}
		if named != "" && newest.ID != "" || older == olderInARow {
			break
		}
	}
	return newest, nil
}
