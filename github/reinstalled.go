package github

import (
	"context"
	"errors"
	"net/url"
)

// reinstalled looks whether another installation reaches the repository by now,
// where ours is gone: who removes the App and installs it again gives it a new
// id, and what is owed from before still names the old one. The name that is
// asked for may belong to somebody else meanwhile; a token is only ever made for
// the repository's id, so that this leads nowhere.
func (t *repoTransport) reinstalled(ctx context.Context, to *url.URL, refusal error) bool {
	var paused *PausedError
	name, ok := repoInPath(to.Path, t.app.root.Path+"repos/")
	if !ok || !errors.As(refusal, &paused) || !paused.gone {
		return false
	}
	var found struct {
		ID int64 `json:"id"`
	}
	if err := get(ctx, t.app.client(t.app.own()), "repos/"+name+"/installation", &found); err != nil || found.ID <= 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.installed, t.token = found.ID, nil
	t.app.log.Info("the App is installed again", "installation", found.ID, "before", t.id.installation)
	return true
}
