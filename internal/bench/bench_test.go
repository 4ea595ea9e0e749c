package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestListNamesEveryScenario(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-list"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios() {
		if !strings.Contains(out.String(), s.name+" ") || s.about == "" {
			t.Errorf("%s is not described:\n%s", s.name, out.String())
		}
	}
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-run", "nothing"}, {"-run", "disk,"}, {"disk"}, {"-no-such-flag"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

// What needs no service is measured, shown to a person and written as JSON.
func TestReport(t *testing.T) {
	t.Parallel()
	var out, shown bytes.Buffer
	args := []string{"-quick", "-unsplit", "-binary", "/not/needed", "-work", t.TempDir(), "-run", "disk,events"}
	if err := run(t.Context(), args, &out, &shown); err != nil {
		t.Fatalf("%v\n%s", err, shown.String())
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range r.Rows {
		seen[row.Scenario] = true
		for _, v := range row.Values {
			if v.Value <= 0 {
				t.Errorf("%s, %s: %s is %v %s", row.Scenario, row.Case, v.Name, v.Value, v.Unit)
			}
		}
		if !strings.Contains(shown.String(), row.Case) {
			t.Errorf("%q is not shown", row.Case)
		}
	}
	if !seen["disk"] || !seen["events"] || r.Machine.Processors == 0 {
		t.Errorf("the report is %+v", r)
	}
}

// A scenario that fails is told of, and the next one runs.
func TestAFailureStopsNoOtherScenario(t *testing.T) {
	t.Parallel()
	var out, shown bytes.Buffer
	args := []string{"-quick", "-unsplit", "-binary", "/nowhere/liaison", "-work", t.TempDir(), "-run", "coldstart,disk"}
	err := run(t.Context(), args, &out, &shown)
	if err == nil || !strings.Contains(err.Error(), "coldstart") {
		t.Errorf("a service that cannot be started: %v", err)
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || len(r.Rows) == 0 || r.Rows[0].Scenario != "disk" {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestTablesAreMarkdown(t *testing.T) {
	t.Parallel()
	one, two := Row{Case: "one"}, Row{Case: "one and a half"}
	one.add("each", "µs", 12.345)
	two.add("each", "µs", 1234)
	other := Row{Case: "other"}
	other.add("rate", "/s", 7)
	var out strings.Builder
	table{to: &out}.print([]Row{one, two, other})
	const want = `
|                | each µs |
|----------------|--------:|
| one            |    12.3 |
| one and a half |    1234 |

|       | rate /s |
|-------|--------:|
| other |       7 |
`
	if out.String() != want {
		t.Errorf("printed:%s", out.String())
	}
}

func TestFigure(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 3: "3", 0.456: "0.46", 9.999: "10.00", 45.67: "45.7", 12345.6: "12346"} {
		if got := figure(v); got != want {
			t.Errorf("%v is shown as %s, want %s", v, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	if one, many := span(1, 2), span(0, 4); one != "1" || many != "0-3" {
		t.Errorf("%s, %s", one, many)
	}
}
