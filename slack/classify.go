package slack

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// settles is how long Slack is given to show what it may have taken, before it is
// looked for and perhaps written once more.
const settles = 5 * time.Second

// retryable turns what can be tried again into a [*sessions.RetryError] and leaves
// what cannot as it is.
func retryable(err error) error {
	var (
		done    *sessions.RetryError
		failure *web.Error
	)
	switch {
	case err == nil, errors.As(err, &done):
		return err
	case errors.Is(err, web.ErrLate):
		return &sessions.RetryError{Err: err}
	case !errors.As(err, &failure):
		return err
	case errors.Is(err, web.ErrAuth):
		return &sessions.RetryError{Paused: true, Err: err}
	case errors.Is(err, web.ErrLimited):
		return &sessions.RetryError{After: failure.After, Uncounted: true, Err: err}
	case errors.Is(err, web.ErrUnsent):
		return &sessions.RetryError{Uncounted: true, Err: err}
	case errors.Is(err, web.ErrAmbiguous):
		return &sessions.RetryError{After: settles, Err: err}
	}
	return err
}

// lasting reports whether trying again changes nothing.
func lasting(err error) bool {
	var again *sessions.RetryError
	return err != nil && (!errors.As(retryable(err), &again) || again.Paused)
}

// maxRefused bounds how many workspaces are remembered that refuse us.
const maxRefused = 1000

// refused tells the operator once of each workspace whose token Slack does not take.
type refused struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[string]string // Slack's code by installation
}

func newRefused(log *slog.Logger) *refused { return &refused{log: log, told: map[string]string{}} }

// note records how a call ended that was made for an installation.
func (r *refused) note(installation string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.told[installation]
	switch code := web.Code(err); {
	case err == nil && known:
		delete(r.told, installation)
		r.log.Info("Slack takes the app's token again", "installation", installation)
	case !errors.Is(err, web.ErrAuth) || known && before == code || len(r.told) >= maxRefused:
	default:
		r.told[installation] = code
		r.log.Error("Slack does not take the app's token; what is owed there waits until a person has changed that", "installation", installation, "error", err)
	}
}
