package local

import (
	"errors"
	"fmt"
)

// The budget of subagents: a model that gives work away is not to spend more on it
// than on its own.
const (
	// maxSubagentSteps is how many requests one piece of work may take, and
	// maxDelegatedSteps all of a run together.
	maxSubagentSteps  = 20
	maxDelegatedSteps = 60
	// maxDelegatedTokens is how many tokens all of a run may use, in and out.
	maxDelegatedTokens = 1_000_000
)

// errSubagentTokens ends a subagent.
var errSubagentTokens = fmt.Errorf("the subagents of this run have used the %d tokens that they may use; go on without them", maxDelegatedTokens)

// grant sets steps aside for a piece of work. The error is for the model.
func (r *chatRun) grant() (steps int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps = min(maxSubagentSteps, maxDelegatedSteps-r.subagentSteps)
	switch {
	case r.delegated.Input+r.delegated.Output >= maxDelegatedTokens:
		return 0, errSubagentTokens
	case steps < 2: // one to look, one to answer
		return 0, errors.New("the subagents of this run have used all their steps; go on without them")
	}
	r.subagentSteps += steps
	return steps, nil
}

func (r *chatRun) giveBack(steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subagentSteps -= steps
}

// overspent reports whether subagents have used all their tokens.
func (r *chatRun) overspent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.delegated.Input+r.delegated.Output >= maxDelegatedTokens
}
