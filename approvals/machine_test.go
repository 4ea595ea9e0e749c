package approvals_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
)

// Each step from each state leads where the table says, or nowhere. A state that
// is not named after a step cannot take it.
func TestEveryStepFromEveryState(t *testing.T) {
	t.Parallel()
	ballot := func(v approvals.Verdict, by approvals.Identity) func(approvals.Record) (approvals.Step, bool) {
		return func(r approvals.Record) (approvals.Step, bool) {
			s, err := r.Cast(say(v, member(by)), after(13*time.Hour))
			return s, err == nil
		}
	}
	for name, step := range map[string]struct {
		take func(approvals.Record) (approvals.Step, bool)
		want map[string]approvals.State
		run  bool
	}{
		"approve": {ballot(approvals.Approve, bob), map[string]approvals.State{
			"pending": approvals.Approved, "pending, two": approvals.Approving, "approving": approvals.Approved}, true},
		"approve again": {ballot(approvals.Approve, annOnGitHub), map[string]approvals.State{
			"pending": approvals.Approved, "pending, two": approvals.Approving}, true},
		"deny": {ballot(approvals.Deny, bob), map[string]approvals.State{
			"pending": approvals.Denied, "pending, two": approvals.Denied, "approving": approvals.Denied}, false},
		"expire too early": {func(r approvals.Record) (approvals.Step, bool) { return r.Expire(after(24*time.Hour - 1)) }, nil, false},
		"expire": {func(r approvals.Record) (approvals.Step, bool) { return r.Expire(after(24 * time.Hour)) }, map[string]approvals.State{
			"pending": approvals.Expired, "pending, two": approvals.Expired, "approving": approvals.Expired}, false},
		"cancel": {func(r approvals.Record) (approvals.Step, bool) { return r.Cancel("stopped", "x", noon) }, map[string]approvals.State{
			"pending": approvals.Cancelled, "pending, two": approvals.Cancelled, "approving": approvals.Cancelled}, false},
		"supersede": {func(r approvals.Record) (approvals.Step, bool) { return r.Supersede("moved on", noon) }, map[string]approvals.State{
			"pending": approvals.Superseded, "pending, two": approvals.Superseded, "approving": approvals.Superseded}, false},
		"remind too early": {func(r approvals.Record) (approvals.Step, bool) { return r.Remind(after(12*time.Hour - 1)) }, nil, false},
		"remind": {func(r approvals.Record) (approvals.Step, bool) { return r.Remind(after(12 * time.Hour)) }, map[string]approvals.State{
			"pending": approvals.Pending, "pending, two": approvals.Pending, "approving": approvals.Approving}, false},
		"begin": {func(r approvals.Record) (approvals.Step, bool) { return r.Begin(9, noon) }, map[string]approvals.State{
			"approved": approvals.Executing, "approved by two": approvals.Executing}, false},
		"refuse": {func(r approvals.Record) (approvals.Step, bool) { return r.Refuse("changed", noon) }, map[string]approvals.State{
			"approved": approvals.Failed, "approved by two": approvals.Failed}, false},
		"finish": {func(r approvals.Record) (approvals.Step, bool) { return r.Finish(approvals.Outcome{}, noon) },
			map[string]approvals.State{"executing": approvals.Done}, false},
		"finish with an error": {func(r approvals.Record) (approvals.Step, bool) {
			return r.Finish(approvals.Outcome{IsError: true}, noon)
		}, map[string]approvals.State{"executing": approvals.Failed}, false},
		"lose": {func(r approvals.Record) (approvals.Step, bool) { return r.Lose("crash", noon) },
			map[string]approvals.State{"executing": approvals.Unknown}, false},
	} {
		for from, r := range everyState(t) {
			before := fmt.Sprintf("%+v", r)
			s, ok := step.take(r)
			want, possible := step.want[from]
			if ok != possible || ok && s.Record.State != want {
				t.Errorf("%s, %s: %q (%t), want %q (%t)", from, name, s.Record.State, ok, want, possible)
			}
			if fmt.Sprintf("%+v", r) != before {
				t.Errorf("%s, %s: the record itself was changed", from, name)
			}
			if !ok {
				continue
			}
			if s.Record.Version != r.Version+1 || s.Audit.ApprovalID != r.ID || s.Audit.InputHash != r.InputHash || s.Audit.Action == "" {
				t.Errorf("%s, %s: version %d after %d, audit %+v", from, name, s.Record.Version, r.Version, s.Audit)
			}
			if s.Run != (step.run && want == approvals.Approved) {
				t.Errorf("%s, %s: to be run %t", from, name, s.Run)
			}
			if want.Ended() != !s.Record.EndedAt.IsZero() || want.Open() != (s.Record.Decision == nil && s.Record.EndedAt.IsZero()) {
				t.Errorf("%s, %s: %+v", from, name, s.Record)
			}
		}
	}
}

