// Package slack is the room for everything that knows Slack: payload to intent,
// thread context, delivery, cards, sockets. It implements the same small
// interfaces of sessions that github does.
//
// So far it reads what arrives and says what it asks for, and then does nothing
// about it: every delivery ends as ignored, with a reason that a person sees.
// [manifests/slack-app.yml] registers the app that it will speak for.
//
// [manifests/slack-app.yml]: https://github.com/liaison-bot/liaison/blob/main/manifests/slack-app.yml
package slack
