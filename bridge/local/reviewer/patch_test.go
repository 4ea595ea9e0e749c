package reviewer

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func describe(p patch) []string {
	var lines []string
	for _, l := range p.lines {
		lines = append(lines, fmt.Sprintf("%c%d/%d %s", l.kind, l.old, l.new, l.text))
	}
	return lines
}

func TestParsePatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
		incomplete bool
	}{
		{"two hunks", "@@ -1,2 +1,3 @@ func a\n a\n+b\n c\n@@ -10 +11,0 @@\n-d\n",
			[]string{" 1/1 a", "+2/2 b", " 2/3 c", "-10/11 d"}, false},
		{"header before the hunks", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", []string{"+0/1 a"}, false},
		{"lines that look like headers", "@@ -1,2 +1,2 @@\n--- a\n+++ b\n @@ -1 +1 @@\n", []string{"-1/1 -- a", "+2/1 ++ b", " 2/2 @@ -1 +1 @@"}, false},
		{"no line break at the end", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file", []string{"-1/1 a", "+2/1 b"}, false},
		{"carriage returns", "@@ -0,0 +1 @@\n+a\r\n", []string{"+0/1 a"}, false},
		{"stripped context line", "@@ -1,3 +1,3 @@\n a\n\n b\n", []string{" 1/1 a", " 2/2 ", " 3/3 b"}, false},
		{"cut off", "@@ -1,9 +1,9 @@\n a\n", []string{" 1/1 a"}, true},
		{"more than the header says", "@@ -1 +1 @@\n a\n+hidden\n", []string{" 1/1 a", "+2/2 hidden"}, true},
		{"unknown mark", "@@ -1 +1 @@\n a\n?x\n", []string{" 1/1 a"}, true},
		{"bad header", "@@ -x +1 @@\n+a\n@@ -1 +1 @@\n b\n", []string{" 1/1 b"}, true},
		{"huge numbers", "@@ -99999999999999999999 +1 @@\n+a\n", nil, true},
		{"combined diff", "@@@ -1 -1 +1 @@@\n++a\n", nil, false},
		{"empty", "", nil, false},
		{"no hunk", "Binary files differ\n", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := parsePatch(tt.text, 100)
			if !reflect.DeepEqual(describe(got), tt.want) || got.incomplete != tt.incomplete {
				t.Errorf("got %q, incomplete %v; want %q, %v", describe(got), got.incomplete, tt.want, tt.incomplete)
			}
		})
	}
}

func TestParsePatchStopsAtItsLimit(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 4} {
		got := parsePatch("@@ -0,0 +1,3 @@\n+a\n+b\n+c\n", n)
		if len(got.lines) != min(n, 3) || got.incomplete != (n < 3) {
			t.Errorf("limit %d: %d lines, incomplete %v", n, len(got.lines), got.incomplete)
		}
	}
}

func TestSplitDiff(t *testing.T) {
	t.Parallel()
	diff := strings.Join([]string{
		`diff --git "a/with \"quotes\"\n.txt" "b/with \"quotes\"\n.txt"`, "index 1..2 100644", `--- "a/with \"quotes\"\n.txt"`, `+++ "b/with \"quotes\"\n.txt"`,
		"@@ -1 +1 @@", "-a", "+b",
		"diff --git a/old.txt b/new.txt", "similarity index 100%", "rename from old.txt", "rename to new.txt",
		"diff --git a/x.sh b/x.sh", "old mode 100644", "new mode 100755",
		"diff --git a/l b/l", "new file mode 120000", "index 0000000..1", "--- /dev/null", "+++ b/l", "@@ -0,0 +1 @@", "+/etc", `\ No newline at end of file`,
		"diff --git a/p.png b/p.png", "deleted file mode 100644", "index 1..0", "Binary files a/p.png and /dev/null differ",
		"diff --git nonsense",
		"diff --git a/y.go b/y.go", "index 1..2 100644", "--- a/y.go", "+++ b/y.go", "@@ -1 +1 @@", "-diff --git a/no b/no", "+x", "",
	}, "\n")
	sections, unreadable := splitDiff(diff)
	var got []string
	for _, s := range sections {
		got = append(got, fmt.Sprintf("%s %q from %q modes %o %o binary %v hunks %d", s.status, s.path, s.previous, s.oldMode, s.newMode, s.binary, strings.Count(s.hunks, "\n")))
	}
	want := []string{
		`modified "with \"quotes\"\n.txt" from "" modes 100644 0 binary false hunks 3`,
		`renamed "new.txt" from "old.txt" modes 0 0 binary false hunks 0`,
		`modified "x.sh" from "" modes 100644 100755 binary false hunks 0`,
		`added "l" from "" modes 0 120000 binary false hunks 3`,
		`removed "p.png" from "" modes 100644 0 binary true hunks 0`,
		`modified "y.go" from "" modes 100644 0 binary false hunks 3`,
	}
	if !reflect.DeepEqual(got, want) || unreadable != 1 {
		t.Errorf("unreadable %d, sections\n%s\nwant\n%s", unreadable, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func FuzzParsePatch(f *testing.F) {
	f.Add("@@ -1,2 +1,3 @@ func a\n a\n+b\n c\n")
	f.Add("@@ -1 +1 @@\n\\ No newline\n\n?\n@@ -0,0 +1,99999999999 @@\n+x")
	f.Add("diff --git a/x b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := parsePatch(text, 50)
		if len(p.lines) > 50 {
			t.Fatalf("%d lines", len(p.lines))
		}
		for i, l := range p.lines {
			if l.old < 0 || l.new < 0 || strings.Contains(l.text, "\n") {
				t.Fatalf("line %d: %+v", i, l)
			}
			if i > 0 && !l.starts {
				before := p.lines[i-1]
				oldNext, newNext := before.old, before.new
				if before.kind != lineAdded {
					oldNext++
				}
				if before.kind != lineRemoved {
					newNext++
				}
				if l.old != oldNext || l.new != newNext {
					t.Fatalf("line %d does not follow: %+v after %+v", i, l, before)
				}
			}
		}
		splitDiff(text)
	})
}
