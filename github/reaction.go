package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/liaison-bot/liaison/sessions"
)

// reactions are GitHub's words for them.
// https://docs.github.com/rest/reactions/reactions#about-reactions
var reactions = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// react puts a reaction of ours under what somebody wrote, and then takes away
// the one that it takes the place of. It is a courtesy: what stands in its way
// is a note, unless another try can help.
func (w *writer) react(ctx context.Context, p reactionPayload) (sessions.Receipt, error) {
	for _, content := range []string{p.Content, p.Instead} {
		if !slices.Contains(reactions, content) && (content != "" || content == p.Content) {
			return sessions.Receipt{}, fmt.Errorf("GitHub has no reaction %s", quote(content))
		}
	}
	path := w.reactionsTo(p.To)
	if path == "" {
		return sessions.Receipt{Note: "no reaction: a review takes none"}, nil
	}
	me, err := w.addReaction(ctx, path, p.Content)
	if err != nil {
		return w.unreacted("no reaction", err)
	}
	if p.Instead == "" || p.Instead == p.Content {
		return sessions.Receipt{Note: "reaction: " + p.Content}, nil
	}
	if err := w.removeReaction(ctx, path, p.Instead, me); err != nil {
		return w.unreacted("reaction "+p.Content+", but "+p.Instead+" stays", err)
	}
	return sessions.Receipt{Note: fmt.Sprintf("reaction: %s instead of %s", p.Content, p.Instead)}, nil
}

func (w *writer) unreacted(what string, err error) (sessions.Receipt, error) {
	var again *sessions.RetryError
	if errors.As(retryable(err, w.app.now()), &again) {
		return sessions.Receipt{}, err
	}
	if notFound(err) {
		return sessions.Receipt{Note: what + ": the comment is gone"}, nil
	}
	return sessions.Receipt{Note: what + ": " + oneLine(err.Error())}, nil
}

// reactionsTo is where the reactions to something are, which is another place
// for each kind. The body of a review has none
// (https://github.com/OpenHands/OpenHands/pull/13292).
func (w *writer) reactionsTo(to remark) string {
	switch {
	case to.On == onReview:
		return ""
	case to.ID <= 0:
		return w.path("issues/%d/reactions", w.Number)
	case to.On == onThread:
		return w.path("pulls/comments/%d/reactions", to.ID)
	}
	return w.path("issues/comments/%d/reactions", to.ID)
}

// addReaction reacts and returns our account's id. A reaction that is there
// already is as good.
func (w *writer) addReaction(ctx context.Context, path, content string) (int64, error) {
	var answer written
	err := w.send(ctx, http.MethodPost, path, struct {
		Content string `json:"content"`
	}{content}, &answer)
	if err != nil {
		return 0, fmt.Errorf("react: %w", err)
	}
	return answer.User.ID, nil
}

// removeReaction takes a reaction of ours away, if it is there.
func (w *writer) removeReaction(ctx context.Context, path, content string, me int64) error {
	var own []int64
	list := path + "?content=" + url.QueryEscape(content)
	err := each(ctx, w.repo.client, list, func(r written) bool {
		if me != 0 && r.User.ID == me {
			own = append(own, r.ID)
		}
		return len(own) == 0
	})
	if err != nil {
		return fmt.Errorf("look for our reaction: %w", err)
	}
	for _, id := range own {
		req, err := w.repo.client.NewRequest(http.MethodDelete, fmt.Sprintf("%s/%d", path, id), nil)
		if err != nil {
			return err
		}
		if _, err := w.repo.client.Do(ctx, req, nil); err != nil && !notFound(err) {
			return fmt.Errorf("take our reaction away: %w", err)
		}
	}
	return nil
}
