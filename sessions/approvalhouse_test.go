package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// desk is the test channel with cards, on which people decide.
type desk struct {
	*world
	name   string
	places []string

	mu sync.Mutex
	// shown is what each card says, and drawn how often it was drawn.
	shown map[string]string
	drawn map[string]int
	// weighs has clicks weighed, which find out who clicked.
	weighs bool
	// fails, where set, is asked before a card is drawn.
	fails func(item Item) error
}

func newDesk(w *world, name string, places ...string) *desk {
	return &desk{world: w, name: name, places: places, shown: map[string]string{}, drawn: map[string]int{}}
}

func (k *desk) Name() string { return k.name }

func (k *desk) Map(d Delivery) (Intent, error) {
	var b approvals.Ballot
	if json.Unmarshal(d.Body, &b) == nil && b.ApprovalID != "" {
		if k.weighs {
			return Intent{Action: ActionDecide, Weigh: true, Reason: "a click", Fact: "click:" + d.ID, Message: string(d.Body)}, nil
		}
		return Intent{
			Action: ActionDecide, Ballot: &b, Reason: "a click", Fact: "click:" + d.ID,
			Request: json.RawMessage(`{"by":"` + b.By.Principal + `"}`), Principal: b.By.Principal,
		}, nil
	}
	return k.world.Map(d)
}

func (k *desk) ApprovalCards(approvals.View) []ApprovalCard {
	var cards []ApprovalCard
	for _, p := range k.places {
		cards = append(cards, ApprovalCard{Place: p, Address: json.RawMessage(`"` + p + `"`)})
	}
	return cards
}

func (k *desk) ApprovalEffects(v approvals.View, m ApprovalMoment) []Effect {
	return []Effect{say("people", fmt.Sprintf("%s: %s %s", k.name, v.Tool, m))}
}

func (k *desk) DecisionEffects(request json.RawMessage, v DecisionVerdict) []Effect {
	text := "counted"
	if v.Err != nil {
		text = v.Err.Error()
	}
	return []Effect{say("verdict", string(request)+" "+text)}
}

func (k *desk) Requester(t Turn) (approvals.Identity, []approvals.Identity, string) {
	return approvals.Identity{Principal: t.Principal}, []approvals.Identity{{Principal: "author"}}, "octo/shop#1"
}

func (k *desk) Resume(json.RawMessage, approvals.View) (json.RawMessage, error) {
	return json.RawMessage(`{"rev":"outcome"}`), nil
}

func (k *desk) Deliver(ctx context.Context, item Item) (Receipt, error) {
	if item.Kind != KindApprovalCard {
		return k.world.Deliver(ctx, item)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fails != nil {
		if err := k.fails(item); err != nil {
			return Receipt{}, err
		}
	}
	at := item.Card.Place + "/" + item.Approval.ID
	k.drawn[at]++
	k.shown[at] = fmt.Sprintf("%s v%d", item.Approval.State, item.Approval.Version)
	return Receipt{Note: "drawn", Card: &approvals.Card{Ref: "ref-" + at, Drawn: item.Approval.Version}}, nil
}

// fail has the drawing of cards fail as f says, or not at all.
func (k *desk) fail(f func(item Item) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fails = f
}

// drawings is how often a card was drawn.
func (k *desk) drawings(place, id string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.drawn[place+"/"+id]
}

// card returns what a card says.
func (k *desk) card(place, id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shown[place+"/"+id]
}

// office is a house with a desk and a tool that people have to approve.
type office struct {
	*house
	desk *desk

	mu sync.Mutex
	// made are the inputs with which the tool ran.
	made []string
	// run and look replace the tool's behaviour where set.
	run  func(ctx context.Context, c tools.Call) (tools.Result, error)
	look func(ctx context.Context, c tools.Call) (tools.Result, error)
	// answers are what the agent was answered, in order.
	answers []string
	policy  approvals.Policy
	// direct lets people call the tool themselves.
	direct bool
}

// inOffice runs f in a bubble. The agent makes the calls of script, one after another,
// in turns whose prompt does not speak of an outcome.
func inOffice(t *testing.T, f func(o *office)) {
	t.Helper()
	inOfficeWith(t, nil, f)
}

func inOfficeWith(t *testing.T, adjust func(*Options), f func(o *office)) {
	t.Helper()
	o := &office{policy: approvals.Policy{
		Approvers: approvals.Approvers{Slack: []string{"U1", "U2", "U3"}}, MinApprovals: 1,
		OperatorMayDecide: true, ExpiresAfter: 24 * time.Hour, HoldFor: 45 * time.Second,
	}}
	inHouseWith(t, func(options *Options) {
		if o.desk == nil {
			o.desk = newDesk(options.Channels[0].(*world), "test", "thread", "home")
		}
		options.Channels[0] = o.desk
		registry, err := tools.New(o.tool())
		if err != nil {
			t.Fatal(err)
		}
		options.Agent = func() Agent { return Agent{Tools: registry} }
		if adjust != nil {
			adjust(options)
		}
	}, func(h *house) {
		o.house = h
		h.runner.run = o.calls(`{"label":"x"}`)
		f(o)
	})
}

func (o *office) tool() tools.Tool {
	return tools.Tool{
		Direct: func() bool { return o.direct },
		Name:   "set_labels", Description: "Sets labels.\nMore of it.",
		Gate: &tools.Gate{
			Needs:  func(tools.Call) (bool, error) { return true, nil },
			Policy: func(tools.Call) approvals.Policy { return o.policy },
			Risk:   approvals.RiskHigh,
		},
		Run: func(ctx context.Context, c tools.Call) (tools.Result, error) {
			o.mu.Lock()
			o.made = append(o.made, string(c.Input))
			run := o.run
			o.mu.Unlock()
			if run != nil {
				return run(ctx, c)
			}
			return tools.Result{Text: "labelled by " + c.ApprovalID}, nil
		},
		Look: func(ctx context.Context, c tools.Call) (tools.Result, error) {
			if o.look == nil {
				return tools.Result{}, tools.ErrOutcomeUnknown
			}
			return o.look(ctx, c)
		},
	}
}

// calls is an agent that makes these calls one after another and tells its answers.
func (o *office) calls(inputs ...string) func(context.Context, RunRequest, func(bridge.Event)) (bridge.Result, error) {
	return func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
		if strings.Contains(r.Prompt, "set_labels") { // it hears of an outcome
			o.answered("in a turn: " + r.Prompt)
			return think(ctx, r, time.Second)
		}
		for i, input := range inputs {
			result, err := callHost(ctx, r, "set_labels", fmt.Sprint("call-", i), input)
			if err != nil {
				return bridge.Result{Status: bridge.RunCancelled}, ctx.Err()
			}
			o.answered(result.Content[0].Text)
		}
		return think(ctx, r, time.Second)
	}
}

