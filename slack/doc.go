// Package slack is the room for everything that knows Slack: payload to intent,
// thread context, delivery, cards, sockets. It implements the same small
// interfaces of sessions that github does.
//
// What arrives is mapped without asking anybody (map*.go), then weighed: who asks,
// and whether they may (weigh*.go, who.go). A turn is prepared and told of by
// effects, which are delivered one after the other, each at most once (deliver.go).
// [manifests/slack-app.yml] registers the app that it speaks for.
//
// [manifests/slack-app.yml]: https://github.com/liaison-bot/liaison/blob/main/manifests/slack-app.yml
package slack
