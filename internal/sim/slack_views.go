package sim

import (
	"encoding/json"
	"time"
	"unicode/utf8"
)

// Limits of views, in characters, and of their stack.
// https://docs.slack.dev/reference/views/modal-views
const (
	viewTitle    = 24
	viewButton   = 24
	viewMetadata = 3000
	viewCallback = 255
	viewBytes    = 250_000
	viewStack    = 3
	triggerLife  = 3 * time.Second
)

// SlackView is a modal or a home tab as a person has it before them.
type SlackView struct {
	ID, Team, User string
	// Type is "modal" or "home".
	Type string
	// CallbackID, PrivateMetadata and Blocks are as they were sent.
	CallbackID, PrivateMetadata, ExternalID string
	Title, Submit, Close                    string
	Blocks                                  json.RawMessage
	// Shown is everything that a person reads.
	Shown string
	// Errors are those of the last submission, by block id; what is about no block
	// has an empty id.
	Errors map[string]string
	// Hash changes with every update.
	Hash string
	// Root is the lowest view of the stack, Previous the one below.
	Root, Previous string
}

type slackView struct {
	SlackView
	blocks        []any
	notifyOnClose bool
	closed        bool
}

// viewMethods show modals and home tabs.
func (s *Slack) viewMethods() map[string]slackMethod {
	return map[string]slackMethod{
		"views.open":    {token: "bot", args: "trigger_id view", handle: (*slackRequest).openView},
		"views.push":    {token: "bot", args: "trigger_id view", handle: (*slackRequest).pushView},
		"views.update":  {token: "bot", args: "view | view_id external_id hash", handle: (*slackRequest).updateView},
		"views.publish": {token: "bot", args: "user_id view | hash", handle: (*slackRequest).publishView},
	}
}

// readView decodes a view and judges it.
func readView(raw string) (*slackView, *SlackRefusal) {
	var o object
	if json.Unmarshal([]byte(raw), &o) != nil || !utf8.ValidString(raw) {
		return nil, &SlackRefusal{Code: "invalid_arguments", Messages: []string{"[ERROR] must be a valid view [json-pointer:/view]"}}
	}
	if len(raw) > viewBytes {
		return nil, &SlackRefusal{Code: "view_too_large"}
	}
	j := &blockJudge{ids: map[string]bool{}}
	v := &slackView{SlackView: SlackView{
		Type: str(o["type"]), CallbackID: str(o["callback_id"]), PrivateMetadata: str(o["private_metadata"]), ExternalID: str(o["external_id"]),
	}}
	v.notifyOnClose, _ = o["notify_on_close"].(bool)
	j.optional("/view", o, "callback_id", viewCallback)
	j.optional("/view", o, "external_id", viewCallback)
	j.optional("/view", o, "private_metadata", viewMetadata)
	surface := OnModal
	switch v.Type {
	case "home":
		surface = OnHome
	case "modal":
		j.text("/view/title", o["title"], viewTitle, true)
		for _, key := range []string{"submit", "close"} {
			if o[key] != nil {
				j.text("/view/"+key, o[key], viewButton, true)
			}
		}
	default:
		j.fail("/view/type", "must be a valid enum value")
	}
	v.Title, v.Submit, v.Close = plainText(o["title"]), plainText(o["submit"]), plainText(o["close"])
	all, is := o["blocks"].([]any)
	if !is {
		j.fail("/view/blocks", "must be a list")
	}
	if bad := judgeBlocks(surface, all); bad != nil {
		j.problems = append(j.problems, bad.Messages...)
	}
	if surface == OnModal && v.Submit == "" && hasInput(all) {
		j.fail("/view", "missing required field: submit")
	}
	if len(j.problems) > 0 {
		return nil, &SlackRefusal{Code: "invalid_arguments", Messages: j.problems}
	}
	v.blocks, v.Blocks = all, rawJSON(all)
	v.Shown = shownText(&slackMessage{blocks: all})
	return v, nil
}

func hasInput(blocks []any) bool {
	for _, b := range blocks {
		if o, is := b.(object); is && o["type"] == "input" {
			return true
		}
	}
	return false
}

func plainText(v any) string {
	o, _ := v.(object)
	return str(o["text"])
}

// newTrigger gives somebody's action its trigger_id. Callers hold the lock.
func (s *Slack) newTrigger(team, user string) string {
	id := formatTS(s.lastTS) + "." + digest(s.newID("trigger"))[:24]
	s.interact.triggers[id] = &slackTrigger{user: user, team: team, at: s.opts.Now()}
	return id
}

// trigger uses a trigger_id up.
func (q *slackRequest) trigger() (*slackTrigger, object) {
	t := q.s.interact.triggers[q.args["trigger_id"]]
	switch {
	case t == nil || t.team != q.team.ID:
		return nil, slackFailed("invalid_trigger_id")
	case t.used:
		return nil, slackFailed("exchanged_trigger_id")
	case q.s.opts.Now().Sub(t.at) >= triggerLife:
		return nil, slackFailed("expired_trigger_id")
	}
	return t, nil
}

