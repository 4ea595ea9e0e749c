package redact

import (
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// shape is the form of a kind of credential. A text that holds none of its
// anchors cannot match, which spares the expression on nearly every text.
type shape struct {
	anchors []string
	re      *lazyregexp.Regexp
	// Of a match what follows the first group is masked, or all of it, and the
	// suffix is kept.
	suffix string
}

// knownShapes follows the token formats that the platforms publish:
// https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/,
// https://api.slack.com/authentication/token-types,
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html.
var knownShapes = []shape{
	{
		anchors: []string{"-----BEGIN"},
		re:      lazyregexp.New(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`),
	},
	{
		anchors: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
		re:      lazyregexp.New(`\bgh[pousr]_[A-Za-z0-9_.\-]{16,}`),
	},
	{
		anchors: []string{"github_pat_"},
		re:      lazyregexp.New(`\bgithub_pat_[A-Za-z0-9_]{16,}`),
	},
	{
		anchors: []string{"xox", "xapp-"},
		re:      lazyregexp.New(`\b(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9\-]{8,}`),
	},
	{
		// A webhook, and what answers a click or a command; also within JSON and forms.
		anchors: []string{"hooks.slack"},
		re:      lazyregexp.New(`(hooks\.slack(?:-gov)?\.com(?:\\?/|%2[Ff])[a-z\-]+(?:\\?/|%2[Ff]))[A-Za-z0-9/_\-\\%]+`),
	},
	{
		anchors: []string{"AKIA", "ASIA"},
		re:      lazyregexp.New(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`),
	},
	{
		anchors: []string{"sk-"},
		re:      lazyregexp.New(`\bsk-[A-Za-z0-9_\-]{20,}`),
	},
	{
		anchors: []string{"eyJ"},
		re:      lazyregexp.New(`\beyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*`),
	},
	{
		// Also where JSON escapes the slashes.
		anchors: []string{"://", `:\/`},
		re:      lazyregexp.New(`([A-Za-z][A-Za-z0-9+.\-]*:(?:\\*/){2})[^\s/@"'<>\\]+@`),
		suffix:  "@",
	},
	{
		anchors: []string{"uthorization", "UTHORIZATION"},
		re:      lazyregexp.New(`((?i:authorization)\\*["']?\s*[:=]\s*\\*["'\[]?\s*(?:(?i:bearer|basic|token|digest)\s+)?)[^\s"',;\]\\]{4,}`),
	},
	{
		anchors: []string{"earer ", "EARER "},
		re:      lazyregexp.New(`\b((?i:bearer)\s+)[A-Za-z0-9_\-.~+/=]{12,}`),
	},
}

// shapes masks everything in s that has the form of a credential.
func shapes(s string) string {
	for _, k := range knownShapes {
		for _, anchor := range k.anchors {
			if strings.Contains(s, anchor) {
				s = k.mask(s)
				break
			}
		}
	}
	return s
}

func (k shape) mask(s string) string {
	var out strings.Builder
	done := 0
	for _, at := range k.re.FindAllStringSubmatchIndex(s, -1) {
		from := at[0]
		if len(at) > 2 {
			from = at[3]
		}
		to := at[1] - len(k.suffix)
		// What was masked before may look like one.
		if found := s[from:to]; found == Mask[:len(Mask)-1] || found == Mask[1:len(Mask)-1] {
			continue
		}
		out.WriteString(s[done:from] + Mask)
		done = to
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}
