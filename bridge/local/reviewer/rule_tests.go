package reviewer

import (
	"fmt"
	"path"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// skipMark is how a test is switched off, or all others are.
type skipMark struct {
	applies    func(language) bool
	expression *lazyregexp.Regexp
	focus      bool
	// anywhere is set where tests live among code.
	anywhere bool
}

func isJVM(l language) bool { return l == langJava || l == langKotlin || l == langScala }

var skipMarks = []skipMark{
	{only(langGo), lazyregexp.New(`\b(t|b|f|s\.T\(\))\.Skip(f|Now)?\(`), false, false},
	{only(langGo), lazyregexp.New(`^\s*(var _ = )?(F|P|X)(It|Describe|Context|DescribeTable)\(`), true, false},
	{language.isScript, lazyregexp.New(`(^|[^\w.])(it|test|describe|context|suite)(\.\w+)*\.only(\(|\.|` + "`" + `)|^\s*(fit|fdescribe)\(`), true, false},
	{language.isScript, lazyregexp.New(`(^|[^\w.])(it|test|describe|context|suite)\.(skip|todo)(\(|\.)|^\s*x(it|test|describe|context)\(`), false, false},
	{only(langPython), lazyregexp.New(`@(pytest\.mark\.skip|unittest\.skip|skip)\b(\(|\s*$)|^\s*(pytest\.skip|self\.skipTest)\(`), false, false},
	{isJVM, lazyregexp.New(`^\s*@(Ignore|Disabled)\b`), false, false},
	{only(langCSharp), lazyregexp.New(`^\s*\[(Ignore\b|(Fact|Theory)\(\s*Skip\s*=)`), false, false},
	{only(langRust), lazyregexp.New(`^\s*#\[ignore\b`), false, true},
	{only(langRuby), lazyregexp.New(`^\s*(xit|xdescribe|xcontext|xspecify)\b|^\s*(skip|pending)(\s+["']|\s*$|\()`), false, false},
	{only(langRuby), lazyregexp.New(`^\s*(fit|fdescribe|fcontext)\b|\bfocus:\s*true\b`), true, false},
	{only(langPHP), lazyregexp.New(`->markTestSkipped\(`), false, false},
	{only(langElixir), lazyregexp.New(`^\s*@(tag|describetag|moduletag)\s+:?skip\b`), false, false},
	{only(langSwift), lazyregexp.New(`\bXCTSkip\(`), false, false},
}

// checkSkippedTests finds tests that no longer run. A skip behind a condition,
// such as a short run or another system, is not one of them.
func checkSkippedTests(p *pull, found *collector) {
	for _, c := range p.changes {
		if !c.written() {
			continue
		}
		c.eachAdded(func(i int, l *line) {
			text := l.scanned()
			for _, mark := range skipMarks {
				if !mark.applies(c.language) || c.role != roleTest && !mark.anywhere {
					continue
				}
				if !mark.expression.MatchString(text) || c.isComment(text) {
					continue
				}
				if mark.focus {
					found.add(c.at(l, SeverityWarning, "Test is focused", "All other tests of the run are left out while this is here."))
				} else if !conditional(c.previousLine(i)) && !conditional(strings.TrimSpace(text)) {
					found.add(c.at(l, SeverityWarning, "Test is skipped", "What it covers is no longer checked. Is there an issue that brings it back?"))
				}
				return
			}
		})
	}
}

// conditional reports whether a line opens a branch.
func conditional(text string) bool {
	return hasAnyPrefix(text, "if ", "if(", "unless ", "case ", "} else", "else", "elif ", "switch ", "when ") ||
		strings.Contains(text, " if ") && hasAnyPrefix(text, "skip", "pending")
}

// testFunction matches where a test is declared; the group is its name.
var testFunction = map[language]*lazyregexp.Regexp{
	langGo:         lazyregexp.New(`^func ((?:Test|Fuzz|Example)[A-Z_]\w*)\(`),
	langPython:     lazyregexp.New(`^\s*(?:async )?def (test\w*)\(`),
	langJavaScript: lazyregexp.New(`^\s*(?:it|test)\(\s*["'` + "`" + `](.+?)["'` + "`" + `]\s*,`),
	langTypeScript: lazyregexp.New(`^\s*(?:it|test)\(\s*["'` + "`" + `](.+?)["'` + "`" + `]\s*,`),
	langRuby:       lazyregexp.New(`^\s*(?:it ["'](.+?)["'] do|def test_\w+)`),
	langRust:       lazyregexp.New(`^\s*(?:async )?fn (test_\w+)\(`),
	langPHP:        lazyregexp.New(`function (test\w+)\(`),
}

// checkDeletedTests finds tests that went away and did not come back under the
// same name. Tests that go with their subject are a note.
func checkDeletedTests(p *pull, found *collector) {
	back := map[string]bool{}
	for _, c := range p.changes {
		c.eachTest(lineAdded, func(_ *line, name string) { back[name] = true })
	}
	removedCode := map[string]bool{}
	for _, c := range p.changes {
		if c.role == roleCode && c.Status == statusRemoved {
			removedCode[subject(c.Path)] = true
		}
	}
	for _, c := range p.changes {
		if wasTest(c) {
			found.add(c.about(SeverityWarning, "Test file renamed to something else",
				quote(c.PreviousPath, maxQuotedPath)+" was a test; under the new name no tool runs it."))
		}
		if c.role != roleTest || c.vendored || c.fixture || !c.language.isCode() {
			continue
		}
		var names []string
		var first *line
		c.eachTest(lineRemoved, func(l *line, name string) {
			if back[name] {
				return
			}
			if first == nil {
				first = l
			}
			names = append(names, name)
		})
		switch {
		case c.Status == statusRemoved && c.patchSeen && len(names) == 0:
			// Its tests moved, or it had none.
		case c.Status == statusRemoved && removedCode[subject(c.Path)]:
			found.add(c.about(SeverityInfo, "Test file removed with its subject", "The code that it tested goes away as well."))
		case c.Status == statusRemoved:
			found.add(c.about(SeverityWarning, "Test file removed", "The code that it tested is still there, as far as this pull request shows."))
		case len(names) > 0:
			found.add(Finding{Path: c.Path, Line: first.old, Side: SideLeft, Severity: SeverityWarning,
				Title: count(len(names), "test") + " removed", Body: fmt.Sprintf("%s: is that behaviour no longer wanted, or tested elsewhere?", quoteNames(names))})
		}
	}
}

// wasTest reports whether a rename makes a test out of sight of the tools.
func wasTest(c *change) bool {
	if c.PreviousPath == "" || c.Status != statusRenamed {
		return false
	}
	before := newChange(manifestEntry{Path: c.PreviousPath})
	return before.role == roleTest && before.language.isCode() && !before.fixture && c.role != roleTest && !c.vendored
}

// eachTest calls visit for the declarations of tests among lines of a kind.
func (c *change) eachTest(kind lineKind, visit func(l *line, name string)) {
	expression := testFunction[c.language]
	if expression == nil || c.role != roleTest && c.language != langRust {
		return
	}
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if l.kind != kind {
			continue
		}
		if m := expression.FindStringSubmatch(l.scanned()); m != nil {
			name := m[len(m)-1]
			if name == "" {
				name = strings.TrimSpace(m[0])
			}
			visit(l, name)
		}
	}
}

