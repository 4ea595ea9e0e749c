package sim

// countdown is how many matching requests a fault still lets pass, and how many
// it still hits.
type countdown struct{ skip, left int }

// newCountdown hits one request where times is 0, and all where it is negative.
func newCountdown(skip, times int) countdown {
	if times == 0 {
		times = 1
	}
	return countdown{skip: skip, left: times}
}

// hits counts a matching request, and reports whether the fault is for it.
func (c *countdown) hits() bool {
	switch {
	case c.left == 0:
		return false
	case c.skip > 0:
		c.skip--
		return false
	case c.left > 0:
		c.left--
	}
	return true
}
