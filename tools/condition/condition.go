package condition

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
)

// timeout is how long the evaluation of one expression may take. It is looked at
// before each step, none of which takes long: cel-go does not know what a step
// costs whose operands have no type, as those from the input.
const timeout = time.Second

var (
	// ErrUndecided is the class of the errors of [Condition.Holds].
	ErrUndecided = errors.New("the condition cannot be decided")

	errPattern = errors.New("the regular expression is too large")
)

// Error says what is wrong with an expression, and where.
type Error struct {
	// Line and Column count from one, in characters of the expression.
	Line, Column int
	Text         string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text) }

// Condition is a compiled expression. It may be evaluated by many at once.
type Condition struct {
	program cel.Program
	fields  *fields
}

// Call is what an expression can ask about: the input, and for whom and where the
// tool is called.
type Call struct {
	Input     json.RawMessage
	Channel   string
	Mode      string
	Principal string
	DryRun    bool
	Subject   string
}

// ForInput compiles an expression about a tool's input alone. The input's schema,
// where it is not nil, says which fields there are. The error is an [*Error].
func ForInput(expression string, schema json.RawMessage) (*Condition, error) {
	return compile(inputOnly, expression, schema)
}

// ForCall compiles an expression about a call: beside input it knows
// session.channel, session.mode, session.principal, session.dryRun and subject.
func ForCall(expression string, schema json.RawMessage) (*Condition, error) {
	return compile(ofCalls, expression, schema)
}

func compile(environment func() (*cel.Env, error), expression string, schema json.RawMessage) (*Condition, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("make ready to compile conditions: %w", err)
	}
	if strings.TrimSpace(expression) == "" {
		return nil, &Error{1, 1, "the expression is empty"}
	}
	ast, issues := env.Compile(expression)
	if found := issues.Errors(); len(found) > 0 {
		at := found[0].Location
		return nil, &Error{max(at.Line(), 1), max(at.Column()+1, 1), found[0].Message}
	}
	known, err := readFields(schema)
	if err != nil {
		return nil, &Error{1, 1, err.Error()}
	}
	if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !known.boolean(ast.NativeRep().Expr()) {
		return nil, &Error{1, 1, fmt.Sprintf("it is of type %s, and has to be bool", t)}
	}
	if err := known.check(ast.NativeRep()); err != nil {
		return nil, err
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(1), cel.CustomDecoratorV2(withTime))
	if err != nil {
		return nil, &Error{1, 1, err.Error()}
	}
	return &Condition{program, known}, nil
}

// Holds reports whether the condition holds for a call. An error, of the class
// [ErrUndecided], says that it cannot be told: the input has no such field, say.
func (c *Condition) Holds(ctx context.Context, call Call) (bool, error) {
	input, err := c.read(call.Input)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrUndecided, err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, _, err := c.program.ContextEval(ctx, map[string]any{
		"input":             input,
		"session.channel":   call.Channel,
		"session.mode":      call.Mode,
		"session.principal": call.Principal,
		"session.dryRun":    call.DryRun,
		"subject":           call.Subject,
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrUndecided, err)
	}
	holds, ok := result.Value().(bool)
	if !ok {
		return false, fmt.Errorf("%w: it came to %s", ErrUndecided, result.Type().TypeName())
	}
	return holds, nil
}

// read makes values of an input. Numbers that are written as integers are some.
func (c *Condition) read(input json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	if value == nil {
		return nil, errors.New("the input is null")
	}
	return numbers(value, c.fields.root())
}
