package command

import (
	"os"

	"github.com/liaison-bot/liaison/internal/processgroup"
)

// groupLimits are those of a tool's processes together.
var groupLimits = processgroup.Limits{Memory: 2 << 30, Processes: 256}

// limited is argv: the limits are the group's.
func limited(argv []string) []string { return argv }

func signalled(state *os.ProcessState) string { return state.String() }
