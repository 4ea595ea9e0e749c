package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/limits"
)

// opened is a moment in the life of all records of these tests.
var opened = time.Unix(1767323001, 0).UTC()

// plainNames calls people by their ids.
var plainNames = approvals.Words{
	Person: func(who approvals.Identity) string { return who.Slack + who.GitHub },
	Group: func(g approvals.Group) string {
		if g.Kind == approvals.SlackGroup {
			return "the user group " + g.Name
		}
		return groupName(g)
	},
}

// states are a record in each of its states.
func states(input string) map[string]approvals.Record {
	may := approvals.Approvers{Slack: []string{bob}, SlackGroups: []string{"S0DEPLOY"}, GitHub: []string{"octocat"}, GitHubTeams: []string{"octo/ops"}, CodeOwners: true}
	person := func(id string) approvals.Person {
		return approvals.Person{Identity: approvals.Identity{Principal: principal(team, id), Slack: id}, Standing: approvals.Member}
	}
	begin := func(edit func(*approvals.Record)) approvals.Record {
		r := approvals.Record{
			ID: "apr_" + strings.Repeat("0123456789abcdef", 2), Tool: "merge_pull_request", Summary: "Merges the pull request <!channel>.",
			Risk: approvals.RiskHigh, Input: json.RawMessage(input), InputHash: approvals.HashInput(json.RawMessage(input)),
			Channel: Name, Subject: "octo/shop#12", Requester: approvals.Identity{Principal: principal(team, ann), Slack: ann},
			Policy: approvals.Policy{Approvers: may, MinApprovals: 2, ExpiresAfter: 24 * time.Hour, OperatorMayDecide: true},
		}
		if edit != nil {
			edit(&r)
		}
		return approvals.Open(r, opened).Record
	}
	cast := func(r approvals.Record, who string, v approvals.Verdict, after time.Duration) approvals.Record {
		r.Policy.Approvers.Slack = []string{bob, cleo}
		s, err := r.Cast(approvals.Ballot{ApprovalID: r.ID, Verdict: v, By: person(who), Place: Name, Reason: "Not on a <!here> Friday."}, opened.Add(after))
		if err != nil {
			panic(err)
		}
		return s.Record
	}
	took := func(s approvals.Step, ok bool) approvals.Record {
		if !ok {
			panic("no such step")
		}
		return s.Record
	}
	pending := begin(nil)
	approving := cast(pending, bob, approvals.Approve, 3*time.Minute)
	approved := cast(approving, cleo, approvals.Approve, 61*time.Minute)
	executing := took(approved.Begin(1, opened.Add(61*time.Minute)))
	at := opened.Add(62 * time.Minute)
	return map[string]approvals.Record{
		"pending": pending, "approving": approving, "approved": approved, "executing": executing,
		"low-risk": begin(func(r *approvals.Record) { r.Risk, r.Policy.MinApprovals = approvals.RiskLow, 1 }),
		"nobody": begin(func(r *approvals.Record) {
			r.Policy = approvals.Policy{MinApprovals: 1, ExpiresAfter: time.Hour}
		}),
		"done":       took(executing.Finish(approvals.Outcome{Text: "Merged as 0123abc. <!channel>", DurationMS: 2300}, at)),
		"failed":     took(executing.Finish(approvals.Outcome{Text: "The head has moved on.", IsError: true, DurationMS: 40}, at)),
		"not-run":    took(approved.Refuse("tool merge was changed since this was asked for, so that it is not run; ask again", at)),
		"unknown":    took(executing.Lose("the service was stopped while it ran", at)),
		"denied":     cast(pending, bob, approvals.Deny, 50*time.Hour/100),
		"expired":    took(pending.Expire(pending.ExpiresAt)),
		"cancelled":  took(pending.Cancel("the session was stopped", principal(team, ann), at)),
		"superseded": took(approving.Supersede("the pull request has a newer commit", at)),
	}
}

// sizes are arguments of all lengths.
func sizes() map[string]string {
	return map[string]string{"small": `{"method":"squash","note":"<!channel> <@U0ANN> &lt; ` + "```" + ` https://evil.example"}`, "beyond-the-card": argument(limits.Code + 500)}
}

// argument is an object whose view has about n bytes.
func argument(n int) string { return `{"text":"` + strings.Repeat("x", n-20) + `"}` }

