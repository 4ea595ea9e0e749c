// Package workspace says what one workspace of Slack is to the app that is
// installed in it: who the app's bot is there, and the token that speaks for it.
//
// It is small on purpose. Whoever calls Slack's API asks a [Source] for the
// workspace and does not know whether the token came from the environment or
// from an installation.
package workspace
