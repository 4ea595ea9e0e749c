package slack

import (
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// The app may be in channels that who asks knows nothing of. By its id alone nobody
// learns what one is called.
func TestNamesOfPrivateChannelsAreNotTold(t *testing.T) {
	t.Parallel()
	w := talkWorld(t, sim.SlackOptions{})
	w.AddChannel(sim.SlackChannel{ID: "C0LAYOFFS", Team: team, Name: "layoffs-2027", Kind: sim.PrivateChannel, Members: []string{w.team.BotUser}})
	asked := w.MentionIn(general, w.root.TS, ann, "what are <#C0LAYOFFS> and <#C0GENERAL> called?")
	brief, dir := w.prepare(w.asking(asked), t.TempDir())
	for what, text := range map[string]string{"prompt": brief.Prompt, "messages": read(t, dir, "messages.md")} {
		if strings.Contains(text, "layoffs") {
			t.Errorf("the %s tells the name:\n%s", what, text)
		}
		wantIn(t, what, text, "what are #C0LAYOFFS and #general called?")
	}
}
