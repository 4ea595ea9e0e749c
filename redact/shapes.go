package redact

import (
	"regexp"
	"strings"
)

// shape is the form of a kind of credential. A text that holds none of its
// anchors cannot match, which spares the expression on nearly every text.
type shape struct {
	anchors []string
	re      *regexp.Regexp
	// with is the replacement; it keeps what is not secret ($1).
	with string
}

// knownShapes follows the token formats that the platforms publish:
// https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/,
// https://api.slack.com/authentication/token-types,
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html.
var knownShapes = []shape{
	{
		anchors: []string{"-----BEGIN"},
		re:      regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`),
		with:    Mask,
	},
	{
		anchors: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
		re:      regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9_.\-]{16,}`),
		with:    Mask,
	},
	{
		anchors: []string{"github_pat_"},
		re:      regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{16,}`),
		with:    Mask,
	},
	{
		anchors: []string{"xox", "xapp-"},
		re:      regexp.MustCompile(`\b(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9\-]{8,}`),
		with:    Mask,
	},
	{
		// A webhook, and what answers a click or a command; also within JSON and forms.
		anchors: []string{"hooks.slack"},
		re:      regexp.MustCompile(`(hooks\.slack(?:-gov)?\.com(?:\\?/|%2[Ff])[a-z\-]+(?:\\?/|%2[Ff]))[A-Za-z0-9/_\-\\%]+`),
		with:    "${1}" + Mask,
	},
	{
		anchors: []string{"AKIA", "ASIA"},
		re:      regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`),
		with:    Mask,
	},
	{
		anchors: []string{"sk-"},
		re:      regexp.MustCompile(`\bsk-[A-Za-z0-9_\-]{20,}`),
		with:    Mask,
	},
	{
		anchors: []string{"eyJ"},
		re:      regexp.MustCompile(`\beyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*`),
		with:    Mask,
	},
	{
		anchors: []string{"://"},
		re:      regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.\-]*://)[^\s/@"'<>]+@`),
		with:    "${1}" + Mask + "@",
	},
	{
		anchors: []string{"uthorization", "UTHORIZATION"},
		re:      regexp.MustCompile(`((?i:authorization)["']?\s*[:=]\s*["'\[]?\s*(?:(?i:bearer|basic|token|digest)\s+)?)[^\s"',;\]]{4,}`),
		with:    "${1}" + Mask,
	},
	{
		anchors: []string{"earer ", "EARER "},
		re:      regexp.MustCompile(`\b((?i:bearer)\s+)[A-Za-z0-9_\-.~+/=]{12,}`),
		with:    "${1}" + Mask,
	},
}

// shapes masks everything in s that has the form of a credential.
func shapes(s string) string {
	for _, k := range knownShapes {
		for _, anchor := range k.anchors {
			if strings.Contains(s, anchor) {
				s = k.re.ReplaceAllString(s, k.with)
				break
			}
		}
	}
	return s
}
