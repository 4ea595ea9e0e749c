package bridge

import (
	"errors"
	"slices"
)

// What an [*Error] can be, for errors.Is. One error may be several: an unknown
// agent is both ErrAgentNotFound and ErrNotFound.
var (
	// ErrUnauthenticated covers ErrBridgeToken and ErrAPIKey.
	ErrUnauthenticated = errors.New("bridge: unauthenticated")
	// ErrBridgeToken means that the bridge refused our token; such an answer has no details.
	ErrBridgeToken = errors.New("bridge: the bridge's token was refused")
	// ErrAPIKey means that the provider refused the key, or does not know it.
	ErrAPIKey             = errors.New("bridge: the API key was refused")
	ErrPlanRequired       = errors.New("bridge: the account's plan does not cover this")
	ErrForbidden          = errors.New("bridge: forbidden")
	ErrFeatureUnavailable = errors.New("bridge: feature unavailable")
	// ErrNotFound covers ErrAgentNotFound and ErrRunNotFound; a fresh bridge
	// answers so for every agent that was not resumed.
	ErrNotFound      = errors.New("bridge: not found")
	ErrAgentNotFound = errors.New("bridge: agent not found")
	ErrRunNotFound   = errors.New("bridge: run not found")
	// ErrInvalid covers the four below it: the request is wrong, repeating it does not help.
	ErrInvalid            = errors.New("bridge: invalid request")
	ErrInvalidModel       = errors.New("bridge: invalid model")
	ErrInvalidBranchName  = errors.New("bridge: invalid branch name")
	ErrRepositoryRequired = errors.New("bridge: repository required")
	ErrPRResolution       = errors.New("bridge: pull request not resolved")
	ErrRepositoryAccess   = errors.New("bridge: repository cannot be reached")
	ErrUsageLimit         = errors.New("bridge: usage limit exceeded")
	// ErrAgentBusy means that the agent has a run under way. Bridges answer so
	// for some agents only; this package knows its own runs and answers for all.
	ErrAgentBusy      = errors.New("bridge: agent busy")
	ErrAgentArchived  = errors.New("bridge: agent archived")
	ErrNotCancellable = errors.New("bridge: run not cancellable")
	// ErrRateLimited comes with RetryAfter or RateLimit where the provider said.
	ErrRateLimited = errors.New("bridge: rate limited")
	// ErrExhausted means that the bridge has no room for the request now: too many
	// runs, or a stream that was read too slowly.
	ErrExhausted = errors.New("bridge: the bridge has no room")
	ErrUpstream  = errors.New("bridge: upstream error")
	ErrInternal  = errors.New("bridge: internal error")
	ErrCancelled = errors.New("bridge: cancelled")
	// ErrUnavailable means that nobody answered.
	ErrUnavailable = errors.New("bridge: unavailable")
	// ErrStalled means that a run was given up because it brought nothing for too
	// long; together with ErrUnavailable, that the bridge does not answer either.
	ErrStalled = errors.New("bridge: the run stalled")
	// ErrUnknownOutcome means that a Send broke before the bridge had named the run,
	// and that the bridge knows of no run that has come of it. Look at [Client.Runs]
	// again before sending again. It comes with what broke the Send.
	ErrUnknownOutcome = errors.New("bridge: it is not known whether the run has started")
)

