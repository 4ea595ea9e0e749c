package sim

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// slackMethod is one method of the Web API.
type slackMethod struct {
	// token is the kind that the method takes: "bot", "app", "config", or ""
	// where the method has credentials of its own.
	token string
	// scopes of which any one is enough.
	scopes []string
	// args are the arguments that the method knows; those before the bar are
	// required: "channel text | thread_ts".
	args   string
	handle func(*slackRequest) object
}

// slackRequest is one call on its way through a method. The lock is held.
type slackRequest struct {
	s     *Slack
	r     *http.Request
	args  map[string]string
	token *slackToken
	team  *workspace // that the call acts in
}

// serveMethod answers one method of the Web API and records the call.
func (s *Slack) serveMethod(w http.ResponseWriter, r *http.Request, method string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		s.sendSlack(w, r, SlackCall{Method: method}, slackAnswer{body: slackFailed("request_timeout")})
		return
	}
	args, asJSON, badArgs := slackArgs(r, body)
	call := SlackCall{Method: method, Args: args, JSON: asJSON, Token: bearer(r, args), Header: r.Header.Clone()}
	call.Team = s.teamOf(call.Token, args)
	run := func() slackAnswer {
		if badArgs != "" {
			return slackAnswer{body: slackFailed(badArgs)}
		}
		a := slackAnswer{body: s.perform(r, method, args, call.Token)}
		if code, _ := refused(a.body); code == "ratelimited" {
			a.status, a.header = http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}}
		}
		return a
	}
	if f := s.takeSlackFault(method); f != nil {
		f.apply(s, w, r, call, run)
		return
	}
	s.sendSlack(w, r, call, run())
}

// slackArgs reads the arguments of a call from its query and its body. Values
// of a JSON body that are no text are kept as JSON. refusal is Slack's word for
// a body that it can not read.
func slackArgs(r *http.Request, body []byte) (args map[string]string, asJSON bool, refusal string) {
	args = map[string]string{}
	take := func(form url.Values) {
		for k, v := range form {
			args[k] = v[0]
		}
	}
	take(r.URL.Query())
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case len(body) == 0:
		return args, false, ""
	case err != nil:
		return args, false, "missing_post_type"
	case kind == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return args, false, "invalid_form_data"
		}
		take(form)
		return args, false, ""
	case kind == "application/json":
		var o map[string]json.RawMessage
		if json.Unmarshal(body, &o) != nil {
			return args, true, "invalid_json"
		}
		for k, raw := range o {
			var text string
			switch {
			case string(raw) == "null":
			case json.Unmarshal(raw, &text) == nil:
				args[k] = text
			default:
				args[k] = string(raw)
			}
		}
		return args, true, ""
	}
	return args, false, "invalid_post_type"
}

// bearer is the token of a call: of the header, or else of the form.
func bearer(r *http.Request, args map[string]string) string {
	if value, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is {
		return value
	}
	return args["token"]
}

// perform checks who calls and what with, and runs the method.
func (s *Slack) perform(r *http.Request, name string, args map[string]string, token string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, known := s.methods[name]
	if !known {
		return slackFailed("unknown_method")
	}
	q := &slackRequest{s: s, r: r, args: args}
	if refusal := q.identify(m, token); refusal != nil {
		return refusal
	}
	if refusal := q.checkArgs(m); refusal != nil {
		return refusal
	}
	answer := m.handle(q)
	s.judge(name, args, answer)
	if answer["ok"] == true {
		s.notify()
	}
	return answer
}

// identify finds the token of a call and what it may do.
func (q *slackRequest) identify(m slackMethod, value string) object {
	if m.token == "" {
		return nil
	}
	if value == "" {
		return slackFailed("not_authed")
	}
	if m.token == "app" || m.token == "config" {
		want := q.s.opts.AppToken
		if m.token == "config" {
			want = q.s.opts.ConfigToken
		}
		switch {
		case q.s.tokens[value] != nil:
			return slackFailed("not_allowed_token_type")
		case want == "" || value != want:
			return slackFailed("invalid_auth")
		}
		return nil
	}
	t := q.s.tokens[value]
	switch {
	case t == nil && (value == q.s.opts.AppToken || value == q.s.opts.ConfigToken):
		return slackFailed("not_allowed_token_type")
	case t == nil:
		return slackFailed("invalid_auth")
	case t.revoked:
		return slackFailed("token_revoked")
	case t.expires != 0 && q.s.opts.Now().Unix() >= t.expires:
		return slackFailed("token_expired")
	}
	q.token, q.team = t, q.s.actsIn(t, q.args)
	if q.team == nil {
		return slackFailed("team_not_found")
	}
	if q.team.uninstalled {
		return slackFailed("account_inactive")
	}
	if len(m.scopes) > 0 {
		return q.needs(m.scopes...)
	}
	return nil
}

