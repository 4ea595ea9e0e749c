package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// rememberComment is the key under which a session remembers its comment's id.
const rememberComment = "comment"

// commentMark begins each comment of ours. It is the first thing in the body,
// where no text of an agent can stand, and counts only under our own App's id.
const commentMark = "<!-- liaison:review "

// comment is the part of GitHub's issue comment that is used. go-github has no
// field for the App that wrote it.
type comment struct {
	written
	App struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

// ours reports whether a comment is a review that this App wrote. The author's
// name proves nothing: anybody can be called "liaison".
func (c comment) ours(self Self) bool {
	return c.by(self) && strings.HasPrefix(c.Body, commentMark)
}

// by reports whether this App wrote a comment.
func (c comment) by(self Self) bool {
	return c.App.ID != 0 && c.App.ID == self.AppID || c.written.by(self)
}

// comment writes the review into the one comment of the pull request.
func (w *writer) comment(ctx context.Context, p commentPayload) (sessions.Receipt, error) {
	id, _ := strconv.ParseInt(w.item.Surface[rememberComment], 10, 64)
	gone := map[int64]bool{}
	for {
		if id == 0 {
			var err error
			if id, err = w.findComment(ctx, gone); err != nil {
				return sessions.Receipt{}, err
			}
		}
		where, err := w.stand(ctx)
		if err != nil {
			return sessions.Receipt{}, err
		}
		p.Outdated = where == stale && w.promised()
		if why := w.passed(where); why != "" && !p.Outdated {
			return sessions.Receipt{Note: "no comment: " + why}, nil
		}
		written, err := w.writeComment(ctx, id, p)
		if err == nil {
			note := "comment created"
			if id != 0 {
				note = "comment updated"
			}
			return sessions.Receipt{Note: note, Remember: map[string]string{
				rememberComment: strconv.FormatInt(written.ID, 10),
			}}, nil
		}
		if id == 0 || !notFound(err) || gone[id] {
			return sessions.Receipt{}, err
		}
		// Somebody deleted it. A list may still show it for a moment.
		gone[id], id = true, 0
	}
}

// findComment returns the id of our earliest comment on the pull request, or 0.
func (w *writer) findComment(ctx context.Context, gone map[int64]bool) (int64, error) {
	var id int64
	err := each(ctx, w.repo.client, w.conversation(), func(c comment) bool {
		if c.ours(w.app.self()) && !gone[c.ID] {
			id = c.ID
		}
		return id == 0
	})
	if err != nil {
		return 0, fmt.Errorf("look for the comment: %w", err)
	}
	return id, nil
}

// writeComment updates the comment with this id, or creates one for 0.
func (w *writer) writeComment(ctx context.Context, id int64, p commentPayload) (written, error) {
	method, path := http.MethodPost, w.conversation()
	if id != 0 {
		method, path = http.MethodPatch, w.path("issues/comments/%d", id)
	}
	var answer written
	err := shrinking(maxComment, func(limit int) error {
		return w.send(ctx, method, path, textBody{renderComment(p, limit, w.item)}, &answer)
	})
	if err != nil {
		return answer, fmt.Errorf("write the comment: %w", err)
	}
	return answer, nil
}

// renderComment is the whole body of a comment, in at most limit characters.
// The word that a review failed takes the place of an earlier head's review:
// that would pass for what is known of this one.
func renderComment(p commentPayload, limit int, item sessions.Item) string {
	outcome := ""
	if p.Headline != "" {
		outcome = ": " + p.Headline
	}
	did, reviewed := "reviewed", ", reviewed"+by(p.Model, p.Duration)
	if p.Failed {
		did, reviewed = "could not review", ", not reviewed"
	}
	head := fmt.Sprintf("%sturn=%s head=%s -->\n**Liaison** %s %s%s.\n\n",
		commentMark, item.TurnID, p.Request.Head, did, code(short(p.Request.Head)), outcome)
	if p.Outdated {
		reviewed += "; the pull request has moved on since"
	}
	foot := fmt.Sprintf("\n\n---\n\n<sub>Head %s%s. This comment is rewritten by each review; "+
		"it approves nothing.</sub>\n", code(p.Request.Head), reviewed)
	return head + fit(p.Text, limit-runes(head)-runes(foot), cutNote(item.SessionID)) + foot
}
