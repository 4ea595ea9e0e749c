package github

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// find looks for the pull request of which only a commit is known: events about
// a fork's commits name none (https://github.com/palantir/bulldozer/pull/563).
// Of several open ones the newest counts, and the reason names the others.
func (w *weighing) find(ctx context.Context) (found bool, why string, err error) {
	if !validSHA(w.Head) {
		return false, "it names no pull request and no commit", nil
	}
	var pulls []struct {
		Number    int       `json:"number"`
		State     string    `json:"state"`
		CreatedAt time.Time `json:"created_at"`
		Head      struct {
			SHA string `json:"sha"`
		} `json:"head"`
		Base struct {
			Repo struct {
				ID int64 `json:"id"`
			} `json:"repo"`
		} `json:"base"`
	}
	err = get(ctx, w.repo.client, w.path("commits/%s/pulls?per_page=%d", w.Head, pageSize), &pulls)
	if err != nil && !notFound(err) {
		return false, "", fmt.Errorf("look for the pull request of %s: %w", short(w.Head), err)
	}
	var numbers []int
	var newest time.Time
	for _, p := range pulls {
		if p.State != "open" || p.Head.SHA != w.Head || p.Base.Repo.ID != w.Repository || p.Number <= 0 {
			continue
		}
		numbers = append(numbers, p.Number)
		if w.Number == 0 || p.CreatedAt.After(newest) || p.CreatedAt.Equal(newest) && p.Number > w.Number {
			w.Number, newest = p.Number, p.CreatedAt
		}
	}
	if len(numbers) == 0 {
		return false, fmt.Sprintf("no open pull request has the head %s", short(w.Head)), nil
	}
	if len(numbers) > 1 {
		var others []string
		for _, n := range numbers {
			if n != w.Number {
				others = append(others, fmt.Sprintf("#%d", n))
			}
		}
		w.in.Reason += fmt.Sprintf(" (#%d; %s has the same head)", w.Number, strings.Join(others, ", "))
	}
	return true, "", nil
}
