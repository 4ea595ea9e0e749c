package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
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

// print prints rows, with a new heading wherever the figures are others.
func (t table) print(rows []Row) {
	w := tabwriter.NewWriter(t.to, 0, 0, 2, ' ', tabwriter.AlignRight)
	var before string
	for _, r := range rows {
		var head, line strings.Builder
		for _, v := range r.Values {
			unit := v.Unit
			if unit != "" {
				unit = " " + unit
			}
			fmt.Fprintf(&head, "%s%s\t", v.Name, unit)
			fmt.Fprintf(&line, "%s\t", figure(v.Value))
		}
		if head.String() != before {
			before = head.String()
			fmt.Fprintf(w, "\t%s\n", before)
		}
		fmt.Fprintf(w, "%s\t%s\n", r.Case, line.String())
	}
	_ = w.Flush() // a terminal that went away is nobody to tell
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
