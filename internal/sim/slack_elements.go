package sim

import (
	"fmt"
	"slices"
	"strings"
)

// Slack's limits of what stands in blocks, in characters.
// https://docs.slack.dev/reference/block-kit/block-elements
// https://docs.slack.dev/reference/block-kit/composition-objects
const (
	buttonText     = 75
	buttonValue    = 2000
	buttonURL      = 3000
	buttonAlt      = 75
	actionID       = 255
	confirmTitle   = 100
	confirmText    = 300
	confirmButton  = 30
	selectOptions  = 100
	overflowMost   = 5
	checkboxMost   = 10
	optionText     = 75
	optionValue    = 150
	placeholder    = 150
	inputMost      = 3000
	selectedAtOnce = 100
)

// selectKinds are the menus without options of their own.
var selectKinds = []string{
	"users_select", "conversations_select", "channels_select", "external_select", "multi_users_select", "multi_conversations_select",
	"multi_channels_select", "multi_external_select", "datepicker", "timepicker", "datetimepicker",
}

// inputKinds stand in input blocks only.
var inputKinds = []string{"plain_text_input", "email_text_input", "url_text_input", "number_input", "rich_text_input", "file_input"}

// element checks an interactive element, or an image beside a section.
func (j *blockJudge) element(at string, v any, input bool) {
	o, is := v.(object)
	if !is {
		j.fail(at, "must be a valid element")
		return
	}
	kind := str(o["type"])
	if kind == "image" && strings.HasSuffix(at, "/accessory") {
		j.image(at, o)
		return
	}
	j.optional(at, o, "action_id", actionID)
	if o["confirm"] != nil {
		j.confirm(at+"/confirm", o["confirm"])
	}
	if o["placeholder"] != nil {
		j.text(at+"/placeholder", o["placeholder"], placeholder, true)
	}
	switch {
	case kind == "button" && !input:
		j.button(at, o)
	case kind == "static_select" || kind == "multi_static_select":
		j.menu(at, o)
	case kind == "overflow" && !input:
		j.options(at+"/options", o["options"], overflowMost)
	case kind == "radio_buttons" || kind == "checkboxes":
		j.options(at+"/options", o["options"], checkboxMost)
	case slices.Contains(selectKinds, kind):
	case slices.Contains(inputKinds, kind) && input:
		j.optional(at, o, "initial_value", inputMost)
	case kind == "workflow_button" && !input:
	default:
		j.fail(at, "unsupported type: %s", kind)
	}
}

func (j *blockJudge) button(at string, o object) {
	j.text(at+"/text", o["text"], buttonText, true)
	j.optional(at, o, "value", buttonValue)
	j.optional(at, o, "url", buttonURL)
	j.optional(at, o, "accessibility_label", buttonAlt)
	if style, has := o["style"]; has && style != "primary" && style != "danger" {
		j.fail(at+"/style", "must be a valid enum value")
	}
}

func (j *blockJudge) menu(at string, o object) {
	if o["option_groups"] == nil {
		j.options(at+"/options", o["options"], selectOptions)
		return
	}
	for i, g := range j.list(at+"/option_groups", o["option_groups"], selectOptions) {
		group, _ := g.(object)
		here := fmt.Sprintf("%s/option_groups/%d", at, i)
		j.text(here+"/label", group["label"], optionText, true)
		j.options(here+"/options", group["options"], selectOptions)
	}
}

func (j *blockJudge) options(at string, v any, most int) {
	for i, e := range j.list(at, v, most) {
		o, _ := e.(object)
		here := fmt.Sprintf("%s/%d", at, i)
		j.text(here+"/text", o["text"], optionText, false)
		j.length(here+"/value", o["value"], optionValue)
		if o["description"] != nil {
			j.text(here+"/description", o["description"], optionText, false)
		}
	}
}

func (j *blockJudge) confirm(at string, v any) {
	o, is := v.(object)
	if !is {
		j.fail(at, "must be a valid confirmation dialog")
		return
	}
	j.text(at+"/title", o["title"], confirmTitle, true)
	j.text(at+"/text", o["text"], confirmText, false)
	j.text(at+"/confirm", o["confirm"], confirmButton, true)
	j.text(at+"/deny", o["deny"], confirmButton, true)
	if style, has := o["style"]; has && style != "primary" && style != "danger" {
		j.fail(at+"/style", "must be a valid enum value")
	}
}

// feedback checks an element of a context_actions block.
func (j *blockJudge) feedback(at string, v any) {
	o, _ := v.(object)
	j.optional(at, o, "action_id", actionID)
	switch str(o["type"]) {
	case "feedback_buttons":
		for _, key := range []string{"positive_button", "negative_button"} {
			b, _ := o[key].(object)
			j.text(at+"/"+key+"/text", b["text"], buttonText, true)
			j.length(at+"/"+key+"/value", b["value"], buttonValue)
			j.optional(at+"/"+key, b, "accessibility_label", buttonAlt)
		}
	case "icon_button":
		j.text(at+"/text", o["text"], buttonText, true)
		if o["icon"] != "trash" {
			j.fail(at+"/icon", "must be a valid enum value")
		}
		j.optional(at, o, "value", buttonValue)
	default:
		j.fail(at, "unsupported type: %v", o["type"])
	}
}

// richText checks a rich text block and the parts that it is made of.
func (j *blockJudge) richText(at string, o object) {
	all, is := o["elements"].([]any)
	if !is {
		j.fail(at+"/elements", "must be a list")
	}
	for i, e := range all {
		part, _ := e.(object)
		here := fmt.Sprintf("%s/elements/%d", at, i)
		switch kind := str(part["type"]); kind {
		case "rich_text_section", "rich_text_quote", "rich_text_preformatted":
			j.runs(here, part)
		case "rich_text_list":
			if style := part["style"]; style != "bullet" && style != "ordered" {
				j.fail(here+"/style", "must be a valid enum value")
			}
			items, _ := part["elements"].([]any)
			for k, item := range items {
				section, _ := item.(object)
				if section["type"] != "rich_text_section" {
					j.fail(fmt.Sprintf("%s/elements/%d", here, k), "must be a rich_text_section")
				}
				j.runs(fmt.Sprintf("%s/elements/%d", here, k), section)
			}
		default:
			j.fail(here, "unsupported type: %s", kind)
		}
	}
}

// runs checks the runs of a part of a rich text.
func (j *blockJudge) runs(at string, part object) {
	all, is := part["elements"].([]any)
	if !is {
		j.fail(at+"/elements", "must be a list")
	}
	for i, e := range all {
		run, _ := e.(object)
		here := fmt.Sprintf("%s/elements/%d", at, i)
		switch kind := str(run["type"]); kind {
		case "text":
			if str(run["text"]) == "" {
				j.fail(here+"/text", "must be more than 0 characters")
			}
		case "link":
			if str(run["url"]) == "" {
				j.fail(here+"/url", "must be more than 0 characters")
			}
		case "emoji", "user", "usergroup", "channel", "broadcast", "date", "color", "team":
		default:
			j.fail(here, "unsupported type: %s", kind)
		}
	}
}
