package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/liaison-bot/liaison/bridge/install"
)

// redrawEvery bounds how often a terminal is written to.
const redrawEvery = 200 * time.Millisecond

// installProgress shows an installation: one line for each step, and how far a
// download is where there is a terminal to redraw it on.
type installProgress struct {
	w        io.Writer
	terminal bool
	now      func() time.Time

	step  install.Step
	drawn time.Time
	open  bool // the last line on the terminal has no end yet
}

func newInstallProgress(w io.Writer) *installProgress {
	p := &installProgress{w: w, now: time.Now}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// show is called for every piece of a download.
func (p *installProgress) show(now install.Progress) {
	if now.Step != p.step {
		p.end()
		p.step = now.Step
		if now.Step != install.StepDownload || !p.terminal {
			fmt.Fprintln(p.w, now.Step)
		}
	}
	if now.Step != install.StepDownload || !p.terminal {
		return
	}
	if at := p.now(); at.Sub(p.drawn) >= redrawEvery || now.Done == now.Total {
		p.drawn, p.open = at, true
		fmt.Fprintf(p.w, "\r%s %s\x1b[K", now.Step, amount(now))
	}
}

// end ends a line that was being redrawn.
func (p *installProgress) end() {
	if p.open {
		fmt.Fprintln(p.w)
		p.open = false
	}
}

// amount is how far a download is.
func amount(p install.Progress) string {
	const mebi = 1 << 20
	if p.Total > 0 {
		return fmt.Sprintf("%d of %d MiB (%d %%)", p.Done/mebi, p.Total/mebi, p.Done*100/p.Total)
	}
	return fmt.Sprintf("%d MiB", p.Done/mebi)
}
