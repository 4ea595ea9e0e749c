package limits

import "time"

// Messages.
const (
	// Text is the longest text of a message, in bytes. Four thousand characters are
	// what chat.postMessage recommends (https://docs.slack.dev/reference/methods/chat.postMessage#truncating);
	// beyond about as many Slack may split a message and name only one of the parts.
	// chat.update was measured to count UTF-8 bytes
	// (https://github.com/openclaw/openclaw/pull/115027), and what is posted may be
	// edited later, so bytes are what counts for both.
	Text = 4000

	// TextTruncated is the length beyond which chat.postMessage cuts a text without
	// saying so. https://docs.slack.dev/reference/methods/chat.postMessage#truncating
	TextTruncated = 40_000

	// Markdown is the most that all markdown blocks of one message may hold together.
	// https://docs.slack.dev/reference/block-kit/blocks/markdown-block
	Markdown = 12_000

	// Blocks is the most blocks in a message, and BlocksInView that in a modal or a home tab.
	// https://docs.slack.dev/reference/block-kit/blocks
	Blocks       = 50
	BlocksInView = 100

	// Messages is how many messages one answer may become; the rest is a file. It is
	// ours: a thread with more of them is not read, and each takes a second to post.
	Messages = 5

	// Snippet is the largest file, in bytes, that Slack shows as text in its place.
	// Slack's own editor refuses more than 1 MB.
	Snippet = 1_000_000

	// Upload is the largest file, in bytes, that Slack takes from anybody.
	// https://slack.com/help/articles/201330736-Add-files-to-Slack
	Upload = 1_000_000_000
)

// Text within blocks.
const (
	// SectionText and SectionField bound the text of a section and of each of its
	// SectionFields. https://docs.slack.dev/reference/block-kit/blocks/section-block
	SectionText   = 3000
	SectionField  = 2000
	SectionFields = 10

	// TextObject is the longest text of any text object that has no shorter limit.
	// https://docs.slack.dev/reference/block-kit/composition-objects/text-object
	TextObject = 3000

	// Code is the longest preformatted part of a rich text. Slack names no limit; what
	// a section takes is taken there too.
	Code = 3000

	// Header is the longest header. https://docs.slack.dev/reference/block-kit/blocks/header-block
	Header = 150

	// ContextElements is the most elements of a context block.
	// https://docs.slack.dev/reference/block-kit/blocks/context-block
	ContextElements = 10

	// BlockID is the longest block_id. https://docs.slack.dev/reference/block-kit/blocks
	BlockID = 255

	// TableRows, TableColumns and TableText bound a table block; Slack makes one of a
	// Markdown table. https://docs.slack.dev/reference/block-kit/blocks/table-block
	TableRows    = 100
	TableColumns = 20
	TableText    = 10_000

	// CardBody is the longest body of a card block, as reported in
	// https://github.com/novuhq/novu/pull/11392.
	CardBody = 200
)

// Interactive elements.
const (
	// ActionElements is the most elements of an actions block.
	// https://docs.slack.dev/reference/block-kit/blocks/actions-block
	ActionElements = 25

	// ActionID is the longest action_id.
	// https://docs.slack.dev/reference/block-kit/block-elements/button-element
	ActionID = 255

	// ButtonText, ButtonValue and ButtonURL bound a button; about thirty characters of
	// its text are shown.
	// https://docs.slack.dev/reference/block-kit/block-elements/button-element
	ButtonText  = 75
	ButtonValue = 2000
	ButtonURL   = 3000

	// ConfirmTitle, ConfirmText and ConfirmButton bound a confirmation dialog.
	// https://docs.slack.dev/reference/block-kit/composition-objects/confirmation-dialog-object
	ConfirmTitle  = 100
	ConfirmText   = 300
	ConfirmButton = 30

	// Options bounds a select menu and OverflowOptions an overflow menu; OptionText
	// and OptionValue bound each option.
	// https://docs.slack.dev/reference/block-kit/composition-objects/option-object
	Options         = 100
	OverflowOptions = 5
	OptionText      = 75
	OptionValue     = 150

	// InputText is the most that a plain-text input takes (max_length).
	// https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element
	InputText = 3000

	// Placeholder is the longest placeholder of an element.
	// https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element
	Placeholder = 150

	// InputLabel is the longest label of an input block.
	// https://docs.slack.dev/reference/block-kit/blocks/input-block
	InputLabel = 2000
)

// Modals and home tabs.
const (
	// ViewTitle bounds the title, submit and close texts of a modal; ViewMetadata its
	// private_metadata; ViewCallback its callback_id.
	// https://docs.slack.dev/reference/views/modal-views
	ViewTitle    = 24
	ViewMetadata = 3000
	ViewCallback = 255

	// View is the largest view, in bytes, with everything in it.
	// https://docs.slack.dev/reference/methods/views.open#errors (view_too_large)
	View = 250_000

	// ViewDepth is how many modals can lie over one another.
	// https://docs.slack.dev/surfaces/modals
	ViewDepth = 3
)

// Assistant threads and agent sessions.
const (
	// StreamText is the most Markdown in one call of chat.startStream,
	// chat.appendStream or chat.stopStream.
	// https://docs.slack.dev/reference/methods/chat.appendStream
	StreamText = 12_000

	// SuggestedPrompts is the most prompts offered in a thread.
	// https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
	SuggestedPrompts = 4

	// LoadingMessages is the most texts that a status goes through.
	// https://docs.slack.dev/reference/methods/assistant.threads.setStatus
	LoadingMessages = 10

	// ThreadTitle is the longest title of an agent session.
	// https://docs.slack.dev/ai/agent-sessions
	ThreadTitle = 200
)

// Requests and answers.
const (
	// ReplayWindow is how far the time of a signed request may be from ours.
	// https://docs.slack.dev/authentication/verifying-requests-from-slack
	ReplayWindow = 5 * time.Minute

	// Acknowledge is how long Slack waits for the answer to a request of its own, and
	// how long a trigger_id is good. https://docs.slack.dev/apis/events-api
	Acknowledge = 3 * time.Second

	// ResponseURL and ResponseURLUses bound what a response_url is good for.
	// https://docs.slack.dev/interactivity/handling-user-interaction
	ResponseURL     = 30 * time.Minute
	ResponseURLUses = 5

	// SocketReply is the size, in bytes, from which Slack drops an answer over a
	// socket without a word, as slack-go's socketmode notes.
	SocketReply = 20_000
)