// needs refuses a token that has none of the scopes.
func (q *slackRequest) needs(scopes ...string) object {
	if slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(q.token.scopes, scope) }) {
		return nil
	}
	o := slackFailed("missing_scope")
	o["needed"], o["provided"] = scopes[0], strings.Join(q.token.scopes, ",")
	return o
}

// actsIn is the workspace of a call: the token's own, or with an organisation's
// token the one that is asked for. Callers hold the lock.
func (s *Slack) actsIn(t *slackToken, args map[string]string) *workspace {
	id := args["team_id"]
	if id == "" || t.enterprise == "" {
		return s.workspaces[t.team]
	}
	if w := s.workspaces[id]; w != nil && w.Enterprise == t.enterprise {
		return w
	}
	return nil
}

// teamOf is the id of the workspace of a call, for the record.
func (s *Slack) teamOf(token string, args map[string]string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tokens[token]; t != nil {
		if w := s.actsIn(t, args); w != nil {
			return w.ID
		}
	}
	return ""
}

// checkArgs refuses what the method does not know. The real API lets unknown
// arguments pass; a test shall not.
func (q *slackRequest) checkArgs(m slackMethod) object {
	required, optional, _ := strings.Cut(m.args, "|")
	var problems []string
	for _, name := range strings.Fields(required) {
		if q.args[name] == "" {
			problems = append(problems, "[ERROR] missing required field: "+name)
		}
	}
	known := append(strings.Fields(required), strings.Fields(optional)...)
	for _, name := range sortedKeys(q.args) {
		if name != "token" && name != "team_id" && !slices.Contains(known, name) {
			problems = append(problems, "[ERROR] unsupported argument: "+name)
		}
	}
	if len(problems) > 0 {
		return slackFailed("invalid_arguments", problems...)
	}
	return nil
}

// number reads a numeric argument; what is no number counts as -1.
func (q *slackRequest) number(name string, standard int) int {
	if q.args[name] == "" {
		return standard
	}
	n, err := strconv.Atoi(q.args[name])
	if err != nil {
		return -1
	}
	return n
}

// flag reads a boolean argument in any of Slack's spellings.
func (q *slackRequest) flag(name string) bool {
	v := q.args[name]
	return v == "1" || strings.EqualFold(v, "true")
}

// slackAnswer is what goes back: a body in Slack's shape, or a fault's.
type slackAnswer struct {
	body   object
	status int // 0 for 200
	header http.Header
	raw    []byte
	ctype  string
}

// sendSlack writes an answer and records the call.
func (s *Slack) sendSlack(w http.ResponseWriter, r *http.Request, call SlackCall, a slackAnswer) {
	payload, ctype, status := a.raw, a.ctype, a.status
	if payload == nil {
		var err error
		if payload, err = json.Marshal(a.body); err != nil {
			panic("sim: encode answer: " + err.Error()) // a value that is not JSON is a bug here
		}
		ctype = "application/json; charset=utf-8"
	}
	if status == 0 {
		status = http.StatusOK
	}
	call.Status = status
	if a.body != nil {
		call.Error, _ = refused(a.body)
	}
	s.note(call)

	h := w.Header()
	for k, v := range a.header {
		h[k] = v
	}
	h.Set("Content-Type", ctype)
	h.Set("X-Slack-Req-Id", digest(call.Method, strconv.Itoa(call.Seq))[:32])
	if t := s.scopesOf(call.Token); t != "" {
		h.Set("X-OAuth-Scopes", t)
	}
	w.WriteHeader(status)
	_, _ = w.Write(payload) // the client may be gone; there is nobody to tell
	if s.opts.Watch != nil {
		x := Exchange{Method: r.Method, Path: r.URL.EscapedPath(), Status: status}
		if args, err := json.Marshal(call.shown()); err == nil {
			x.Request = args
		}
		if a.raw == nil {
			x.Answer = payload
		}
		s.opts.Watch(x)
	}
}

func (s *Slack) scopesOf(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tokens[token]; t != nil {
		return strings.Join(t.scopes, ",")
	}
	return ""
}
