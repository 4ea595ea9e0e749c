package slack

import (
	"slices"

	"github.com/liaison-bot/liaison/sessions"
)

// question is something that a turn answers.
type question struct {
	request
	// message is what was asked in plain text.
	message string
}

// questions are what a turn answers: its own, and those that were gathered into it.
// Each message is there once.
func questions(own request, t sessions.Turn) []question {
	all := []question{{own, t.Message}}
	for _, g := range t.Gathered {
		r, err := parseRequest(g.Request)
		if err != nil || r.TS != "" && slices.ContainsFunc(all, func(q question) bool { return q.TS == r.TS }) {
			continue
		}
		all = append(all, question{r, g.Message})
	}
	return all
}

// askers are the requests of what a turn answers.
func askers(own request, t sessions.Turn) []request {
	var all []request
	for _, q := range questions(own, t) {
		all = append(all, q.request)
	}
	return all
}
