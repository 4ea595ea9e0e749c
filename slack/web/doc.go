// Package web writes to Slack and reads from it: the Web API as the channel uses
// it. slack-go builds the requests; the answers are read here, from their bytes,
// because an error of slack-go's does not say whether Slack did what was asked
// (https://github.com/slack-go/slack/issues/643: an odd block in the echo of a
// message fails a call that succeeded).
//
// Every failure is an [*Error] of one class, so that a caller knows whether a call
// can be made again. Everything that changes a channel goes through the one line
// of that channel, most important first, at Slack's pace.
package web
