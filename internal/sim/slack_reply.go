package sim

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// slackDone is a success with what a method answers.
func slackDone(fields object) object {
	if fields == nil {
		fields = object{}
	}
	fields["ok"] = true
	return fields
}

// slackFailed is a refusal, with the messages that say where the fault is.
func slackFailed(code string, messages ...string) object {
	o := object{"ok": false, "error": code}
	if len(messages) > 0 {
		o["response_metadata"] = object{"messages": messages}
	}
	return o
}

// refused reports whether an answer is a refusal, and its code.
func refused(o object) (code string, is bool) {
	if o["ok"] == true {
		return "", false
	}
	code, _ = o["error"].(string)
	return code, true
}

// slackPage cuts a page out of a list; standard is the page without a limit,
// most the largest. A cursor that Slack did not give out is refused.
func slackPage[T any](q *slackRequest, all []T, standard, most int) (page []T, next string, refusal object) {
	limit := q.number("limit", standard)
	if limit < 1 {
		return nil, "", slackFailed("invalid_limit")
	}
	from := 0
	if cursor := q.args["cursor"]; cursor != "" {
		raw, err := base64.StdEncoding.DecodeString(cursor)
		n, isNext := strings.CutPrefix(string(raw), "next:")
		from = atoi(n, -1)
		if err != nil || !isNext || from < 0 || from > len(all) {
			return nil, "", slackFailed("invalid_cursor")
		}
	}
	to := min(from+min(limit, most), len(all))
	if to < len(all) {
		next = base64.StdEncoding.EncodeToString([]byte("next:" + strconv.Itoa(to)))
	}
	return all[from:to], next, nil
}
