package tools

import (
	"context"
	"errors"
)

// Look finds out whether a call was made, and what came of it, after the process
// was lost while it ran. The error [ErrOutcomeUnknown] says that nobody can tell;
// any other is the tool's own.
func (r *Registry) Look(ctx context.Context, c Call, name string) (Result, error) {
	tool := r.tools[name]
	if tool == nil || tool.Look == nil {
		return Result{}, ErrOutcomeUnknown
	}
	result, err := tool.Look(ctx, c)
	if err == nil || errors.Is(err, ErrOutcomeUnknown) {
		result.Text = Cut(result.Text, maxText, "\n[cut here: the rest is too long]")
	}
	return result, err
}
