package sim

import (
	"encoding/json"
	"net/url"
	"time"
)

// slackInteractions are the short-lived things that people's clicks give an app.
type slackInteractions struct {
	triggers map[string]*slackTrigger
	answers  map[string]*slackResponseURL // by their path
	views    []*slackView
}

// slackTrigger is a trigger_id: good once, for 3 seconds.
type slackTrigger struct {
	user, team string
	at         time.Time
	used       bool
}

// Interaction is what somebody's click gave the app.
type Interaction struct {
	TriggerID, ResponseURL string
	// Delivery is the payload that the app is told.
	Delivery SlackDelivery
}

// interaction tells the app of something that somebody did. Callers hold the lock.
func (s *Slack) interaction(t *workspace, user, kind string, fields object) Interaction {
	u := s.mustUser(user)
	i := Interaction{}
	fields["type"], fields["token"], fields["api_app_id"] = kind, "verification-token-of-old", s.opts.AppID
	fields["user"] = object{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.Team}
	fields["team"], fields["is_enterprise_install"], fields["enterprise"] = object{"id": t.ID, "domain": t.Domain}, t.OrgInstall, nil
	if t.Enterprise != "" {
		fields["enterprise"] = object{"id": t.Enterprise, "name": t.Enterprise}
	}
	if t.OrgInstall && kind != "block_actions" {
		fields["team"] = nil // as Slack sends it where the organisation holds the app
	}
	if kind != "view_closed" {
		i.TriggerID = s.newTrigger(t.ID, user)
		fields["trigger_id"] = i.TriggerID
	}
	i.ResponseURL = str(fields["response_url"])
	i.Delivery = SlackDelivery{ID: s.newID("interaction-"), Kind: "interactive", Type: kind, Team: t.ID, Payload: rawJSON(fields)}
	if v, is := fields["view"].(object); is {
		i.Delivery.view = str(v["id"])
	}
	s.enqueue(i.Delivery)
	return i
}

// Click has somebody use an element of a message: a button, a feedback button,
// or a menu. value chooses an option or one of two feedback buttons; buttons
// have their own. It panics if the message shows no such element.
func (s *Slack) Click(channel, ts, user, action string, value ...string) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	m := c.any(ts)
	if m == nil || m.seenBy != "" && m.seenBy != user {
		panic("sim: " + user + " sees no message " + ts)
	}
	t := s.botOf(c)
	container := object{"type": "message", "message_ts": ts, "channel_id": c.ID, "is_ephemeral": m.seenBy != ""}
	if m.thread != "" {
		container["thread_ts"] = m.thread
	}
	fields := object{
		"container": container, "channel": object{"id": c.ID, "name": c.shownName()}, "state": object{"values": object{}},
		"actions": []object{s.action(m.blocks, action, value)}, "response_url": s.newResponseURL(c, m.ts, m.thread, user),
	}
	if m.seenBy == "" { // the payload of an ephemeral message has none
		fields["message"] = s.messageJSON(c, m, true)
	}
	return s.interaction(t, user, "block_actions", fields)
}

// ClickHome is [Slack.Click] on the home tab that the app has published.
func (s *Slack) ClickHome(user, action string, value ...string) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.homeOf(user)
	if v == nil {
		panic("sim: no home tab of " + user)
	}
	return s.clickView(v, action, value)
}

// ClickModal is [Slack.Click] on the modal that somebody has before them.
func (s *Slack) ClickModal(user, action string, value ...string) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clickView(s.mustView(user), action, value)
}

func (s *Slack) clickView(v *slackView, action string, value []string) Interaction {
	shown := s.viewJSON(v, nil)
	return s.interaction(s.mustTeam(v.Team), v.User, "block_actions", object{
		"container": object{"type": "view", "view_id": v.ID}, "view": shown, "state": shown["state"],
		"actions": []object{s.action(v.blocks, action, value)},
	})
}

func (s *Slack) mustView(user string) *slackView {
	v := s.topView(user)
	if v == nil {
		panic("sim: no modal before " + user)
	}
	return v
}

// action is what a payload says of the element that was used.
func (s *Slack) action(blocks []any, action string, value []string) object {
	block, element := findElement(blocks, action)
	if element == nil {
		panic("sim: nothing shown has the action " + action)
	}
	id := str(block["block_id"])
	if id == "" {
		id = digest(action)[:5]
	}
	o := object{"action_id": action, "block_id": id, "type": element["type"], "action_ts": s.newTS()}
	switch str(element["type"]) {
	case "feedback_buttons":
		for _, key := range []string{"positive_button", "negative_button"} {
			if b, is := element[key].(object); is && len(value) > 0 && b["value"] == value[0] {
				o["text"], o["value"] = b["text"], b["value"]
			}
		}
		if o["value"] == nil {
			panic("sim: no feedback button of " + action + " has this value")
		}
	case "button", "icon_button", "workflow_button":
		o["text"], o["value"] = element["text"], element["value"]
	default:
		if len(value) > 0 {
			o["selected_option"] = object{"text": object{"type": "plain_text", "text": value[0]}, "value": value[0]}
		}
	}
	return o
}

