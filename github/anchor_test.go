package github

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/github/evidence"
)

// changedFiles lays out evidence of these files, with their patches, and returns
// the workspace.
func changedFiles(t testing.TB, files map[string]string, renamed map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	m := evidence.Manifest{HeadSHA: headSHA, Complete: true}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := evidence.File{Number: len(m.Files) + 1, Path: path, PreviousPath: renamed[path], Status: "modified"}
		switch patch := files[path]; {
		case patch == "":
			f.PatchMissing = "GitHub sent none, as it does for large changes"
		case strings.HasPrefix(patch, "removed"):
			f.Status = "removed"
			patch = strings.TrimPrefix(patch, "removed")
			fallthrough
		default:
			f.Patch = fmt.Sprintf("files/%04d/patch.diff", f.Number)
			layOutFile(t, dir, f.Patch, patch)
		}
		m.Files = append(m.Files, f)
	}
	raw, err := json.Marshal(m)
	must(t, err)
	layOutFile(t, dir, "files.json", string(raw))
	return dir
}

// layOutFile writes a file of the evidence.
func layOutFile(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, "pr", filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

// twoHunks are lines 3 to 6 of the old and 3 to 7 of the new file, and then 20 to
// 22 of the old and 21 to 22 of the new one.
const twoHunks = "@@ -3,4 +3,5 @@ func main() {\n a\n-b\n+B\n+b2 😀\n c\n d\n@@ -20,3 +21,2 @@\n x\n-y\n z\n"

func TestFindingsFindTheirPlace(t *testing.T) {
	t.Parallel()
	dir := changedFiles(t, map[string]string{
		"main.go":      twoHunks,
		"new/name.go":  twoHunks,
		"gone.go":      "removed@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n",
		"added.go":     "@@ -0,0 +1,2 @@\n+a\n+b\n",
		"crlf.txt":     "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n",
		"große/日本.go":  twoHunks,
		"large.json":   "",
		"vendor/x.go":  twoHunks,
		"broken.patch": "@@ -1,9 +1,1 @@\n a\n",
	}, map[string]string{"new/name.go": "old/name.go"})
	set := defaultSettings()
	set.Paths = []string{"!vendor/**"}
	for name, tt := range map[string]struct {
		given finding
		// want is "path side start-line" of a finding with a place, or why it has none.
		want string
	}{
		"in a hunk":                     {finding{Path: "main.go", Line: 4}, "main.go RIGHT 0-4"},
		"context":                       {finding{Path: "main.go", Line: 3, Side: "RIGHT"}, "main.go RIGHT 0-3"},
		"the last line of a hunk":       {finding{Path: "main.go", Line: 7}, "main.go RIGHT 0-7"},
		"one after it":                  {finding{Path: "main.go", Line: 8}, "line 8 of the new file is not in the diff"},
		"one before it":                 {finding{Path: "main.go", Line: 2}, "line 2 of the new file is not in the diff"},
		"in the gap":                    {finding{Path: "main.go", Line: 15}, "line 15 of the new file is not in the diff"},
		"on a deleted line":             {finding{Path: "main.go", Line: 21, Side: "LEFT"}, "main.go LEFT 0-21"},
		"the other side's last line":    {finding{Path: "main.go", Line: 7, Side: "LEFT"}, "line 7 of the old file is not in the diff"},
		"start_line == line":            {finding{Path: "main.go", StartLine: 4, Line: 4}, "main.go RIGHT 0-4"},
		"a range":                       {finding{Path: "main.go", StartLine: 3, Line: 7}, "main.go RIGHT 3-7"},
		"a range the wrong way round":   {finding{Path: "main.go", StartLine: 7, Line: 3}, "main.go RIGHT 3-7"},
		"a range over two hunks":        {finding{Path: "main.go", StartLine: 5, Line: 21}, "lines 5 to 21 of the new file are not in one hunk of the diff"},
		"a start without a line":        {finding{Path: "main.go", StartLine: 5}, "main.go RIGHT 0-5"},
		"a file as a whole":             {finding{Path: "main.go"}, "it is about the file as a whole"},
		"no file":                       {finding{Line: 3}, "it is about the pull request as a whole"},
		"another file":                  {finding{Path: "other.go", Line: 3}, "its file is not among those that the pull request changes"},
		"traversal":                     {finding{Path: "../../etc/passwd", Line: 3}, "its file is not among those that the pull request changes"},
		"an absolute path":              {finding{Path: "/etc/passwd", Line: 3}, "its file is not among those that the pull request changes"},
		"a zero byte":                   {finding{Path: "main.go\x00", Line: 3}, "its file is not among those that the pull request changes"},
		"a renamed file":                {finding{Path: "new/name.go", Line: 4}, "new/name.go RIGHT 0-4"},
		"a renamed file, where it was":  {finding{Path: "old/name.go", Line: 21}, "new/name.go LEFT 0-21"},
		"where it was, with a side":     {finding{Path: "old/name.go", Line: 4, Side: "RIGHT"}, "new/name.go RIGHT 0-4"},
		"a removed file":                {finding{Path: "gone.go", Line: 2}, "gone.go LEFT 0-2"},
		"a removed file's new side":     {finding{Path: "gone.go", Line: 1, Side: "RIGHT"}, "line 1 of the new file is not in the diff"},
		"an added file":                 {finding{Path: "added.go", Line: 2}, "added.go RIGHT 0-2"},
		"an added file's old side":      {finding{Path: "added.go", Line: 1, Side: "LEFT"}, "line 1 of the old file is not in the diff"},
		"a file with CRLF":              {finding{Path: "crlf.txt", StartLine: 1, Line: 2}, "crlf.txt RIGHT 1-2"},
		"a name beyond ASCII":           {finding{Path: "große/日本.go", Line: 5}, "große/日本.go RIGHT 0-5"},
		"no patch":                      {finding{Path: "large.json", Line: 1}, "there is no diff of its file: GitHub sent none, as it does for large changes"},
		"a patch that contradicts":      {finding{Path: "broken.patch", Line: 1}, "the diff of its file cannot be read"},
		"left out by the configuration": {finding{Path: "vendor/x.go", Line: 4}, "left out"},
		"./":                            {finding{Path: "./main.go", Line: 4}, "main.go RIGHT 0-4"},
		"as diffs name it":              {finding{Path: "b/main.go", Line: 4}, "main.go RIGHT 0-4"},
		"as diffs name the old one":     {finding{Path: "a/main.go", Line: 21}, "main.go LEFT 0-21"},
		"by its place in the evidence":  {finding{Path: "pr/files/0007/head.txt", Line: 4}, "main.go RIGHT 0-4"},
		"by another place in it":        {finding{Path: "pr/files/9999/head.txt", Line: 4}, "its file is not among those that the pull request changes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := loadChanges(dir)
			defer c.close()
			got, covered := c.place(tt.given, set)
			said := got.Demoted
			if !covered {
				said = "left out"
			} else if got.anchored() {
				said = fmt.Sprintf("%s %s %d-%d", got.Path, got.Side, got.StartLine, got.Line)
			}
			if said != tt.want {
				t.Errorf("%+v: %s, want %s", tt.given, said, tt.want)
			}
		})
	}
}