// kinds returns the sentinels of an answer: by the bridge's own code where it
// gave one, by Connect's otherwise.
func (e *Error) kinds() []error {
	switch e.SDKCode {
	case "UNAUTHORIZED", "API_KEY_NOT_FOUND":
		return []error{ErrUnauthenticated, ErrAPIKey}
	case "PLAN_REQUIRED":
		return []error{ErrPlanRequired}
	case "ROLE_FORBIDDEN":
		return []error{ErrForbidden}
	case "FEATURE_UNAVAILABLE":
		return []error{ErrFeatureUnavailable}
	case "AGENT_NOT_FOUND":
		return []error{ErrNotFound, ErrAgentNotFound}
	case "RUN_NOT_FOUND":
		return []error{ErrNotFound, ErrRunNotFound}
	case "VALIDATION_ERROR":
		return []error{ErrInvalid}
	case "INVALID_MODEL":
		return []error{ErrInvalid, ErrInvalidModel}
	case "INVALID_BRANCH_NAME":
		return []error{ErrInvalid, ErrInvalidBranchName}
	case "REPOSITORY_REQUIRED":
		return []error{ErrInvalid, ErrRepositoryRequired}
	case "PR_RESOLUTION_FAILED":
		return []error{ErrInvalid, ErrPRResolution}
	case "REPOSITORY_ACCESS":
		return []error{ErrRepositoryAccess}
	case "USAGE_LIMIT_EXCEEDED":
		return []error{ErrUsageLimit}
	case "AGENT_BUSY":
		return []error{ErrAgentBusy}
	case "AGENT_ARCHIVED":
		return []error{ErrAgentArchived}
	case "RUN_NOT_CANCELLABLE":
		return []error{ErrNotCancellable}
	case "RATE_LIMIT_EXCEEDED":
		return []error{ErrRateLimited}
	case "UPSTREAM_ERROR":
		return []error{ErrUpstream}
	case "INTERNAL_ERROR":
		return []error{ErrInternal}
	case "CLIENT_CANCELLED":
		return []error{ErrCancelled}
	case sdkStalled:
		return []error{ErrStalled}
	case sdkUnresponsive:
		return []error{ErrStalled, ErrUnavailable}
	}
	switch e.Code {
	case "unauthenticated":
		if e.detailed {
			return []error{ErrUnauthenticated, ErrAPIKey}
		}
		return []error{ErrUnauthenticated, ErrBridgeToken}
	case "permission_denied":
		return []error{ErrForbidden}
	case "not_found":
		return []error{ErrNotFound}
	case "invalid_argument":
		return []error{ErrInvalid}
	case "unimplemented":
		return []error{ErrFeatureUnavailable}
	case "internal", "unknown", "data_loss":
		return []error{ErrInternal}
	case "canceled":
		return []error{ErrCancelled}
	case "unavailable":
		return []error{ErrUnavailable}
	case "resource_exhausted":
		if e.answered { // otherwise an answer was larger than this side takes
			return []error{ErrExhausted}
		}
	}
	return nil
}

// The codes of errors that only this side makes.
const (
	sdkStalled      = "STALLED"
	sdkUnresponsive = "UNRESPONSIVE"
)

// Is implements the match of errors.Is with the sentinels above.
func (e *Error) Is(target error) bool {
	return e.doubtful && target == ErrUnknownOutcome || slices.Contains(e.kinds(), target)
}

// Class says what a caller can do about an error.
type Class int

// The classes of errors.
const (
	// ClassAgent is the agent's own trouble: tell whoever asked.
	ClassAgent Class = iota
	// ClassRetry may pass by itself: try again later.
	ClassRetry
	// ClassRecreate means that the agent is gone: make a new one.
	ClassRecreate
	// ClassConfiguration needs the operator: a key, a plan, a model, an executable.
	ClassConfiguration
)

// ClassOf sorts an error of this package; what it does not know is ClassAgent.
func ClassOf(err error) Class {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	var process *ProcessError
	switch {
	case is(ErrUnknownOutcome):
		return ClassAgent // whatever broke it, trying again may be once too often
	case errors.As(err, &process):
		if process.Op == "start" {
			return ClassConfiguration
		}
		return ClassRetry
	case is(ErrRateLimited, ErrAgentBusy, ErrExhausted, ErrUpstream, ErrUnavailable, ErrStalled):
		return ClassRetry
	case is(ErrNotFound, ErrAgentArchived):
		return ClassRecreate
	case is(ErrUnauthenticated, ErrPlanRequired, ErrForbidden, ErrFeatureUnavailable, ErrInvalidModel,
		ErrUsageLimit, ErrRepositoryAccess, ErrRepositoryRequired):
		return ClassConfiguration
	default:
		return ClassAgent
	}
}
