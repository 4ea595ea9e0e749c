package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// maxMessagesBytes bounds the text of one page of messages. What is beyond has
// an empty text and says that it was cut, so that the count of a page is right.
const maxMessagesBytes = 16 << 20

// ListAgentMessages lists what was said between the callers and the agent over
// all its runs, the oldest first. Messages never change their place: those of a
// run under way appear when they are whole.
func (s *agentService) ListAgentMessages(ctx context.Context, req *connect.Request[sdkv1.ListAgentMessagesRequest]) (*connect.Response[sdkv1.ListAgentMessagesResponse], error) {
	r := s.server.registry
	var ids []string
	err := r.eachRun(ctx, req.Msg.GetAgentId(), func(rec runRecord) { ids = append(ids, rec.ID) })
	if err != nil {
		return nil, err
	}
	o := req.Msg.GetOptions()
	page := messagePage{agentID: req.Msg.GetAgentId(), skip: int64(o.GetOffset()), room: pageSize(o.GetLimit()), bytes: maxMessagesBytes}
	for _, id := range slices.Backward(ids) {
		if page.room == 0 {
			break
		}
		rec, live, err := r.findRun(ctx, id)
		if err == nil {
			err = page.addRun(ctx, r, rec, live)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && !errors.Is(err, errEnough):
			// Deleted meanwhile, or damaged: the others are still worth having.
			r.logger.Error("messages are left out because a run cannot be read", "run", id, "error", err)
		}
	}
	return connect.NewResponse(&sdkv1.ListAgentMessagesResponse{Messages: page.messages}), nil
}

// messagePage collects one page of messages.
type messagePage struct {
	agentID  string
	messages []*sdkv1.AgentMessage
	// skip is how many come before the page, room how many still go on it, bytes
	// how much text.
	skip  int64
	room  int
	bytes int
	// run is the one whose messages are added, count how many it had.
	run   string
	count int
}

// addRun adds the messages of one run.
func (p *messagePage) addRun(ctx context.Context, r *registry, rec runRecord, live *run) error {
	p.run, p.count = rec.ID, 0
	if rec.Prompt != "" {
		if err := p.add("user", rec.Prompt, false); err != nil {
			return err
		}
	}
	return r.steps(ctx, rec, live, func(st step) error {
		if st.kind != stepAssistant {
			return nil
		}
		text, _ := st.message["text"].(string)
		isCut, _ := st.message["truncated"].(bool)
		return p.add("assistant", text, isCut)
	})
}

// add takes the next message; it returns [errEnough] when the page is full.
func (p *messagePage) add(role, text string, isCut bool) error {
	if p.room == 0 {
		return errEnough
	}
	p.count++
	if p.skip > 0 {
		p.skip--
		return nil
	}
	if p.bytes -= len(text); p.bytes < 0 {
		text, isCut = "", true
	}
	content := map[string]any{
		"role": role, "run_id": p.run,
		"content": []any{map[string]any{"type": "text", "text": text}},
	}
	if isCut {
		content["truncated"] = true
	}
	message, err := toStruct(content)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	p.messages = append(p.messages, &sdkv1.AgentMessage{
		Type: role, Uuid: messageUUID(p.run, p.count), AgentId: p.agentID, Message: message,
	})
	if p.room--; p.room == 0 {
		return errEnough
	}
	return nil
}

// messageUUID names the n-th message of a run, the same each time: a UUID of
// version 8, made of a hash (https://www.rfc-editor.org/rfc/rfc9562#section-5.8).
func messageUUID(runID string, n int) string {
	u := sha256.Sum256(fmt.Appendf(nil, "%s/%d", runID, n))
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
