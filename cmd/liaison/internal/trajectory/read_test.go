package trajectory

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatalf("no records: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := Read(f)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(got, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(path, ".ndjson") + ".golden.json"
			if *update {
				if err := os.WriteFile(golden, append(text, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(text)+"\n" != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("%s differs; -update writes it:\n%s", golden, text)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	const fine = `{"type":"session.started","index":0,"sessionId":"ses_1","data":{}}` + "\n"
	for name, c := range map[string]struct {
		in   string
		want error
		says string
	}{
		"nothing":            {"", ErrEmpty, ""},
		"blank lines":        {"\n\n", ErrEmpty, ""},
		"only a torn line":   {`{"type":"session.sta`, ErrNotARecord, "line 1"},
		"text":               {"hello\n", ErrNotARecord, "line 1"},
		"a torn middle":      {fine + `{"type":` + "\n" + fine, ErrNotARecord, "line 2"},
		"JSON without types": {fine + fine + `{"a":1}` + "\n", ErrNotARecord, "line 3"},
		"a line too long":    {fine + strings.Repeat("x", MaxLine+1), ErrNotARecord, "line 2: longer than"},
	} {
		_, err := Read(strings.NewReader(c.in))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/chat.ndjson", "testdata/unknown.ndjson"} {
		seed, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(seed))
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Read(strings.NewReader(s))
		if err != nil {
			return
		}
		if _, err := json.Marshal(got); err != nil {
			t.Fatalf("what was read cannot be printed: %v", err)
		}
		// What is written is a prefix of what will be: a record that grows stays readable.
		if got.Torn || !strings.HasSuffix(s, "\n") {
			return
		}
		more, err := Read(strings.NewReader(s + `{"type":"of.tomorrow"`))
		if err != nil || !more.Torn || more.Events != got.Events {
			t.Fatalf("a torn line after it: %+v, %v", more, err)
		}
	})
}
