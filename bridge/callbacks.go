package bridge

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// offerTools makes tools the only ones that the agent can call, and sees to it
// that this generation of the bridge knows where. It is called whenever the agent
// was told to a bridge.
func (c *Client) offerTools(ctx context.Context, conn *connection, agentID string, tools []Tool) error {
	const op = "offer tools"
	offered, err := checkTools(tools)
	if err != nil {
		return refuse(op, connect.CodeInvalidArgument, "VALIDATION_ERROR", "%v", err)
	}
	if len(offered) > 0 {
		if err := conn.registerTools(ctx, op, c.callbacks); err != nil {
			return err
		}
	}
	c.callbacks.tools.offer(agentID, offered)
	return nil
}

// beginTools lets the agent call its tools while a run is under way: from before
// the message is sent until end is called or the context is done, which ends the
// calls too. The run's id is passed to named once it is known.
func (c *Client) beginTools(run context.Context, agentID string) (named func(runID string), end func()) {
	return c.callbacks.tools.begin(run, agentID)
}

// leaveTools takes the tools of an agent away that is closed. A run under way may
// call them to its end.
func (c *Client) leaveTools(agentID string) { c.callbacks.tools.leave(agentID) }

// forgetTools takes the tools of an agent away that is deleted, and ends their calls.
func (c *Client) forgetTools(agentID string) { c.callbacks.tools.forget(agentID) }

// registerTools tells the bridge where tools are called, unless it knows.
func (c *connection) registerTools(ctx context.Context, op string, s *callbackServer) error {
	select {
	case c.registering <- struct{}{}:
		defer func() { <-c.registering }()
	case <-ctx.Done():
		return fmt.Errorf("bridge: %s: %w", op, ctx.Err())
	}
	if c.knowsTools {
		return nil
	}
	if c.process == nil && !onThisMachine(ctx, c.root) {
		return refuse(op, connect.CodeFailedPrecondition, "", "the bridge at %s is not on this machine and cannot call its tools; "+
			"attach to one on loopback or leave CustomTools empty", c.root)
	}
	root, err := s.start()
	if err != nil {
		return err
	}
	if _, err := call(ctx, c, op, c.control.SetToolCallback, &sdkv1.SetToolCallbackRequest{Url: root, AuthToken: s.token}); err != nil {
		return err
	}
	c.knowsTools = true
	return nil
}

// onThisMachine reports whether a URL leads to an address of this machine.
func onThisMachine(ctx context.Context, root string) bool {
	u, err := url.Parse(root)
	if err != nil {
		return false
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		own = nil // loopback is known anyway
	}
	for _, addr := range found {
		addr = addr.Unmap().WithZone("")
		if addr.IsLoopback() {
			return true
		}
		for _, a := range own {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap().WithZone("") == addr {
				return true
			}
		}
	}
	return false
}

// atLaunch is what a bridge is told when it starts: where the store is, which it
// cannot be told later, and where tools are called if that is known by then. The
// addresses and the token go through the environment: other users of the machine
// can read command lines. Nothing is told when nothing is served yet.
func (s *callbackServer) atLaunch() (args, env []string, err error) {
	root := s.started()
	if s.store != nil {
		if root, err = s.start(); err != nil {
			return nil, nil, err
		}
		args = []string{"--local-store", `{"type":"custom"}`}
		env = []string{"CURSOR_SDK_STORE_CALLBACK_URL=" + root, "CURSOR_SDK_STORE_CALLBACK_AUTH_TOKEN=" + s.token}
	}
	if root == "" {
		return nil, nil, nil
	}
	return args, append(env, "CURSOR_SDK_TOOL_CALLBACK_URL="+root, "CURSOR_SDK_TOOL_CALLBACK_AUTH_TOKEN="+s.token), nil
}
