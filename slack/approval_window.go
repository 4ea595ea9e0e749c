package slack

import (
	"encoding/json"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/limits"
)

// The windows about an approval, and the input of the one for its denial.
const (
	viewShow    = "liaison.show"
	viewDeny    = "liaison.deny"
	inputReason = "liaison.reason"
)

// windowPlace is what such a window carries: the approval, and the card by which it
// was opened. Nobody but us can write it.
type windowPlace struct {
	address
	ID        string `json:"id"`
	MessageTS string `json:"messageTs,omitempty"`
}

func readWindowPlace(metadata string) (windowPlace, bool) {
	var p windowPlace
	err := json.Unmarshal([]byte(metadata), &p)
	p.Channel, p.Thread, p.MessageTS = event.ID(p.Channel), event.TS(p.Thread), event.TS(p.MessageTS)
	return p, err == nil && approvals.ValidID(p.ID)
}

// showWindow is the window with everything about an approval. While that is open it
// can be approved there.
func (d drawing) showWindow(r request) slackgo.ModalViewRequest {
	v := d.emptyWindow(r)
	blocks := append(v.Blocks.BlockSet, codeBlocks(orNothing(d.Input))...)
	v.Blocks.BlockSet = append(blocks, d.windowEnd()...)
	if !windowHolds(v) {
		v = d.emptyWindow(r)
		beginning, _ := d.Excerpt(maxBeginning)
		note := "This is the beginning. All of it is in the file " + inputFile(d.ID) + " beside the card."
		v.Blocks.BlockSet = append(append(v.Blocks.BlockSet,
			codeBlock(beginning), slackgo.NewRichTextBlock("", paragraph(run{note, bold}))), d.windowEnd()...)
	}
	return v
}

// fitsWindow reports whether a window shows all arguments.
func (d drawing) fitsWindow() bool {
	v := d.emptyWindow(request{})
	v.Blocks.BlockSet = append(append(v.Blocks.BlockSet, codeBlocks(orNothing(d.Input))...), d.windowEnd()...)
	return windowHolds(v)
}

// windowHolds reports whether Slack takes a window. What it carries besides, and how
// Slack counts, has room in a tenth of it.
func windowHolds(v slackgo.ModalViewRequest) bool {
	return len(v.Blocks.BlockSet) <= limits.BlocksInView && encodedSize(v) <= limits.View/10*9
}

// emptyWindow is the window without the arguments and what follows them.
func (d drawing) emptyWindow(r request) slackgo.ModalViewRequest {
	v := slackgo.ModalViewRequest{
		Type: slackgo.VTModal, CallbackID: viewShow, Title: plainText("Approval"), Close: plainText("Close"),
		PrivateMetadata: string(encode(windowPlace{address: r.address, ID: d.ID, MessageTS: r.MessageTS})),
	}
	if d.State.Open() {
		v.Submit = plainText("Approve")
	}
	head := []slackgo.RichTextElement{slackgo.NewRichTextSection(runs(d.title()...)...)}
	if d.Summary != "" {
		head = append(head, paragraph(run{text: clipped(d.Summary, limits.Code)}))
	}
	v.Blocks.BlockSet = append(v.Blocks.BlockSet, slackgo.NewRichTextBlock("", head...))
	return v
}

func (d drawing) windowEnd() []slackgo.Block {
	return []slackgo.Block{slackgo.NewRichTextBlock("", bullets(d.facts())), d.footing(d.InputHash)}
}

// denyWindow asks why. Closing it decides nothing.
func denyWindow(v approvals.View, r request) slackgo.ModalViewRequest {
	reason := slackgo.NewPlainTextInputBlockElement(nil, inputReason)
	reason.Multiline, reason.MaxLength = true, limits.InputText
	ask := slackgo.NewInputBlock(inputReason, plainText("Reason, for the agent and for who asked"), nil, reason)
	ask.Optional = true
	what := []run{{"Deny ", nil}, {inLine(v.Tool, maxCardLine), mono}}
	if subject := inLine(v.Subject, maxCardLine); subject != "" {
		what = append(what, run{text: " on " + subject})
	}
	return slackgo.ModalViewRequest{
		Type: slackgo.VTModal, CallbackID: viewDeny, Title: plainText("Deny"), Submit: plainText("Deny"), Close: plainText("Cancel"),
		Blocks: slackgo.Blocks{BlockSet: []slackgo.Block{
			slackgo.NewRichTextBlock("", paragraph(what...)), ask,
		}},
		PrivateMetadata: string(encode(windowPlace{address: r.address, ID: v.ID, MessageTS: r.MessageTS})),
	}
}
