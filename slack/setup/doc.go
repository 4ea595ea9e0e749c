// Package setup makes the Slack app and looks whether it fits.
//
// A [Manifest] describes the app to Slack; what it asks for is listed in [Scopes]
// and [Events], each with its reason. A [Registrar] makes the app from it, with a
// configuration token, or changes one that is there. [Examine] asks Slack and the
// service itself what "liaison doctor" then judges.
// https://docs.slack.dev/app-manifests
package setup
