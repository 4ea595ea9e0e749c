package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/state"
)

// sweepPage is how many sessions are looked up at once.
const sweepPage = 100

// sweep archives every session of the channel whose key begins with one of the
// intent's prefixes, each in a commit of its own, and settles the delivery last:
// a process that ends meanwhile leaves it pending, and what is archived already
// is nothing to the next one.
func (d *dispatcher) sweep(w *inHand) {
	defer w.settled()
	e, n := d.e, 0
	for _, prefix := range w.in.KeyPrefixes {
		archived, err := d.sweepPrefix(w, prefix)
		n += archived
		if d.stopping() {
			e.logger.Info("sessions are not archived yet; they will be at the next start", "delivery", ref(w.del), "archived", n)
			return
		}
		if err != nil {
			e.putOff(w.del, &RetryError{Err: fmt.Errorf("archive the sessions of %s: %w", prefix, err)})
			return
		}
	}
	switch n {
	case 0:
		e.settleApart(w.del, w.in, state.DeliveryIgnored, "no session to archive: "+w.in.Reason)
	case 1:
		e.settleApart(w.del, w.in, state.DeliveryDone, "archived one session: "+w.in.Reason)
	default:
		e.settleApart(w.del, w.in, state.DeliveryDone, fmt.Sprintf("archived %d sessions: %s", n, w.in.Reason))
	}
}

func (d *dispatcher) sweepPrefix(w *inHand, prefix string) (n int, err error) {
	for after := ""; !d.stopping(); {
		page, err := read(d.work, d.e, func(ctx context.Context) ([]state.KeyLink, error) {
			return d.e.store.SessionKeys(ctx, prefix, after, sweepPage)
		})
		if err != nil || len(page) == 0 {
			return n, err
		}
		for _, link := range page {
			did, err := d.archive(link.SessionID, w)
			if err != nil || d.stopping() {
				return n, err
			}
			if did {
				n++
			}
		}
		after = page[len(page)-1].Key
	}
	return n, nil
}

// archive archives one session and waits for it. It reports false when there was
// nothing to do.
func (d *dispatcher) archive(sessionID string, w *inHand) (did bool, err error) {
	done := make(chan struct{})
	d.e.actors.post(sessionID, func(a *actor) {
		err = errPanicked
		defer close(done)
		did, err = a.archiveApart(w.del.Source, w.in.Reason)
	})
	<-done
	return did, err
}

// archiveApart archives the session without a delivery of its own.
func (a *actor) archiveApart(channel, reason string) (did bool, err error) {
	err = a.decide(func(d *draft) error {
		over := a.sess.Status == state.SessionArchived && len(a.open()) == 0
		if a.sess.Version == 0 || a.sess.Channel != channel || over {
			return errNothingNew
		}
		a.archive(d, reason)
		return nil
	})
	switch {
	case errors.Is(err, errNothingNew):
		return false, nil
	case err != nil:
		return false, err
	}
	a.schedule()
	return true, nil
}

// sweepable refuses prefixes that would name more than is meant: what begins like
// the number of one repository may be that of another.
func sweepable(in Intent) error {
	for _, prefix := range in.KeyPrefixes {
		switch {
		case in.Action != ActionArchive:
			return fmt.Errorf("the channel asked for action %d with many sessions", in.Action)
		case !state.ValidID(prefix) || !strings.HasSuffix(prefix, ":"):
			return fmt.Errorf("the channel made an impossible beginning of keys: %.80q", prefix)
		}
	}
	return nil
}
