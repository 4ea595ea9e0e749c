// Package manifests holds what deployments start from: the manifests of the
// GitHub App and the Slack app, for people and for "liaison setup", and what the
// container image needs.
package manifests

import _ "embed" // for the manifests

// GitHubApp is the manifest of the GitHub App, in YAML.
//
//go:embed github-app.yml
var GitHubApp []byte

// SlackApp is the manifest of the Slack app, in YAML.
//
//go:embed slack-app.yml
var SlackApp []byte

// SlackAppSocket is that of an app without a public address, for Socket Mode.
//
//go:embed slack-app-socket.yml
var SlackAppSocket []byte
