// Package sim holds platforms on loopback, for tests and for the demo.
//
// [GitHub] speaks the REST dialect of a GitHub App: it verifies App tokens,
// mints installation tokens, keeps real git objects, pages, limits, redirects,
// signs webhooks, and refuses what the real API refuses. A fake that accepts
// anything proves nothing, so each refusal has a test of its own.
//
// [Slack] speaks the Web API of a Slack app: messages and streams with their
// blocks judged by Slack's limits, reactions, statuses, files, views, OAuth,
// Socket Mode and manifests. It tells the app of what people do by signed
// deliveries, as late, as often and in what order a test wants.
//
// The world is changed by Go calls ([GitHub.OpenPullRequest], [GitHub.Push],
// [Slack.Mention], …), watched without sleeping ([GitHub.Wait], [Slack.Wait]) and
// made to misbehave by [GitHub.Fail] and [Slack.Fail].
// Setup calls panic when they name something that does not exist: that is a
// mistake in a test, and no caller could do anything about it.
//
// The package imports nothing else of this project, so that it cannot share a
// misunderstanding with the code that it judges.
package sim