// Who may say what, and what they are told who may not.
func TestWhoMaySayWhat(t *testing.T) {
	t.Parallel()
	author := approvals.Identity{Principal: "github:user:9", GitHub: "Author"}
	outsider := approvals.Identity{Principal: "slack:user:T1:UOUT", Slack: "UOUT"}
	standing := func(s approvals.Standing) approvals.Person { return approvals.Person{Identity: ann, Standing: s} }
	nobody := func(r *approvals.Record) { r.Policy.Approvers = approvals.Approvers{} }
	groups := func(r *approvals.Record) {
		r.Policy.Approvers = approvals.Approvers{SlackGroups: []string{"S1"}, GitHubTeams: []string{"Octo/Leads"}, CodeOwners: true}
	}
	self := func(r *approvals.Record) { r.Policy.SelfApproval = true }
	authored := func(r *approvals.Record) { r.Authors = []approvals.Identity{author} }
	escalates := func(r *approvals.Record) { r.Policy.Escalation = []approvals.Approvers{{Slack: []string{"UOUT"}}} }
	escalated := func(r *approvals.Record) { escalates(r); r.Level = 1 }
	noOperator := func(r *approvals.Record) { r.Policy.OperatorMayDecide = false }
	for name, c := range map[string]struct {
		by            approvals.Person
		policy        func(*approvals.Record)
		approve, deny string // what they are told; empty where it counts
	}{
		"somebody listed":                  {member(ann), nil, "", ""},
		"listed by login, in another case": {member(bob), nil, "", ""},
		"listed by their other surface":    {member(annOnGitHub), nil, "", ""},
		"somebody else":                    {member(outsider), nil, "not among", "not among"},
		"with a name that is listed":       {member(approvals.Identity{Principal: "slack:user:T1:U9", Slack: "uann"}), nil, "not among", "not among"},
		"nobody known":                     {approvals.Person{Standing: approvals.Member}, nil, "not among", "not among"},
		"a guest":                          {standing(approvals.Guest), nil, "Guests", "Guests"},
		"of another organisation":          {standing(approvals.Stranger), nil, "another organisation", "another organisation"},
		"a bot":                            {standing(approvals.Bot), nil, "Only people", "Only people"},
		"a deleted account":                {standing(approvals.Gone), nil, "does not exist", "does not exist"},
		"of unknown standing":              {standing(""), nil, "who you are", "who you are"},
		"of a standing that is new":        {standing("owner"), nil, "who you are", "who you are"},
		"where the list is empty":          {member(ann), nobody, "not among", "not among"},
		"without an id, list empty":        {member(approvals.Identity{Principal: "x"}), nobody, "not among", "not among"},
		"in the Slack group":               {member(outsider, approvals.Group{Kind: approvals.SlackGroup, Name: "S1"}), groups, "", ""},
		"in another Slack group":           {member(outsider, approvals.Group{Kind: approvals.SlackGroup, Name: "S2"}), groups, "not among", "not among"},
		"in the team":                      {member(outsider, approvals.Group{Kind: approvals.GitHubTeam, Name: "octo/leads"}), groups, "", ""},
		"a team of the group's name":       {member(outsider, approvals.Group{Kind: approvals.GitHubTeam, Name: "S1"}), groups, "not among", "not among"},
		"a code owner":                     {member(outsider, approvals.Group{Kind: approvals.CodeOwner}), groups, "", ""},
		"a code owner where none decide":   {member(outsider, approvals.Group{Kind: approvals.CodeOwner}), nil, "not among", "not among"},
		"a group of unknown kind":          {member(outsider, approvals.Group{Kind: "role", Name: "S1"}), groups, "not among", "not among"},
		"before the escalation":            {member(outsider), escalates, "not among", "not among"},
		"after the escalation":             {member(outsider), escalated, "", ""},
		"the first, after the escalation":  {member(ann), escalated, "", ""},
		"the requester":                    {member(asker), nil, "asked for it yourself", ""},
		"the requester, not listed":        {member(asker), nobody, "not among", ""},
		"the requester, on GitHub":         {member(approvals.Identity{Principal: "github:user:5", GitHub: "ASKER", Slack: "UASK"}), nil, "asked for it yourself", ""},
		"the requester, by setting":        {member(asker), self, "", ""},
		"the author":                       {member(author), authored, "own change", ""},
		"the operator":                     {operator, nil, "", ""},
		"the operator, list empty":         {operator, nobody, "", ""},
		"the operator, who may not":        {operator, noOperator, "operator decides about no", "operator decides about no"},
		"who calls themselves operator":    {member(operator.Identity), nil, "not among", "not among"},
	} {
		for verdict, want := range map[approvals.Verdict]string{approvals.Approve: c.approve, approvals.Deny: c.deny} {
			policy := c.policy
			if policy == nil {
				policy = func(*approvals.Record) {}
			}
			r := call(policy)
			s, err := r.Cast(say(verdict, c.by), after(time.Hour))
			if want == "" {
				if err != nil || s.Record.Decision == nil || s.Record.Decision.Verdict != verdict {
					t.Errorf("%s cannot %s: %v", name, verdict, err)
				}
				continue
			}
			refused, ok := errors.AsType[*approvals.NotAllowedError](err)
			if !ok || !errors.Is(err, approvals.ErrNotAllowed) || !strings.Contains(refused.Why, want) {
				t.Errorf("%s, %s: %v, want %q", name, verdict, err, want)
			}
			if answer := r.Show(plain).Answer(err, approvals.Words{}); !strings.HasPrefix(answer, refused.Why) {
				t.Errorf("%s is told %q", name, answer)
			}
		}
	}
}

