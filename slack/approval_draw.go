package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/web"
)

// The ids of the buttons of a card, whose value is the approval's id and nothing else.
const (
	actionApprove = "liaison.approve"
	actionDeny    = "liaison.deny"
	actionShow    = "liaison.show"
)

const (
	// maxBeginning is how much is shown of arguments that a card has no room for, in
	// bytes, so that the card stays one that people read.
	maxBeginning = 1500
	// maxCardLine bounds each fact of a card in characters, and maxOutcome what is
	// shown of a result.
	maxCardLine = 300
	maxOutcome  = 1000
)

// drawing is a record on its way to a card.
type drawing struct {
	approvals.View
	// words says what people and groups are called, without calling them.
	words approvals.Words
}

// fits reports whether the arguments have room on a card. Where they do not, people
// approve in the window that shows them all.
func (d drawing) fits() bool { return limits.Length(d.Input) <= limits.Code }

// message is the card, in whatever state the record is. The same record gives the
// same card, and the settled one has no button.
func (d drawing) message(key string) web.Message {
	head := []slackgo.RichTextElement{slackgo.NewRichTextSection(runs(d.title()...)...)}
	if summary := inLine(d.Summary, maxCardLine); summary != "" {
		head = append(head, paragraph(run{text: summary}))
	}
	blocks := []slackgo.Block{slackgo.NewRichTextBlock("", head...)}
	blocks = append(blocks, d.arguments()...)
	blocks = append(blocks, slackgo.NewRichTextBlock("", bullets(d.facts())), d.footing(d.shortHash()))
	if d.State.Open() {
		blocks = append(blocks, d.buttons())
	}
	return web.Message{Text: d.fallback(), Blocks: blocks, Key: key}
}

// title is what the card is about.
func (d drawing) title() []run {
	all := []run{{d.heading() + ": ", bold}, {inLine(d.Tool, maxCardLine), mono}}
	if subject := inLine(d.Subject, maxCardLine); subject != "" {
		all = append(all, run{text: " on " + subject})
	}
	return all
}

// arguments are what will run, or the beginning of it.
func (d drawing) arguments() []slackgo.Block {
	if d.fits() {
		return []slackgo.Block{codeBlock(orNothing(d.Input))}
	}
	beginning, _ := d.Excerpt(maxBeginning)
	blocks := []slackgo.Block{codeBlock(beginning)}
	if d.State.Open() {
		blocks = append(blocks, slackgo.NewRichTextBlock("", paragraph(run{text: `Press "Show all" to read the rest; it can be approved there.`})))
	}
	return blocks
}

func orNothing(input string) string {
	if input == "" {
		return "{}"
	}
	return input
}

// footing says until when, and by which names the call is known elsewhere.
func (d drawing) footing(hash string) slackgo.Block {
	var all []string
	switch {
	case d.State.Open():
		all = append(all, "Until "+date(d.ExpiresAt))
	case !d.EndedAt.IsZero():
		all = append(all, "Ended "+date(d.EndedAt))
	}
	all = append(all, hash, d.ID)
	return slackgo.NewContextBlock("", slackgo.NewTextBlockObject(slackgo.MarkdownType, strings.Join(all, " · "), false, true))
}

// date is a time as each reader's own clock has it.
func date(at time.Time) string {
	at = at.UTC()
	return fmt.Sprintf("<!date^%d^{date_short_pretty} at {time}|%s>", at.Unix(), at.Format("2006-01-02 15:04 UTC"))
}

// shownHash is how many digits of a hash a card shows.
const shownHash = 12

func (d drawing) shortHash() string {
	kind, digits, _ := strings.Cut(d.InputHash, ":")
	return kind + ":" + digits[:min(len(digits), shownHash)]
}

// buttons let people decide. Approving what a card does not show is for the window
// that does.
func (d drawing) buttons() slackgo.Block {
	var all []slackgo.BlockElement
	if d.fits() {
		all = append(all, d.approveButton())
	}
	show := slackgo.NewButtonBlockElement(actionShow, d.ID, plainText("Show all"))
	deny := slackgo.NewButtonBlockElement(actionDeny, d.ID, plainText("Deny")).WithStyle(slackgo.StyleDanger)
	return slackgo.NewActionBlock("", append(all, deny, show)...)
}

func (d drawing) approveButton() *slackgo.ButtonBlockElement {
	b := slackgo.NewButtonBlockElement(actionApprove, d.ID, plainText("Approve"))
	switch d.Risk {
	case approvals.RiskLow:
		b = b.WithStyle(slackgo.StylePrimary)
	case approvals.RiskHigh:
		b = b.WithConfirm(slackgo.NewConfirmationBlockObject(
			plainText("This is a high risk"),
			plainText(clipped("Approve "+inLine(d.Tool, 64)+"? It runs at once, with exactly the arguments on the card.", limits.ConfirmText)),
			plainText("Approve"), plainText("Not yet")))
	}
	return b
}

// fallback is the card for notifications and for readers without blocks.
func (d drawing) fallback() string {
	text := d.heading() + ": " + inLine(d.Tool, maxCardLine)
	if subject := inLine(d.Subject, maxCardLine); subject != "" {
		text += " on " + subject
	}
	if d.State.Open() {
		text += ", asked for by " + d.words.Person(d.Requester)
	}
	return escaped(text + ". " + d.ID)
}

// plain is the card without blocks, for when Slack refuses those.
func (d drawing) plain(key string) web.Message {
	text := d.fallback()
	if d.State.Open() {
		text += escaped(fmt.Sprintf("\nDecide by `/liaison approve %[1]s` or `/liaison deny %[1]s` and a reason; `/liaison approvals` shows what it is.", d.ID))
	}
	return web.Message{Text: text, Key: key}
}

// escaped is a text as mrkdwn that shows it, without a mention or a link.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// encodedSize is how many bytes a view has as it is sent.
func encodedSize(v slackgo.ModalViewRequest) int {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // blocks of texts always encode
	}
	return len(raw)
}
