package bridge

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// answerOf is an answer of a bridge with details.
func answerOf(t *testing.T, code connect.Code, d *sdkv1.SdkErrorDetails) error {
	t.Helper()
	ce := connect.NewError(code, errors.New("no"))
	if d != nil {
		detail, err := connect.NewErrorDetail(d)
		if err != nil {
			t.Fatal(err)
		}
		ce.AddDetail(detail)
	}
	return ce
}

func TestQueryIsRepeated(t *testing.T) {
	t.Parallel()
	limited := func(after time.Duration) func(*testing.T) error {
		return func(t *testing.T) error {
			return answerOf(t, connect.CodeResourceExhausted, &sdkv1.SdkErrorDetails{
				SdkErrorCode: sdkv1.SdkErrorCode_SDK_ERROR_CODE_RATE_LIMIT_EXCEEDED, RetryAfter: durationpb.New(after),
			})
		}
	}
	coded := func(code connect.Code, sdk sdkv1.SdkErrorCode) func(*testing.T) error {
		return func(t *testing.T) error {
			return answerOf(t, code, &sdkv1.SdkErrorDetails{SdkErrorCode: sdk})
		}
	}
	bare := func(code connect.Code) func(*testing.T) error {
		return func(t *testing.T) error { return answerOf(t, code, nil) }
	}
	tests := []struct {
		name     string
		err      func(*testing.T) error
		failures int // how many calls fail before one succeeds
		calls    int
		atLeast  time.Duration // virtual time that must pass
		atMost   time.Duration
		want     error
	}{
		{"the wait that was asked for", limited(5 * time.Second), 1, 2, 5 * time.Second, 6 * time.Second, nil},
		{"again and again", limited(time.Second), 3, 4, 3 * time.Second, 4 * time.Second, nil},
		{"once too often", limited(time.Second), 4, 4, 3 * time.Second, 4 * time.Second, ErrRateLimited},
		{"a wait that is too long", limited(31 * time.Second), 1, 1, 0, 0, ErrRateLimited},
		{"unavailable", bare(connect.CodeUnavailable), 3, 4, 875 * time.Millisecond, 1750 * time.Millisecond, nil},
		{"upstream", coded(connect.CodeInternal, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UPSTREAM_ERROR), 1, 2, 125 * time.Millisecond, 250 * time.Millisecond, nil},
		{"internal", bare(connect.CodeInternal), 1, 1, 0, 0, ErrInternal},
		{"busy", coded(connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_BUSY), 1, 1, 0, 0, ErrAgentBusy},
		{"wrong", bare(connect.CodeInvalidArgument), 1, 1, 0, 0, ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := testConnection()
				defer c.end(ErrClosed)
				calls := 0
				method := func(context.Context, *connect.Request[sdkv1.PingRequest]) (*connect.Response[sdkv1.PingResponse], error) {
					if calls++; calls <= tt.failures {
						return nil, tt.err(t)
					}
					return connect.NewResponse(&sdkv1.PingResponse{Message: "pong"}), nil
				}
				began := time.Now()
				_, err := query(t.Context(), c, "ping", method, &sdkv1.PingRequest{})
				if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
					t.Errorf("error = %v, want %v", err, tt.want)
				}
				if calls != tt.calls {
					t.Errorf("%d calls, want %d", calls, tt.calls)
				}
				if took := time.Since(began); took < tt.atLeast || took > tt.atMost {
					t.Errorf("it took %s, want between %s and %s", took, tt.atLeast, tt.atMost)
				}
			})
		})
	}
}

// Whoever waits is let go when its context, or the bridge, ends.
func TestWaitForTheNextTryEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cancel func(), c *connection){
		"the caller's context": func(cancel func(), _ *connection) { cancel() },
		"the bridge":           func(_ func(), c *connection) { c.end(ErrClosed) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := testConnection()
				defer c.end(ErrClosed)
				time.AfterFunc(10*time.Millisecond, func() { end(cancel, c) })
				began := time.Now()
				_, err := query(ctx, c, "ping", func(context.Context, *connect.Request[sdkv1.PingRequest]) (*connect.Response[sdkv1.PingResponse], error) {
					return nil, connect.NewError(connect.CodeUnavailable, errors.New("no"))
				}, &sdkv1.PingRequest{})
				if !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) && !errors.Is(err, ErrClosed) {
					t.Errorf("error = %v, want why it waited and why it stopped", err)
				}
				if took := time.Since(began); took != 10*time.Millisecond {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// The answer that this side finds too large is not the bridge's lack of room.
func TestExhausted(t *testing.T) {
	t.Parallel()
	ours := newError("x", connect.NewError(connect.CodeResourceExhausted, errors.New("message size 99 is larger than 9")), noMask)
	if errors.Is(ours, ErrExhausted) {
		t.Error("a limit of this side is ErrExhausted")
	}
	c := newClient(t, fakeOptions(t, fakeScript{Fail: &fakeFailure{Method: "CreateAgent", Code: connect.CodeResourceExhausted, Bare: true}}))
	if _, err := c.Agents().Create(testContext(t), testAgent(t)); !errors.Is(err, ErrExhausted) || ClassOf(err) != ClassRetry {
		t.Errorf("create = %v, want ErrExhausted", err)
	}
}

// testConnection makes calls of its own functions only.
func testConnection() *connection {
	o := Options{CallTimeout: time.Minute}
	if err := o.Retry.complete(); err != nil {
		panic(err)
	}
	return newConnection("http://127.0.0.1:1", "", noMask, &o)
}
