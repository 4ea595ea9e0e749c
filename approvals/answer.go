package approvals

import (
	"errors"
	"fmt"
)

// Answer is what a person is told whose ballot came to err, with the record as it
// is afterwards: an error of [Record.Cast], or nil where the ballot counts. It is
// for that person alone.
func (v View) Answer(err error, w Words) string {
	var refused *NotAllowedError
	var late *DecidedError
	switch {
	case err == nil:
		return v.counted(w)
	case errors.As(err, &refused):
		return refused.Why + " " + v.WhoMayDecide(w)
	case errors.As(err, &late):
		return v.late(late, w)
	case errors.Is(err, ErrUnknown):
		return "No such approval is known here: the card may be an old one, or of another request. Nothing was decided."
	case errors.Is(err, ErrInvalid):
		return "A decision is approve or deny. Nothing was decided."
	}
	return "It could not be decided now. Nothing was changed: please try again."
}

// counted answers a ballot that counts.
func (v View) counted(w Words) string {
	switch v.State {
	case Approving:
		return fmt.Sprintf("Your approval counts. %s must approve, until %s.", more(v.Needed()), w.time(v.ExpiresAt))
	case Denied:
		return "Denied: it will not run, and the agent is told."
	}
	return v.Status(w)
}

// late answers a ballot that came too late, or twice.
func (v View) late(e *DecidedError, w Words) string {
	switch {
	case e.State.Open():
		return fmt.Sprintf("Your own approval counts already, since %s%s. %s must approve, until %s.",
			w.time(e.At), where(e.Place), more(v.Needed()), w.time(v.ExpiresAt))
	case e.State == Expired:
		return fmt.Sprintf("It expired at %s: nobody had decided in time, and it did not run.", w.time(e.At))
	case e.By == "":
		return "It is too late to decide. " + v.Status(w)
	case e.State == Denied:
		return fmt.Sprintf("Already denied by %s at %s%s. It does not run.", w.person(v.known(e.By)), w.time(e.At), where(e.Place))
	}
	return fmt.Sprintf("Already approved by %s at %s%s. %s", w.person(v.known(e.By)), w.time(e.At), where(e.Place), v.fate(w))
}

// fate says what became of a call that was approved.
func (v View) fate(w Words) string {
	switch v.State {
	case Done:
		return "It ran" + v.ran(", and took ") + "."
	case Failed:
		if v.Reason != "" {
			return "It did not run: " + sentence(w.text(v.Reason))
		}
		return "It ran, and failed."
	case Unknown:
		return "Whether it happened is not known, and it is not repeated."
	}
	return "It runs."
}

// known returns what is known of whom a principal names.
func (v View) known(principal string) Identity {
	if v.Decision != nil && v.Decision.By.Principal == principal {
		return v.Decision.By
	}
	for _, vote := range v.Votes {
		if vote.By.Principal == principal {
			return vote.By
		}
	}
	return Identity{Principal: principal}
}