func viewOf(r approvals.Record) approvals.View {
	return r.Show(func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") })
}

// Each state has its card, and each card is one that Slack takes.
func TestCards(t *testing.T) {
	t.Parallel()
	for size, input := range sizes() {
		for state, r := range states(input) {
			t.Run(state+"/"+size, func(t *testing.T) {
				t.Parallel()
				m := drawing{View: viewOf(r), words: plainNames}.message("key")
				raw, err := json.MarshalIndent(m.Blocks, "", "  ")
				must(t, err)
				must(t, sim.CheckSlackMessage(m.Text, raw))
				if hasButtons := strings.Contains(string(raw), `"actions"`); hasButtons != r.State.Open() {
					t.Errorf("buttons: %v", hasButtons)
				}
				golden(t, "cards/"+state+"."+size+".txt", m.Text+"\n\n"+outline(t, raw))
			})
		}
	}
}

// outline is a card as a reviewer of a change reads it.
func outline(t *testing.T, blocks []byte) string {
	t.Helper()
	var all slackgo.Blocks
	must(t, json.Unmarshal(blocks, &all))
	var b strings.Builder
	line := func(prefix string, elements []slackgo.RichTextSectionElement) {
		b.WriteString(prefix)
		for _, e := range elements {
			run := e.(*slackgo.RichTextSectionTextElement)
			switch text := clipped(run.Text, 300); {
			case run.Style != nil && run.Style.Bold:
				b.WriteString("*" + text + "*")
			case run.Style != nil && run.Style.Code:
				b.WriteString("`" + text + "`")
			default:
				b.WriteString(text)
			}
		}
		b.WriteString("\n")
	}
	for _, block := range all.BlockSet {
		switch block := block.(type) {
		case *slackgo.RichTextBlock:
			for _, e := range block.Elements {
				switch e := e.(type) {
				case *slackgo.RichTextSection:
					line("", e.Elements)
				case *slackgo.RichTextPreformatted:
					line("| ", e.Elements)
				case *slackgo.RichTextList:
					for _, item := range e.Elements {
						line("- ", item.(*slackgo.RichTextSection).Elements)
					}
				}
			}
		case *slackgo.ContextBlock:
			for _, e := range block.ContextElements.Elements {
				b.WriteString("(" + e.(*slackgo.TextBlockObject).Text + ")\n")
			}
		case *slackgo.ActionBlock:
			for _, e := range block.Elements.ElementSet {
				button := e.(*slackgo.ButtonBlockElement)
				fmt.Fprintf(&b, "[%s] %s %s %s", button.Text.Text, button.ActionID, button.Value, button.Style)
				if c := button.Confirm; c != nil {
					fmt.Fprintf(&b, " (%s: %s [%s] [%s])", c.Title.Text, c.Text.Text, c.Confirm.Text, c.Deny.Text)
				}
				b.WriteString("\n")
			}
		default:
			fmt.Fprintf(&b, "%T\n", block)
		}
	}
	return b.String()
}

// What a card has no room for is in the window, whole, and only there it can be
// approved; what that has no room for is a file.
func TestSizesOfArguments(t *testing.T) {
	t.Parallel()
	keys := map[string]string{}
	for i := range 100 {
		keys[fmt.Sprintf("key_%03d", i)] = "value"
	}
	hundred, err := json.Marshal(keys)
	must(t, err)
	for name, test := range map[string]struct {
		input        string
		card, window bool
	}{
		"nothing":                     {`{}`, true, true},
		"2,990 bytes":                 {argument(2990), true, true},
		"one below the card's limit":  {exactly(limits.Code - 1), true, true},
		"at the card's limit":         {exactly(limits.Code), true, true},
		"one above the card's limit":  {exactly(limits.Code + 1), false, true},
		"a hundred keys":              {string(hundred), true, true},
		"what hides behind spaces":    {`{"a":"` + strings.Repeat(" ", 5000) + `rm -rf /"}`, true, true},
		"what encodes to much more":   {`{"a":"` + strings.Repeat(`<&>`, 20_000) + `"}`, false, false},
		"emoji":                       {`{"a":"` + strings.Repeat("🦊", 4000) + `"}`, false, true},
		"200,000 bytes":               {argument(200_000), false, true},
		"more than a window can hold": {argument(260_000), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for state, r := range states(test.input) {
				d := drawing{View: viewOf(r), words: plainNames}
				if d.fits() != test.card || d.fitsWindow() != test.window {
					t.Fatalf("%s: on the card: %v, in the window: %v", state, d.fits(), d.fitsWindow())
				}
				m := d.message("key")
				raw, err := json.Marshal(m.Blocks)
				must(t, err)
				must(t, sim.CheckSlackMessage(m.Text, raw))
				v := d.showWindow(request{address: address{Team: team, Channel: general, Thread: "1.1"}, MessageTS: "1.2"})
				raw, err = json.Marshal(v.Blocks.BlockSet)
				must(t, err)
				must(t, sim.CheckSlackBlocks(sim.OnModal, "", raw))
				if encodedSize(v) > limits.View || len(v.PrivateMetadata) > limits.ViewMetadata {
					t.Errorf("%s: the window has %d bytes", state, encodedSize(v))
				}
				if shown := preformatted(v.Blocks.BlockSet); test.window && strings.ReplaceAll(shown, "\n", "") != strings.ReplaceAll(d.Input, "\n", "") {
					t.Errorf("%s: the window does not show all", state)
				}
			}
		})
	}
}

// exactly is an object whose view has n characters.
func exactly(n int) string {
	frame := "{\n  \"a\": \"\"\n}"
	return `{"a":"` + strings.Repeat("x", n-len(frame)) + `"}`
}

// preformatted is all that stands in blocks of code.
func preformatted(blocks []slackgo.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		rich, is := block.(*slackgo.RichTextBlock)
		if !is {
			continue
		}
		for _, e := range rich.Elements {
			if code, is := e.(*slackgo.RichTextPreformatted); is {
				for _, run := range code.Elements {
					b.WriteString(run.(*slackgo.RichTextSectionTextElement).Text)
				}
			}
		}
	}
	return b.String()
}

func FuzzCard(f *testing.F) {
	f.Add(`{"a":"<!channel>"}`, "deploy", "octo/shop#12", "because")
	f.Add("\x00\xff", "`", "<@U0ANN|x>", "\u202e")
	f.Fuzz(func(t *testing.T, input, tool, subject, reason string) {
		for state, r := range states(`{"a":1}`) {
			v := viewOf(r)
			v.Input, v.Tool, v.Subject, v.Summary, v.Reason = strings.ToValidUTF8(input, "?"), strings.ToValidUTF8(tool, "?"), strings.ToValidUTF8(subject, "?"), strings.ToValidUTF8(reason, "?"), strings.ToValidUTF8(reason, "?")
			m := drawing{View: v, words: plainNames}.message("key")
			raw, err := json.Marshal(m.Blocks)
			must(t, err)
			must(t, sim.CheckSlackMessage(m.Text, raw))
			if len(m.Text) > limits.Text || strings.Contains(m.Text, "<") {
				t.Errorf("%s: %q", state, m.Text)
			}
		}
	})
}
