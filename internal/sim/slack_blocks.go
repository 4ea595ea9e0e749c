package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Slack's limits, in characters where nothing else is said.
// https://docs.slack.dev/reference/block-kit/blocks
const (
	blocksPerMessage = 50
	blocksPerView    = 100
	sectionText      = 3000
	sectionFields    = 10
	fieldText        = 2000
	headerText       = 150
	contextElements  = 10
	actionElements   = 25
	markdownText     = 12_000 // of all markdown blocks of a message together
	tableRows        = 100
	tableColumns     = 20
	tableText        = 10_000
	blockID          = 255
	imageURL         = 3000
	imageAlt         = 2000
	feedbackElements = 5
	updateBytes      = 4000 // UTF-8 bytes of the text of chat.update, as people measured it
	shownTextLimit   = 40_000
)

// SlackSurface is where blocks are shown; not all blocks are allowed everywhere.
type SlackSurface string

// The surfaces of blocks.
const (
	OnMessage SlackSurface = "message"
	OnModal   SlackSurface = "modal"
	OnHome    SlackSurface = "home"
	// OnStream are the blocks of a stream's chunks, which take kinds that
	// chat.postMessage refuses.
	OnStream SlackSurface = "stream"
	// OnResponse are the blocks of an answer to a response_url, which takes no
	// markdown blocks.
	OnResponse SlackSurface = "response_url"
)

// SlackRefusal says why Slack would refuse a message, with its word for it.
type SlackRefusal struct {
	// Code such as "invalid_blocks" or "msg_too_long".
	Code string
	// Messages say what is wrong where.
	Messages []string
}

// Error implements error.
func (r *SlackRefusal) Error() string {
	return "slack would refuse this: " + r.Code + ": " + strings.Join(r.Messages, "; ")
}

// CheckSlackMessage judges a message by Slack's limits: its text and the JSON
// list of its blocks, which may be empty. It returns a [*SlackRefusal] or nil.
func CheckSlackMessage(text string, blocks []byte) error {
	return CheckSlackBlocks(OnMessage, text, blocks)
}

// CheckSlackBlocks is [CheckSlackMessage] for any surface. The text of a surface
// that has none is empty.
func CheckSlackBlocks(surface SlackSurface, text string, blocks []byte) error {
	if !utf8.ValidString(text) {
		return &SlackRefusal{Code: "invalid_arguments", Messages: []string{"[ERROR] text is not UTF-8"}}
	}
	all, refusal := readBlocks(blocks)
	if refusal != nil {
		return refusal
	}
	if refusal := judgeBlocks(surface, all); refusal != nil {
		return refusal
	}
	if surface == OnMessage && text == "" && len(all) == 0 {
		return &SlackRefusal{Code: "no_text"}
	}
	if utf8.RuneCountInString(text) > shownTextLimit {
		return &SlackRefusal{Code: "msg_too_long", Messages: []string{"[ERROR] what is over 40000 characters would be cut off"}}
	}
	return nil
}

// readBlocks decodes a list of blocks. An empty text is an empty list.
func readBlocks(raw []byte) ([]any, *SlackRefusal) {
	if len(raw) == 0 {
		return nil, nil
	}
	var all []any
	if err := json.Unmarshal(raw, &all); err != nil || !utf8.Valid(raw) {
		return nil, &SlackRefusal{Code: "invalid_blocks_format"}
	}
	return all, nil
}

// blockJudge collects what is wrong with a list of blocks.
type blockJudge struct {
	surface  SlackSurface
	problems []string
	ids      map[string]bool
	markdown int // characters so far
	tables   int
}

