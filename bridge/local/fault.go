package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// fault is an error of a call: what Connect says of it and what the
// protocol's own taxonomy says.
type fault struct {
	code       connect.Code
	sdk        sdkv1.SdkErrorCode
	text       string
	retryAfter time.Duration
	limit      *sdkv1.RateLimitInfo
}

func (f *fault) Error() string { return f.text }

func newFault(code connect.Code, sdk sdkv1.SdkErrorCode, format string, args ...any) *fault {
	return &fault{code: code, sdk: sdk, text: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *fault {
	return newFault(connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR, format, args...)
}

func unavailableFeature(text string) *fault {
	return newFault(connect.CodeUnimplemented, sdkv1.SdkErrorCode_SDK_ERROR_CODE_FEATURE_UNAVAILABLE, "%s", text)
}

func agentNotFound(id string) *fault {
	return newFault(connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND, "agent %s is not known to this bridge", id)
}

func agentNotAttached(id string) *fault {
	return newFault(connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND,
		"agent %s is not attached to this bridge process; call ResumeAgent first", id)
}

func agentBusy(id, runID string) *fault {
	return newFault(connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_BUSY,
		"agent %s already has the active run %s; wait for it, cancel it, or send with local.force to expire it", id, runID)
}

func runNotFound(id string) *fault {
	return newFault(connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND, "run %s is not known to this bridge", id)
}

func noAPIKey(what string) *fault {
	return newFault(connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_API_KEY_NOT_FOUND,
		"an API key is required for %s: set options.api_key (this bridge takes any that is not empty)", what)
}

// internalFault hides err from the caller; the log has it.
func internalFault() *fault {
	return newFault(connect.CodeInternal, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR,
		"the bridge failed; its stderr has the cause under this request id")
}

// faultOf finds or makes the fault that err is for a caller. The second result
// is false when the cause belongs in the log.
func faultOf(err error) (*fault, bool) {
	var f *fault
	// Connect could not read the request, or could not write to the caller. A
	// wrapped one is of a call that the bridge made itself, and not the caller's.
	connected, isConnect := err.(*connect.Error) //nolint:errorlint // see above
	switch {
	case errors.As(err, &f):
		return f, true
	case errors.Is(err, context.Canceled):
		return newFault(connect.CodeCanceled, sdkv1.SdkErrorCode_SDK_ERROR_CODE_CLIENT_CANCELLED, "the caller went away"), true
	case errors.Is(err, context.DeadlineExceeded):
		return newFault(connect.CodeDeadlineExceeded, sdkv1.SdkErrorCode_SDK_ERROR_CODE_CLIENT_CANCELLED, "the caller's deadline passed"), true
	case isConnect && errors.Is(err, io.ErrUnexpectedEOF):
		return invalid("the request's body is cut off"), true
	case isConnect:
		return newFault(connected.Code(), sdkCodeOf(connected.Code()), "%s", cut(connected.Message(), maxRefusalText)), true
	default:
		var store *storeFailure
		if errors.As(err, &store) {
			return newFault(connect.CodeUnavailable, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UPSTREAM_ERROR,
				"the store that keeps this bridge's agents did not answer as it should (%s); the bridge's stderr has the cause", store.call), false
		}
		return internalFault(), false
	}
}

// details is the protocol's own account of the fault.
func (f *fault) details(requestID string) *sdkv1.SdkErrorDetails {
	details := &sdkv1.SdkErrorDetails{
		RequestId:    &requestID,
		SdkErrorCode: f.sdk,
		Message:      f.text,
		RateLimit:    f.limit,
	}
	if f.retryAfter > 0 {
		details.RetryAfter = durationpb.New(f.retryAfter)
	}
	return details
}

// wire is the fault as Connect sends it, with the protocol's detail.
func (f *fault) wire(requestID string) *connect.Error {
	out := connect.NewError(f.code, errors.New(f.text))
	if detail, err := connect.NewErrorDetail(f.details(requestID)); err == nil {
		out.AddDetail(detail)
	}
	return out
}
