package terminal

import (
	"fmt"
	"time"
)

// Ago says how long before now t was, as a person would; "-" for the zero time,
// the local date for what is older than a month.
func Ago(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := now.Sub(t)
	if d < 0 {
		if d > -time.Second {
			return "now"
		}
		return "in " + Span(-d)
	}
	if d < time.Second {
		return "now"
	}
	if d >= 30*24*time.Hour {
		return t.Local().Format(time.DateOnly)
	}
	return Span(d) + " ago"
}

// Span says a duration with one unit, or two where the second matters.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 10*time.Minute:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// Moment is a time with its date, local, for where the exact one matters.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

// Bytes says a size in binary units.
func Bytes(n int64) string {
	const kibi = 1 << 10
	if n < kibi {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/kibi, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if value < kibi {
			break
		}
		value, unit = value/kibi, next
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// Count writes a number with its thousands apart.
func Count(n int64) string {
	s := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
