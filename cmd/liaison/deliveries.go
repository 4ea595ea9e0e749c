package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/gen/api"
)

func newDeliveries(con *console) *cobra.Command {
	c := group("deliveries", "List, show and replay webhooks: why did (or didn't) something happen")
	conn := newConnection(con, c)
	c.AddCommand(
		newDeliveriesList(conn),
		newDeliveriesShow(conn),
		newDeliveriesReplay(conn),
	)
	return c
}

// deliveryID splits "github:ID"; without a source it is GitHub's, whose ids have no colon.
func deliveryID(arg string) (source, id string) {
	if source, id, ok := strings.Cut(arg, ":"); ok {
		return source, id
	}
	return "github", arg
}

// deliveryStatuses are the states that can be asked for.
func deliveryStatuses() []string {
	return []string{"pending", "done", "ignored", "dead"}
}

func newDeliveriesList(conn *connection) *cobra.Command {
	var limit int
	var before int64
	var source, status, session string
	c := &cobra.Command{
		Use:   "list",
		Short: "List deliveries, newest first, with what was decided",
		Args:  cobra.NoArgs,
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if status != "" && !slices.Contains(deliveryStatuses(), status) {
			return unusable(fmt.Errorf("--status: %q is not one of %s", status, strings.Join(deliveryStatuses(), ", ")))
		}
		s, err := conn.open()
		if err != nil {
			return err
		}
		defer s.Close()
		list, err := listDeliveries(c.Context(), s, api.ListDeliveriesParams{
			Source: given(source), Status: given(api.DeliveryStatus(status)), Session: given(session), Before: given(before),
		}, limit)
		if err != nil {
			return err
		}
		if conn.json {
			return writeJSON(conn.con.out, list)
		}
		return conn.con.showDeliveries(list)
	}
	f := c.Flags()
	f.IntVar(&limit, "limit", 30, "the most deliveries to list")
	f.Int64Var(&before, "before", 0, "go on after the delivery with this sequence number")
	f.StringVar(&source, "source", "", "only what this surface received: github or slack")
	f.StringVar(&status, "status", "", "only those that are "+strings.Join(deliveryStatuses(), ", "))
	f.StringVar(&session, "session", "", "only what led to this session")
	_ = c.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(deliveryStatuses(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("session", conn.completeSession)
	return positive(c, &limit)
}

func listDeliveries(ctx context.Context, s *remote.Service, p api.ListDeliveriesParams, limit int) (*api.DeliveryList, error) {
	deliveries, next, err := collect(p.Before, limit, func(before *int64, limit *int) ([]api.Delivery, *int64, error) {
		p.Before, p.Limit = before, limit
		page, err := remote.Call[api.DeliveryList](ctx, s, func(ctx context.Context) (*http.Response, error) {
			return s.API().ListDeliveries(ctx, &p)
		})
		if err != nil {
			return nil, nil, err
		}
		return page.Deliveries, page.Next, nil
	})
	if err != nil {
		return nil, err
	}
	return &api.DeliveryList{Ok: true, Deliveries: deliveries, Next: next}, nil
}

func (c *console) showDeliveries(list *api.DeliveryList) error {
	rows := make([][]string, 0, len(list.Deliveries))
	for _, d := range list.Deliveries {
		rows = append(rows, []string{
			c.ago(d.ReceivedAt), string(d.Status), d.Source + ":" + d.Id, orDash(set(d.Event)), orDash(set(d.Decision)),
		})
	}
	err := c.screen().Table([]terminal.Column{
		{Title: "RECEIVED"}, {Title: "STATUS", Style: statusStyle}, {Title: "DELIVERY"}, {Title: "EVENT"}, {Title: "DECISION"},
	}, rows)
	c.more(list.Next != nil, fmt.Sprintf("liaison deliveries list --before %d", set(list.Next)))
	return err
}

func newDeliveriesShow(conn *connection) *cobra.Command {
	var body bool
	c := &cobra.Command{
		Use:   "show [SOURCE:]DELIVERY",
		Short: "Show a delivery and what was decided about it",
		Long: `Show a delivery, what was decided about it and why, and what it led to. The id
is GitHub's, as its list of recent deliveries shows it, or SOURCE:ID as
"deliveries list" does.

What "show --body --json" prints can be saved, and sent again with
"deliveries replay --file". A body may hold private code.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := conn.open()
			if err != nil {
				return err
			}
			defer s.Close()
			source, id := deliveryID(args[0])
			params := &api.GetDeliveryParams{}
			if body {
				params.Body = given(1)
			}
			d, err := remote.Call[api.DeliveryDetail](c.Context(), s, func(ctx context.Context) (*http.Response, error) {
				return s.API().GetDelivery(ctx, source, id, params)
			})
			if err != nil {
				return err
			}
			if conn.json {
				return writeJSON(conn.con.out, d)
			}
			return conn.con.showDelivery(d, turnOutcome(c.Context(), s, &d.Delivery))
		},
	}
	c.Flags().BoolVar(&body, "body", false, "with the body, as it was signed")
	return c
}

// turnOutcome names the turn that a delivery led to and says how far it has come.
// Where the session cannot be had any more, the name has to do.
func turnOutcome(ctx context.Context, s *remote.Service, d *api.Delivery) string {
	id := set(d.TurnId)
	if id == "" || set(d.SessionId) == "" {
		return id
	}
	session, err := getSession(ctx, s, set(d.SessionId))
	if err != nil {
		return id
	}
	for _, t := range session.Turns {
		if t.Id == id {
			return strings.TrimSuffix(fmt.Sprintf("%s %s: %s", id, t.Status, set(t.Reason)), ": ")
		}
	}
	return id
}

func (c *console) showDelivery(detail *api.DeliveryDetail, turn string) error {
	out := c.screen()
	d := &detail.Delivery
	at := func(label string, notes ...string) string {
		return strings.TrimSpace(label + " " + strings.Join(notes, " "))
	}
	var decided, again, replays, attempts string
	if d.DecidedAt != nil {
		decided = at(terminal.Moment(*d.DecidedAt), "("+c.ago(*d.DecidedAt)+")")
	}
	if d.NotBefore != nil {
		again = at(terminal.Moment(*d.NotBefore), "("+c.ago(*d.NotBefore)+")")
	}
	if n := set(d.Replays); n > 0 {
		replays = fmt.Sprint(n)
	}
	if n := set(d.Attempts); n > 0 {
		attempts = fmt.Sprint(n)
	}
	fields(out,
		"delivery", d.Source+":"+d.Id,
		"event", set(d.Event),
		"received", at(terminal.Moment(d.ReceivedAt), "("+c.ago(d.ReceivedAt)+")"),
		"status", string(d.Status),
		"decision", set(d.Decision),
		"decided", decided,
		"tried again", again,
		"attempts", attempts,
		"replays", replays,
		"session", set(d.SessionId),
		"turn", turn,
		"body", terminal.Bytes(detail.BodyBytes),
	)
	names := make([]string, 0, len(detail.Headers))
	for name := range detail.Headers {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 0 {
		fmt.Fprintln(out)
	}
	for _, name := range names {
		fmt.Fprintf(out, "%s: %s\n", terminal.Line(name), terminal.Line(detail.Headers[name]))
	}
	if len(detail.Body) > 0 {
		fmt.Fprintf(out, "\n%s\n", terminal.Text(string(detail.Body)))
	}
	return out.Err()
}
