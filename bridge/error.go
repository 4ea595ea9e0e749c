package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// Error is the bridge's answer to a call that failed, or a call that could not
// be made. Branch on the sentinels with errors.Is, never on text.
type Error struct {
	// Op is the call, such as "send".
	Op string
	// Code is the Connect code in its wire form, such as "not_found".
	Code string
	// SDKCode is the bridge's own code without its prefix, such as "AGENT_BUSY";
	// empty when the answer had none.
	SDKCode string
	// Message is for people, redacted.
	Message string
	// RequestID is the provider's id of the request; quote all of it in a report.
	RequestID string
	HelpURL   string
	Provider  string
	// RetryAfter is how long to wait before the next try; zero means not said.
	RetryAfter time.Duration
	// RateLimit is nil when the answer had none.
	RateLimit *RateLimit

	// detailed is set when the answer carried details at all: the bridge's own
	// refusal of a token has none, the provider's refusal of a key has.
	detailed bool
	// answered is set when it is the bridge that said so, and not this side.
	answered bool
	// doubtful is set for a Send that may have started a run all the same.
	doubtful bool
	cause    error
}

// RateLimit is the window of a rate limit; a nil field was not said.
type RateLimit struct {
	Limit     *uint64
	Remaining *uint64
	// Reset is when the next window begins; zero means not said.
	Reset time.Time
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bridge: %s: %s", e.Op, e.Code)
	if e.SDKCode != "" {
		fmt.Fprintf(&b, " (%s)", e.SDKCode)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if e.doubtful {
		b.WriteString("; the bridge knows of no run that has come of it, but one may have started")
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; try again in %s", e.RetryAfter)
	}
	if e.HelpURL != "" {
		fmt.Fprintf(&b, "; see %s", e.HelpURL)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " [request %s]", e.RequestID)
	}
	return b.String()
}

// Unwrap returns context.Canceled or context.DeadlineExceeded when that is why
// the call failed on this side.
func (e *Error) Unwrap() error { return e.cause }

// newError turns what a call returned into an [*Error].
func newError(op string, err error, mask func(string) string) *Error {
	e := &Error{Op: op, Code: connect.CodeOf(err).String(), Message: mask(err.Error()), answered: connect.IsWireError(err)}
	for _, ctxErr := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ctxErr) {
			e.cause = ctxErr
		}
	}
	var ce *connect.Error
	if !errors.As(err, &ce) {
		return e
	}
	e.Message = mask(ce.Message())
	for _, d := range ce.Details() {
		value, err := d.Value()
		if err != nil {
			continue // a detail that this version does not know
		}
		if details, ok := value.(*sdkv1.SdkErrorDetails); ok {
			e.fill(details, mask)
			break
		}
	}
	return e
}

func (e *Error) fill(d *sdkv1.SdkErrorDetails, mask func(string) string) {
	e.detailed = true
	if d.GetSdkErrorCode() != sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNSPECIFIED {
		e.SDKCode = strings.TrimPrefix(d.GetSdkErrorCode().String(), "SDK_ERROR_CODE_")
	}
	if m := d.GetMessage(); m != "" {
		e.Message = mask(m)
	}
	e.RequestID, e.HelpURL, e.Provider = d.GetRequestId(), d.GetHelpUrl(), d.GetProvider()
	if d.GetRetryAfter() != nil {
		e.RetryAfter = max(d.GetRetryAfter().AsDuration(), 0)
	}
	if l := d.GetRateLimit(); l != nil {
		e.RateLimit = &RateLimit{Limit: l.Limit, Remaining: l.Remaining}
		if l.ResetEpochSeconds != nil {
			e.RateLimit.Reset = time.Unix(int64(min(l.GetResetEpochSeconds(), 1<<62)), 0)
		}
	}
}

// refuse is an error of this side: the call was not made.
func refuse(op string, code connect.Code, sdkCode, format string, args ...any) *Error {
	return &Error{Op: op, Code: code.String(), SDKCode: sdkCode, Message: fmt.Sprintf(format, args...), detailed: true}
}
