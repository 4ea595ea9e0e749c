package reviewer

import "testing"

func TestDebugging(t *testing.T) {
	t.Parallel()
	runRule(t, "debug", []ruleTest{
		{"console.log", one("src/a.ts", "  console.log(user)"), []string{"info src/a.ts:10 Debug output to the console"}},
		{"debugger", one("src/a.js", "  debugger;"), []string{"warning src/a.js:10 `debugger` statement"}},
		{"pry", one("app/a.rb", "  binding.pry"), []string{"warning app/a.rb:10 `binding.pry` or its like"}},
		{"pdb", one("a.py", "import pdb; pdb.set_trace()"), []string{"warning a.py:10 `pdb.set_trace()` call"}},
		{"breakpoint", one("a.py", "    breakpoint()"), []string{"warning a.py:10 `breakpoint()` call"}},
		{"dbg", one("src/a.rs", "let y = dbg!(x);"), []string{"warning src/a.rs:10 `dbg!` macro"}},
		{"var_dump", one("a.php", "var_dump($user);"), []string{"warning a.php:10 `var_dump` call"}},
		{"Java output", one("src/A.java", `System.out.println("x");`), []string{"info src/A.java:10 Debug output to the console"}},
		{"Go with a telling text", one("a.go", `fmt.Println("DEBUG", x)`), []string{"info a.go:10 Debug output"}},
		{"Go built-in", one("a.go", "\tprintln(x)"), []string{"info a.go:10 Debug output by the built-in `println`"}},

		{"logger", one("src/a.ts", "logger.console.log(x)", "console.error(err)"), nil},
		{"comment", one("src/a.js", "// console.log(x)", " * debugger"), nil},
		{"test", one("src/a.test.js", "console.log(x)"), nil},
		{"command line", one("bin/a.js", "console.log(usage)"), nil},
		{"documentation", one("docs/a.md", "console.log(x)"), nil},
		{"word in a name", one("src/a.js", "const debuggerUrl = x", "startdebugger()"), nil},
		{"Go program's output", one("cmd/x/main.go", `fmt.Println("done")`), nil},
		{"Go library's output", one("a.go", `fmt.Println(report)`), nil},
		{"moved within the pull request", []file{
			{path: "src/a.js", patch: removed("console.log(x)")}, {path: "src/b.js", patch: added("  console.log(x)")}}, nil},
		{"generated", one("a.pb.go", "\tprintln(x)"), nil},
	})
}