func TestWithoutEvidenceNoFindingHasAPlace(t *testing.T) {
	t.Parallel()
	broken := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(broken, "pr"), 0o700))
	must(t, os.WriteFile(filepath.Join(broken, "pr", "files.json"), []byte(`[`), 0o600))
	linked := t.TempDir()
	if err := os.Symlink(changedFiles(t, map[string]string{"main.go": twoHunks}, nil)+"/pr", filepath.Join(linked, "pr")); err != nil {
		linked = broken // no links on this system
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(broken, "none"), broken, linked} {
		c := loadChanges(dir)
		if got, _ := c.place(finding{Path: "main.go", Line: 4}, defaultSettings()); got.Demoted != "what the pull request changes cannot be read" {
			t.Errorf("%s: %+v", dir, got)
		}
		c.close()
	}
}

func FuzzParseHunks(f *testing.F) {
	f.Add(twoHunks)
	f.Add("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n")
	f.Add("@@ -0,0 +1,9223372036854775807 @@\n+a\n")
	f.Fuzz(func(t *testing.T, patch string) {
		hunks, err := parseHunks(patch)
		if err != nil {
			return
		}
		added := strings.Count(patch, "\n") + 1
		for _, h := range hunks {
			if h.right.last-h.right.first >= added || h.left.last-h.left.first >= added {
				t.Errorf("%q has the hunk %+v", patch, h)
			}
		}
	})
}
