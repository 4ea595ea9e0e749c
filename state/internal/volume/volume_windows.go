package volume

import (
	"golang.org/x/sys/windows"

	"github.com/liaison-bot/liaison/state"
)

func usage(dir string) (state.VolumeUsage, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return state.VolumeUsage{}, err
	}
	var free, size uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &size, nil); err != nil {
		return state.VolumeUsage{}, err
	}
	return state.VolumeUsage{Size: int64(size), Free: int64(free)}, nil
}
