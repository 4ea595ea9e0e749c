package sim

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// serveElsewhere answers the addresses beside the Web API: files, uploads, the
// answers to clicks, and sockets. The calls are recorded like methods, under the
// name of what they are.
func (s *Slack) serveElsewhere(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == socketPath {
		s.serveSocket(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	call := SlackCall{Token: bearer(r, nil), Header: r.Header.Clone(), Args: map[string]string{"path": rest}}
	call.Team = s.teamOf(call.Token, nil)
	var answer func() slackAnswer
	switch kind {
	case "files-pri":
		call.Method, answer = "file", func() slackAnswer { return s.serveFile(call.Token, rest) }
	case "upload":
		call.Method, answer = "upload", func() slackAnswer { return s.takeUpload(r, strings.TrimPrefix(rest, "v1/"), body) }
	case "actions":
		call.Method, call.JSON = "response_url", true
		call.Args["body"] = string(body)
		answer = func() slackAnswer { return s.takeResponse(r.URL.Path, body) }
	default:
		http.NotFound(w, r)
		return
	}
	if f := s.takeSlackFault(call.Method); f != nil {
		f.apply(s, w, r, call, answer)
		return
	}
	s.sendSlack(w, r, call, answer())
}
