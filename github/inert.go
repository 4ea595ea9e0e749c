package github

import (
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// acting is what GitHub or a reader's browser acts on with nobody's click: images
// and media, which tell whoever serves them what their address holds; blocks that
// change a file with one click; and the addresses of issues, under which GitHub
// notes that they were mentioned.
var acting = lazyregexp.New("(?im)" + strings.Join([]string{
	`!\[`,
	`<(?:img|image|picture|source|video|audio)\b`,
	`https?://(?:www\.)?github\.com/[^/\s]+/[^/\s]+/(?:issues|pulls?|discussions)/[0-9]`,
	"^[ \\t>*+.)0-9-]*(?:`{3,}|~{3,})[ \\t]*(?:suggestion|\\S*[&\\\\])",
}, "|"))

// inert takes from an agent's text what acts by itself. A suggestion is the host's
// to make, from what the agent handed in as one: the lines were checked then, and
// the repository may want none.
// An image is an old way to carry off what an agent has read
// (https://embracethered.com/blog/posts/2023/chatgpt-webpilot-data-exfil-via-markdown-injection/).
func inert(src string) string {
	return outsideCode(src, acting, func(m string) string {
		switch m[0] {
		case '!':
			return "&#33;["
		case '<':
			return escapeTag(m)
		case 'h', 'H':
			// The host that renovate and dependabot use, which leads to the same page.
			_, path, _ := strings.Cut(m, "//")
			_, path, _ = strings.Cut(path, "/")
			return "https://redirect.github.com/" + path
		}
		marks := strings.LastIndexAny(m, "`~") + 1
		return m[:marks] + "text"
	})
}
