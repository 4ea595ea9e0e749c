package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// appMethods are those of apps themselves: sockets, manifests, authorizations.
func (s *Slack) appMethods() map[string]slackMethod {
	return map[string]slackMethod{
		"apps.connections.open": {token: "app", handle: (*slackRequest).openConnection},
		"apps.event.authorizations.list": {
			token: "app", args: "event_context | cursor limit", handle: (*slackRequest).authorizations,
		},
		"apps.manifest.validate": {token: "config", args: "manifest | app_id", handle: (*slackRequest).validateManifest},
		"apps.manifest.create":   {token: "config", args: "manifest", handle: (*slackRequest).createManifest},
		"apps.manifest.export":   {token: "config", args: "app_id", handle: (*slackRequest).exportManifest},
		"apps.manifest.update":   {token: "config", args: "app_id manifest", handle: (*slackRequest).updateManifest},
		"apps.manifest.delete":   {token: "config", args: "app_id", handle: (*slackRequest).deleteManifest},
	}
}

// authorizations lists the installations that an event is for.
func (q *slackRequest) authorizations() object {
	t := q.s.workspaces[q.s.contexts[q.args["event_context"]]]
	if t == nil {
		return slackFailed("invalid_event_context")
	}
	return slackDone(object{"authorizations": []object{{
		"enterprise_id": nullable(t.Enterprise), "team_id": t.ID, "user_id": t.BotUser, "is_bot": true, "is_enterprise_install": t.OrgInstall,
	}}, "response_metadata": object{"next_cursor": ""}})
}

// manifestProblem is one entry of the errors of invalid_manifest.
type manifestProblem struct {
	Message string `json:"message"`
	Pointer string `json:"pointer"`
}

// manifest reads the manifest argument and judges it.
func (q *slackRequest) manifest() (object, object) {
	var m object
	if json.Unmarshal([]byte(q.args["manifest"]), &m) != nil {
		return nil, invalidManifest(manifestProblem{"must be a valid JSON object", "/"})
	}
	j := &manifestJudge{m: m}
	j.judge()
	if len(j.problems) > 0 {
		return nil, invalidManifest(j.problems...)
	}
	return m, nil
}

func invalidManifest(problems ...manifestProblem) object {
	o := slackFailed("invalid_manifest")
	o["errors"] = problems
	return o
}

func (q *slackRequest) validateManifest() object {
	if _, refusal := q.manifest(); refusal != nil {
		return refusal
	}
	return slackDone(object{"errors": []any{}})
}

func (q *slackRequest) createManifest() object {
	m, refusal := q.manifest()
	if refusal != nil {
		return refusal
	}
	id := q.s.opts.AppID // the app that is installed here is the first that is made
	if _, taken := q.s.apps[id]; taken {
		id = q.s.newID("A")
	}
	q.s.apps[id] = m
	return slackDone(object{
		"app_id": id, "oauth_authorize_url": q.s.base + "/oauth/v2/authorize?client_id=" + digest(id)[:12] + "&scope=" + manifestScopes(m),
		"credentials": object{
			"client_id": digest(id)[:12], "client_secret": digest("client secret", id)[:32],
			"verification_token": digest("verification", id)[:24], "signing_secret": digest("signing", id)[:32],
		},
	})
}

func manifestScopes(m object) string {
	j := &manifestJudge{m: m}
	return strings.Join(j.texts("oauth_config", "scopes", "bot"), ",")
}

// created finds an app that was made by a manifest.
func (q *slackRequest) created() (object, object) {
	m, known := q.s.apps[q.args["app_id"]]
	if !known {
		return nil, slackFailed("invalid_app_id")
	}
	return m, nil
}

func (q *slackRequest) exportManifest() object {
	m, refusal := q.created()
	if refusal != nil {
		return refusal
	}
	return slackDone(object{"manifest": m})
}

