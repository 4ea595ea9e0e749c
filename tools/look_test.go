package tools

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestLookingForWhatACallDid(t *testing.T) {
	t.Parallel()
	run := func(context.Context, Call) (Result, error) { return Result{}, nil }
	r, err := New(
		Tool{Name: "label", Run: run, Look: func(_ context.Context, c Call) (Result, error) {
			if c.ApprovalID == "" {
				return Result{}, errors.New("503")
			}
			return Result{Text: strings.Repeat("x", 2*maxText)}, nil
		}},
		Tool{Name: "script", Run: run},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Look(t.Context(), Call{ApprovalID: "apr_1"}, "label"); err != nil || len(got.Text) > maxText+100 {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	if _, err := r.Look(t.Context(), Call{}, "label"); err == nil || errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("a look that fails: %v", err)
	}
	for _, name := range []string{"script", "gone"} {
		if _, err := r.Look(t.Context(), Call{}, name); !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
