// Package volume says how much room a file system has left.
package volume

import (
	"fmt"

	"github.com/liaison-bot/liaison/state"
)

// Of describes the volume of a folder that exists. What is free is what this
// user may take.
func Of(dir string) (state.VolumeUsage, error) {
	u, err := usage(dir)
	if err != nil {
		return u, fmt.Errorf("ask for the free space of %s: %w", dir, err)
	}
	return u, nil
}
