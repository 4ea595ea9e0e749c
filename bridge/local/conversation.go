package local

import (
	"context"
	"encoding/json"
	"fmt"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// maxConversationBytes bounds the JSON of one conversation. A run may say more;
// then the rest is left out, and that is said. ObserveRun has all of it.
const maxConversationBytes = 16 << 20

// turn is a message to an agent and what the agent made of it. The names of the
// JSON are the vendor's.
type turn struct {
	UserMessage *userMessage      `json:"userMessage,omitempty"`
	Steps       []json.RawMessage `json:"steps"`
	Truncated   bool              `json:"truncated,omitempty"`
}

type userMessage struct {
	Text string `json:"text"`
	// Images is how many came with it.
	Images int `json:"images,omitempty"`
}

// GetRunConversation gives what was asked in a run, and what was said and done,
// as a JSON list of one turn. Of a run that is under way it has the steps that
// are finished.
func (s *agentService) GetRunConversation(ctx context.Context, req *connect.Request[sdkv1.GetRunConversationRequest]) (*connect.Response[sdkv1.GetRunConversationResponse], error) {
	r := s.server.registry
	rec, live, err := r.findRun(ctx, req.Msg.GetRunId())
	if err != nil {
		return nil, err
	}
	t := turn{Steps: []json.RawMessage{}}
	if rec.Prompt != "" {
		t.UserMessage = &userMessage{Text: rec.Prompt, Images: rec.Images}
	}
	size := len(rec.Prompt)
	err = r.steps(ctx, rec, live, func(st step) error {
		data, err := json.Marshal(st.fields())
		if err != nil {
			return fmt.Errorf("write the conversation: %w", err)
		}
		if size += len(data); size > maxConversationBytes {
			t.Truncated = true
			return errEnough
		}
		t.Steps = append(t.Steps, data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal([]any{map[string]any{"type": "agentConversationTurn", "turn": t}})
	if err != nil {
		return nil, fmt.Errorf("write the conversation: %w", err)
	}
	return connect.NewResponse(&sdkv1.GetRunConversationResponse{ConversationJson: string(data)}), nil
}

// steps gives the finished steps of a run, in order.
func (r *registry) steps(ctx context.Context, rec runRecord, live *run, give func(step) error) error {
	var b stepBuilder
	return r.replay(ctx, rec, live, func(e entry) error {
		for _, st := range append(b.before(e), b.after(e)...) {
			if err := give(st); err != nil {
				return err
			}
		}
		return nil
	})
}