// At least two people are two humans, whatever their surfaces; the operator's
// token may be anybody's, and is none of them.
func TestTwoPeopleAreTwoHumans(t *testing.T) {
	t.Parallel()
	first := cast(t, call(two), say(approvals.Approve, member(ann)), time.Minute)
	if first.State != approvals.Approving || first.Show(plain).Needed() != 1 {
		t.Fatalf("after the first: %s", first.State)
	}
	_, err := first.Cast(say(approvals.Approve, member(annOnGitHub)), after(2*time.Minute))
	own, ok := errors.AsType[*approvals.DecidedError](err)
	if !ok || !own.Same || own.By != ann.Principal || !own.State.Open() {
		t.Errorf("the same human on another surface: %v", err)
	}
	if _, err := first.Cast(say(approvals.Approve, operator), after(2*time.Minute)); !errors.Is(err, approvals.ErrNotAllowed) {
		t.Errorf("the operator as the second: %v", err)
	}
	if r := cast(t, first, say(approvals.Deny, operator), time.Hour); r.State != approvals.Denied {
		t.Errorf("the operator denies: %s", r.State)
	}
	if r := cast(t, first, say(approvals.Deny, member(ann)), time.Hour); r.State != approvals.Denied {
		t.Errorf("who approved thinks better of it: %s", r.State)
	}
	second := cast(t, first, say(approvals.Approve, member(bob)), time.Hour)
	if second.State != approvals.Approved || len(second.Votes) != 2 {
		t.Errorf("after the second: %s by %d", second.State, len(second.Votes))
	}
	if _, err := call(two).Cast(say(approvals.Approve, operator), after(time.Minute)); !errors.Is(err, approvals.ErrNotAllowed) {
		t.Errorf("the operator as the first: %v", err)
	}
}

