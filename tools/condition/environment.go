package condition

import (
	"regexp"
	"regexp/syntax"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Bounds of expressions.
const (
	// maxExpression is a text's length in characters, and maxDepth how deep its parts
	// are nested.
	maxExpression = 4096
	maxDepth      = 50
	// maxCost is in the units of cel-go: about one for each step, and one for ten to a hundred
	// bytes of text that it reads. It lets a few steps read the largest input, of
	// 4 MiB.
	maxCost = 1_000_000
	// maxPattern bounds a regular expression in bytes, maxProgram what is made of it in
	// steps, and maxMatched the text that it is held against in bytes. The product of
	// the last two is the time that it takes (https://swtch.com/~rsc/regexp/regexp3.html).
	maxPattern = 1024
	maxProgram = 500
	maxMatched = 64 << 10
)

// functions are those of CEL's standard ones that an expression has. None of them
// loops, and none reads a clock. Sums and regular expressions are our own.
func functions() []*env.Function {
	var all []*env.Function
	for _, name := range []string{
		operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot,
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
		operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate,
		operators.Index, operators.In, "size", "contains", "startsWith", "endsWith", "int", "double", "string",
	} {
		all = append(all, env.NewFunction(name))
	}
	return all
}

// inputOnly is what expressions about an input know, and ofCalls what those about a
// whole call know. They are made when the first expression is compiled: a service
// whose tools have none starts without them.
var (
	inputOnly = sync.OnceValues(func() (*cel.Env, error) {
		return cel.NewCustomEnv(
			cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{DisableMacros: true, IncludeFunctions: functions()})),
			cel.Macros(cel.HasMacro),
			cel.CrossTypeNumericComparisons(true),
			cel.ParserExpressionSizeLimit(maxExpression),
			cel.ParserRecursionLimit(maxDepth),
			cel.Function("matches", cel.MemberOverload("string_matches_bounded",
				[]*cel.Type{cel.StringType, cel.StringType}, cel.BoolType, cel.BinaryBinding(matches))),
			// CEL's own adds texts and lists too, which makes large ones of small ones.
			cel.Function(operators.Add,
				cel.Overload("add_int64", []*cel.Type{cel.IntType, cel.IntType}, cel.IntType, cel.BinaryBinding(add)),
				cel.Overload("add_double", []*cel.Type{cel.DoubleType, cel.DoubleType}, cel.DoubleType, cel.BinaryBinding(add))),
			cel.Variable("input", cel.DynType),
		)
	})
	ofCalls = sync.OnceValues(func() (*cel.Env, error) {
		base, err := inputOnly()
		if err != nil {
			return nil, err
		}
		return base.Extend(
			cel.Variable("session.channel", cel.StringType),
			cel.Variable("session.mode", cel.StringType),
			cel.Variable("session.principal", cel.StringType),
			cel.Variable("session.dryRun", cel.BoolType),
			cel.Variable("subject", cel.StringType),
		)
	})
)

func add(a, b ref.Val) ref.Val {
	n, ok := a.(traits.Adder)
	if !ok {
		return types.MaybeNoSuchOverloadErr(a)
	}
	return n.Add(b)
}

// matches is CEL's function of this name, for patterns and texts of bounded size.
func matches(text, pattern ref.Val) ref.Val {
	t, ok := text.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}
	p, ok := pattern.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(pattern)
	}
	if len(t) > maxMatched {
		return types.NewErr("a text of %d bytes is not matched; at most %d are", len(t), maxMatched)
	}
	expression, err := compilePattern(string(p))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(expression.MatchString(string(t)))
}

// compilePattern makes a pattern of bounded size ready.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, errPattern
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxProgram {
		return nil, errPattern
	}
	return regexp.Compile(pattern)
}