// subject is the name that a file and its test have in common.
func subject(name string) string {
	base := strings.ToLower(path.Base(name))
	base, _, _ = strings.Cut(base, ".")
	base = strings.TrimPrefix(base, "test_")
	for _, suffix := range []string{"_test", "_spec", "-test", "-spec", "tests", "test", "spec"} {
		if trimmed := strings.TrimSuffix(base, suffix); trimmed != "" {
			base = trimmed
		}
	}
	return base
}

// testCheck matches the names of check runs that run tests.
var testCheck = lazyregexp.New(`(?i)(^|[^a-z])tests?([^a-z]|$)|pytest|jest|rspec|vitest|phpunit`)

var inlineTests = lazyregexp.New(`#\[(cfg\(test\)|test\b|tokio::test)|if __name__|import\.meta\.vitest`)

// checkUntestedCode names code that comes without a test, in one finding, where
// tests are the custom: in Go, or where a check of the head runs tests.
func checkUntestedCode(p *pull, found *collector) {
	var biggest *change
	most, total := 0, 0
	custom := p.hasTests
	for _, c := range p.changes {
		if c.role == roleTest && (c.Additions > 0 || c.Status == statusRenamed) {
			return
		}
		custom = custom || c.role == roleTest
		if c.role != roleCode || !c.written() || c.fixture {
			continue
		}
		custom = custom || c.language == langGo
		lines := 0
		inline := false
		c.eachAdded(func(_ int, l *line) {
			text := strings.TrimSpace(l.scanned())
			inline = inline || inlineTests.MatchString(text)
			if len(text) > 1 && !c.language.isComment(text) && !hasAnyPrefix(text, "import ", "use ", "from ", "package ", "#include", "require") {
				lines++
			}
		})
		if inline && c.language == langRust {
			return
		}
		total += lines
		if lines > most {
			biggest, most = c, lines
		}
	}
	if !custom || total < untestedLines {
		return
	}
	found.add(biggest.about(SeverityInfo, "New code without a test",
		fmt.Sprintf("%s of code are new in this pull request, most of them here, and no test changed.", count(total, "line"))))
}
