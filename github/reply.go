package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// reply answers what somebody wrote, once, in a new comment: an edit tells
// nobody. In a thread it stands in the thread.
func (w *writer) reply(ctx context.Context, p replyPayload) (sessions.Receipt, error) {
	mark := mark("reply", w.item.SessionID+"/"+p.Key)
	inThread := p.To != nil && p.To.On == onThread && p.To.Thread > 0 && !w.Issue
	if w.item.Attempts > 1 || p.Once {
		found, err := w.findReply(ctx, mark, inThread)
		if err != nil || found {
			return sessions.Receipt{Note: "the answer was posted already"}, err
		}
	}
	moved, err := w.movedTo(ctx)
	if err != nil {
		return goneNote("no answer", err)
	}
	if inThread {
		err := w.writeReply(ctx, w.path("pulls/%d/comments/%d/replies", w.Number, p.To.Thread), p, mark, moved, true)
		if locked(err) || !notFound(err) && !refused(err) {
			return replyReceipt("answered in the thread", err)
		}
		// Somebody deleted the thread's first comment, or it is none to answer to.
	}
	return replyReceipt("answered", w.writeReply(ctx, w.conversation(), p, mark, moved, false))
}

func replyReceipt(done string, err error) (sessions.Receipt, error) {
	if err != nil {
		return goneNote("no answer", err)
	}
	return sessions.Receipt{Note: done}, nil
}

// goneNote turns an error that says that there is no place for a text any more
// into a note. All others stay errors.
func goneNote(what string, err error) (sessions.Receipt, error) {
	switch {
	case locked(err):
		return sessions.Receipt{Note: what + ": the conversation is locked"}, nil
	case notFound(err):
		return sessions.Receipt{Note: what + ": it is gone"}, nil
	case errors.Is(err, errElsewhere):
		return sessions.Receipt{Note: what + ": it was moved to another repository"}, nil
	}
	return sessions.Receipt{}, err
}

// movedTo returns the head that the pull request has moved on to from the
// request's, or nothing.
func (w *writer) movedTo(ctx context.Context) (string, error) {
	if w.Issue || w.Kind != kindAsk {
		return "", nil
	}
	pull, err := w.live(ctx)
	if err != nil || pull.Head.SHA == w.Head || w.lags(pull) {
		return "", err
	}
	return pull.Head.SHA, nil
}

// findReply looks for an answer that an earlier attempt posted.
func (w *writer) findReply(ctx context.Context, mark string, inThread bool) (bool, error) {
	self, err := w.self(ctx)
	if err != nil {
		return false, err
	}
	found := false
	visit := func(c comment) bool {
		found = found || c.by(self) && strings.HasPrefix(c.Body, mark)
		return !found
	}
	err = each(ctx, w.repo.client, w.conversation(), visit)
	if err == nil && !found && inThread {
		err = each(ctx, w.repo.client, w.path("pulls/%d/comments", w.Number), visit)
	}
	if err != nil && !notFound(err) {
		return false, fmt.Errorf("look for the answer: %w", err)
	}
	return found, nil
}

func (w *writer) writeReply(ctx context.Context, path string, p replyPayload, mark, moved string, inThread bool) error {
	err := shrinking(maxComment, func(limit int) error {
		var answer written
		return w.send(ctx, http.MethodPost, path, textBody{w.renderReply(p, mark, moved, inThread, limit)}, &answer)
	})
	if err != nil {
		return fmt.Errorf("post the answer: %w", err)
	}
	return nil
}

// renderReply is the whole body of an answer, in at most limit characters.
func (w *writer) renderReply(p replyPayload, mark, moved string, inThread bool, limit int) string {
	head := mark + "\n"
	if p.To != nil && !inThread {
		head += references(*p.To, p.More)
	}
	var foot []string
	if !p.Failed && p.Model != "" {
		foot = append(foot, "Answered"+by(p.Model, p.Duration)+".")
	}
	if moved != "" {
		foot = append(foot, fmt.Sprintf("This is about %s; the pull request has moved on to %s since.", code(short(w.Head)), code(short(moved))))
	}
	tail := ""
	if len(foot) > 0 {
		tail = "\n\n<sub>" + strings.Join(foot, " ") + "</sub>\n"
	}
	return head + fit(p.Text, limit-runes(head)-runes(tail), cutNote(w.item.SessionID)) + tail
}

// references says what is answered, each by a link and the first line of its text
// as code, in which nothing has a meaning. Who asked finds the answer by that.
func references(to remark, more []remark) string {
	if len(more) == 0 {
		quoted := ""
		if line := firstLine(to.Body); line != "" {
			quoted = "> " + code(line) + "\n\n"
		}
		return "In answer to " + to.link() + ":\n\n" + quoted
	}
	var b strings.Builder
	b.WriteString("In answer to:\n\n")
	for _, m := range append([]remark{to}, more...) {
		b.WriteString("- " + m.link())
		if line := firstLine(m.Body); line != "" {
			b.WriteString(": " + code(line))
		}
		b.WriteString("\n")
	}
	return b.String() + "\n"
}

// firstLine is the beginning of a text, as far as it is repeated.
func firstLine(body string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(spellOut(body)), "\n")
	return ellipsis(strings.TrimSpace(oneLine(line)), maxQuoted)
}

// link names a remark, with its address if that is one.
func (m remark) link() string {
	if u, err := url.Parse(m.URL); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil &&
		!strings.ContainsAny(m.URL, " ()<>[]\\\"") {
		return "[this comment](" + u.String() + ")"
	}
	return "this comment"
}
