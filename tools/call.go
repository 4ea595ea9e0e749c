package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
)

// acknowledged is what a tool that writes answers where nothing may be written.
const acknowledged = "Operation acknowledged."

// Ledger is what a registry tells of a call while it is made. An error of either
// ends the call, which can then be made again.
type Ledger interface {
	// Acting says that a tool is about to do something to the world. When it fails,
	// the tool does nothing. It fails with a [*RepeatedError] for a call, as
	// [Call.Key] tells them apart, of which it was told before, perhaps in an earlier
	// process.
	Acting(ctx context.Context, c Call, tool string) error
	// Keep keeps a result before the agent gets it: an output always, and of the
	// answer to a call that wrote, what the ledger has room for, so that it is known
	// when the call is repeated. Result.Output is nil where there is no output.
	Keep(ctx context.Context, c Call, tool string, r Result) error
	// Ask has people decide about a call, and answers it: with what came of the call
	// that they agreed to, which it makes by [Registry.Execute], or with why it was
	// not made, or not yet.
	Ask(ctx context.Context, c Call, t Tool) (Result, error)
}

// PanicError says that a tool panicked. Its text names the tool only; what the
// tool panicked with is for the log.
type PanicError struct {
	Tool  string
	Value any
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string { return fmt.Sprintf("tool %s failed unexpectedly", e.Tool) }

// RepeatedError says that a call that writes was begun before.
type RepeatedError struct {
	// Answer is what it came to; nil where that is not known.
	Answer *Result
}

// Error implements error.
func (e *RepeatedError) Error() string { return "the call was begun before" }

// answer is what the agent is told that repeats the call.
func (e *RepeatedError) answer(tool string) Result {
	if e.Answer != nil {
		return *e.Answer
	}
	return failed(fmt.Errorf("this call of tool %s was begun before, and it is not known what became of it, so that it is not made again; look at what is there before you go on", tool))
}

// Call makes one call of a tool and answers it. What the agent can be told is a
// Result: an unknown tool, input that does not match, a tool's own failure. The
// error is ctx's, the ledger's, or a fault of the tool's, such as a [*PanicError].
//
// A call is made once for its turn, agent, id, tool and input, however often and
// however many at a time it comes: the others get the same answer.
func (r *Registry) Call(ctx context.Context, c Call, name string, l Ledger) (Result, error) {
	tool, err := r.find(c.Turn, name)
	if err == nil {
		err = tool.input.check(c.Input)
	}
	if err != nil {
		return failed(err), nil
	}
	writes := tool.effect(c.Input) != Read
	if writes && c.DryRun {
		return tool.stub(), nil
	}
	key, named := c.key(name)
	if !named {
		result, _, err := tool.askOrRun(ctx, c, l)
		return result, err
	}
	call, ours := r.memory.begin(key)
	if ours {
		keep := true
		func() {
			defer func() { r.memory.end(call, keep) }()
			call.err = &PanicError{Tool: name} // also when the tool ends its goroutine
			call.result, keep, call.err = tool.askOrRun(ctx, c, l)
		}()
	}
	select {
	case <-call.done:
		return call.result, call.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Stale says why a call that people have agreed to is not made any more: the tool is
// gone, is another one by now than fingerprint says, or takes other input. Nil means
// that it can be made. The records of such calls outlive processes, and so versions.
func (r *Registry) Stale(c Call, name, fingerprint string) error {
	tool := r.tools[name]
	switch {
	case tool == nil:
		return fmt.Errorf("tool %s does not exist any more", name)
	case tool.Fingerprint != fingerprint:
		return fmt.Errorf("tool %s was changed since this was asked for, so that it is not run; ask again", name)
	}
	if err := tool.input.check(c.Input); err != nil {
		return fmt.Errorf("tool %s takes other input than when this was asked for, so that it is not run; ask again: %w", name, err)
	}
	return nil
}

// Execute makes a call that people have agreed to, with the input that they saw,
// unless it is [Registry.Stale]. What can go wrong is told as in [Registry.Call].
func (r *Registry) Execute(ctx context.Context, c Call, name, fingerprint string, l Ledger) (Result, error) {
	if err := r.Stale(c, name, fingerprint); err != nil {
		return failed(err), nil
	}
	result, _, err := r.tools[name].run(ctx, c, l)
	return result, err
}

// askOrRun makes a call, or has people decide about it first.
func (t *readyTool) askOrRun(ctx context.Context, c Call, l Ledger) (result Result, keep bool, err error) {
	if !t.gated(c) {
		return t.run(ctx, c, l)
	}
	result, err = l.Ask(ctx, c, t.Tool)
	return result, err == nil, err
}

// gated reports whether a call waits for a person. Where that cannot be told, it does.
func (t *readyTool) gated(c Call) bool {
	if t.Gate == nil {
		return false
	}
	needs, err := t.Gate.Needs(c)
	return needs || err != nil
}

func (t *readyTool) effect(input json.RawMessage) Effect {
	if t.Effect == nil {
		return Write
	}
	return t.Effect(input)
}

// stub answers a call that is not made because nothing may be written.
func (t *readyTool) stub() Result {
	text := acknowledged
	if t.DryRun != nil {
		text = string(t.DryRun)
	}
	return Result{Text: text, Stubbed: true}
}

// run makes a call, and reports whether its answer is the answer to every
// repetition.
func (t *readyTool) run(ctx context.Context, c Call, l Ledger) (result Result, keep bool, err error) {
	if err := ctx.Err(); err != nil {
		return Result{}, false, err
	}
	writes := t.effect(c.Input) != Read
	if writes {
		var repeated *RepeatedError
		if err := l.Acting(ctx, c, t.Name); errors.As(err, &repeated) {
			return repeated.answer(t.Name), true, nil
		} else if err != nil {
			return Result{}, false, fmt.Errorf("tool %s was not run: %w", t.Name, err)
		}
	}
	running, cancel := ctx, context.CancelFunc(func() {})
	if t.Timeout > 0 {
		running, cancel = context.WithTimeout(ctx, t.Timeout)
	}
	result, err = t.guarded(running, c)
	late := running.Err() != nil
	cancel()
	var panicked *PanicError
	switch {
	case errors.As(err, &panicked):
		return Result{}, true, err
	case err != nil && ctx.Err() != nil:
		// What wrote may have been done all the same, and is not done again.
		return Result{}, writes, ctx.Err()
	case err != nil && late:
		return t.kept(ctx, c, l, failed(t.late(err, writes)), writes)
	case err != nil:
		return t.kept(ctx, c, l, failed(err), writes)
	case len(result.Output) > maxOutput:
		return failed(fmt.Errorf("what tool %s would keep has %d bytes; at most %d are kept: hand in less", t.Name, len(result.Output), maxOutput)), true, nil
	}
	if result.Output != nil && !json.Valid(result.Output) {
		return Result{}, true, fmt.Errorf("tool %s made an output that is not JSON", t.Name)
	}
	result.Text = Cut(result.Text, maxText, "\n[cut here: the rest is too long]")
	return t.kept(ctx, c, l, result, writes)
}

// kept hands a result to the ledger before the agent gets it.
func (t *readyTool) kept(ctx context.Context, c Call, l Ledger, result Result, writes bool) (Result, bool, error) {
	if result.Output == nil && !writes {
		return result, true, nil
	}
	// An answer that is lost is no harm: the call is known not to be made again.
	if err := l.Keep(ctx, c, t.Name, result); err != nil && result.Output != nil {
		return Result{}, writes, fmt.Errorf("what tool %s answered could not be kept: %w", t.Name, err)
	}
	return result, true, nil
}

// late tells the agent that a call has used up its time.
func (t *readyTool) late(err error, writes bool) error {
	text := fmt.Sprintf("tool %s has not answered within its time, %s", t.Name, t.Timeout)
	if writes {
		text += "; what it has done by then stays done"
	}
	if bare := errors.Unwrap(err) == nil; bare {
		return errors.New(text)
	}
	return fmt.Errorf("%s: %w", text, err)
}

// guarded runs the tool and makes an error of its panic, or of its end without
// one.
func (t *readyTool) guarded(ctx context.Context, c Call) (result Result, err error) {
	returned := false
	defer func() {
		if p := recover(); !returned {
			result, err = Result{}, &PanicError{Tool: t.Name, Value: p, Stack: debug.Stack()}
		}
	}()
	result, err = t.Run(ctx, c)
	returned = true
	return result, err
}

// failed tells the agent why a call failed.
func failed(err error) Result {
	return Result{Text: Cut(err.Error(), maxText, " …"), IsError: true}
}
