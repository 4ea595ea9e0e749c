package web

import "time"

const (
	// requestTimeout bounds one call, from its turn in the line to the end of the answer.
	requestTimeout = 30 * time.Second
	// maxAnswer bounds the body of an answer in bytes: a page of a hundred messages
	// of the greatest length, each as text and as blocks, is a third of it.
	maxAnswer = 32 << 20
	// pageSize is how many messages are asked for at once. Slack gives fewer to some
	// apps. https://docs.slack.dev/reference/methods/conversations.replies
	pageSize = 100
	// maxPages bounds one look through a thread.
	maxPages = 50

	// perSecond and burst are the pace of one channel: "1 per second", with "short
	// bursts". https://docs.slack.dev/apis/web-api/rate-limits#overview
	perSecond = 1
	burst     = 3
	// maxPaceWait is the longest that a write stands in line before it is put off;
	// far below the two minutes that one attempt at an effect may take.
	maxPaceWait = 45 * time.Second
	// maxLine bounds the line of one channel.
	maxLine = 256
	// lateAfter is how long what is shown of a running turn may wait for its turn;
	// the next edit holds all of it anyway.
	lateAfter = 2 * time.Second
	// maxLanes and maxClosed are how many channels and limits are remembered before
	// those that need not be are forgotten.
	maxLanes  = 1024
	maxClosed = 1024

	// unknownWait is the wait after a limit that names no end; a part of it again is
	// added at random, so that not all come back at once.
	unknownWait = 30 * time.Second
	// minWait and maxWait bound what a Retry-After can make us wait.
	minWait = time.Second
	maxWait = 15 * time.Minute

	// knownFor is how long names of people and channels are remembered, refusedFor
	// how long what makes us refuse somebody, or that there is no such one.
	knownFor   = time.Hour
	refusedFor = 2 * time.Minute
	// maxKnown bounds how many of each are remembered.
	maxKnown = 4096

	// maxDetails and maxDetail bound what is kept of Slack's words about a refusal,
	// in number and in bytes.
	maxDetails = 5
	maxDetail  = 200
)
