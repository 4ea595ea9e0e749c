package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

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

// Send starts a run and streams it. The run goes on when the stream is dropped.
func (s *agentService) Send(ctx context.Context, req *connect.Request[sdkv1.SendRequest], out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	msg, o := req.Msg.GetMessage(), req.Msg.GetOptions()
	switch err := refuseIdempotencyKey(req.Msg.IdempotencyKey); {
	case err != nil:
		return err
	case strings.TrimSpace(msg.GetText()) == "":
		return invalid("message.text is empty")
	case len(msg.GetImages()) > 0:
		return unavailableFeature("no model of this bridge takes images; send text only")
	case o.GetEnableDeltas() || o.GetEnableSteps():
		return unavailableFeature("deltas and steps are not offered by this bridge; leave enable_deltas and enable_steps unset, assistant messages come in fragments")
	case o.GetCloud() != nil:
		return unavailableFeature("this bridge runs local agents only; leave options.cloud unset")
	}
	rec, live, err := s.server.registry.startRun(req.Msg.GetAgentId(), msg.GetText(), o.GetLocal().GetForce(),
		func(agentModel string) (engine, string, error) {
			id := agentModel
			if asked := o.GetModel().GetId(); asked != "" {
				id = asked
			}
			if err := s.server.checkModel(id); err != nil {
				return nil, "", err
			}
			eng, _ := s.server.engineFor(id)
			return eng, id, nil
		})
	if err != nil {
		return err
	}
	return s.follow(ctx, rec, live, liveNumbering, 0, out)
}

// ObserveRun streams a run from its record, then follows it if it is live.
func (s *agentService) ObserveRun(ctx context.Context, req *connect.Request[sdkv1.ObserveRunRequest], out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	after, err := durableNumbering.parse(req.Msg.GetAfterOffset())
	if err != nil {
		return err
	}
	rec, live, err := s.server.registry.findRun(req.Msg.GetRunId())
	if err != nil {
		return err
	}
	return s.follow(ctx, rec, live, durableNumbering, after, out)
}

// follow sends what a run has said after the given message, then what it says,
// then its result. live is nil for a run that is not live in this process.
func (s *agentService) follow(ctx context.Context, rec runRecord, live *run, n numbering, after int, out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	reader, err := openLogReader(s.server.registry.store.eventsFile(rec.AgentID, rec.ID))
	if err != nil {
		return err
	}
	defer func() { _ = reader.close() }() // opened for reading only
	send := func(m *sdkv1.RunStreamMessage) error {
		setWriteDeadline(ctx, time.Now().Add(s.server.slowReader))
		return out.Send(m)
	}
	sent := 0
	give := func(e entry) error {
		if e.Type == durableOnly && n == liveNumbering {
			return nil
		}
		if sent++; sent <= after {
			return nil
		}
		m, err := e.proto()
		if err != nil {
			return err
		}
		m.Offset = n.offset(sent)
		return send(m)
	}

	if live == nil {
		if err := reader.upTo(maxLogBytes*2, give); err != nil {
			return err
		}
		if !rec.Status.ended() {
			return leftBehind(connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNSPECIFIED, rec.ID)
		}
		return s.sendEnd(rec, send)
	}

	keepalive := time.NewTimer(s.server.keepalive)
	defer keepalive.Stop()
	for {
		size, sealed, changed := live.log.state()
		if err := reader.upTo(size, give); err != nil {
			return err
		}
		if sealed {
			<-live.done // the record is sealed just before
			return s.sendEnd(live.rec, send)
		}
		keepalive.Reset(s.server.keepalive)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-changed:
				waiting = false
			case <-keepalive.C:
				if err := send(&sdkv1.RunStreamMessage{}); err != nil {
					return err
				}
				keepalive.Reset(s.server.keepalive)
			}
		}
	}
}

// sendEnd sends the result and the end mark. They have no offset: a resumed
// stream always ends with them.
func (s *agentService) sendEnd(rec runRecord, send func(*sdkv1.RunStreamMessage) error) error {
	result := &sdkv1.RunStreamResult{
		AgentId: rec.AgentID, RunId: rec.ID, Status: rec.Status.proto(), Result: rec.result(s.server.now()),
	}
	if rec.ErrorCode != "" {
		result.ErrorCode = &rec.ErrorCode
	}
	if err := send(&sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Result{Result: result}}); err != nil {
		return err
	}
	return send(&sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Done{
		Done: &sdkv1.RunStreamDone{AgentId: rec.AgentID, RunId: rec.ID},
	}})
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
