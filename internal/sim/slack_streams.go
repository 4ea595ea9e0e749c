package sim

import "time"

// slackStream is what a message has while it is written bit by bit.
type slackStream struct {
	open bool
	ends time.Time
}
