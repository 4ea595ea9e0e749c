package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Retention says how long things are kept after they were last of use. Zero
// keeps for ever.
type Retention struct {
	// Bodies is for the bodies of settled deliveries.
	Bodies time.Duration
	// Deliveries is for what was decided about them, and for knowing them again.
	Deliveries time.Duration
	// Workspaces is for the workspaces of sessions in which nothing is under way.
	Workspaces time.Duration
	// Sessions is for sessions, with their records.
	Sessions time.Duration
	// Audit is for lines of the audit log.
	Audit time.Duration
}

// day is how long duplicates must be known at least: Slack and GitHub both send
// a delivery again hours after the first time.
const day = 24 * time.Hour

// buildRetention reads how long things are kept.
func buildRetention(c *Config, v *values, p *problems) {
	r, good := &c.Retention, true
	for _, s := range []struct {
		env  string
		into *time.Duration
	}{
		{EnvRetainBodies, &r.Bodies},
		{EnvRetainDeliveries, &r.Deliveries},
		{EnvRetainWorkspaces, &r.Workspaces},
		{EnvRetainSessions, &r.Sessions},
		{EnvRetainAudit, &r.Audit},
	} {
		d, err := parseLongDuration(v.textOf(s.env))
		if err != nil {
			p.add(s.env, "%v", err)
			good = false
		}
		*s.into = d
	}
	switch {
	case !good || r.Deliveries == 0:
	case r.Deliveries < day:
		p.add(EnvRetainDeliveries, "must be at least 1d: a platform may send a delivery again hours later, and it would be carried out a second time")
	case r.Bodies == 0 || r.Bodies > r.Deliveries:
		p.add(EnvRetainDeliveries, "must not be shorter than %s, since a body is kept with its delivery", EnvRetainBodies)
	}
}

// parseLongDuration reads a Go duration that may begin with a number of days,
// such as 7d or 1d12h; 0 needs no unit.
func parseLongDuration(s string) (time.Duration, error) {
	refuse := func() (time.Duration, error) {
		return 0, fmt.Errorf("%q is not a duration such as 7d, 36h or 1d12h; 0 keeps for ever", s)
	}
	var total time.Duration
	rest := s
	if days, after, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > uint64(math.MaxInt64/day) {
			return refuse()
		}
		total, rest = time.Duration(n)*day, after
		if rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || strings.HasPrefix(rest, "+") || total > math.MaxInt64-d {
		return refuse()
	}
	return total + d, nil
}
