// Package slack is the room for everything that knows Slack: payload to intent,
// thread context, delivery, cards, sockets. It will implement the same small
// interfaces of sessions that github does.
//
// Nothing of it exists yet; [manifests/slack-app.yml] registers the app that it
// will speak for.
//
// [manifests/slack-app.yml]: https://github.com/liaison-bot/liaison/blob/main/manifests/slack-app.yml
package slack
