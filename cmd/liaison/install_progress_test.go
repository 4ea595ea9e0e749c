package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge/install"
)

// A log gets a line for each step; a terminal sees how far a download is.
func TestInstallProgress(t *testing.T) {
	t.Parallel()
	const mebi = 1 << 20
	play := func(p *installProgress) {
		at := time.Unix(0, 0)
		p.now = func() time.Time { return at }
		for _, step := range []install.Progress{
			{Step: install.StepDownload, Done: 1 * mebi, Total: 4 * mebi},
			{Step: install.StepDownload, Done: 2 * mebi, Total: 4 * mebi}, // too soon to be drawn
			{Step: install.StepDownload, Done: 4 * mebi, Total: 4 * mebi},
			{Step: install.StepUnpack},
			{Step: install.StepSwitch},
		} {
			p.show(step)
			at = at.Add(time.Millisecond)
		}
		p.end()
	}
	for name, tt := range map[string]struct {
		terminal bool
		want     string
	}{
		"log":      {false, "downloading\nunpacking\nswitching to it\n"},
		"terminal": {true, "\rdownloading 1 of 4 MiB (25 %)\x1b[K\rdownloading 4 of 4 MiB (100 %)\x1b[K\nunpacking\nswitching to it\n"},
	} {
		var b bytes.Buffer
		p := newInstallProgress(&b)
		p.terminal = tt.terminal
		play(p)
		if b.String() != tt.want {
			t.Errorf("%s: %q, want %q", name, b.String(), tt.want)
		}
	}
	if got, want := amount(install.Progress{Done: 3 * mebi, Total: -1}), "3 MiB"; got != want {
		t.Errorf("unknown length: %q, want %q", got, want)
	}
}
