package chat

import (
	"slices"
	"strings"
	"testing"
)

// Who reads along sees a long paragraph by its sentences, a short one whole, and
// nothing of either is lost.
func TestTextIsPassedOnWhereAReaderWouldPause(t *testing.T) {
	t.Parallel()
	sentence := strings.Repeat("word ", 30) + "end. "
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"short paragraphs":       {"One. Two.\n\nThree.", []string{"One. Two.\n\n", "Three."}},
		"a paragraph by its end": {sentence + "Last.", []string{sentence + "Last."}},
		"a long paragraph":       {strings.Repeat(sentence, 3) + "Last.", []string{sentence, sentence, sentence + "Last."}},
		"lines":                  {strings.Repeat("x", 300) + "\nabc", []string{strings.Repeat("x", 300) + "\n", "abc"}},
		"without spaces":         {strings.Repeat("字", 100) + "。字", []string{strings.Repeat("字", 100) + "。", "字"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			p := paragraphs{give: func(s string) { got = append(got, s) }}
			for _, r := range c.text {
				p.add(string(r))
			}
			p.end()
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
