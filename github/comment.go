package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/liaison-bot/liaison/github/evidence"
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
	ID   int64  `json:"id"`
	Body string `json:"body"`
	User struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	} `json:"user"`
	App struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

// ours reports whether a comment is a review that this App wrote. The author's
// name proves nothing: anybody can be called "liaison".
func (c comment) ours(self Self) bool {
	return strings.HasPrefix(c.Body, commentMark) &&
		(c.App.ID != 0 && c.App.ID == self.AppID || c.User.ID != 0 && c.User.ID == self.BotID)
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
		switch where, err := w.stand(ctx); {
		case err != nil:
			return sessions.Receipt{}, err
		case where == stale:
			return sessions.Receipt{Note: fmt.Sprintf("no comment: %s is not the head any more", short(w.Head))}, nil
		case where == closed:
			return sessions.Receipt{Note: "no comment: the pull request is closed"}, nil
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
	for page := 1; page <= maxCommentPages; {
		owner, repo := w.names()
		path := fmt.Sprintf("repos/%s/%s/issues/%d/comments?per_page=%d&page=%d", owner, repo, w.Number, pageSize, page)
		req, err := w.repo.client.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			return 0, err
		}
		var list []comment
		resp, err := w.repo.client.Do(ctx, req, &list)
		if err != nil {
			return 0, fmt.Errorf("look for the comment: %w", err)
		}
		for _, c := range list {
			if c.ours(w.app.self()) && !gone[c.ID] {
				return c.ID, nil
			}
		}
		if resp.NextPage <= page {
			return 0, nil
		}
		page = resp.NextPage
	}
	return 0, nil
}

// writeComment updates the comment with this id, or creates one for 0.
func (w *writer) writeComment(ctx context.Context, id int64, p commentPayload) (comment, error) {
	owner, repo := w.names()
	method, path := http.MethodPost, fmt.Sprintf("repos/%s/%s/issues/%d/comments", owner, repo, w.Number)
	if id != 0 {
		method, path = http.MethodPatch, fmt.Sprintf("repos/%s/%s/issues/comments/%d", owner, repo, id)
	}
	var written comment
	err := shrinking(maxComment, func(limit int) error {
		body := struct {
			Body string `json:"body"`
		}{renderComment(p, limit, w.item)}
		req, err := w.repo.client.NewRequest(method, path, body)
		if err != nil {
			return err
		}
		_, err = w.repo.client.Do(ctx, req, &written)
		if err == nil && written.ID <= 0 {
			err = evidence.ErrNoAnswer
		}
		return err
	})
	if err != nil {
		return written, fmt.Errorf("write the comment: %w", err)
	}
	if written.User.Type == "Bot" && written.User.ID != 0 {
		w.app.bot.Store(written.User.ID)
	}
	return written, nil
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
	foot := fmt.Sprintf("\n\n---\n\n<sub>Head %s%s. This comment is rewritten after each push; "+
		"it approves nothing.</sub>\n", code(p.Request.Head), reviewed)
	return head + fit(p.Text, limit-runes(head)-runes(foot), cutNote(item.SessionID)) + foot
}
