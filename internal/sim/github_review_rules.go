package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// refusal says why GitHub does not take a review; one comment that it does not
// take is enough for all of it.
func (g *GitHub) refusal(p *pull, event, body, sha string, comments []ReviewComment) []string {
	switch {
	case p.locked:
		return []string{"lock prevents review"}
	case slices.ContainsFunc(p.reviews, func(r *review) bool { return r.State == "PENDING" && r.author == g.bot() }):
		return []string{"User can only have one pending review per pull request"}
	case !slices.ContainsFunc(p.commits(), func(k *commit) bool { return k.sha == sha }):
		return []string{"The commit " + sha + " is not part of the pull request"}
	}
	if why := verdictRefusal(p, g.bot(), event, body); why != "" {
		return []string{why}
	}
	n := p.repo.net
	files := n.compare(n.mergeBase(p.base, sha), sha)
	var why []string
	for _, k := range comments {
		if w := commentRefusal(files, k); w != "" {
			why = append(why, w)
		}
	}
	return why
}

// verdictRefusal is what a review's event and body can be refused for.
func verdictRefusal(p *pull, author *user, event, body string) string {
	switch {
	case event == "APPROVE" && p.author == author:
		return "Can not approve your own pull request"
	case event == "REQUEST_CHANGES" && p.author == author:
		return "Can not request changes on your own pull request"
	case (event == "COMMENT" || event == "REQUEST_CHANGES") && strings.TrimSpace(body) == "":
		return "Body can't be blank"
	case utf8.RuneCountInString(body) > maxCommentBody:
		return "Body is too long (maximum is 65536 characters)"
	}
	return ""
}

// commentRefusal is what a comment on a line can be refused for.
func commentRefusal(files []fileDiff, k ReviewComment) string {
	i := slices.IndexFunc(files, func(f fileDiff) bool { return f.path == k.Path })
	if i < 0 {
		return "Path could not be resolved"
	}
	at := func(line int, side string) (hunk int) {
		for _, l := range shownLines(files[i].hunks) {
			if number := map[string]int{"RIGHT": l.new, "LEFT": l.old}[side]; number == line {
				return l.hunk
			}
		}
		return 0
	}
	hunk := at(k.Line, k.Side)
	switch {
	case hunk == 0:
		return "Line could not be resolved"
	case k.StartLine != 0 && k.StartLine >= k.Line:
		return "Start line must precede the end line"
	case k.StartLine != 0 && at(k.StartLine, k.Side) != hunk:
		return "Start line could not be resolved"
	case strings.TrimSpace(k.Body) == "":
		return "Body can't be blank"
	case utf8.RuneCountInString(k.Body) > maxCommentBody:
		return "Body is too long (maximum is 65536 characters)"
	}
	return ""
}

// readVerdict reads event and body of a request.
func readVerdict(o object) (event, body string, rep reply, good bool) {
	for key, into := range map[string]*string{"event": &event, "body": &body} {
		v, present := o[key]
		if !present {
			continue
		}
		text, isText := v.(string)
		if !isText {
			return "", "", invalidRequest(fmt.Sprintf("For 'properties/%s', %v is not a string.", key, v)), false
		}
		*into = text
	}
	if _, known := reviewStates[event]; !known && event != "" {
		return "", "", invalidRequest(event + " is not a member of [\"APPROVE\", \"REQUEST_CHANGES\", \"COMMENT\"]."), false
	}
	return event, body, reply{}, true
}

// readComments reads the comments of a request as far as its schema goes.
func readComments(o object) ([]ReviewComment, reply, bool) {
	list, isList := o["comments"].([]any)
	if _, present := o["comments"]; present && !isList {
		return nil, invalidRequest("For 'properties/comments', it is not an array."), false
	}
	var all []ReviewComment
	for i, v := range list {
		item, _ := v.(object)
		k := ReviewComment{Side: "RIGHT"}
		for key, into := range map[string]*string{"path": &k.Path, "body": &k.Body, "side": &k.Side} {
			text, isText := item[key].(string)
			if isText {
				*into = text
			} else if _, present := item[key]; present || key != "side" {
				return nil, invalidRequest(fmt.Sprintf("For 'comments/%d', %q wasn't supplied.", i, key)), false
			}
		}
		for key, into := range map[string]*int{"line": &k.Line, "start_line": &k.StartLine} {
			n, isNumber := item[key].(json.Number)
			whole, err := n.Int64()
			if present := item[key] != nil; present && (!isNumber || err != nil) || !present && key == "line" {
				return nil, invalidRequest(fmt.Sprintf("For 'comments/%d/%s', %v is not an integer.", i, key, item[key])), false
			}
			*into = int(whole)
		}
		if side, given := item["start_side"]; given && side != k.Side {
			return nil, invalidRequest(fmt.Sprintf("For 'comments/%d', a range over both sides is not simulated.", i)), false
		}
		if k.Side != "RIGHT" && k.Side != "LEFT" {
			return nil, invalidRequest(fmt.Sprintf("For 'comments/%d', %q is not a side.", i, k.Side)), false
		}
		all = append(all, k)
	}
	return all, reply{}, true
}
