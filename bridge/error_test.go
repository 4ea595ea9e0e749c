package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// TestErrorOfEveryCode sends each code of the taxonomy over the wire: to a unary
// call, and at the end of a stream, where errors of Send arrive.
func TestErrorOfEveryCode(t *testing.T) {
	t.Parallel()
	want := map[string]struct {
		kinds []error
		class Class
	}{
		"UNSPECIFIED":          {[]error{ErrNotFound}, ClassRecreate}, // by Connect's code
		"UNAUTHORIZED":         {[]error{ErrUnauthenticated, ErrAPIKey}, ClassConfiguration},
		"API_KEY_NOT_FOUND":    {[]error{ErrUnauthenticated, ErrAPIKey}, ClassConfiguration},
		"PLAN_REQUIRED":        {[]error{ErrPlanRequired}, ClassConfiguration},
		"ROLE_FORBIDDEN":       {[]error{ErrForbidden}, ClassConfiguration},
		"FEATURE_UNAVAILABLE":  {[]error{ErrFeatureUnavailable}, ClassConfiguration},
		"AGENT_NOT_FOUND":      {[]error{ErrNotFound, ErrAgentNotFound}, ClassRecreate},
		"RUN_NOT_FOUND":        {[]error{ErrNotFound, ErrRunNotFound}, ClassRecreate},
		"VALIDATION_ERROR":     {[]error{ErrInvalid}, ClassAgent},
		"INVALID_MODEL":        {[]error{ErrInvalid, ErrInvalidModel}, ClassConfiguration},
		"INVALID_BRANCH_NAME":  {[]error{ErrInvalid, ErrInvalidBranchName}, ClassAgent},
		"REPOSITORY_REQUIRED":  {[]error{ErrInvalid, ErrRepositoryRequired}, ClassConfiguration},
		"REPOSITORY_ACCESS":    {[]error{ErrRepositoryAccess}, ClassConfiguration},
		"PR_RESOLUTION_FAILED": {[]error{ErrInvalid, ErrPRResolution}, ClassAgent},
		"USAGE_LIMIT_EXCEEDED": {[]error{ErrUsageLimit}, ClassConfiguration},
		"AGENT_BUSY":           {[]error{ErrAgentBusy}, ClassRetry},
		"AGENT_ARCHIVED":       {[]error{ErrAgentArchived}, ClassRecreate},
		"RUN_NOT_CANCELLABLE":  {[]error{ErrNotCancellable}, ClassAgent},
		"RATE_LIMIT_EXCEEDED":  {[]error{ErrRateLimited}, ClassRetry},
		"UPSTREAM_ERROR":       {[]error{ErrUpstream}, ClassRetry},
		"INTERNAL_ERROR":       {[]error{ErrInternal}, ClassAgent},
		"CLIENT_CANCELLED":     {[]error{ErrCancelled}, ClassAgent},
	}
	if len(want) != len(sdkv1.SdkErrorCode_name) {
		t.Errorf("the table has %d codes, the contract %d", len(want), len(sdkv1.SdkErrorCode_name))
	}
	details := `{"sdkErrorCode":"SDK_ERROR_CODE_%s","message":"no, because api-key-0123456789","requestId":"req-0123456789-abcdef",` +
		`"helpUrl":"https://example.com/help","provider":"someone","retryAfter":"1.5s","rateLimit":{"limit":"10","remaining":"0","resetEpochSeconds":"1700000000"}}`
	for code, w := range want {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{"CreateAgent", "Send"} {
				o := fakeOptions(t, fakeScript{Fail: &fakeFailure{
					Method: method, Code: connect.CodeNotFound, Details: fmt.Appendf(nil, details, code),
				}})
				o.Retry.Tries = 1
				c := newClient(t, o)
				a, err := c.Agents().Create(testContext(t), testAgent(t))
				if method == "Send" {
					if err != nil {
						t.Fatal(err)
					}
					_, err = a.Send(testContext(t), Message{Text: "x"}, SendOptions{})
				}
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: error = %v, want an *Error", method, err)
				}
				for _, kind := range w.kinds {
					if !errors.Is(err, kind) {
						t.Errorf("%s: errors.Is(%v, %v) is false", method, err, kind)
					}
				}
				if len(e.kinds()) != len(w.kinds) {
					t.Errorf("%s: the error is %v, want %v", method, e.kinds(), w.kinds)
				}
				if got := ClassOf(err); got != w.class {
					t.Errorf("%s: class = %v, want %v", method, got, w.class)
				}
				if e.SDKCode != strings.TrimSuffix(code, "UNSPECIFIED") || e.Code != "not_found" || e.RequestID != "req-0123456789-abcdef" ||
					e.HelpURL != "https://example.com/help" || e.Provider != "someone" || e.RetryAfter != 1500*time.Millisecond {
					t.Errorf("%s: error = %+v", method, e)
				}
				if l := e.RateLimit; l == nil || *l.Limit != 10 || *l.Remaining != 0 || !l.Reset.Equal(time.Unix(1700000000, 0)) {
					t.Errorf("%s: rate limit = %+v", method, l)
				}
				if e.Message != "no, because [redacted]" {
					t.Errorf("%s: message = %q", method, e.Message)
				}
				if !strings.Contains(err.Error(), "req-0123456789-abcdef") {
					t.Errorf("%s: the text %q lacks the whole request id", method, err)
				}
			}
		})
	}
}

