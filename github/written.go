package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// written is what comments of all kinds and reviews have in common.
type written struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	User struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	} `json:"user"`
}

// by reports whether our bot's account wrote it. Its name would prove nothing.
func (a written) by(self Self) bool { return a.User.ID != 0 && a.User.ID == self.BotID }

// textBody is a request that has a text and nothing else.
type textBody struct {
	Body string `json:"body"`
}

// path makes a path below the repository.
func (t target) path(format string, args ...any) string {
	owner, repo := t.names()
	return "repos/" + owner + "/" + repo + "/" + fmt.Sprintf(format, args...)
}

// conversation is where the comments are that stand on no line.
func (t target) conversation() string { return t.path("issues/%d/comments", t.Number) }

// each calls visit for each entry of a list, until it returns false.
func each[T any](ctx context.Context, client *gh.Client, path string, visit func(T) bool) error {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for page := 1; page <= maxCommentPages; {
		req, err := client.NewRequest(http.MethodGet, fmt.Sprintf("%s%sper_page=%d&page=%d", path, separator, pageSize, page), nil)
		if err != nil {
			return err
		}
		var list []T
		resp, err := client.Do(ctx, req, &list)
		if err != nil {
			return err
		}
		for _, v := range list {
			if !visit(v) {
				return nil
			}
		}
		if resp.NextPage <= page {
			return nil
		}
		page = resp.NextPage
	}
	return nil
}

// send makes one write whose answer is what was written. Who wrote it, as the
// answer says, is us.
func (w *writer) send(ctx context.Context, method, path string, body any, into *written) error {
	req, err := w.repo.client.NewRequest(method, path, body)
	if err != nil {
		return err
	}
	_, err = w.repo.client.Do(ctx, req, into)
	if err == nil && into.ID <= 0 {
		err = evidence.ErrNoAnswer
	}
	if err == nil && into.User.Type == "Bot" && into.User.ID != 0 {
		w.app.bot.Store(into.User.ID)
	}
	return err
}

// self returns who we are, and asks GitHub if our account is not known yet.
// Reviews and comments on lines say only whose account wrote them. Where GitHub
// shows accounts to nobody, a comment of ours in the conversation tells; where
// there is none, nothing is taken for ours.
func (w *writer) self(ctx context.Context) (Self, error) {
	if w.app.bot.Load() == 0 {
		if _, err := w.app.identity(ctx); err != nil {
			return Self{}, fmt.Errorf("ask who we are: %w", err)
		}
	}
	if w.app.bot.Load() == 0 {
		err := each(ctx, w.repo.client, w.conversation(), func(c comment) bool {
			if c.App.ID == w.app.id && c.User.Type == "Bot" {
				w.app.bot.Store(c.User.ID)
			}
			return w.app.bot.Load() == 0
		})
		if err != nil && !notFound(err) {
			return Self{}, fmt.Errorf("look who we are: %w", err)
		}
	}
	return w.app.self(), nil
}

// plainKey is what a mark may hold as it is, up to maxPlainKey bytes.
var plainKey = lazyregexp.New(`^[A-Za-z0-9_.:/-]+$`)

const maxPlainKey = 200

// mark is a hidden line that tells one text of ours from all others: what it
// is, and which. It is the first thing in a body, where no text of an agent or
// a stranger can stand, and counts only under our own account.
func mark(what, key string) string {
	if len(key) > maxPlainKey || !plainKey.MatchString(key) {
		key = fmt.Sprintf("%x", key)
	}
	return "<!-- liaison:" + what + " " + key + " -->"
}