// show puts a view before somebody.
func (q *slackRequest) show(kind, user string) (*slackView, object) {
	v, refusal := readView(q.args["view"])
	if refusal != nil {
		return nil, slackFailed(refusal.Code, refusal.Messages...)
	}
	if v.Type != kind {
		return nil, slackFailed("invalid_arguments", "[ERROR] must be of type "+kind+" [json-pointer:/view/type]")
	}
	for _, other := range q.s.interact.views {
		if v.ExternalID != "" && other.ExternalID == v.ExternalID && !other.closed {
			return nil, slackFailed("duplicate_external_id")
		}
	}
	v.ID, v.Team, v.User, v.Hash = q.s.newID("V"), q.team.ID, user, q.s.newTS()+"."+digest(user)[:8]
	v.Root = v.ID
	return v, nil
}

func (q *slackRequest) openView() object {
	t, refusal := q.trigger()
	if refusal != nil {
		return refusal
	}
	v, refusal := q.show("modal", t.user)
	if refusal != nil {
		return refusal
	}
	t.used = true
	q.s.interact.views = append(q.s.interact.views, v)
	return slackDone(object{"view": q.s.viewJSON(v, nil)})
}

func (q *slackRequest) pushView() object {
	t, refusal := q.trigger()
	if refusal != nil {
		return refusal
	}
	below := q.s.topView(t.user)
	if below == nil {
		return slackFailed("not_found")
	}
	depth := 0
	for _, v := range q.s.interact.views {
		if v.Root == below.Root && !v.closed {
			depth++
		}
	}
	if depth >= viewStack {
		return slackFailed("push_limit_reached")
	}
	v, refusal := q.show("modal", t.user)
	if refusal != nil {
		return refusal
	}
	t.used = true
	v.Root, v.Previous = below.Root, below.ID
	q.s.interact.views = append(q.s.interact.views, v)
	return slackDone(object{"view": q.s.viewJSON(v, nil)})
}

// topView is the modal that somebody has before them, or nil. Callers hold the lock.
func (s *Slack) topView(user string) *slackView {
	var top *slackView
	for _, v := range s.interact.views {
		if v.User == user && v.Type == "modal" && !v.closed {
			top = v
		}
	}
	return top
}

func (q *slackRequest) updateView() object {
	var old *slackView
	for _, v := range q.s.interact.views {
		if !v.closed && v.Team == q.team.ID && (v.ID == q.args["view_id"] || v.ExternalID != "" && v.ExternalID == q.args["external_id"]) {
			old = v
		}
	}
	if old == nil {
		return slackFailed("not_found")
	}
	return q.replaceView(old)
}

// replaceView changes a view in place.
func (q *slackRequest) replaceView(old *slackView) object {
	if hash := q.args["hash"]; hash != "" && hash != old.Hash {
		return slackFailed("hash_conflict")
	}
	v, refusal := readView(q.args["view"])
	if refusal != nil {
		return slackFailed(refusal.Code, refusal.Messages...)
	}
	if v.Type != old.Type {
		return slackFailed("invalid_arguments", "[ERROR] must be of type "+old.Type+" [json-pointer:/view/type]")
	}
	v.ID, v.Team, v.User, v.Root, v.Previous = old.ID, old.Team, old.User, old.Root, old.Previous
	v.Hash = q.s.newTS() + "." + digest(v.User)[:8]
	*old = *v
	return slackDone(object{"view": q.s.viewJSON(old, nil)})
}

func (q *slackRequest) publishView() object {
	u := q.s.users[q.args["user_id"]]
	if u == nil || u.Bot || !q.s.knows(q.team, u) {
		return slackFailed("user_not_found")
	}
	for _, v := range q.s.interact.views {
		if v.Type == "home" && v.User == u.ID && v.Team == q.team.ID {
			return q.replaceView(v)
		}
	}
	if q.args["hash"] != "" {
		return slackFailed("hash_conflict")
	}
	v, refusal := q.show("home", u.ID)
	if refusal != nil {
		return refusal
	}
	q.s.interact.views = append(q.s.interact.views, v)
	return slackDone(object{"view": q.s.viewJSON(v, nil)})
}

// viewJSON is a view as the API and the payloads show it, with what somebody
// has entered.
func (s *Slack) viewJSON(v *slackView, values object) object {
	if values == nil {
		values = object{}
	}
	o := object{
		"id": v.ID, "team_id": v.Team, "app_id": s.opts.AppID, "app_installed_team_id": v.Team, "bot_id": s.mustTeam(v.Team).BotID,
		"type": v.Type, "callback_id": v.CallbackID, "private_metadata": v.PrivateMetadata, "external_id": v.ExternalID, "blocks": v.blocks,
		"state": object{"values": values}, "hash": v.Hash, "root_view_id": v.Root, "previous_view_id": nullable(v.Previous),
		"clear_on_close": false, "notify_on_close": v.notifyOnClose, "close": nil, "submit": nil,
	}
	for key, text := range map[string]string{"title": v.Title, "submit": v.Submit, "close": v.Close} {
		if text != "" {
			o[key] = object{"type": "plain_text", "text": text, "emoji": true}
		}
	}
	return o
}

// View returns the modal that somebody has before them, if any.
func (s *Slack) View(user string) (SlackView, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.topView(user); v != nil {
		return v.SlackView, true
	}
	return SlackView{}, false
}

// Home returns the home tab that the app has published for somebody, if any.
func (s *Slack) Home(user string) (SlackView, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.homeOf(user); v != nil {
		return v.SlackView, true
	}
	return SlackView{}, false
}

func (s *Slack) homeOf(user string) *slackView {
	for _, v := range s.interact.views {
		if v.Type == "home" && v.User == user {
			return v
		}
	}
	return nil
}
