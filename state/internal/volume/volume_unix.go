//go:build !windows

package volume

import (
	"golang.org/x/sys/unix"

	"github.com/liaison-bot/liaison/state"
)

func usage(dir string) (state.VolumeUsage, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return state.VolumeUsage{}, err
	}
	block := int64(fs.Bsize) //nolint:unconvert // its type differs between systems
	return state.VolumeUsage{
		Size: int64(fs.Blocks) * block, Free: int64(fs.Bavail) * block,
		Inodes: int64(fs.Files), FreeInodes: int64(fs.Ffree),
	}, nil
}
