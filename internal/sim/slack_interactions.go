package sim

import "time"

// slackInteractions are the short-lived things that people's clicks give an app.
type slackInteractions struct {
	triggers map[string]*slackTrigger
	answers  map[string]*slackResponseURL
}

// slackTrigger is a trigger_id: good once, for 3 seconds.
type slackTrigger struct {
	user, team string
	at         time.Time
	used       bool
}

// slackResponseURL takes 5 answers within 30 minutes.
type slackResponseURL struct {
	channel, message, thread, user string
	at                             time.Time
	uses                           int
}