func (o *office) answered(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers = append(o.answers, text)
}

// ask has an agent ask, and returns the approval.
func (o *office) ask() approvals.View {
	o.t.Helper()
	o.send(push("a", "", 1))
	o.wait(time.Second)
	all := o.approvals()
	if len(all) == 0 {
		o.t.Fatalf("nobody was asked; %s", o.logs)
	}
	return all[0]
}

// approvals returns all, newest first.
func (o *office) approvals() []approvals.View {
	o.t.Helper()
	all, err := o.engine.Approvals(context.Background(), ApprovalFilter{}, 1000)
	if err != nil {
		o.t.Fatal(err)
	}
	return all
}

func (o *office) approval(id string) approvals.View {
	o.t.Helper()
	v, err := o.engine.Approval(context.Background(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	return v
}

// person is a member of the workspace.
func person(id string) approvals.Person {
	return approvals.Person{
		Identity: approvals.Identity{Principal: "slack:user:T1:" + id, Slack: id}, Standing: approvals.Member,
	}
}

func operator() approvals.Person {
	return approvals.Person{Identity: approvals.Identity{Principal: "api:operator"}, Operator: true}
}

func (o *office) decide(id string, verdict approvals.Verdict, by approvals.Person) (approvals.View, error) {
	v, err := o.engine.Decide(context.Background(), approvals.Ballot{
		ApprovalID: id, Verdict: verdict, By: by, Place: "http", Reason: "because",
	})
	o.settle()
	return v, err
}

// click delivers a ballot and returns the delivery's id.
func (o *office) click(b approvals.Ballot) string {
	o.t.Helper()
	o.next++
	id := fmt.Sprintf("d%d", o.next)
	b.Place = "slack"
	body, err := json.Marshal(b)
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.store.Accept(context.Background(), state.Delivery{Source: "test", ID: id, Event: "e", Body: body}); err != nil {
		o.t.Fatal(err)
	}
	o.settle()
	return id
}

// wantState checks what became of an approval, and that every card says so.
func (o *office) wantState(id string, want approvals.State) approvals.View {
	o.t.Helper()
	v := o.approval(id)
	if v.State != want {
		o.t.Errorf("approval %s is %s (%s), want %s", id, v.State, v.Reason, want)
	}
	for _, place := range o.desk.places {
		if got, now := o.desk.card(place, id), fmt.Sprintf("%s v%d", v.State, v.Version); got != now {
			o.t.Errorf("the card in %s says %q, want %q", place, got, now)
		}
	}
	for _, c := range v.Cards {
		if c.Drawn != v.Version || c.Ref == "" || c.Gone {
			o.t.Errorf("card %+v, want version %d", c, v.Version)
		}
	}
	return v
}

// wantMade checks how often the tool ran.
func (o *office) wantMade(want ...string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.made, want) {
		o.t.Errorf("the tool ran with %q, want %q", o.made, want)
	}
}

// wantAnswers checks what the agent was answered: each contains what is wanted.
func (o *office) wantAnswers(want ...string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	ok := len(o.answers) == len(want)
	for i := range o.answers {
		ok = ok && strings.Contains(o.answers[i], want[i])
	}
	if !ok {
		o.t.Errorf("the agent was answered\n%q, want\n%q", o.answers, want)
	}
}

// audit returns the actions of the audit log in order, each with who did it.
func (o *office) audit() []string {
	o.t.Helper()
	lines, err := o.store.AuditEntries(context.Background(), time.Time{}, 0, 1000)
	if err != nil {
		o.t.Fatal(err)
	}
	var out []string
	for _, l := range lines {
		e := entryOf(o.t, l)
		out = append(out, strings.TrimSpace(e.Action+" "+e.By))
	}
	return out
}

// put stores an approval as an earlier process left it.
func (o *office) put(row state.Approval) {
	o.t.Helper()
	if _, err := o.store.Commit(context.Background(), state.Change{Approvals: []state.Approval{row}}); err != nil {
		o.t.Fatal(err)
	}
}

func entryOf(t *testing.T, l state.AuditEntry) approvals.Entry {
	t.Helper()
	var e approvals.Entry
	if err := json.Unmarshal(l.Entry, &e); err != nil {
		t.Fatal(err)
	}
	return e
}
