package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// report is what is printed as JSON.
type report struct {
	Machine Machine `json:"machine"`
	Rows    []Row   `json:"rows"`
}

// Machine says, in general terms, where it was measured.
type Machine struct {
	OS         string    `json:"os"`
	Arch       string    `json:"arch"`
	Processors int       `json:"processors"`
	Go         string    `json:"go"`
	Service    string    `json:"serviceProcessors,omitempty"`
	Load       string    `json:"loadProcessors,omitempty"`
	Quick      bool      `json:"quick,omitempty"`
	At         time.Time `json:"at"`
}

func machine(b *bench) Machine {
	return Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.NumCPU(), Go: runtime.Version(),
		Service: b.cpus.service, Load: b.cpus.load, Quick: b.quick, At: time.Now().UTC().Truncate(time.Second),
	}
}

// Row is one measured case.
type Row struct {
	Scenario string  `json:"scenario"`
	Case     string  `json:"case"`
	Values   []Value `json:"values"`
}

// Value is one figure of a case.
type Value struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
}

func (r *Row) add(name, unit string, value float64) {
	r.Values = append(r.Values, Value{name, unit, value})
}

func (r *Row) milliseconds(name string, d time.Duration) {
	r.add(name, "ms", float64(d.Microseconds())/1000)
}

func (r *Row) mebibytes(name string, n int64) { r.add(name, "MiB", float64(n)/(1<<20)) }

// table shows rows to a person.
type table struct{ to io.Writer }

func (t table) heading(s scenario) { fmt.Fprintf(t.to, "\n## %s: %s\n", s.name, s.about) }

func (t table) progress(format string, args ...any) {
	fmt.Fprintf(t.to, "  … "+format+"\n", args...)
}

// print prints rows in Markdown, with a new table wherever the figures are others.
func (t table) print(rows []Row) {
	for len(rows) > 0 {
		head := heads(rows[0])
		n := 1
		for n < len(rows) && slices.Equal(heads(rows[n]), head) {
			n++
		}
		lines := [][]string{head}
		for _, r := range rows[:n] {
			line := []string{r.Case}
			for _, v := range r.Values {
				line = append(line, figure(v.Value))
			}
			lines = append(lines, line)
		}
		t.align(lines)
		rows = rows[n:]
	}
}

// heads are the names of a row's columns, that of the case left empty.
func heads(r Row) []string {
	head := []string{""}
	for _, v := range r.Values {
		head = append(head, strings.TrimSpace(v.Name+" "+v.Unit))
	}
	return head
}

// align prints the head and the lines of one table.
func (t table) align(lines [][]string) {
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell), 2)
		}
	}
	fmt.Fprintln(t.to)
	for n, line := range lines {
		rule := "|"
		for i, cell := range line {
			space := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				fmt.Fprintf(t.to, "| %s%s |", cell, space)
				rule += strings.Repeat("-", width[i]+2) + "|"
				continue
			}
			fmt.Fprintf(t.to, " %s%s |", space, cell)
			rule += strings.Repeat("-", width[i]+1) + ":|"
		}
		fmt.Fprintln(t.to)
		if n == 0 {
			fmt.Fprintln(t.to, rule)
		}
	}
}

// figure shows three digits, or all before the point.
func figure(v float64) string {
	switch {
	case v >= 100 || v == float64(int64(v)):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
