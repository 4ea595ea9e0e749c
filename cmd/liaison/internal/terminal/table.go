package terminal

import (
	"fmt"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Title string
	// Right aligns numbers.
	Right bool
	// Style colours a cell, where colours are wanted. It may be nil.
	Style func(cell string) Style
}

// gap is what stands between two columns.
const gap = "  "

// Table writes rows under their titles. Cells are made safe by [Line]. On a
// terminal the last column is cut where the line ends, but never below a few
// characters; elsewhere nothing is cut.
func (o *Output) Table(columns []Column, rows [][]string) error {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = Width(c.Title)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = Line(row[i])
			widths[i] = max(widths[i], Width(row[i]))
		}
	}
	o.fit(widths)
	var b strings.Builder
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.Title
	}
	o.row(&b, columns, widths, titles, func(int) Style { return Bold })
	for _, row := range rows {
		o.row(&b, columns, widths, row, func(i int) Style {
			if columns[i].Style == nil {
				return Plain
			}
			return columns[i].Style(row[i])
		})
	}
	_, err := fmt.Fprint(o, b.String())
	return err
}

// fit makes the last column as narrow as the terminal needs it.
func (o *Output) fit(widths []int) {
	const least = 12
	if o.columns == 0 || len(widths) == 0 {
		return
	}
	left := o.columns
	for _, w := range widths[:len(widths)-1] {
		left -= w + len(gap)
	}
	last := &widths[len(widths)-1]
	*last = min(*last, max(left, least))
}

func (o *Output) row(b *strings.Builder, columns []Column, widths []int, cells []string, style func(int) Style) {
	for i, cell := range cells {
		if i > 0 {
			b.WriteString(gap)
		}
		last := i == len(cells)-1
		if last {
			cell = Cut(cell, widths[i])
		}
		if !last || columns[i].Right {
			cell = pad(cell, widths[i], columns[i].Right)
		}
		b.WriteString(o.Styled(style(i), cell))
	}
	b.WriteByte('\n')
}