// judgeBlocks returns nil for blocks that Slack takes.
func judgeBlocks(surface SlackSurface, all []any) *SlackRefusal {
	j := &blockJudge{surface: surface, ids: map[string]bool{}}
	most := blocksPerMessage
	if surface == OnModal || surface == OnHome {
		most = blocksPerView
	}
	if len(all) > most {
		return &SlackRefusal{Code: "invalid_blocks", Messages: []string{fmt.Sprintf("[ERROR] no more than %d items allowed [json-pointer:/blocks]", most)}}
	}
	for i, v := range all {
		j.block(fmt.Sprintf("/blocks/%d", i), v)
	}
	if len(j.problems) > 0 {
		return &SlackRefusal{Code: "invalid_blocks", Messages: j.problems}
	}
	if j.markdown > markdownText {
		return &SlackRefusal{Code: "msg_blocks_too_long", Messages: []string{fmt.Sprintf("[ERROR] markdown blocks have %d of %d characters", j.markdown, markdownText)}}
	}
	return nil
}

// fail notes a problem at a place.
func (j *blockJudge) fail(at, problem string, args ...any) {
	j.problems = append(j.problems, "[ERROR] "+fmt.Sprintf(problem, args...)+" [json-pointer:"+at+"]")
}

// length checks a text that must not be empty.
func (j *blockJudge) length(at string, v any, most int) {
	text, is := v.(string)
	n := utf8.RuneCountInString(text)
	switch {
	case !is:
		j.fail(at, "must be a valid string")
	case n == 0:
		j.fail(at, "must be more than 0 characters")
	case n > most:
		j.fail(at, "must be less than %d characters", most+1)
	}
}

// optional checks a text that may be missing.
func (j *blockJudge) optional(at string, o object, key string, most int) {
	if v, has := o[key]; has && v != "" {
		j.length(at+"/"+key, v, most)
	}
}

// text checks a text object. plain allows no mrkdwn.
func (j *blockJudge) text(at string, v any, most int, plain bool) {
	o, is := v.(object)
	if !is {
		j.fail(at, "must be a valid text object")
		return
	}
	switch kind := str(o["type"]); {
	case kind != "plain_text" && kind != "mrkdwn":
		j.fail(at+"/type", "unsupported type: %s", kind)
	case plain && kind != "plain_text":
		j.fail(at+"/type", "must be plain_text")
	case kind == "mrkdwn" && o["emoji"] != nil:
		j.fail(at+"/emoji", "is only allowed on plain_text")
	case kind == "plain_text" && o["verbatim"] != nil:
		j.fail(at+"/verbatim", "is only allowed on mrkdwn")
	}
	j.length(at+"/text", o["text"], most)
}

// list returns the entries of a list of 1 to most entries.
func (j *blockJudge) list(at string, v any, most int) []any {
	all, is := v.([]any)
	switch {
	case !is || len(all) == 0:
		j.fail(at, "must provide at least 1 item")
		return nil
	case len(all) > most:
		j.fail(at, "no more than %d items allowed", most)
		return nil
	}
	return all
}

// id checks a block's id, which no other block may have.
func (j *blockJudge) id(at string, o object) {
	v, has := o["block_id"]
	if !has || v == "" {
		return
	}
	j.length(at+"/block_id", v, blockID)
	if id := str(v); j.ids[id] {
		j.fail(at+"/block_id", "block_id %q already exists", id)
	} else {
		j.ids[id] = true
	}
}

// block checks one block.
func (j *blockJudge) block(at string, v any) {
	o, is := v.(object)
	if !is {
		j.fail(at, "must be a valid block")
		return
	}
	j.id(at, o)
	switch kind := str(o["type"]); kind {
	case "section":
		j.section(at, o)
	case "header":
		j.text(at+"/text", o["text"], headerText, true)
	case "divider":
	case "context":
		for i, e := range j.list(at+"/elements", o["elements"], contextElements) {
			j.contextElement(fmt.Sprintf("%s/elements/%d", at, i), e)
		}
	case "actions":
		for i, e := range j.list(at+"/elements", o["elements"], actionElements) {
			j.element(fmt.Sprintf("%s/elements/%d", at, i), e, false)
		}
	case "image":
		j.image(at, o)
		if o["title"] != nil {
			j.text(at+"/title", o["title"], imageAlt, true)
		}
	default:
		j.restricted(at, kind, o)
	}
}

