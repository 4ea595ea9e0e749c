package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newAudit(con *console) *cobra.Command {
	var since string
	var after int64
	var follow bool
	c := &cobra.Command{
		Use:   "audit",
		Short: "Export the audit log: what tools were asked to do, who decided, what was done",
		Long: `Print the audit log, one JSON value on each line, oldest first. It outlives the
sessions that it speaks of. For the operator.

--since takes an age such as 24h or 7d, a date such as 2026-01-31 (local), or a time
such as 2026-01-31T09:00:00Z. With --follow it goes on with what happens, until Ctrl-C.`,
		Example: `  liaison audit --since 24h
  liaison audit --since 2026-01-31 | jq 'select(.action == "approved")'`,
		Args: cobra.NoArgs,
	}
	conn := newConnection(con, c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		from, err := moment(since, con.now())
		if err != nil {
			return unusable(fmt.Errorf("--since: %w", err))
		}
		if after < 0 {
			return unusable(errors.New("--after: must not be negative"))
		}
		s, err := conn.open()
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Audit(c.Context(), from, after, follow, func(line []byte) error {
			_, err := con.out.Write(append(line, '\n'))
			return err
		})
	}
	f := c.Flags()
	f.StringVar(&since, "since", "", "only what happened then or later (default everything)")
	f.Int64Var(&after, "after", 0, "only entries after the one with this `seq`")
	f.BoolVar(&follow, "follow", false, "go on with what happens")
	return c
}

// moment reads an age, a date or a time. Nothing is the zero time.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is neither an age such as 24h or 7d, nor a date such as 2026-01-31, nor a time such as 2026-01-31T09:00:00Z", text)
}
