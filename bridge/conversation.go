package bridge

import (
	"context"
	"encoding/json"
	"iter"
	"math"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// AgentMessage is one message of an agent's conversation, as the bridge keeps it.
type AgentMessage struct {
	// Type is such as "user" or "assistant".
	Type    string
	UUID    string
	AgentID string
	// Message is the whole message. Its shape is the bridge's and depends on Type.
	Message json.RawMessage
}

// ListMessagesOptions say which messages to list.
type ListMessagesOptions struct {
	// Offset is how many messages to leave out at the beginning.
	Offset int
	// PageSize is how many are fetched at a time; the bridge's choice when 0.
	PageSize int
}

// Messages lists the messages of all runs of the agent, page by page, as far as
// the caller reads. An error ends the list.
func (a *Agent) Messages(ctx context.Context, o ListMessagesOptions) iter.Seq2[AgentMessage, error] {
	const op = "list messages"
	return func(yield func(AgentMessage, error) bool) {
		fail := func(err error) { yield(AgentMessage{}, err) }
		if err := checkPageSize(op, o.PageSize); err != nil {
			fail(err)
			return
		}
		if o.Offset < 0 || o.Offset > math.MaxInt32 {
			fail(invalid(op, "the offset %d is not between 0 and %d", o.Offset, math.MaxInt32))
			return
		}
		// The end is a page without messages: a short one may be the bridge's limit.
		var first *sdkv1.AgentMessage
		for offset := o.Offset; ; {
			page, err := a.messages(ctx, op, uint32(offset), uint32(o.PageSize))
			if err != nil {
				fail(err)
				return
			}
			if len(page) == 0 {
				return
			}
			if first != nil && first.GetUuid() != "" && proto.Equal(first, page[0]) {
				fail(refuse(op, connect.CodeInternal, "", "the bridge gave the same page twice; the list would never end"))
				return
			}
			first = page[0]
			for _, m := range page {
				if !yield(agentMessage(m), nil) {
					return
				}
			}
			offset += len(page)
		}
	}
}

func (a *Agent) messages(ctx context.Context, op string, offset, limit uint32) ([]*sdkv1.AgentMessage, error) {
	if err := a.notDeleted(op); err != nil {
		return nil, err
	}
	res, err := readAgent(ctx, a.client, op, a.id, agentService.ListAgentMessages, &sdkv1.ListAgentMessagesRequest{AgentId: a.id, Options: &sdkv1.GetAgentMessagesOptions{
		Limit: limit, Offset: offset, Runtime: runtimeOf(a.id), Cwd: a.dir(), ApiKey: a.client.options.APIKey,
	}})
	return res.GetMessages(), err
}

func agentMessage(m *sdkv1.AgentMessage) AgentMessage {
	out := AgentMessage{Type: m.GetType(), UUID: m.GetUuid(), AgentID: m.GetAgentId()}
	if m.GetMessage() != nil {
		out.Message = marshal(m.GetMessage().AsMap())
	}
	return out
}

// Conversation returns the whole conversation of a run as JSON of the bridge's
// own shape. Some bridges tell it only of agents that they have been asked to
// resume, and answer ErrNotFound for others.
func (c *Client) Conversation(ctx context.Context, runID string) (json.RawMessage, error) {
	const op = "get conversation"
	if runID == "" {
		return nil, invalid(op, "no run id was given")
	}
	conn, err := c.supervisor.connection(ctx)
	if err != nil {
		return nil, err
	}
	res, err := query(ctx, conn, op, conn.agents.GetRunConversation, &sdkv1.GetRunConversationRequest{RunId: runID})
	if err != nil {
		return nil, err
	}
	conversation := json.RawMessage(res.GetConversationJson())
	if !json.Valid(conversation) {
		return nil, refuse(op, connect.CodeInternal, "", "the bridge answered with %d bytes that are not JSON", len(conversation))
	}
	return conversation, nil
}

// Conversation is [Client.Conversation] of this run.
func (r *Run) Conversation(ctx context.Context) (json.RawMessage, error) {
	return r.client.Conversation(ctx, r.id)
}
