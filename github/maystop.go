package github

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
)

var (
	_ sessions.StopAuthorizer = (*Channel)(nil)
	_ sessions.StopWitness    = (*Channel)(nil)
)

// StopEffects implements sessions.StopWitness: who wrote that something shall stop
// sees whether it did. Bots see nothing, so that they do not talk to each other.
func (c *Channel) StopEffects(raw json.RawMessage, v sessions.StopVerdict) []sessions.Effect {
	r, err := parseRequest(raw)
	if err != nil || r.Comment == nil || r.Actor.Bot {
		return nil
	}
	reaction := reactionFailed
	if v.Ended {
		reaction = reactionDone
	}
	return reactionsTo([]request{r}, "stopped", reaction, "")
}

// MayStop implements sessions.StopAuthorizer: beside who asked for a turn, the
// author of the pull request may stop what is done on it, and who may write to
// the repository.
func (c *Channel) MayStop(ctx context.Context, q sessions.StopQuestion) (bool, error) {
	r, err := parseUnweighed(q.Request)
	if err != nil {
		return false, err
	}
	if r.Actor.ID <= 0 || q.Principal != principal(r.Actor.ID) || r.key() != q.Key {
		return false, nil
	}
	if r.Actor.ID == r.Author.ID {
		return true, nil
	}
	repo, err := c.app.repository(r.Installation, r.Repository)
	if err != nil {
		return false, err
	}
	may, err := c.level(ctx, target{request: r, repo: repo}, r.Actor)
	if err != nil {
		return false, fmt.Errorf("github: %w", err)
	}
	return may >= levelWrite, nil
}
