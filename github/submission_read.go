package github

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/liaison-bot/liaison/tools"
)

// handedReview is a review as the agent wrote it, as far as it can be read.
type handedReview struct {
	verdict, summary string
	findings         []handedFinding
	// left says which findings are in no review, and why.
	left []string
}

func (h *handedReview) leave(n int, why string) {
	h.left = append(h.left, fmt.Sprintf("finding %d was left out: %s", n, why))
}

// handedFinding is one finding of it. A fault is why it can have no place.
type handedFinding struct {
	finding
	fault string
	n     int
}

// numbered returns the finding with the number that the agent knows it by.
func (h handedFinding) numbered() finding {
	h.number = h.n
	return h.finding
}

// readReview reads what matches the tool's schema. Unknown fields say nothing,
// and a field of another type spoils its own finding at most.
func readReview(input json.RawMessage) (handedReview, error) {
	var in struct {
		Verdict  any    `json:"verdict"`
		Summary  string `json:"summary"`
		Findings []any  `json:"findings"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return handedReview{}, unreadable("review", err)
	}
	out := handedReview{verdict: verdictComment, summary: plainText(in.Summary, maxSummary)}
	if word := strings.ToLower(strings.TrimSpace(asText(in.Verdict))); slices.Contains([]string{verdictApprove, verdictRequestChanges}, word) {
		out.verdict = word
	}
	for i, v := range in.Findings {
		h := readFinding(v)
		if h.n = i + 1; h.Body == "" && h.Title == "" {
			out.leave(h.n, "it says nothing, it needs a body")
			continue
		}
		out.findings = append(out.findings, h)
	}
	return out, nil
}

// readFinding reads one finding; what is no object is its text.
func readFinding(v any) handedFinding {
	in, ok := v.(map[string]any)
	if !ok {
		return handedFinding{finding: finding{Severity: severityWarning, Body: plainText(asText(v), maxFindingBody)}, fault: "it is no object with path, line and body"}
	}
	h := handedFinding{finding: finding{
		Path: asText(in["path"]), Severity: severity(asText(in["severity"])),
		Title: ellipsis(strings.TrimSpace(oneLine(plainText(asText(in["title"]), maxFindingBody))), maxFindingTitle),
		Body:  plainText(asText(in["body"]), maxFindingBody), Suggestion: asText(in["suggestion"]),
	}}
	var wrong []string
	for _, field := range []struct {
		name string
		into *int
	}{{"line", &h.Line}, {"startLine", &h.StartLine}} {
		n, ok := wholeNumber(in[field.name])
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s is not a whole number above zero", field.name))
		}
		*field.into = n
	}
	switch side := strings.ToUpper(strings.TrimSpace(asText(in["side"]))); side {
	case "", sideRight, sideLeft:
		h.Side = side
	default:
		wrong = append(wrong, "side is neither RIGHT nor LEFT")
	}
	if _, ok := in["path"].(string); !ok && in["path"] != nil {
		wrong = append(wrong, "path is not a string")
	}
	h.fault = strings.Join(wrong, ", ")
	return h
}

// asText returns a value as the text that it was meant to be.
func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// wholeNumber reads a number of a line, also where it was written as text. Nil
// stands for none.
func wholeNumber(v any) (int, bool) {
	const most = 1 << 30
	switch v := v.(type) {
	case nil:
		return 0, true
	case float64:
		if v == math.Trunc(v) && v > 0 && v < most {
			return int(v), true
		}
		return 0, v == 0
	case string:
		n, err := strconv.Atoi(strings.TrimSpace(v))
		if err == nil && n > 0 && n < most {
			return n, true
		}
		return 0, strings.TrimSpace(v) == ""
	}
	return 0, false
}

// severity maps a word to one of ours. One that says nothing deserves a look.
func severity(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case severityError, "critical", "blocker", "high", "major":
		return severityError
	case severityInfo, "note", "notice", "nit", "low", "minor", "suggestion", "style":
		return severityInfo
	}
	return severityWarning
}

// plainText is a text without what no text needs, of at most size bytes.
func plainText(s string, size int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n"))
	return strings.TrimSpace(tools.Cut(s, size, " …"))
}
