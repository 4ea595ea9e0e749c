// Package redact masks secrets in everything that leaves the process or is
// written down: log lines, events, prompts, errors, comments.
//
// It knows two kinds: the values of this installation's own settings, which are
// registered and masked wherever they appear (also JSON-escaped, URL-escaped or
// as base64), and the shapes that the platforms' credentials have. It is a net
// under the rule that secrets are not passed around, not a replacement for it.
package redact
