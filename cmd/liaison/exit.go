package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
)

// The exit statuses. Scripts branch on them: they are a contract.
const (
	exitFailed      = 1
	exitUnusable    = 2
	exitUnreachable = 3
	exitNotFound    = 4
	exitConflict    = 5
	exitNotAllowed  = 6
	exitBusy        = 7
	exitWaiting     = 8
	exitInterrupted = 130
)

// exitMeanings explains every exit status, for the help and the documentation.
func exitMeanings() []struct {
	status  int
	meaning string
} {
	return []struct {
		status  int
		meaning string
	}{
		{0, "it is done"},
		{exitFailed, "it failed; also: the turn that was followed failed or was interrupted, or the tool that was called failed"},
		{exitUnusable, "the command line, a file or a setting cannot be used; nothing was done"},
		{exitUnreachable, "no service answers, or the connection was cut"},
		{exitNotFound, "there is no such session, delivery, dead letter, approval or tool"},
		{exitConflict, "it is not possible in the present state: the session was continued since, is busy or takes no follow-up, it was decided otherwise already, another backup runs"},
		{exitNotAllowed, "the token is missing or wrong, or what was asked for is somebody else's to see or to decide"},
		{exitBusy, "the service cannot take it now; try again"},
		{exitWaiting, "the tool call waits for a person's approval"},
		{exitInterrupted, "Ctrl-C or SIGTERM ended it; a turn that was followed goes on"},
	}
}

// exitHelp is the table of exit statuses as the help shows it.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit status:\n")
	for _, e := range exitMeanings() {
		fmt.Fprintf(&b, "  %3d  %s\n", e.status, e.meaning)
	}
	return b.String()
}

// exitStatus is an error with the exit status that it shall lead to. A nil
// cause prints nothing.
type exitStatus struct {
	status int
	cause  error
}

func (e exitStatus) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.cause.Error()
}

func (e exitStatus) Unwrap() error { return e.cause }

// unusable marks an error in what the operator gave us.
func unusable(err error) error { return exitStatus{status: exitUnusable, cause: err} }

// statusOf is the exit status that an error leads to.
func statusOf(ctx context.Context, err error) int {
	if e, ok := errors.AsType[exitStatus](err); ok {
		return e.status
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	if errors.Is(err, remote.ErrInsecure) {
		return exitUnusable
	}
	if r, ok := errors.AsType[*remote.Refusal](err); ok {
		return statusOfRefusal(r)
	}
	_, unreachable := errors.AsType[*remote.UnreachableError](err)
	_, cut := errors.AsType[*remote.CutError](err)
	if unreachable || cut {
		return exitUnreachable
	}
	return exitFailed
}

func statusOfRefusal(r *remote.Refusal) int {
	switch r.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return exitUnusable
	case http.StatusUnauthorized, http.StatusForbidden:
		return exitNotAllowed
	case http.StatusNotFound:
		return exitNotFound
	case http.StatusConflict:
		return exitConflict
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return exitBusy
	}
	return exitFailed
}
