package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/tools"
)

// submitted returns the review that the agent handed in during the turn, if it
// did. One that cannot be read is none: the agent's text is posted all the same.
func submitted(outputs map[string]json.RawMessage) (submission, bool) {
	var s submission
	raw, ok := outputs[toolSubmitReview]
	if !ok || json.Unmarshal(raw, &s) != nil {
		return submission{}, false
	}
	return s, true
}

// tidy makes a finding fit to be kept and shown.
func (f *finding) tidy(set settings) {
	if !f.anchored() {
		f.Path = showPath(f.Path)
	}
	if f.Suggestion == "" {
		return
	}
	f.Suggestion = strings.TrimSuffix(strings.ReplaceAll(strings.ToValidUTF8(f.Suggestion, "\uFFFD"), "\r\n", "\n"), "\n")
	switch {
	case len(f.Suggestion) > maxFindingBody:
		f.Suggestion = ""
	case !set.Suggestions || f.anchored() && f.Side != sideRight:
		// It cannot be applied with a click, and is still worth reading.
		f.Body, f.Suggestion = strings.TrimSpace(f.Body+"\n\nInstead:\n\n"+fence(f.Suggestion)), ""
	}
}

// showPath is a path that no file has, as it can be kept and shown.
func showPath(path string) string {
	return strings.TrimSpace(oneLine(tools.Cut(path, maxPath, "…")))
}

// choose keeps the most severe findings: all within the bounds, and of those
// with a place so many at their lines as the settings allow. What is said twice
// about one place is said once.
func (s *submission) choose(set settings) {
	slices.SortStableFunc(s.Findings, func(a, b finding) int { return rank(a.Severity) - rank(b.Severity) })
	type place struct {
		fingerprint, side string
		line              int
	}
	said := map[place]bool{}
	s.Findings = slices.DeleteFunc(s.Findings, func(f finding) bool {
		at := place{f.fingerprint(), f.Side, f.Line}
		defer func() { said[at] = true }()
		return said[at]
	})
	if more := len(s.Findings) - maxFindings; more > 0 {
		s.Findings, s.Omitted = s.Findings[:maxFindings], more
	}
	inline := 0
	for i := range s.Findings {
		if !s.Findings[i].anchored() {
			continue
		}
		if inline++; inline > set.MaxInline {
			s.Findings[i].Demoted = fmt.Sprintf("%d comments on lines are the most in one review here, and others are more severe or came first", set.MaxInline)
		}
	}
}

// encode returns the submission as it is kept. One that is too large has its
// longest texts cut, the summary last.
func (s submission) encode() (json.RawMessage, error) {
	s.Findings = slices.Clone(s.Findings)
	for size := maxFindingBody; ; size /= 2 {
		raw, err := compact(s)
		if err != nil || len(raw) <= maxSubmission {
			return raw, err
		}
		if size < 64 {
			return nil, fmt.Errorf("the review has %d bytes and cannot be kept: hand in fewer findings, with shorter paths", len(raw))
		}
		for i := range s.Findings {
			f := &s.Findings[i]
			if len(f.Body) > size {
				f.Body = tools.Cut(f.Body, size, " …")
			}
			if len(f.Suggestion) > size { // half of one would break the code
				f.Suggestion = ""
			}
		}
	}
}

// compact encodes without the escapes that only web pages need.
func compact(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
