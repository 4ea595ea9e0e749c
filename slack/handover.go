package slack

import (
	"context"

	"github.com/liaison-bot/liaison/sessions"
)

// Review is the wish for a review of a pull request that came from Slack.
type Review struct {
	// ID is the same however often it is handed over.
	ID string
	// Caller is where the outcome is told.
	Caller sessions.Caller
	// URL is the pull request as it was written, a stranger's text; Login is who
	// asks, at GitHub.
	URL, Login string
}

// noReviews is said where GitHub is off.
const noReviews = "I cannot review pull requests here: this service has no GitHub App."

// handOver hands a review over to GitHub's side.
func (c *Channel) handOver(ctx context.Context, item sessions.Item, p reviewPayload) (sessions.Receipt, error) {
	if c.review == nil {
		return c.post(ctx, item, postPayload{
			To: p.From, Key: item.ID, Mention: p.User, Failed: true,
			Markdown: noReviews,
		})
	}
	err := c.review(ctx, Review{
		ID: item.ID, URL: p.URL, Login: p.Login,
		Caller: sessions.Caller{Channel: Name, Address: encode(outcomeAddress{address: p.From, User: p.User})},
	})
	if err != nil {
		return sessions.Receipt{}, err
	}
	return sessions.Receipt{Note: "handed the review over to GitHub's side"}, nil
}
