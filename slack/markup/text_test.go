package markup

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/slack/limits"
)

func TestATextFitsItsLimit(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "🦊", "&", "<", "é", "a_", "word ", "[l](https://example.com/a) "} {
		for _, limit := range []int{0, 1, 2, 3, 4, 10, 75, 150, limits.SectionText, limits.Text} {
			for _, n := range []int{limit - 1, limit, limit + 1, 2 * limit} {
				source := strings.Repeat(unit, max(0, n))
				for name, got := range map[string]string{"mrkdwn": Mrkdwn(source, limit), "plain": Plain(source, limit)} {
					if len(got) > limit || !utf8.ValidString(got) {
						t.Errorf("%s of %d %q for %d: %d bytes, %q", name, n, unit, limit, len(got), got[max(0, len(got)-20):])
					}
					if n > limit && limit >= 10 && !strings.HasSuffix(got, "…") {
						t.Errorf("%s of %d %q for %d is cut without a sign: %q", name, n, unit, limit, got[max(0, len(got)-20):])
					}
				}
			}
		}
	}
	for _, n := range []int{2999, 3000, 3001} {
		got := Mrkdwn(strings.Repeat("x", n), limits.SectionText)
		if cut := strings.HasSuffix(got, "…"); cut != (n > 3000) || len(got) > 3000 || len(got) < 2900 {
			t.Errorf("%d characters became %d", n, len(got))
		}
	}
}

// What is cut leaves nothing open.
func TestACutTextIsStillMrkdwn(t *testing.T) {
	t.Parallel()
	code := Mrkdwn("Before.\n\n```go\n"+strings.Repeat("code();\n", 500)+"```\n", 1000)
	if strings.Count(code, "```") != 2 || len(code) < 800 {
		t.Errorf("%d bytes: %q", len(code), code)
	}
	links := Mrkdwn(strings.Repeat("[a link](https://example.com/some/path) ", 100), 1000)
	if strings.Count(links, "<") != strings.Count(links, ">") || len(links) < 700 {
		t.Errorf("%d bytes: %q", len(links), links)
	}
	for limit := 1; limit < 400; limit++ {
		got := Mrkdwn(strings.Repeat("&<> ", 200), limit)
		if strings.LastIndex(got, "&") > strings.LastIndex(got, ";") {
			t.Fatalf("an entity is cut at %d: %q", limit, got)
		}
	}
}

// A message whose blocks are refused is posted as texts, and nothing of it is lost.
func TestTextsHoldTheWholeMessage(t *testing.T) {
	t.Parallel()
	m := Render(strings.Repeat("word & <tag> `code` 🦊 ", 400), Options{Mention: []string{"U1"}, Suffix: "model"}).Messages[0]
	texts := m.Texts()
	all := strings.Join(texts, " ")
	if n := strings.Count(all, "word"); n != 400 {
		t.Errorf("%d of 400 words in %d texts", n, len(texts))
	}
	if !strings.HasPrefix(texts[0], "<@U1> ") || !strings.HasSuffix(texts[len(texts)-1], "\nmodel") || strings.Count(all, "<@") != 1 {
		t.Errorf("begins %q, ends %q", texts[0][:20], texts[len(texts)-1])
	}
}
