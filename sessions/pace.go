package sessions

import (
	"context"
	"time"
)

// pacer makes room for intake: as long as deliveries are being received, all
// that can wait gets a bounded share of the machine and of the disk, because an
// acknowledgement that comes too late counts as none. Nothing is held up for
// longer than paceMax, so that no load can starve it.
type pacer struct {
	// intake returns how many deliveries are being received now.
	intake func() int
	now    func() time.Time
}

// busy reports whether somebody waits for an acknowledgement.
func (p *pacer) busy() bool { return p.intake() > 0 }

// rest waits, after work that took so long, until intake is idle or has had its
// share of the time.
func (p *pacer) rest(ctx context.Context, worked time.Duration) {
	if !p.busy() {
		return
	}
	until := p.now().Add(min(max(paceShare*worked, paceLook), paceMax))
	look := time.NewTicker(paceLook)
	defer look.Stop()
	for p.busy() && p.now().Before(until) {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}
