package markup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/slack/limits"
)

// tableOf is a table of Markdown with as many rows, header included, and columns.
func tableOf(rows, columns int) string {
	var b strings.Builder
	b.WriteString("|" + strings.Repeat(" h |", columns) + "\n|" + strings.Repeat("---|", columns) + "\n")
	for i := 1; i < rows; i++ {
		fmt.Fprintf(&b, "|%s\n", strings.Repeat(fmt.Sprintf(" %d |", i), columns))
	}
	return b.String()
}

func TestATableThatSlackHasNoRoomForBecomesCode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rows, columns int
		code          bool
	}{
		{limits.TableRows - 1, 2, false}, {limits.TableRows, 2, false}, {limits.TableRows + 1, 2, true},
		{3, limits.TableColumns - 1, false}, {3, limits.TableColumns, false}, {3, limits.TableColumns + 1, true},
	} {
		r := Render("Before.\n\n"+tableOf(test.rows, test.columns)+"\nAfter.", Options{})
		got := r.Messages[0].Markdown
		if strings.Contains(got, "```") != test.code {
			t.Errorf("%d rows of %d columns: %.200s", test.rows, test.columns, got)
		}
		if last := fmt.Sprint(test.rows - 1); !strings.Contains(got, last) || !strings.HasSuffix(got, "After.") {
			t.Errorf("%d rows of %d columns: something is lost", test.rows, test.columns)
		}
	}
}

// A definition may come to stand in another message than the link.
func TestALinkHasItsAddressWhereItStands(t *testing.T) {
	t.Parallel()
	source := "[the docs][d], [d] and [d][].\n\n" + strings.Repeat("A paragraph.\n\n", 1500) + "[d]: https://example.com/docs\n"
	got := Render(source, Options{}).Messages[0].Markdown
	if want := "[the docs](https://example.com/docs), [d](https://example.com/docs) and [d](https://example.com/docs)."; !strings.HasPrefix(got, want) {
		t.Errorf("it begins %.120q", got)
	}
}

// References may not make a small text large.
func TestReferencesAreBounded(t *testing.T) {
	t.Parallel()
	source := strings.Repeat("[d] ", 5000) + "\n\n[d]: https://example.com/" + strings.Repeat("x", 500) + "\n"
	if got := clean(source); len(got) > len(source)+maxReferences {
		t.Errorf("%d bytes became %d", len(source), len(got))
	}
}
