package sessions

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// TestSimulationOfSends does the same with agents behind a bridge, which dies
// with the process or outlives it and loses answers. However that goes, each
// turn has at most one run that came to its end.
func TestSimulationOfSends(t *testing.T) {
	dir := t.TempDir()
	for seed := range *seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				simulateWith(t, dir, uint64(seed), newLiveBridge(seed%2 == 0, time.Second))
			})
		})
	}
}

// checkRuns compares the runs at the bridge with the turns.
func (s *simulation) checkRuns(turns []state.Turn) {
	of := map[string]int{}
	for _, t := range turns {
		of[strings.Join(Turn{Message: t.Message, Gathered: t.Gathered}.Messages(), "\n")]++
		if t.Sending != nil {
			s.t.Errorf("turn %s is %s and still looks for a run after %q", t.ID, t.Status, t.Sending.After)
		}
	}
	for prompt, n := range of {
		finished := 0
		for _, status := range s.bridge.ofTurn(prompt) {
			if status == bridge.RunFinished {
				finished++
			}
		}
		if finished > n {
			s.t.Errorf("%d turns about %s have %d finished runs: %v", n, prompt, finished, s.bridge.ofTurn(prompt))
		}
	}
}