// findElement looks for an element with an action_id, and the block it is in.
func findElement(blocks []any, action string) (block, element object) {
	for _, b := range blocks {
		o, is := b.(object)
		if !is {
			continue
		}
		candidates, _ := o["elements"].([]any)
		for _, e := range append([]any{o["accessory"], o["element"]}, candidates...) {
			if found, is := e.(object); is && found["action_id"] == action {
				return o, found
			}
		}
	}
	return nil, nil
}

// Submit has somebody submit the modal before them. values are the entries, by
// block id and action id. The app may answer with errors, which leave it open.
func (s *Slack) Submit(user string, values map[string]map[string]any) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.mustView(user)
	state := object{}
	for block, entries := range values {
		state[block] = object{}
		for action, value := range entries {
			_, element := findElement(v.blocks, action)
			if element == nil {
				panic("sim: the modal has no field " + action)
			}
			entry := object{"type": element["type"]}
			if text, is := value.(string); is && element["type"] == "plain_text_input" {
				entry["value"] = text
			} else if is {
				entry["selected_option"] = object{"text": object{"type": "plain_text", "text": text}, "value": text}
			} else {
				entry["value"] = value
			}
			state[block].(object)[action] = entry
		}
	}
	v.closed, v.Errors = true, nil // until the app answers otherwise
	return s.interaction(s.mustTeam(v.Team), user, "view_submission", object{"view": s.viewJSON(v, state), "response_urls": []any{}})
}

// CloseView has somebody close the modal before them. The app is told only if
// it asked for it.
func (s *Slack) CloseView(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.mustView(user)
	v.closed = true
	if v.notifyOnClose {
		s.interaction(s.mustTeam(v.Team), user, "view_closed", object{"view": s.viewJSON(v, nil), "is_cleared": false})
	}
}

// Shortcut has somebody use the shortcut of a message.
func (s *Slack) Shortcut(channel, ts, user, callback string) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m := s.mustMessage(channel, ts)
	return s.interaction(s.botOf(c), user, "message_action", object{
		"callback_id": callback, "action_ts": s.newTS(), "message_ts": ts, "channel": object{"id": c.ID, "name": c.shownName()},
		"message": s.messageJSON(c, m, true), "response_url": s.newResponseURL(c, "", "", user),
	})
}

// GlobalShortcut has somebody use a shortcut that is about no message.
func (s *Slack) GlobalShortcut(user, callback string) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interaction(s.mustTeam(s.mustUser(user).Team), user, "shortcut", object{"callback_id": callback, "action_ts": s.newTS()})
}

// Command has somebody enter a slash command, such as "/liaison" and "status".
func (s *Slack) Command(channel, user, command, text string) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, u := s.mustChannel(channel), s.mustUser(user)
	t := s.botOf(c)
	i := Interaction{TriggerID: s.newTrigger(t.ID, user), ResponseURL: s.newResponseURL(c, "", "", user)}
	fields := map[string]string{
		"token": "verification-token-of-old", "team_id": t.ID, "team_domain": t.Domain, "channel_id": c.ID, "channel_name": c.shownName(),
		"user_id": u.ID, "user_name": u.Name, "command": command, "text": text, "api_app_id": s.opts.AppID,
		"is_enterprise_install": "false", "response_url": i.ResponseURL, "trigger_id": i.TriggerID,
	}
	if t.Enterprise != "" {
		fields["enterprise_id"], fields["enterprise_name"] = t.Enterprise, t.Enterprise
	}
	if t.OrgInstall {
		fields["is_enterprise_install"] = "true"
	}
	form := url.Values{}
	for key, value := range fields {
		form.Set(key, value)
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		panic("sim: encode command: " + err.Error()) // texts only
	}
	i.Delivery = SlackDelivery{ID: s.newID("command-"), Kind: "slash_commands", Type: command, Team: t.ID, Payload: payload, Form: form}
	s.enqueue(i.Delivery)
	return i
}

// shownName is what payloads call a channel.
func (c *slackChannel) shownName() string {
	switch c.Kind {
	case DirectChannel:
		return "directmessage"
	case PrivateChannel:
		return "privategroup"
	}
	return c.Name
}
