package evidence_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocs holds docs/evidence.md to what is written: its examples and the kept
// sample have the same keys with values of the same type, its table names all
// files, and its lists of words hold all that occur.
func TestDocs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/evidence.md")
	must(t, err)
	doc := strings.ReplaceAll(string(raw), "\r\n", "\n")
	sample := filepath.Join(sampleFolder, "pr")

	examples := map[string]any{}
	for _, m := range regexp.MustCompile("(?s)\n## `([a-z_]+\\.json)`\n(?:\n[^#`][^#]*?)?\n*```json\n(.*?)```").FindAllStringSubmatch(doc, -1) {
		var v any
		if err := json.Unmarshal([]byte(m[2]), &v); err != nil {
			t.Errorf("the example of %s is no JSON: %v", m[1], err)
		}
		examples[m[1]] = v
	}
	kept, err := filepath.Glob(filepath.Join(sample, "*.json"))
	must(t, err)
	more, err := filepath.Glob(filepath.Join(askedFolder, "*", "*.json"))
	must(t, err)
	kept = append(kept, more...) // an issue's question.json is like a pull request's
	if len(kept) != 8 || len(examples) != 7 {
		t.Fatalf("%d JSON files and %d examples, want 8 and 7", len(kept), len(examples))
	}
	for _, file := range kept {
		name := filepath.Base(file)
		content, err := os.ReadFile(file)
		must(t, err)
		var v any
		must(t, json.Unmarshal(content, &v))
		want, got := shape(examples[name], ""), shape(v, "")
		if !slices.Equal(got, want) {
			t.Errorf("%s has the keys\n%q\nand docs/evidence.md says\n%q", name, got, want)
		}
		indented, err := json.MarshalIndent(json.RawMessage(content), "", "  ")
		must(t, err)
		if !strings.HasPrefix(string(content), string(indented[:20])) || !strings.HasSuffix(string(content), "}\n") {
			t.Errorf("%s is not indented by two spaces", name)
		}
	}

	table := doc[strings.Index(doc, "| path |"):strings.Index(doc, "\n## ")]
	for _, name := range names(t, sample) {
		if info, err := os.Stat(filepath.Join(sample, name)); err != nil || info.IsDir() {
			continue
		}
		if !strings.Contains(table, "/"+path.Base(name)+"`") && !strings.Contains(table, "`"+path.Base(name)+"`") {
			t.Errorf("the table has no %s", name)
		}
	}
	for _, m := range regexp.MustCompile("`pr/([^`]+)`").FindAllStringSubmatch(table, -1) {
		_, err := os.Stat(filepath.Join(sample, m[1]))
		if _, asked := os.Stat(filepath.Join(askedFolder, "pr", m[1])); err != nil && asked != nil {
			t.Errorf("the table has %s, and no sample does: %v", m[1], err)
		}
	}

	r := &read{t: t, dir: sample}
	r.json("files.json", &r.manifest)
	for _, f := range r.manifest.Files {
		for _, word := range []string{f.Status, f.Kind, f.Encoding} {
			if word != "" && !strings.Contains(doc, "`"+word+"`") {
				t.Errorf("the word %q of %s is not described", word, f.Path)
			}
		}
		for file, missing := range map[string]string{f.Patch: f.PatchMissing, f.Head: f.HeadMissing, f.Base: f.BaseMissing} {
			if (file == "") == (missing == "") {
				t.Errorf("%s: %q is there and missing because of %q", f.Path, file, missing)
			}
			if file != "" && !r.exists(file) {
				t.Errorf("%s: there is no %s", f.Path, file)
			}
		}
	}
}

// shape lists the keys of a value with the types behind them; the elements of a
// list count together.
func shape(v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			out = append(out, shape(value, at+"."+key)...)
		}
	case []any:
		for _, item := range v {
			out = append(out, shape(item, at+"[]")...)
		}
	default:
		out = []string{fmt.Sprintf("%s %T", at, v)}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
