package reviewer

import (
	"strings"
	"testing"
)

func TestSkippedTests(t *testing.T) {
	t.Parallel()
	runRule(t, "skipped-test", []ruleTest{
		{"Go", one("a_test.go", `	t.Skip("flaky")`), []string{"warning a_test.go:10 Test is skipped"}},
		{"JavaScript", one("a.test.js", "it.skip('x', () => {"), []string{"warning a.test.js:10 Test is skipped"}},
		{"Jasmine", one("a.spec.ts", "xit('x', () => {"), []string{"warning a.spec.ts:10 Test is skipped"}},
		{"focus", one("a.spec.ts", "  describe.only('x', () => {"), []string{"warning a.spec.ts:10 Test is focused"}},
		{"pytest", one("tests/test_a.py", "@pytest.mark.skip(reason='x')"), []string{"warning tests/test_a.py:10 Test is skipped"}},
		{"JUnit", one("src/test/java/ATest.java", "    @Disabled"), []string{"warning src/test/java/ATest.java:10 Test is skipped"}},
		{"Rust", one("src/lib.rs", "    #[ignore]"), []string{"warning src/lib.rs:10 Test is skipped"}},
		{"RSpec", one("spec/a_spec.rb", "  xit 'works' do"), []string{"warning spec/a_spec.rb:10 Test is skipped"}},
		{"RSpec focus", one("spec/a_spec.rb", "  it 'works', focus: true do"), []string{"warning spec/a_spec.rb:10 Test is focused"}},

		{"Go on a condition", one("a_test.go", "	if testing.Short() {", "		t.Skip()"), nil},
		{"pytest on a condition", one("tests/test_a.py", "@pytest.mark.skipif(sys.platform == 'win32', reason='x')"), nil},
		{"comment", one("a_test.go", "// t.Skip()"), nil},
		{"code, not test", one("a.js", "queue.skip(1)", "it.skip(2)"), nil},
		{"removed skip", []file{{path: "a_test.go", patch: removed("	t.Skip()")}}, nil},
		{"method of another thing", one("a.test.js", "page.it.skip('x')", "iterator.skip(3)"), nil},
	})
}

func TestDeletedTests(t *testing.T) {
	t.Parallel()
	gone := map[string]any{"status": "removed"}
	runRule(t, "deleted-test", []ruleTest{
		{"file", []file{{path: "a_test.go", patch: removed("func TestA(t *testing.T) {"), entry: gone}}, []string{"warning a_test.go:0 Test file removed"}},
		{"file without its patch", []file{{path: "a_test.go", entry: gone}}, []string{"warning a_test.go:0 Test file removed"}},
		{"functions", []file{{path: "a_test.go", patch: removed("x", "func TestA(t *testing.T) {", "func TestB(t *testing.T) {")}}, []string{"warning a_test.go:L11 2 tests removed"}},
		{"JavaScript", []file{{path: "a.test.ts", patch: removed("  it('adds', () => {")}}, []string{"warning a.test.ts:L10 1 test removed"}},
		{"with its subject", []file{{path: "a_test.go", patch: removed("func TestA(t *testing.T) {"), entry: gone}, {path: "a.go", patch: removed("x"), entry: gone}},
			[]string{"info a_test.go:0 Test file removed with its subject"}},

		{"renamed away", []file{{path: "a_test.go.bak", entry: map[string]any{"status": "renamed", "previous_path": "a_test.go"}}}, []string{"warning a_test.go.bak:0 Test file renamed to something else"}},

		{"renamed", []file{{path: "b_test.go", entry: map[string]any{"status": "renamed", "previous_path": "a_test.go"}}}, nil},
		{"moved", []file{{path: "a_test.go", patch: removed("func TestA(t *testing.T) {"), entry: gone}, {path: "b_test.go", patch: added("func TestA(t *testing.T) {")}}, nil},
		{"signature changed", []file{{path: "a_test.go", patch: replaced([]string{"func TestA(t *testing.T) {"}, []string{"func TestA(tt *testing.T) {"})}}, nil},
		{"helper", []file{{path: "a_test.go", patch: removed("func newThing() {")}}, nil},
		{"test data", []file{{path: "testdata/a_test.go", entry: gone}}, nil},
	})
}

func TestUntestedCode(t *testing.T) {
	t.Parallel()
	var body []string
	for range untestedLines {
		body = append(body, "	work(1)")
	}
	const title = " New code without a test"
	runRule(t, "untested-code", []ruleTest{
		{"Go", one("a.go", body...), []string{"info a.go:0" + title}},
		{"test only shrinks", append(one("a.py", body...), file{path: "tests/test_a.py", patch: removed("x")}), []string{"info a.py:0" + title}},
		{"with a test", append(one("a.go", body...), one("a_test.go", "x")...), nil},
		{"one line less", one("a.go", body[1:]...), nil},
		{"no custom of tests", one("a.lua", body...), nil},
		{"comments", one("a.go", strings.Split(strings.Repeat("// words\n", 40), "\n")...), nil},
		{"tests inside", one("src/a.rs", append(body, "#[cfg(test)]")...), nil},
		{"generated", one("a.pb.go", body...), nil},
	})
	dir := evidence{files: one("a.lua", body...), checks: `{"check_runs":[{"name":"unit-tests (5.1)"}]}`}.write(t)
	if text := review(t, dir).Markdown(); !strings.Contains(text, "New code without a test") {
		t.Errorf("a check that runs tests does not count as a custom:\n%s", text)
	}
}
