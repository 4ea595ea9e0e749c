package evidence

import (
	"slices"
	"strings"
	"testing"
)

func TestParseOwners(t *testing.T) {
	t.Parallel()
	const file = "# comment\n" +
		"*            @octo/all\n" +
		"/internal/   @octo/core @mona   # why\n" +
		"*.sql        dba@example.com\n" +
		"/internal/gen/\n" + // nobody
		"/\t@octo/nothing\n" +
		"//           @octo/nothing\n" +
		"[bad] @octo/x\n" +
		"docs/ not-an-owner\n" +
		"***          @octo/x\r\n" +
		"/win/        @octo/win\r\n"
	rules, ignored := parseOwners([]byte(file))
	if ignored != 5 || len(rules) != 5 {
		t.Fatalf("%d rules, %d ignored; want 5, 5", len(rules), ignored)
	}
	files := []File{
		{Path: "README.md"},
		{Path: "internal/a.go"},
		{Path: "db/x.sql"},
		{Path: "internal/gen/a.go"},
		{Path: "win/a.txt"},
		{Path: "README.md", PreviousPath: "internal/moved.md"},
		{Path: ""},
	}
	o := ownership{rules: rules}
	if skipped, err := o.assign(files, maxOwnerMatches); skipped != 0 || err != nil {
		t.Fatalf("%d skipped, %v", skipped, err)
	}
	for i, want := range [][]string{
		{"@octo/all"}, {"@octo/core", "@mona"}, {"dba@example.com"}, nil, {"@octo/win"}, {"@octo/all", "@octo/core", "@mona"}, nil,
	} {
		if !slices.Equal(files[i].Owners, want) {
			t.Errorf("%q is owned by %q, want %q", files[i].Path, files[i].Owners, want)
		}
	}
}

func TestOwnersAreBounded(t *testing.T) {
	t.Parallel()
	rules, _ := parseOwners([]byte(strings.Repeat("* @octo/all\n", 10)))
	files := []File{{Path: "a"}, {Path: "b", PreviousPath: "c"}, {Path: "d"}}
	for limit, want := range map[int]int{9: 3, 10: 2, 29: 2, 30: 1, 40: 0} {
		if skipped, err := (ownership{rules: rules}).assign(files, limit); skipped != want || err != nil {
			t.Errorf("limit %d: %d skipped, want %d (%v)", limit, skipped, want, err)
		}
	}
}

func FuzzOwners(f *testing.F) {
	f.Add("* @a\n/x/ @b/c\n", "x/y.go")
	f.Add("/ @a\n// @a\n", "x")
	f.Add("/#x @a\n\\ @a\n\\\\ @b", "\\")
	f.Add("**/a/** @a\n?? @b\n/a\\ b @c", "a b")
	f.Fuzz(func(t *testing.T, text, path string) {
		rules, _ := parseOwners([]byte(text))
		files := []File{{Path: path, PreviousPath: path + "x"}}
		if _, err := (ownership{rules: rules}).assign(files, maxOwnerMatches); err != nil {
			t.Errorf("match: %v", err)
		}
		for _, o := range files[0].Owners {
			if strings.ContainsAny(o, " \n\t") || o == "" {
				t.Errorf("owner %q", o)
			}
		}
	})
}
