package sim

// What people do on the page, with the deliveries that GitHub sends of it.

// Comment writes in the conversation of a pull request as a person does, and
// returns the comment's id and the delivery that tells of it.
func (g *GitHub) Comment(repo string, number int, author, body string) (int64, Webhook) {
	id := g.AddComment(repo, number, author, body)
	return id, g.CommentEvent(id, "created")
}

// ReplyToThread answers a comment on a line as a person does, and returns the
// answer's id and its deliveries. The page makes a review without a body of
// each answer, so that two events tell of it.
func (g *GitHub) ReplyToThread(commentID int64, author, body string) (int64, []Webhook) {
	g.mu.Lock()
	first := g.mustReviewComment(commentID).thread()
	k := g.replyIn(first, g.account(author), 0, body)
	repo, number := k.pull.repo.fullName, k.pull.number
	g.notify()
	g.mu.Unlock()
	return k.id, []Webhook{
		g.ReviewEvent(repo, number, k.review, "submitted"),
		g.ReviewCommentEvent(repo, number, k.id, "created"),
	}
}

// SubmitReview submits a review as a person does, with comments on lines, and
// returns its id and its deliveries: one of the review, one of each comment.
// An empty state means COMMENTED.
func (g *GitHub) SubmitReview(repo string, number int, r Review, comments ...ReviewComment) (int64, []Webhook) {
	g.mu.Lock()
	p := g.mustPull(repo, number)
	if r.State == "" {
		r.State = "COMMENTED"
	}
	rv := g.addReview(p, g.account(r.Author), r)
	var added []int64
	for _, c := range comments {
		if c.CommitID == "" {
			c.CommitID = rv.CommitID
		}
		k := g.addReviewComment(p, rv.author, c)
		k.review = rv.id
		added = append(added, k.id)
	}
	g.notify()
	g.mu.Unlock()
	hooks := []Webhook{g.ReviewEvent(repo, number, rv.id, "submitted")}
	for _, id := range added {
		hooks = append(hooks, g.ReviewCommentEvent(repo, number, id, "created"))
	}
	return rv.id, hooks
}
