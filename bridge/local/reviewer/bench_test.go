package reviewer

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// megabyte is evidence with a diff of 1 MB in files of several languages, mostly harmless.
func megabyte() evidence {
	samples := map[string]string{
		"go": "	if err := store.Put(ctx, key, value); err != nil {\n		return fmt.Errorf(\"put %s: %w\", key, err)\n	}\n",
		"ts": "  const response = await client.get(`/users/${id}`, { token: session.token });\n  if (!response.ok) {\n    throw new Error('no user');\n  }\n",
		"py": "    def total(self, items):\n        return sum(item.price * item.count for item in items if item.price)\n",
		"md": "The service keeps what it was given until someone takes it away, see the manual.\n",
	}
	var e evidence
	size := 0
	for i := 0; size < 1<<20; i++ {
		for _, ext := range []string{"go", "ts", "py", "md"} {
			var lines []string
			for range 40 {
				lines = append(lines, strings.Split(strings.TrimSuffix(samples[ext], "\n"), "\n")...)
			}
			patch := added(lines...)
			size += len(patch)
			e.files = append(e.files, file{path: fmt.Sprintf("part%03d/file.%s", i, ext), patch: patch})
		}
	}
	return e
}

func BenchmarkReviewOneMegabyte(b *testing.B) {
	dir := megabyte().write(b)
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		report, err := Review(context.Background(), dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		if len(report.Findings) > 10 {
			b.Fatalf("%d findings in harmless code:\n%s", len(report.Findings), report.Markdown())
		}
	}
}

func BenchmarkParsePatchOneMegabyte(b *testing.B) {
	line := "+	if err := store.Put(ctx, key, value); err != nil {\n"
	n := (1 << 20) / len(line)
	text := fmt.Sprintf("@@ -0,0 +1,%d @@\n", n) + strings.Repeat(line, n)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if p := parsePatch(text, n); len(p.lines) != n {
			b.Fatal(len(p.lines))
		}
	}
}
