package local

import (
	"context"
	"strings"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// Send starts a run and streams it. The run goes on when the stream is dropped.
func (s *agentService) Send(ctx context.Context, req *connect.Request[sdkv1.SendRequest], out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	msg, o := req.Msg.GetMessage(), req.Msg.GetOptions()
	switch err := refuseIdempotencyKey(req.Msg.IdempotencyKey); {
	case err != nil:
		return err
	case strings.TrimSpace(msg.GetText()) == "":
		return invalid("message.text is empty")
	case o.GetCloud() != nil:
		return unavailableFeature("this bridge runs local agents only; leave options.cloud unset")
	}
	images, err := readImages(msg.GetImages())
	if err != nil {
		return err
	}
	s.server.refreshModels(ctx, o.GetModel().GetId())
	rec, live, err := s.server.registry.startRun(ctx, runRequest{
		agentID: req.Msg.GetAgentId(), prompt: msg.GetText(), images: images,
		force: o.GetLocal().GetForce(), mode: o.GetMode(), deltas: o.GetEnableDeltas(),
		choose: func(agentModel string) (engine, string, error) {
			id := agentModel
			if asked := o.GetModel().GetId(); asked != "" {
				id = asked
			}
			if err := s.server.checkModel(id); err != nil {
				return nil, "", err
			}
			eng, _ := s.server.engineFor(id)
			if len(images) > 0 && !abilitiesOf(eng).Images {
				return nil, "", unavailableFeature("the model " + id + " takes no images; send text only")
			}
			return eng, id, nil
		},
	})
	if err != nil {
		return err
	}
	if n := len(o.GetMcpServers()); n > 0 {
		s.server.logger.Warn("a message came with MCP servers; this bridge uses those of the agent", "run", rec.ID, "count", n)
	}
	f := following{rec: rec, live: live, numbering: liveNumbering, feed: live.feed}
	if o.GetEnableSteps() {
		f.steps = new(stepBuilder)
	}
	defer f.feed.close()
	return s.follow(ctx, f, out)
}
