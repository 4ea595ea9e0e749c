package sessions

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

func TestWhatIsStoppedIsNotDecidedAnyMore(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration // while the agent waits, or when it has gone on
		end   func(o *office) string
		want  approvals.State
		says  string
	}{
		{"stopped by its owner", time.Second, func(o *office) string { return o.send(request{Do: "stop", Key: "k"}) }, approvals.Cancelled, "stopped turn"},
		{"stopped later", time.Hour, func(o *office) string { return o.send(request{Do: "stop", Key: "k"}) }, approvals.Cancelled, "cancelled apr_"},
		{"stopped by a stranger", time.Hour, func(o *office) string { return o.send(request{Do: "stop", Key: "k", By: "eve"}) }, approvals.Pending, "eve may not stop"},
		{"archived", time.Second, func(o *office) string { return o.send(request{Do: "archive", Key: "k", Rev: "a", At: 2}) }, approvals.Cancelled, "archived"},
		{"archived later", time.Hour, func(o *office) string { return o.send(request{Do: "archive", Key: "k", Rev: "a", At: 2}) }, approvals.Cancelled, "archived"},
		{"superseded", time.Second, func(o *office) string { return o.send(push("b", "a", 2)) }, approvals.Superseded, "queued"},
		{"superseded later", time.Hour, func(o *office) string { return o.send(push("b", "a", 2)) }, approvals.Superseded, "queued"},
		{"a follow-up", time.Hour, func(o *office) string { return o.send(request{Key: "k", Text: "hm"}) }, approvals.Pending, "queued"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				asked := o.ask()
				o.wait(c.after)
				o.runner.run = nil
				id := c.end(o)
				o.wait(time.Minute)
				o.wantState(asked.ID, c.want)
				if d := o.delivery(id); d.Status == state.DeliveryPending {
					t.Errorf("the delivery is %s: %s", d.Status, d.Decision)
				} else {
					o.wantDelivery(id, d.Status, c.says)
				}
				if c.want == approvals.Pending {
					return
				}
				if said := o.world.said(); !slices.Contains(said, "test: set_labels settled") {
					t.Errorf("nobody is told: %q", said)
				}
				turns := len(o.turns("k"))
				o.wait(48 * time.Hour)
				o.wantState(asked.ID, c.want)
				if now := len(o.turns("k")); now != turns {
					t.Errorf("%d turns were begun for it", now-turns)
				}
				left, err := o.store.ListApprovals(context.Background(), state.ApprovalFilter{Open: true}, 10)
				if err != nil || len(left) > 0 {
					t.Errorf("something is still to come of %v, %v", left, err)
				}
				o.wantMade()
			})
		})
	}
}

func TestAStopByHTTPCancels(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.wait(time.Hour)
		if _, err := o.engine.Stop(context.Background(), StopRequest{SessionID: asked.SessionID, Principal: "eve"}); err == nil {
			t.Error("a stranger stopped it")
		}
		stopped, err := o.engine.Stop(context.Background(), StopRequest{SessionID: asked.SessionID, Principal: "mona"})
		if err != nil || !slices.Equal(stopped.Cancelled, []string{asked.ID}) {
			t.Errorf("%+v, %v", stopped, err)
		}
		o.settle()
		o.wantState(asked.ID, approvals.Cancelled)
	})
}
