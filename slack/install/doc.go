// Package install lets workspaces and whole organisations install the Slack app
// by themselves (https://docs.slack.dev/authentication/installing-with-oauth), and
// has the token for each of them.
//
// A [Store] keeps one record for every installation, encrypted with the
// workspace's id as part of what is authenticated, so that a record that is put
// in another's place does not open. It is a [workspace.Source]: it finds the
// workspace's own installation, else the organisation's, and replaces a token
// that expires by its refresh token, once at a time. [Single] is the same for an
// app with one token in the environment. [Handler] serves the two pages of an
// installation.
package install
