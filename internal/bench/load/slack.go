package load

import "time"

// AppMention is Slack's event callback of a mention in a thread, 2 KB. Each
// variant is another message.
func AppMention() Hook {
	text := "<@U0LOADBOT1> " + markText + " " + prose(540)
	o := object{
		"token": "legacy-verification-tok", "team_id": "T0LOADTEAM", "context_team_id": "T0LOADTEAM", "context_enterprise_id": nil,
		"api_app_id": "A0LOADAPP1", "type": "event_callback", "event_id": markEvent, "event_time": time.Now().Unix(),
		"authorizations":        []object{{"enterprise_id": nil, "team_id": "T0LOADTEAM", "user_id": "U0LOADBOT1", "is_bot": true, "is_enterprise_install": false}},
		"is_ext_shared_channel": false, "event_context": "4-" + prose(160)[:8] + "-load-context-of-an-event-in-a-channel-of-a-team",
		"event": object{
			"type": "app_mention", "user": "U0LOADUSER", "ts": markStamp, "client_msg_id": "5b3c1d62-09f2-4e5a-8b7d-0f6a1c2d3e4f", "text": text,
			"team": "T0LOADTEAM", "thread_ts": "1699999999.000100", "parent_user_id": "U0LOADUSR2", "channel": "C0LOADCHAN", "event_ts": markStamp,
			"blocks": []object{{"type": "rich_text", "block_id": "lOaD1", "elements": []object{{"type": "rich_text_section", "elements": []object{
				{"type": "user", "user_id": "U0LOADBOT1"}, {"type": "text", "text": " " + markText + " " + prose(540)},
			}}}}},
		},
	}
	return slackHook(o)
}
