package sim

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// slackStream is what a message has while it is written bit by bit.
type slackStream struct {
	open bool
	ends time.Time
}

// streamMethods write a message bit by bit.
// https://docs.slack.dev/reference/methods/chat.startStream
func (s *Slack) streamMethods() map[string]slackMethod {
	scopes := []string{"chat:write"}
	return map[string]slackMethod{
		"chat.startStream": {
			token: "bot", scopes: scopes, handle: (*slackRequest).startStream,
			args: "channel | thread_ts markdown_text chunks recipient_user_id recipient_team_id task_display_mode username icon_url icon_emoji",
		},
		"chat.appendStream": {token: "bot", scopes: scopes, args: "channel ts | markdown_text chunks", handle: (*slackRequest).appendStream},
		"chat.stopStream": {
			token: "bot", scopes: scopes, args: "channel ts | markdown_text chunks blocks metadata", handle: (*slackRequest).stopStream,
		},
	}
}

func (q *slackRequest) startStream() object {
	c, refusal := q.channel(q.args["channel"], true)
	if refusal != nil {
		return refusal
	}
	switch mode := q.args["task_display_mode"]; {
	case c.Kind == GroupDirect:
		return slackFailed("channel_type_not_supported")
	case c.Kind == DirectChannel && q.args["thread_ts"] == "":
		return slackFailed("invalid_thread_ts") // only a channel takes a stream outside a thread
	case c.Kind != DirectChannel && q.args["recipient_team_id"] == "":
		return slackFailed("missing_recipient_team_id")
	case c.Kind != DirectChannel && q.args["recipient_user_id"] == "":
		return slackFailed("missing_recipient_user_id")
	case c.Kind != DirectChannel && q.s.users[q.args["recipient_user_id"]] == nil:
		return slackFailed("user_not_found")
	case mode != "" && mode != "timeline" && mode != "plan":
		return slackFailed("invalid_arguments", "[ERROR] must be a valid enum value [json-pointer:/task_display_mode]")
	}
	m := &slackMessage{user: q.team.BotUser, byApp: true, name: q.args["username"]}
	m.stream = &slackStream{open: true, ends: q.s.opts.Now().Add(q.s.opts.StreamLife)}
	if refusal := q.thread(c, m); refusal != nil {
		return refusal
	}
	if refusal := q.extend(m, false); refusal != nil {
		return refusal
	}
	q.s.add(c, m)
	return slackDone(object{"channel": c.ID, "ts": m.ts})
}

// streaming finds a stream of the app that takes text.
func (q *slackRequest) streaming() (*slackChannel, *slackMessage, object) {
	c, m, refusal := q.own("message_not_owned_by_app")
	if refusal != nil {
		return nil, nil, refusal
	}
	if m.stream != nil && !q.s.opts.Now().Before(m.stream.ends) {
		m.stream.open = false
	}
	if m.stream == nil || !m.stream.open {
		return nil, nil, slackFailed("message_not_in_streaming_state")
	}
	return c, m, nil
}

func (q *slackRequest) appendStream() object {
	c, m, refusal := q.streaming()
	if refusal != nil {
		return refusal
	}
	next := *m
	if refusal := q.extend(&next, true); refusal != nil {
		return refusal
	}
	*m = next
	return slackDone(object{"channel": c.ID, "ts": m.ts})
}

func (q *slackRequest) stopStream() object {
	c, m, refusal := q.streaming()
	if refusal != nil {
		return refusal
	}
	blocks, bad := readBlocks([]byte(q.args["blocks"]))
	if bad == nil {
		bad = judgeBlocks(OnMessage, blocks)
	}
	if bad != nil {
		return slackFailed(bad.Code, bad.Messages...)
	}
	next := *m
	if refusal := q.readMetadata(&next); refusal != nil {
		return refusal
	}
	before := q.s.messageJSON(c, m, true)
	if refusal := q.extend(&next, false); refusal != nil {
		return refusal
	}
	*m = next
	m.blocks = append(m.blocks, blocks...)
	m.stream = &slackStream{ends: m.stream.ends}
	q.s.announceChange(c, m, before)
	return slackDone(object{"channel": c.ID, "ts": m.ts, "message": q.s.messageJSON(c, m, true)})
}

// extend adds the text or the chunks of a call to a stream.
func (q *slackRequest) extend(m *slackMessage, required bool) object {
	text, raw := q.args["markdown_text"], q.args["chunks"]
	switch {
	case text != "" && raw != "":
		return slackFailed("invalid_arguments", "[ERROR] markdown_text and chunks exclude each other")
	case utf8.RuneCountInString(text) > markdownText:
		return slackFailed("msg_too_long")
	case text == "" && raw == "" && required:
		return slackFailed("no_text")
	case raw == "":
		m.text += text
		return nil
	}
	var chunks []object
	if json.Unmarshal([]byte(raw), &chunks) != nil {
		return slackFailed("invalid_chunks")
	}
	text, blocks := "", []any{}
	for i, chunk := range chunks {
		at := fmt.Sprintf("/chunks/%d", i)
		switch kind := str(chunk["type"]); kind {
		case "markdown_text":
			text += str(chunk["text"])
		case "task_update":
			if str(chunk["id"]) == "" || str(chunk["title"]) == "" {
				return slackFailed("invalid_chunks", "[ERROR] must have an id and a title [json-pointer:"+at+"]")
			}
			blocks = append(withoutTask(blocks, chunk["id"]), taskBlock(chunk))
			m.blocks = withoutTask(m.blocks, chunk["id"])
		case "plan_update":
			blocks = append(blocks, object{"type": "plan", "title": chunk["title"]})
		case "blocks":
			group, _ := chunk["blocks"].([]any)
			if bad := judgeBlocks(OnStream, group); bad != nil || len(group) == 0 {
				return slackFailed("invalid_blocks", "[ERROR] invalid blocks [json-pointer:"+at+"/blocks]")
			}
			blocks = append(blocks, group...)
		default:
			return slackFailed("invalid_chunks", "[ERROR] unsupported type: "+kind+" [json-pointer:"+at+"]")
		}
	}
	if utf8.RuneCountInString(text) > markdownText {
		return slackFailed("msg_too_long")
	}
	m.text += text
	m.blocks = append(m.blocks, blocks...)
	return nil
}

// taskBlock is a task of a stream as the message shows it.
func taskBlock(chunk object) object {
	o := object{"type": "task_card", "task_id": chunk["id"]}
	for _, key := range []string{"title", "status", "details", "output", "sources"} {
		if v, has := chunk[key]; has {
			o[key] = v
		}
	}
	return o
}

// withoutTask takes an earlier state of a task away.
func withoutTask(blocks []any, id any) []any {
	var kept []any
	for _, b := range blocks {
		if o, is := b.(object); !is || o["type"] != "task_card" || o["task_id"] != id {
			kept = append(kept, b)
		}
	}
	return kept
}