// restricted checks the blocks that only some surfaces take.
func (j *blockJudge) restricted(at, kind string, o object) {
	message := j.surface == OnMessage || j.surface == OnStream
	switch {
	case kind == "markdown" && message:
		if text, is := o["text"].(string); !is || text == "" {
			j.fail(at+"/text", "must be more than 0 characters")
		} else {
			j.markdown += utf8.RuneCountInString(text)
		}
	case kind == "rich_text":
		j.richText(at, o)
	case kind == "table" && message:
		j.table(at, o)
	case kind == "context_actions" && message:
		for i, e := range j.list(at+"/elements", o["elements"], feedbackElements) {
			j.feedback(fmt.Sprintf("%s/elements/%d", at, i), e)
		}
	case kind == "input" && j.surface != OnResponse:
		j.text(at+"/label", o["label"], fieldText, true)
		if o["hint"] != nil {
			j.text(at+"/hint", o["hint"], fieldText, true)
		}
		j.element(at+"/element", o["element"], true)
	case (kind == "plan" || kind == "task_card") && message:
	case (kind == "card" || kind == "alert" || kind == "carousel") && j.surface == OnStream:
	default:
		j.fail(at, "unsupported type: %s", kind)
	}
}

func (j *blockJudge) section(at string, o object) {
	if o["text"] == nil && o["fields"] == nil {
		j.fail(at, "must provide text or fields")
	}
	if o["text"] != nil {
		j.text(at+"/text", o["text"], sectionText, false)
	}
	if o["fields"] != nil {
		for i, f := range j.list(at+"/fields", o["fields"], sectionFields) {
			j.text(fmt.Sprintf("%s/fields/%d", at, i), f, fieldText, false)
		}
	}
	if o["accessory"] != nil {
		j.element(at+"/accessory", o["accessory"], false)
	}
}

func (j *blockJudge) contextElement(at string, v any) {
	if o, is := v.(object); is && o["type"] == "image" {
		j.image(at, o)
		return
	}
	j.text(at, v, sectionText, false)
}

func (j *blockJudge) image(at string, o object) {
	j.length(at+"/alt_text", o["alt_text"], imageAlt)
	if (o["image_url"] == nil) == (o["slack_file"] == nil) {
		j.fail(at, "must provide image_url or slack_file, and not both")
	}
	if v, has := o["image_url"]; has {
		j.length(at+"/image_url", v, imageURL)
		if !isURL(str(v)) {
			j.fail(at+"/image_url", "must be a URL")
		}
	}
}

// table checks a table, of which a message has one at most.
func (j *blockJudge) table(at string, o object) {
	if j.tables++; j.tables > 1 {
		j.fail(at, "only_one_table_allowed")
	}
	total, columns := 0, -1
	for i, r := range j.list(at+"/rows", o["rows"], tableRows) {
		row, _ := r.([]any)
		switch {
		case len(row) == 0 || len(row) > tableColumns:
			j.fail(fmt.Sprintf("%s/rows/%d", at, i), "must have 1 to %d cells", tableColumns)
		case columns >= 0 && len(row) != columns:
			j.fail(fmt.Sprintf("%s/rows/%d", at, i), "must have as many cells as the first row")
		}
		if columns < 0 {
			columns = len(row)
		}
		for k, cell := range row {
			total += j.cell(fmt.Sprintf("%s/rows/%d/%d", at, i, k), cell)
		}
	}
	if total > tableText {
		j.fail(at, "invalid_table: no more than %d characters allowed", tableText)
	}
}

// cell checks a table's cell and returns how many characters it has.
func (j *blockJudge) cell(at string, v any) int {
	o, _ := v.(object)
	switch str(o["type"]) {
	case "raw_text":
		j.length(at+"/text", o["text"], tableText)
		return utf8.RuneCountInString(str(o["text"]))
	case "rich_text":
		j.richText(at, o)
		var b strings.Builder
		writeRich(&b, o)
		return utf8.RuneCountInString(strings.TrimSpace(b.String()))
	}
	j.fail(at, "unsupported type: %v", o["type"])
	return 0
}