func (q *slackRequest) updateManifest() object {
	old, refusal := q.created()
	if refusal != nil {
		return refusal
	}
	m, refusal := q.manifest()
	if refusal != nil {
		return refusal
	}
	q.s.apps[q.args["app_id"]] = m
	return slackDone(object{"app_id": q.args["app_id"], "permissions_updated": manifestScopes(old) != manifestScopes(m)})
}

func (q *slackRequest) deleteManifest() object {
	if _, refusal := q.created(); refusal != nil {
		return refusal
	}
	delete(q.s.apps, q.args["app_id"])
	return slackDone(nil)
}

// Manifest returns the manifest of an app that was made by one, or nil.
func (s *Slack) Manifest(app string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, known := s.apps[app]; known {
		return rawJSON(m)
	}
	return nil
}

// AddApp makes an app by a manifest without a call, such as one that somebody
// has made by hand.
func (s *Slack) AddApp(id string, manifest []byte) {
	var m object
	if err := json.Unmarshal(manifest, &m); err != nil {
		panic("sim: manifest: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apps[id] = m
}

// manifestJudge collects what is wrong with a manifest.
// https://docs.slack.dev/reference/app-manifest
type manifestJudge struct {
	m        object
	problems []manifestProblem
}

// eventScopes are the scopes that bot events need, any one of each list.
var eventScopes = map[string][]string{
	"app_mention": {"app_mentions:read"}, "message.channels": {"channels:history"}, "message.groups": {"groups:history"},
	"message.im": {"im:history"}, "message.mpim": {"mpim:history"}, "reaction_added": {"reactions:read"}, "reaction_removed": {"reactions:read"},
	"member_joined_channel": {"channels:read", "groups:read"}, "member_left_channel": {"channels:read", "groups:read"},
	"channel_archive": {"channels:read"}, "channel_unarchive": {"channels:read"}, "channel_rename": {"channels:read"},
	"channel_deleted": {"channels:read"}, "group_archive": {"groups:read"}, "group_deleted": {"groups:read"}, "group_rename": {"groups:read"}, "file_shared": {"files:read"},
	"file_deleted": {"files:read"}, "user_change": {"users:read"}, "team_join": {"users:read"}, "team_rename": {"team:read"},
	"assistant_thread_started": {"assistant:write"}, "assistant_thread_context_changed": {"assistant:write"},
	"agent_session_stopped": {"chat:write", "assistant:write"}, "agent_session_title_changed": {"chat:write", "assistant:write"},
	"app_home_opened": nil, "app_uninstalled": nil, "tokens_revoked": nil, "app_context_changed": nil, "channel_left": {"channels:read"},
	"channel_id_changed": {"channels:read"}, "group_left": {"groups:read"},
}

func (j *manifestJudge) fail(pointer, message string, args ...any) {
	j.problems = append(j.problems, manifestProblem{fmt.Sprintf(message, args...), pointer})
}

// at walks down objects by their keys.
func (j *manifestJudge) at(keys ...string) any {
	var v any = j.m
	for _, key := range keys {
		o, is := v.(object)
		if !is {
			return nil
		}
		v = o[key]
	}
	return v
}

// texts is the list of texts at a place.
func (j *manifestJudge) texts(keys ...string) []string {
	all, _ := j.at(keys...).([]any)
	var found []string
	for _, v := range all {
		found = append(found, str(v))
	}
	return found
}

// length checks a text at a place; one that may be missing has least 0.
func (j *manifestJudge) length(pointer string, v any, least, most int) {
	if n := utf8.RuneCountInString(str(v)); (v != nil || least > 0) && (n < least || n > most) {
		j.fail(pointer, "must have %d to %d characters", least, most)
	}
}

func (j *manifestJudge) judge() {
	for _, key := range sortedKeys(j.m) {
		if !slices.Contains([]string{"_metadata", "display_information", "settings", "features", "oauth_config", "outgoing_domains"}, key) {
			j.fail("/"+key, "unexpected property")
		}
	}
	j.length("/display_information/name", j.at("display_information", "name"), 1, 35)
	j.length("/display_information/description", j.at("display_information", "description"), 0, 140)
	if long := j.at("display_information", "long_description"); long != nil {
		j.length("/display_information/long_description", long, 174, 4000)
	}
	scopes := j.texts("oauth_config", "scopes", "bot")
	j.judgeFeatures(scopes)
	j.judgeSettings(scopes)
	for i, address := range j.texts("oauth_config", "redirect_urls") {
		if !strings.HasPrefix(address, "https://") {
			j.fail(fmt.Sprintf("/oauth_config/redirect_urls/%d", i), "must be an https URL")
		}
	}
}

// judgeFeatures checks what people see of the app.
func (j *manifestJudge) judgeFeatures(scopes []string) {
	if len(scopes) > 0 {
		j.length("/features/bot_user/display_name", j.at("features", "bot_user", "display_name"), 1, 80)
	}
	commands, _ := j.at("features", "slash_commands").([]any)
	if len(commands) > 0 && !slices.Contains(scopes, "commands") {
		j.fail("/features/slash_commands", "needs the scope commands")
	}
	socket, _ := j.at("settings", "socket_mode_enabled").(bool)
	for i, v := range commands {
		at := fmt.Sprintf("/features/slash_commands/%d", i)
		c, _ := v.(object)
		j.length(at+"/command", c["command"], 2, 32)
		if !strings.HasPrefix(str(c["command"]), "/") {
			j.fail(at+"/command", "must begin with /")
		}
		j.length(at+"/description", c["description"], 1, 2000)
		j.length(at+"/usage_hint", c["usage_hint"], 0, 1000)
		if !socket && !strings.HasPrefix(str(c["url"]), "https://") {
			j.fail(at+"/url", "must be an https URL")
		}
	}
	shortcuts, _ := j.at("features", "shortcuts").([]any)
	if len(shortcuts) > 10 {
		j.fail("/features/shortcuts", "no more than 10 items allowed")
	}
	for i, v := range shortcuts {
		at := fmt.Sprintf("/features/shortcuts/%d", i)
		c, _ := v.(object)
		j.length(at+"/name", c["name"], 1, 24)
		j.length(at+"/callback_id", c["callback_id"], 1, 255)
		j.length(at+"/description", c["description"], 1, 150)
		if c["type"] != "message" && c["type"] != "global" {
			j.fail(at+"/type", "must be message or global")
		}
	}
	if j.at("features", "assistant_view") != nil && j.at("features", "agent_view") != nil {
		j.fail("/features/assistant_view", "can not be used together with agent_view")
	}
	for _, view := range []string{"assistant_view", "agent_view"} {
		if j.at("features", view) != nil && !slices.Contains(scopes, "assistant:write") {
			j.fail("/features/"+view, "needs the scope assistant:write")
		}
	}
}

// judgeSettings checks how Slack reaches the app.
func (j *manifestJudge) judgeSettings(scopes []string) {
	socket, _ := j.at("settings", "socket_mode_enabled").(bool)
	events := j.texts("settings", "event_subscriptions", "bot_events")
	if len(events) > 0 && !socket && !strings.HasPrefix(str(j.at("settings", "event_subscriptions", "request_url")), "https://") {
		j.fail("/settings/event_subscriptions/request_url", "must be an https URL where Socket Mode is off")
	}
	for i, name := range events {
		at := fmt.Sprintf("/settings/event_subscriptions/bot_events/%d", i)
		need, known := eventScopes[name]
		switch {
		case !known:
			j.fail(at, "unknown event %s", name)
		case len(need) > 0 && !slices.ContainsFunc(need, func(scope string) bool { return slices.Contains(scopes, scope) }):
			j.fail(at, "%s needs the scope %s", name, strings.Join(need, " or "))
		}
	}
	enabled, _ := j.at("settings", "interactivity", "is_enabled").(bool)
	if enabled && !socket && !strings.HasPrefix(str(j.at("settings", "interactivity", "request_url")), "https://") {
		j.fail("/settings/interactivity/request_url", "must be an https URL where Socket Mode is off")
	}
}
