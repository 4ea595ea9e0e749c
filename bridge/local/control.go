package local

import (
	"context"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// protocolVersion is the contract that is served.
const protocolVersion = "sdk.v1"

// capabilities are the parts of the contract that this bridge does serve. The
// strings are the vendor's.
func capabilities() []string {
	return []string{
		"agent.create", "agent.resume", "agent.send", "agent.management", "agent.usage",
		"run.observe", "run.wait", "run.cancel", "cursor.catalog",
	}
}

// controlService is SdkBridgeControlService.
type controlService struct{ server *server }

func (c *controlService) Ping(context.Context, *connect.Request[sdkv1.PingRequest]) (*connect.Response[sdkv1.PingResponse], error) {
	return connect.NewResponse(&sdkv1.PingResponse{Message: "pong"}), nil
}

func (c *controlService) GetVersion(context.Context, *connect.Request[sdkv1.GetVersionRequest]) (*connect.Response[sdkv1.GetVersionResponse], error) {
	return connect.NewResponse(&sdkv1.GetVersionResponse{
		BridgeVersion: c.server.version, ProtocolVersion: protocolVersion, Capabilities: capabilities(),
	}), nil
}

// Shutdown answers before the bridge stops. Only the first call counts.
func (c *controlService) Shutdown(_ context.Context, req *connect.Request[sdkv1.ShutdownRequest]) (*connect.Response[sdkv1.ShutdownResponse], error) {
	grace := min(time.Duration(req.Msg.GetGraceSeconds())*time.Second, maxGrace)
	select {
	case c.server.shutdown <- grace:
	default:
	}
	return connect.NewResponse(&sdkv1.ShutdownResponse{}), nil
}

// SetToolCallback replaces where custom tools are called; an empty URL clears it.
func (c *controlService) SetToolCallback(_ context.Context, req *connect.Request[sdkv1.SetToolCallbackRequest]) (*connect.Response[sdkv1.SetToolCallbackResponse], error) {
	var cb callback
	if req.Msg.GetUrl() != "" {
		var err error
		if cb, err = newCallback("url", req.Msg.GetUrl(), "auth_token", req.Msg.GetAuthToken()); err != nil {
			return nil, invalid("%v", err)
		}
	}
	c.server.tools.set(cb)
	return connect.NewResponse(&sdkv1.SetToolCallbackResponse{}), nil
}
