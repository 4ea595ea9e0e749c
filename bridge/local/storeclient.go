package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

const (
	// storeTryTimeout bounds one call of the caller's store. It keeps small
	// records in this machine's memory or on its disk: seconds mean that it hangs.
	storeTryTimeout = 5 * time.Second
	// storeTries bounds how often a call is made that may be repeated.
	storeTries = 3
	// storeBackoff is the wait before the first repetition; it doubles, with jitter.
	storeBackoff = 100 * time.Millisecond
	// maxStoreAnswer bounds what is read of one answer: a page of records, or an
	// engine's memory in base64.
	maxStoreAnswer = 64 << 20
)

// The parts of a caller's store, and what can be done with them.
const (
	substoreAgents      = "agents"
	substoreRuns        = "runs"
	substoreEvents      = "runEvents"
	substoreCheckpoints = "checkpoints"

	methodGet    = "get"
	methodCreate = "create"
	methodUpdate = "update"
	methodDelete = "delete"
	methodList   = "list"
	methodAppend = "append"
)

// storeFailure is a call that the caller's store did not answer as it should. It
// does not unwrap: what the store said is for the log, not for who called the bridge.
type storeFailure struct {
	call string
	err  error
}

func (f *storeFailure) Error() string {
	return fmt.Sprintf("the caller's store, %s: %v", f.call, f.err)
}

// storeClient calls the store that the caller serves.
type storeClient struct {
	service   sdkv1connect.SdkStoreCallbackServiceClient
	transport *http.Transport
	timeout   time.Duration
	backoff   time.Duration
}

func newStoreClient(target callback) *storeClient {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	// No proxy: the store is on this machine, whatever the environment says.
	transport := &http.Transport{Protocols: protocols, MaxIdleConnsPerHost: 16, IdleConnTimeout: idleTimeout}
	client := &http.Client{
		Transport: &bearerTransport{token: target.token, next: transport},
		// The token is for the store alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &storeClient{
		service: sdkv1connect.NewSdkStoreCallbackServiceClient(client, target.url,
			connect.WithProtoJSON(), connect.WithReadMaxBytes(maxStoreAnswer)),
		transport: transport, timeout: storeTryTimeout, backoff: storeBackoff,
	}
}

func (c *storeClient) close() { c.transport.CloseIdleConnections() }

// bearerTransport adds the token to every request.
type bearerTransport struct {
	token string
	next  http.RoundTripper
}

func (b *bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// call asks the store for one thing. The output is nil for a miss. An error is
// [errExists], [errNotKept], the context's, or a [*storeFailure]. A call without
// an answer is repeated: none of them does more when it is seen twice, an append
// because it has a key.
func (c *storeClient) call(ctx context.Context, substore, method string, input map[string]any) (map[string]any, error) {
	in, err := structpb.NewStruct(input)
	if err != nil {
		return nil, &storeFailure{call: substore + "." + method, err: err}
	}
	return c.callStruct(ctx, substore, method, in)
}

// callStruct is call for an input that is a message already.
func (c *storeClient) callStruct(ctx context.Context, substore, method string, in *structpb.Struct) (map[string]any, error) {
	name := substore + "." + method
	wait := c.backoff
	for try := 1; ; try++ {
		out, err := c.once(ctx, substore, method, in)
		if err == nil {
			return out, nil
		}
		switch connect.CodeOf(err) {
		case connect.CodeAlreadyExists:
			return nil, fmt.Errorf("%s: %w", name, errExists)
		case connect.CodeNotFound:
			return nil, fmt.Errorf("%s: %w", name, errNotKept)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if try == storeTries || !lost(err) {
			return nil, &storeFailure{call: name, err: err}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait/2 + rand.N(wait)):
		}
		wait *= 2
	}
}

// once makes the call one time.
func (c *storeClient) once(ctx context.Context, substore, method string, in *structpb.Struct) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	res, err := c.service.CallStore(ctx, connect.NewRequest(&sdkv1.CallStoreRequest{Substore: substore, Method: method, Input: in}))
	if err != nil {
		return nil, err
	}
	if res.Msg.GetOutput() == nil {
		return nil, nil
	}
	return res.Msg.GetOutput().AsMap(), nil
}

// lost reports whether a call that failed may be answered when it is made again:
// no answer came, or the store said that it cannot answer now.
func lost(err error) bool {
	return !connect.IsWireError(err) || connect.CodeOf(err) == connect.CodeUnavailable
}