// An agent that was refused a run is free for the next try.
func TestRefusedSendLeavesTheAgentFree(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Fail: &fakeFailure{Method: "Send", Code: connect.CodeInternal, Bare: true}}))
	a := newAgent(t, c)
	for range 6 { // more than there are slots
		if _, err := a.Send(testContext(t), Message{Text: "x"}, SendOptions{}); !errors.Is(err, ErrInternal) {
			t.Fatalf("send = %v, want ErrInternal", err)
		}
	}
}

// The two failures of authentication have different people to fix them.
func TestUnauthenticated(t *testing.T) {
	t.Parallel()
	bare := newError("x", connect.NewError(connect.CodeUnauthenticated, errors.New("Unauthorized")), noMask)
	if !errors.Is(bare, ErrBridgeToken) || errors.Is(bare, ErrAPIKey) || !errors.Is(bare, ErrUnauthenticated) {
		t.Errorf("a bare refusal is %v", bare.kinds())
	}
	ce := connect.NewError(connect.CodeUnauthenticated, errors.New("no"))
	d, err := connect.NewErrorDetail(&sdkv1.SdkErrorDetails{Message: "Invalid User API Key"})
	if err != nil {
		t.Fatal(err)
	}
	ce.AddDetail(d)
	detailed := newError("x", ce, noMask)
	if errors.Is(detailed, ErrBridgeToken) || !errors.Is(detailed, ErrAPIKey) {
		t.Errorf("a refusal with details is %v", detailed.kinds())
	}
}

func TestUnknownCodesAreKept(t *testing.T) {
	t.Parallel()
	ce := connect.NewError(connect.CodeInvalidArgument, errors.New("no"))
	d, err := connect.NewErrorDetail(&sdkv1.SdkErrorDetails{SdkErrorCode: 99})
	if err != nil {
		t.Fatal(err)
	}
	ce.AddDetail(d)
	if e := newError("x", ce, noMask); e.SDKCode != "99" || !errors.Is(e, ErrInvalid) || e.Message != "no" {
		t.Errorf("error = %+v", e)
	}
	if e := newError("x", errors.New("broken pipe"), noMask); e.Code != "unknown" || !errors.Is(e, ErrInternal) {
		t.Errorf("error = %+v", e)
	}
}

func TestCallHasADeadline(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Run: []fakeStep{message("status", "status", "RUNNING"), {Hang: true}}}))
	run, err := newAgent(t, c).Send(testContext(t), Message{Text: "x"}, SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if err := run.Cancel(over); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancel = %v, want context.DeadlineExceeded", err)
	}
	if _, err := run.Wait(over); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait = %v, want context.DeadlineExceeded", err)
	}
	if err := c.Ping(testContext(t)); err != nil {
		t.Errorf("the bridge is gone: %v", err)
	}
}

func noMask(s string) string { return s }