// A ballot counts for the call on its card, and for no other.
func TestACardDecidesItsOwnCallOnly(t *testing.T) {
	t.Parallel()
	card := func(id, ref string) approvals.Record {
		return call(func(r *approvals.Record) {
			r.ID = id
			r.Cards = []approvals.Card{{Channel: "slack", Place: "thread", Ref: ref}, {Channel: "github", Place: "pull", Ref: "77"}}
		})
	}
	second := card(apr, "C1/2.0")
	for name, c := range map[string]struct {
		change func(*approvals.Ballot)
		want   error
	}{
		"its own card":                 {func(b *approvals.Ballot) { b.Channel, b.Ref = "slack", "C1/2.0" }, nil},
		"its other card":               {func(b *approvals.Ballot) { b.Channel, b.Ref = "github", "77" }, nil},
		"no card at all":               {func(*approvals.Ballot) {}, nil},
		"the card of another call":     {func(b *approvals.Ballot) { b.Channel, b.Ref = "slack", "C1/1.0" }, approvals.ErrUnknown},
		"a card's reference elsewhere": {func(b *approvals.Ballot) { b.Channel, b.Ref = "slack", "77" }, approvals.ErrUnknown},
		"another call":                 {func(b *approvals.Ballot) { b.ApprovalID = "apr_ffffffffffffffffffffffffffffffff" }, approvals.ErrUnknown},
		"another session":              {func(b *approvals.Ballot) { b.SessionID = "ses_2" }, approvals.ErrUnknown},
		"neither yes nor no":           {func(b *approvals.Ballot) { b.Verdict = "maybe" }, approvals.ErrInvalid},
	} {
		b := say(approvals.Approve, member(ann))
		c.change(&b)
		if _, err := second.Cast(b, after(time.Minute)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	unposted := card(apr, "")
	b := say(approvals.Approve, member(ann))
	b.Channel, b.Ref = "slack", "C1/2.0"
	if _, err := unposted.Cast(b, after(time.Minute)); err != nil {
		t.Errorf("a click on a card of which the reference is not known yet: %v", err)
	}
	unposted.Cards[0].Gone = true
	if _, err := unposted.Cast(b, after(time.Minute)); !errors.Is(err, approvals.ErrUnknown) {
		t.Errorf("a click on a card that is gone: %v", err)
	}
	// The same tool with the same input, asked for twice, is decided about twice.
	other := call(func(r *approvals.Record) { r.ID = "apr_ffffffffffffffffffffffffffffffff" })
	cast(t, call(), say(approvals.Deny, member(ann)), time.Minute)
	b = say(approvals.Approve, member(ann))
	b.ApprovalID = other.ID
	if s, err := other.Cast(b, after(time.Minute)); err != nil || !s.Run || other.InputHash != call().InputHash {
		t.Errorf("the second of two alike: %v", err)
	}
}

func TestEscalation(t *testing.T) {
	t.Parallel()
	r := call(func(r *approvals.Record) {
		r.Policy.ExpiresAfter = 8 * time.Hour
		r.Policy.Escalation = []approvals.Approvers{{Slack: []string{"U1"}}, {Slack: []string{"U2"}}}
	})
	var when []time.Duration
	for !r.ReminderAt.IsZero() {
		when = append(when, r.ReminderAt.Sub(noon))
		r = took(t)(r.Remind(r.ReminderAt))
	}
	if want := []time.Duration{4 * time.Hour, 6 * time.Hour}; !slices.Equal(when, want) || r.Level != 2 || len(r.Deciders()) != 3 {
		t.Errorf("reminded after %v, level %d; want %v", when, r.Level, want)
	}
	none := call()
	none = took(t)(none.Remind(none.ReminderAt))
	if none.Level != 0 || !none.ReminderAt.IsZero() || len(none.Deciders()) != 1 {
		t.Errorf("without an escalation: level %d, again at %v", none.Level, none.ReminderAt)
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	id, err := approvals.NewID(strings.NewReader("0123456789abcdef"))
	if err != nil || !approvals.ValidID(id) || id != "apr_30313233343536373839616263646566" {
		t.Errorf("%s, %v", id, err)
	}
	if _, err := approvals.NewID(strings.NewReader("short")); err == nil {
		t.Error("an id of too little randomness")
	}
	for _, id := range []string{"", "apr_", apr + "0", apr[:35], strings.ToUpper(apr), "ses_0123456789abcdef0123456789abcdef", "apr_0123456789abcdef0123456789abcdeg"} {
		if approvals.ValidID(id) {
			t.Errorf("%q counts as an id", id)
		}
	}
}

// A view is the reader's: what is done to it changes no record.
func TestAViewIsACopy(t *testing.T) {
	t.Parallel()
	all := everyState(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		r.Cards = []approvals.Card{{Channel: "slack", Ref: "1"}}
		before := fmt.Sprintf("%+v %+v %+v", r, r.Decision, r.Outcome)
		v := r.Show(func(string) string { return "masked" })
		v.Cards[0].Ref = "2"
		for i := range v.Votes {
			v.Votes[i].Reason = "changed"
		}
		if v.Decision != nil {
			v.Decision.Place = "changed"
		}
		if v.Outcome != nil {
			v.Outcome.Text = "changed"
		}
		if got := fmt.Sprintf("%+v %+v %+v", r, r.Decision, r.Outcome); got != before {
			t.Errorf("%s: the record was changed", name)
		}
	}
	if reflect.DeepEqual(call(), call(two)) {
		t.Error("two calls with other policies are alike")
	}
}
