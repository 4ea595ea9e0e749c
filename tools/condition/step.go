package condition

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// step is a call of a function that is not made once the time is over: the
// interpreter itself looks at the time in loops only.
type step struct{ interpreter.InterpretableCall }

func withTime(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if call, ok := i.(interpreter.InterpretableCall); ok {
		return step{call}, nil
	}
	return i, nil
}

// Exec implements [interpreter.InterpretableV2].
func (s step) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	if frame.CheckInterrupt() {
		return types.WrapErr(interpreter.InterruptError{})
	}
	return s.InterpretableCall.Exec(frame)
}
