package web

import "strings"

// codeMissingScope is how Slack says that the token may not do this.
const codeMissingScope = "missing_scope"

// classes says what Slack's names for a failure mean for what comes next. Slack
// lists them per method: https://docs.slack.dev/reference/methods/chat.postMessage#errors
var classes = map[string]error{
	// Only a person can change these.
	"not_authed": ErrAuth, "invalid_auth": ErrAuth, "token_revoked": ErrAuth, "token_expired": ErrAuth,
	"account_inactive": ErrAuth, codeMissingScope: ErrAuth, "not_allowed_token_type": ErrAuth,
	"no_permission": ErrAuth, "org_login_required": ErrAuth, "two_factor_setup_required": ErrAuth,
	"team_access_not_granted": ErrAuth, "ekm_access_denied": ErrAuth, "access_denied": ErrAuth,
	"enterprise_is_restricted": ErrAuth, "team_not_found": ErrAuth,

	"ratelimited": ErrLimited, "rate_limited": ErrLimited, "message_limit_exceeded": ErrLimited,

	// "It's possible some aspect of the operation succeeded before the error was raised."
	"fatal_error": ErrAmbiguous, "internal_error": ErrAmbiguous, "service_unavailable": ErrAmbiguous,
	"request_timeout": ErrAmbiguous, "team_added_to_org": ErrAmbiguous,

	"channel_not_found": ErrGone, "not_in_channel": ErrGone, "is_archived": ErrGone, "is_inactive": ErrGone,
	"message_not_found": ErrGone, "thread_not_found": ErrGone, "user_not_found": ErrGone, "users_not_found": ErrGone,
	"user_not_in_channel": ErrGone, "user_disabled": ErrGone, "user_not_visible": ErrGone, "cannot_dm_bot": ErrGone,
	"messages_tab_disabled": ErrGone, "method_not_supported_for_channel_type": ErrGone, "file_not_found": ErrGone,
	"file_deleted": ErrGone, "view_not_found": ErrGone, "not_found": ErrGone, "not_enabled": ErrGone,
	"slack_connect_canvas_sharing_blocked": ErrGone, "channel_type_not_supported": ErrGone,
	"cant_update_message": ErrGone, "cant_delete_message": ErrGone, "edit_window_closed": ErrGone,
	"expired_url": ErrGone, "used_url": ErrGone, "no_service": ErrGone, "expired_trigger_id": ErrGone,
	"exchanged_trigger_id": ErrGone, "invalid_trigger_id": ErrGone, "trigger_expired": ErrGone, "trigger_exchanged": ErrGone,
	"message_not_in_streaming_state": ErrGone, "no_such_subteam": ErrGone,
}

// classOf returns the class of a failure by Slack's name for it. What is not
// listed says something about what was sent.
func classOf(code string) error {
	if class, ok := classes[code]; ok {
		return class
	}
	if strings.HasPrefix(code, "restricted_action") || strings.HasPrefix(code, "thread_locked") {
		return ErrGone // the channel takes no messages, or none of this kind, from an app
	}
	return ErrRefused
}
