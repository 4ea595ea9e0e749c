package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// durableOnly is the type of message that is in the record and that only
// ObserveRun sends. It is why the offsets of the two streams are different.
const durableOnly = "request"

// numbering makes the offsets of one kind of stream. The prefix tells them
// apart: an offset given to the wrong call is refused instead of misread.
type numbering string

const (
	liveNumbering    numbering = "live-"
	durableNumbering numbering = "run-"
)

func (n numbering) offset(i int) *string {
	s := string(n) + strconv.Itoa(i)
	return &s
}

// parse reads an offset of this numbering; none means the start.
func (n numbering) parse(offset string) (int, error) {
	if offset == "" {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(offset, string(n))
	i, err := strconv.Atoi(digits)
	if !ok || err != nil || i < 0 {
		return 0, invalid("after_offset is not an offset that ObserveRun gave; those of Send are numbered differently")
	}
	return i, nil
}

// ObserveRun streams a run from its record, then follows it if it is live.
func (s *agentService) ObserveRun(ctx context.Context, req *connect.Request[sdkv1.ObserveRunRequest], out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	after, err := durableNumbering.parse(req.Msg.GetAfterOffset())
	if err != nil {
		return err
	}
	rec, live, err := s.server.registry.findRun(ctx, req.Msg.GetRunId())
	if err != nil {
		return err
	}
	return s.follow(ctx, following{rec: rec, live: live, numbering: durableNumbering, after: after}, out)
}

// proto is the entry as it goes over the wire.
func (e entry) proto() (*sdkv1.RunStreamMessage, error) {
	message := new(structpb.Struct)
	if err := message.UnmarshalJSON(e.Message); err != nil {
		return nil, fmt.Errorf("read message %d of the run's record: %w", e.Seq, err)
	}
	return &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_SdkMessage{
		SdkMessage: &sdkv1.SdkMessage{Type: e.Type, Message: message},
	}}, nil
}
