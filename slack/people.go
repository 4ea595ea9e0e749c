package slack

import (
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
)

// weighReview hands the review of a pull request over to GitHub's side, on behalf
// of the login that the operator says who asks has there. What that login may do is
// judged there.
func (c *Channel) weighReview(ctx context.Context, in sessions.Intent, r request) (sessions.Intent, error) {
	refuse := func(reason, text string) (sessions.Intent, error) {
		in.Reason += ": " + reason
		return owing(in, aside(r, "review", text)...), nil
	}
	login := c.settings.People[r.User]
	switch {
	case r.App != "" || r.User == "":
		return refuse("no person asks", "I review pull requests for people only.")
	case !isAddress(r.Argument):
		return refuse("it names no pull request", "Which one? Write `review` and the address of a pull request, such as `review https://github.com/octocat/hello-world/pull/7`.")
	case c.review == nil:
		return refuse("GitHub is off", noReviews)
	case login == "":
		return refuse("their login at GitHub is not known", fmt.Sprintf("I do not know your account at GitHub, and a review needs your permissions there. "+
			"Whoever runs me can add `people: [{slack: %s, github: your-login}]` to `liaison.yaml`.", r.User))
	}
	if r.Trigger == byCommand {
		ts, text, err := c.asked(ctx, r, "review "+r.Argument, askedKey(in, r))
		if err != nil {
			return in, err
		}
		if text != "" {
			return refuse("it cannot be told in the channel", text)
		}
		if r.Thread == "" {
			r.Thread = ts
		}
		in.Key = r.key()
	}
	return owing(in, effect("review", kindReview, reviewPayload{From: r.address, URL: r.Argument, Login: login, User: r.User})), nil
}
