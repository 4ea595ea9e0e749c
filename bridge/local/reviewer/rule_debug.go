package reviewer

import (
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// debugStatement is something that people put in to look at a running program.
type debugStatement struct {
	applies func(language) bool
	// hint must be in the line; it spares the expression on most lines.
	hint       string
	expression *lazyregexp.Regexp
	severity   Severity
	title      string
}

func only(wanted language) func(language) bool {
	return func(l language) bool { return l == wanted }
}

const (
	stopsProgram = "It stops the program and waits for someone who is not there in production."
	writesOutput = "It looks like a leftover of debugging: it writes to the output of whoever runs this."
)

// Calls that stop the program are warnings. Calls that only print are notes,
// and only where printing is not what programs of the language do for a living.
var debugStatements = []debugStatement{
	{language.isScript, "debugger", lazyregexp.New(`^\s*debugger\s*;?\s*$`), SeverityWarning, "`debugger` statement"},
	{language.isScript, "console.", lazyregexp.New(`(^|[^\w.])console\.(log|debug|trace|dir|table)\(`), SeverityInfo, "Debug output to the console"},
	{only(langRuby), "binding.", lazyregexp.New(`(^|\s|;)binding\.(pry|irb|break)\b`), SeverityWarning, "`binding.pry` or its like"},
	{only(langRuby), "byebug", lazyregexp.New(`^\s*byebug\s*$`), SeverityWarning, "`byebug` call"},
	{only(langPython), "set_trace", lazyregexp.New(`\bi?pu?db\.set_trace\(`), SeverityWarning, "`pdb.set_trace()` call"},
	{only(langPython), "breakpoint()", lazyregexp.New(`^\s*breakpoint\(\)`), SeverityWarning, "`breakpoint()` call"},
	{only(langRust), "dbg!", lazyregexp.New(`\bdbg!\s*\(`), SeverityWarning, "`dbg!` macro"},
	{only(langPHP), "var_dump", lazyregexp.New(`(^|[^\w>:$])var_dump\s*\(`), SeverityWarning, "`var_dump` call"},
	{only(langPHP), "dd(", lazyregexp.New(`^\s*dd\(`), SeverityWarning, "`dd` call"},
	{only(langJava), "System.", lazyregexp.New(`\bSystem\.(out|err)\.print(ln|f)?\(`), SeverityInfo, "Debug output to the console"},
	{only(langJava), "printStackTrace", lazyregexp.New(`\.printStackTrace\(\s*\)`), SeverityInfo, "Stack trace printed instead of logged"},
	{only(langElixir), "IO.inspect", lazyregexp.New(`\bIO\.inspect\(?`), SeverityInfo, "`IO.inspect` call"},
	{only(langElixir), "IEx.pry", lazyregexp.New(`\bIEx\.pry\b`), SeverityWarning, "`IEx.pry` call"},
	{only(langGo), "spew.", lazyregexp.New(`\bspew\.(Dump|Printf|Println)\(`), SeverityInfo, "Debug output by `spew`"},
	{only(langGo), "println(", lazyregexp.New(`^\s*println\(`), SeverityInfo, "Debug output by the built-in `println`"},
	{only(langGo), "fmt.Print", lazyregexp.New(`\bfmt\.Print(ln|f)?\(\s*"(?i:debug|here|xxx|>>>|---|===|\*\*\*)`), SeverityInfo, "Debug output"},
	{only(langSwift), "debugPrint(", lazyregexp.New(`^\s*(debugPrint|dump)\(`), SeverityInfo, "Debug output"},
}

// checkDebugging finds leftover debugging statements.
func checkDebugging(p *pull, found *collector) {
	for _, c := range p.changes {
		if !c.written() || !c.language.isCode() || c.role == roleDocs {
			continue
		}
		prints := c.role == roleTest || c.fixture || isCommandLine(c.Path)
		c.eachAdded(func(_ int, l *line) {
			text := l.scanned()
			for _, s := range debugStatements {
				if !strings.Contains(text, s.hint) || !s.applies(c.language) {
					continue
				}
				if s.severity == SeverityInfo && prints || c.isComment(text) || !s.expression.MatchString(text) {
					continue
				}
				why := writesOutput
				if s.severity == SeverityWarning && containsAny(s.hint, "debugger", "binding", "byebug", "trace", "breakpoint", "pry", "dd(") {
					why = stopsProgram
				}
				found.add(c.at(l, s.severity, s.title, why))
				break
			}
		})
	}
}

// isCommandLine reports whether the file's place says that it talks to a terminal.
func isCommandLine(name string) bool {
	lower := "/" + strings.ToLower(name)
	return containsAny(lower, "/bin/", "/cli/", "/cmd/", "/scripts/", "/script/", "/tools/", "/tasks/", "/cli.", "/build.", ".config.")
}
