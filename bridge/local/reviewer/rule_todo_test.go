package reviewer

import "testing"

func TestTodos(t *testing.T) {
	t.Parallel()
	runRule(t, "todo", []ruleTest{
		{"one", one("a.go", "x := 1 // TODO: check"), []string{"info a.go:10 1 TODO, FIXME or HACK comment added"}},
		{"counted over files", append(one("a.py", "# FIXME", "# HACK"), one("b.sql", "-- TODO")...),
			[]string{"info a.py:10 3 TODO, FIXME or HACK comments added"}},
		{"in a string", one("a.go", `title := "TODO list"`), nil},
		{"lower case", one("a.js", "// todo lists are shown here"), nil},
		{"documents", one("a.md", "# TODO"), nil},
		{"removed", []file{{path: "a.go", patch: removed("// TODO")}}, nil},
		{"indented anew", []file{{path: "a.go", patch: replaced([]string{"// TODO x"}, []string{"\t// TODO x"})}}, nil},
	})
}
