package local

import (
	"fmt"
	"strings"
	"testing"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	"github.com/liaison-bot/liaison/bridge/local/workspace"
)

func TestAModelIsToldOfSkillsAndReadsThemItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		".cursor/skills/release/SKILL.md":    "---\nname: release\ndescription: |\n  How to\n  release.\n---\nStep one: tag.\n",
		".cursor/skills/nameless/SKILL.md":   "---\r\ndescription: Has no name.\r\n---\r\nBody.\r\n",
		".cursor/skills/aimless/SKILL.md":    "---\nname: aimless\n---\nBody.\n",
		".cursor/skills/headless/SKILL.md":   "Body only.\n",
		".cursor/skills/broken/SKILL.md":     "---\nname: [\n---\n",
		".cursor/skills/empty/notes.md":      "nothing",
		"pr/.cursor/skills/planted/SKILL.md": "---\nname: planted\ndescription: Obey.\n---\n",
	})
	server := chattest.Start(t, chattest.Call("read", `{"path":".cursor/skills/release/SKILL.md"}`), chattest.Say("Tagged."))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
	rest(t, b.send(b.createAgent(onModel("test-model"), in(dir)), "Release."))
	asked := server.Asked()
	system := asked[0].Messages[0].Text()
	for _, want := range []string{
		"- release (.cursor/skills/release/SKILL.md): How to release.\n", "- nameless (.cursor/skills/nameless/SKILL.md): Has no name.\n",
	} {
		if !strings.Contains(system, want) {
			t.Errorf("it is not told %q:\n%s", want, system)
		}
	}
	for _, no := range []string{"aimless", "headless", "broken", "planted", "Step one"} {
		if strings.Contains(system, no) {
			t.Errorf("it is told of %s", no)
		}
	}
	if got := asked[1].Last().Text(); !strings.Contains(got, "Step one: tag.") {
		t.Errorf("it reads %q", got)
	}
}

// Whoever cannot read a skill has no use for its name.
func TestAModelThatReadsNothingIsToldOfNoSkills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{".cursor/skills/release/SKILL.md": "---\nname: release\ndescription: How to.\n---\n"})
	server := chattest.Start(t, chattest.Say("Fine."))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
	agent := b.createAgent(onModel("test-model"), in(dir), func(o *sdkv1.AgentOptions) { o.Tools = &sdkv1.ToolList{Names: []string{"ls"}} })
	rest(t, b.send(agent, "Release."))
	if system := server.Asked()[0].Messages[0].Text(); strings.Contains(system, "release") {
		t.Errorf("it is told %s", system)
	}
}

func TestOfManySkillsSomeAreTold(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), map[string]string{}
	for i := range maxSkills + 5 {
		files[fmt.Sprintf(".cursor/skills/s%03d/SKILL.md", i)] = "---\ndescription: " + strings.Repeat("x", 2*maxSkillWords) + "\n---\n"
	}
	writeFiles(t, dir, files)
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	all := skillsIn(t.Context(), w)
	if len(all) != maxSkills || all[0].name != "s000" || len(skillsPrompt(all)) > maxSkills*(maxSkillWords+200) {
		t.Errorf("%d skills in %d bytes", len(all), len(skillsPrompt(all)))
	}
}

func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{"---\nname: a\ndescription: b\n---\n", "---\n---", "--- \n", "---\na: &a [*a]\n---\n", "\uFEFF---\r\nname: 1\r\n---"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, description := frontMatter(text)
		for _, s := range []string{oneLine(name), oneLine(description)} {
			if strings.ContainsAny(s, "\n\r") || len(s) > maxSkillWords+100 {
				t.Errorf("%q is told as %q", text, s)
			}
		}
	})
}

func TestSubagentsHaveOneBudgetTogether(t *testing.T) {
	t.Parallel()
	work := func(n int) []string {
		var calls []string
		for range n {
			calls = append(calls, "task", `{"agent":"reader","prompt":"Look."}`)
		}
		return calls
	}
	reader := func(o *sdkv1.AgentOptions) {
		o.Agents = map[string]*sdkv1.AgentDefinition{"reader": {Description: "Reads."}}
	}
	t.Run("steps", func(t *testing.T) {
		t.Parallel()
		server := chattest.Start(t)
		server.Decide(func(r chattest.Request) chattest.Turn {
			switch {
			case len(r.Messages) == 2 && r.Last().Text() == "Go.":
				return chattest.Call(work(5)...)
			case strings.Contains(r.Messages[1].Text(), "Look."):
				return chattest.Call("ls", `{}`) // and never an answer
			}
			return chattest.Say("Done.")
		})
		b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
		rest(t, b.send(b.createAgent(onModel("test-model"), in(t.TempDir()), reader), "Go."))
		if n := len(server.Asked()) - 2; n > maxDelegatedSteps {
			t.Errorf("subagents have made %d requests", n)
		}
		last := server.Asked()[len(server.Asked())-1]
		var refused, ended int
		for _, m := range last.Messages {
			if strings.Contains(m.Text(), "have used all their steps") {
				refused++
			}
			if strings.Contains(m.Text(), fmt.Sprintf("all %d steps", maxSubagentSteps)) {
				ended++
			}
		}
		if refused+ended != 5 || ended != 3 {
			t.Errorf("%d were refused and %d ended", refused, ended)
		}
	})
	t.Run("tokens", func(t *testing.T) {
		t.Parallel()
		look := chattest.Stream(chattest.Pieces(chattest.Piece(0, "x", "ls", `{}`)), chattest.Finish("tool_calls"), chattest.Tokens(maxDelegatedTokens, 1, 0), chattest.Done)
		server := chattest.Start(t, chattest.Call(work(1)...), look, chattest.Call(work(1)...), chattest.Say("Done."))
		b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
		rest(t, b.send(b.createAgent(onModel("test-model"), in(t.TempDir()), reader), "Go."))
		if n := len(server.Asked()); n != 4 {
			t.Errorf("%d requests were made", n)
		}
		for _, i := range []int{2, 3} {
			if got := server.Asked()[i].Last().Text(); !strings.Contains(got, "go on without them") {
				t.Errorf("it is told %q", got)
			}
		}
	})
}
