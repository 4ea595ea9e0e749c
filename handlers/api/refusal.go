package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// refusal is an error that is the answer.
type refusal struct {
	status  int
	code    string
	message string
}

// Error implements error.
func (e *refusal) Error() string { return e.message }

func refusef(status int, code, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// badRequest refuses a path, query or body.
func badRequest(format string, args ...any) *refusal {
	return refusef(http.StatusBadRequest, "bad_request", format, args...)
}

// retryAfter is the Retry-After of a 503 in seconds.
const retryAfter = 5

// refuse answers with an error: with its own words where it was made for the
// caller, and otherwise with none of its text, which is logged.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		refused = known(err)
	}
	if refused == nil {
		a.log.Error("API request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		refused = refusef(http.StatusInternalServerError, "internal", "this is a fault of the service; its log has the details")
	}
	if refused.status == http.StatusServiceUnavailable {
		if !ok {
			a.log.Warn("API request not taken", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	answer.Refuse(w, refused.status, refused.code, refused.message)
}

// known is the answer to an error of the engine or the store, and nil for those
// that nobody expects.
func known(err error) *refusal {
	if refused := knownOfTools(err); refused != nil {
		return refused
	}
	switch {
	case errors.Is(err, sessions.ErrStaleToken):
		return refusef(http.StatusConflict, "stale_token", "the session was continued since that token was given; read its present one with GET /v1/session/{id} and look at what was said meanwhile")
	case errors.Is(err, sessions.ErrTask):
		return refusef(http.StatusConflict, "task_session", "the session is a task, which takes no follow-up; start another session")
	case errors.Is(err, sessions.ErrNotAllowed):
		return notYours()
	case errors.Is(err, state.ErrNotFound):
		return refusef(http.StatusNotFound, "not_found", "there is no such thing, or it is gone by its retention")
	case errors.Is(err, state.ErrConflict):
		return refusef(http.StatusConflict, "conflict", "it changed meanwhile; look again and repeat what is still wanted")
	case errors.Is(err, state.ErrInvalid):
		return badRequest("the store cannot keep this: an id or a text is too long or not clean UTF-8")
	case errors.Is(err, state.ErrNoSpace):
		return refusef(http.StatusServiceUnavailable, "no_space", "the volume has too little free space for this; make room and try again")
	case errors.Is(err, state.ErrUnavailable):
		return refusef(http.StatusServiceUnavailable, "unavailable", "the service cannot take this now; nothing was taken, try again")
	}
	return nil
}

func notYours() *refusal {
	return refusef(http.StatusForbidden, "not_owner", "the session belongs to somebody else")
}

func noSession() *refusal {
	return refusef(http.StatusNotFound, "not_found", "there is no such session, or it is gone by its retention")
}

// knownOfTools is known for what calls of tools and decisions about them end with.
func knownOfTools(err error) *refusal {
	if e, ok := errors.AsType[*approvals.NotAllowedError](err); ok {
		return refusef(http.StatusForbidden, "not_allowed", "%s", e.Why)
	}
	if e, ok := errors.AsType[*approvals.DecidedError](err); ok {
		return refusef(http.StatusConflict, "already_decided", "decided already: %s, since %s", e, e.At.UTC().Format(time.RFC3339))
	}
	if e, ok := errors.AsType[*sessions.UnknownToolError](err); ok {
		return unknownTool(e)
	}
	switch {
	case errors.Is(err, approvals.ErrUnknown):
		return noApproval()
	case errors.Is(err, approvals.ErrInvalid):
		return badRequest(`"decision" must be "approve" or "deny"`)
	case errors.Is(err, sessions.ErrSessionBusy):
		return refusef(http.StatusConflict, "session_busy", "a turn of the session runs or waits; try again when it is over, or stop it")
	case errors.Is(err, sessions.ErrToolInput):
		return refusef(http.StatusBadRequest, "bad_input", "%s", err)
	case errors.Is(err, sessions.ErrAgentTool):
		return refusef(http.StatusBadRequest, "agent_tool", "%s; only an agent can call it", err)
	}
	return nil
}

func unknownTool(e *sessions.UnknownToolError) *refusal {
	if len(e.Names) == 0 {
		return refusef(http.StatusNotFound, "unknown_tool", "there is no tool %q; none can be called without an agent here", clip(e.Tool))
	}
	return refusef(http.StatusNotFound, "unknown_tool", "there is no tool %q; there is %s", clip(e.Tool), strings.Join(e.Names, ", "))
}

func noApproval() *refusal {
	return refusef(http.StatusNotFound, "not_found", "there is no such approval, or it is gone by its retention")
}
