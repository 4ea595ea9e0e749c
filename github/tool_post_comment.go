package github

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/liaison-bot/liaison/tools"
)

const postCommentSchema = `{
  "type": "object", "required": ["body"], "additionalProperties": false,
  "properties": {
    "body": {"type": "string", "minLength": 1, "maxLength": 60000, "description": "The comment, in Markdown. Mentions in it call nobody."}
  }
}`

type postCommentInput struct {
	Body string `json:"body"`
}

// postCommentTool writes a comment of its own into the conversation.
func (c *Channel) postCommentTool() tools.Tool {
	return tools.Tool{
		Name:        "post_comment",
		Description: "Post a new comment in the conversation of this pull request. Your answer is posted by itself; use this only for what you were asked to post besides.",
		InputSchema: json.RawMessage(postCommentSchema),
		DryRun:      json.RawMessage(`{"posted":false,"reason":"dry run"}`),
		Run:         hostTool(c, c.postComment),
		Look:        hostTool(c, lookForComment),
	}
}

type postedComment struct {
	CommentID int64 `json:"commentId"`
}

func (c *Channel) postComment(ctx context.Context, h *hostCall, in postCommentInput) (tools.Result, error) {
	const doing = "post a comment"
	if id, err := h.posted(ctx); err != nil {
		return tools.Result{}, h.refused(err, doing, "pull_requests: write")
	} else if id != 0 {
		return answered("The comment was posted already.", postedComment{id})
	}
	head := h.mark() + "\n"
	var answer written
	err := shrinking(maxComment, func(limit int) error {
		return h.send(ctx, http.MethodPost, h.conversation(), textBody{head + fit(c.redact(in.Body), limit-runes(head), cutNote(h.call.SessionID))}, &answer)
	})
	if unsureWrite(err) {
		if id, looked := h.posted(ctx); looked == nil && id != 0 {
			answer.ID, err = id, nil
		}
	}
	if err != nil {
		return tools.Result{}, h.refused(err, doing, "pull_requests: write", "issues: write")
	}
	return answered("The comment is posted.", postedComment{answer.ID})
}

func lookForComment(ctx context.Context, h *hostCall, _ postCommentInput) (tools.Result, error) {
	switch id, err := h.posted(ctx); {
	case err != nil:
		return tools.Result{}, tools.ErrOutcomeUnknown
	case id != 0:
		return answered("The comment is posted.", postedComment{id})
	}
	return undone("The comment was not posted: the service stopped before.")
}

// posted returns the id of the comment that this call has posted, or 0.
func (h *hostCall) posted(ctx context.Context) (int64, error) {
	self, err := h.self(ctx)
	if err != nil {
		return 0, err
	}
	var id int64
	mark := h.mark()
	err = each(ctx, h.repo.client, h.conversation(), func(c comment) bool {
		if c.by(self) && strings.HasPrefix(c.Body, mark) {
			id = c.ID
		}
		return id == 0
	})
	return id, err
}
