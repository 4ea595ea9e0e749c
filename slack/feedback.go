package slack

import "strings"

// The verdicts on an answer, as [sessions.Feedback] has them.
const (
	verdictGood = "good"
	verdictBad  = "bad"
)

// feedbackValue is what a feedback button carries: what it says, of which turn.
func feedbackValue(verdict, turn string) string { return verdict + ":" + turn }

// readFeedback takes a button's value apart.
func readFeedback(value string) (verdict, turn string, ok bool) {
	verdict, turn, _ = strings.Cut(value, ":")
	return verdict, turn, (verdict == verdictGood || verdict == verdictBad) && namesTurn(turn)
}
