package condition

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const deploySchema = `{"type":"object","properties":{
	"environment":{"type":"string","enum":["staging","production"]},
	"replicas":{"type":"integer"},
	"force":{"type":"boolean"},
	"labels":{"type":"array","items":{"type":"string"}},
	"service":{"type":"object","properties":{"name":{"type":"string"}},"additionalProperties":false},
	"tags":{"type":"object","additionalProperties":{"type":"string"}},
	"any":{}
}}`

func compiled(t testing.TB, expression string) *Condition {
	t.Helper()
	c, err := ForCall(expression, json.RawMessage(deploySchema))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return c
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		expression, input string
		want              bool
	}{
		{`input.environment == "production"`, `{"environment":"production"}`, true},
		{`input.environment == "production"`, `{"environment":"staging"}`, false},
		{`input["environment"] != "production"`, `{"environment":"staging"}`, true},
		{`has(input.force) && input.force`, `{}`, false},
		{`has(input.force) && input.force`, `{"force":true}`, true},
		{`input.replicas > 3`, `{"replicas":4}`, true},
		{`input.replicas > 3`, `{"replicas":3.0}`, false},
		{`input.replicas > 3`, `{"replicas":3.5}`, true},
		{`input.replicas >= 9007199254740993`, `{"replicas":9007199254740993}`, true},
		{`input.any + 0.5 == 2.0`, `{"any":1.5}`, true},
		{`input.replicas * 2 + 1 == 9`, `{"replicas":4}`, true},
		{`"prod" in input.labels`, `{"labels":["a","prod"]}`, true},
		{`input.labels[0].startsWith("release-")`, `{"labels":["release-1"]}`, true},
		{`size(input.labels) > 1 || input.service.name.endsWith("-db")`, `{"labels":[],"service":{"name":"a-db"}}`, true},
		{`input.service.name.matches("^(api|web)$")`, `{"service":{"name":"web"}}`, true},
		{`input.environment in ["production"]`, `{"environment":"production"}`, true},
		{`"owner" in input.tags && input.tags.owner == "x"`, `{"tags":{"owner":"x"}}`, true},
		{`input.any.deep.er == null`, `{"any":{"deep":{"er":null}}}`, true},
		{`session.channel == "slack" && session.mode == "chat"`, `{}`, true},
		{`session.principal.startsWith("slack:user:T1:")`, `{}`, true},
		{`session.dryRun`, `{}`, false},
		{`subject == "octo/shop#12"`, `{}`, true},
		{`true`, `{}`, true},
		{`input.force`, `{"force":true}`, true},
		// What does not matter is not asked.
		{`session.dryRun && input.force`, `{}`, false},
	} {
		got, err := compiled(t, tt.expression).Holds(t.Context(), Call{
			Input: json.RawMessage(tt.input), Channel: "slack", Mode: "chat", Principal: "slack:user:T1:U1", Subject: "octo/shop#12",
		})
		if err != nil || got != tt.want {
			t.Errorf("%s of %s: got %t, %v; want %t", tt.expression, tt.input, got, err, tt.want)
		}
	}
}

func TestWhatCannotBeDecidedIsAnError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ expression, input, want string }{
		{`input.environment == "production"`, `{}`, "no such key"},
		{`input.any > 3`, `{"any":"x"}`, "no such overload"},
		{`input.any + input.any == "xx"`, `{"any":"x"}`, "no such overload"},
		{`input.any.x == 1`, `{"any":[]}`, "unsupported index"},
		{`input.replicas / 0 == 1`, `{"replicas":1}`, "division by zero"},
		{`input.replicas + 9223372036854775807 == 1`, `{"replicas":1}`, "overflow"},
		{`input.labels[7] == "x"`, `{"labels":[]}`, "index out of bounds"},
		{`true`, `[]`, "read the input"},
		{`true`, `null`, "null"},
		{`true`, `{`, "read the input"},
		{`true`, `{"any":1e999}`, "range"},
		// A tool in another language may read the one where the host reads the other.
		{`input.environment == "production"`, `{"environment":"staging","Environment":"production"}`, "differ by case alone"},
		{`has(input.environment) && input.environment == "production"`, `{"ENVIRONMENT":"production"}`, "differ by case alone"},
		{`has(input.service.name)`, `{"service":{"\u017ferver":"x","server":"y"}}`, "differ by case alone"},
	} {
		got, err := compiled(t, tt.expression).Holds(t.Context(), Call{Input: json.RawMessage(tt.input)})
		if got || !errors.Is(err, ErrUndecided) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s of %s: got %t, %v; want %q", tt.expression, tt.input, got, err, tt.want)
		}
	}
	costly := `subject != subject` + strings.Repeat(` || subject != subject`, 30)
	_, err := compiled(t, costly).Holds(t.Context(), Call{Input: json.RawMessage(`{}`), Subject: strings.Repeat("a", 4<<20)})
	// On a machine that has no time, that is over first.
	if !errors.Is(err, ErrUndecided) || !strings.Contains(err.Error(), "cost limit") && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("what costs too much: got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for expression, want := range map[string]string{`true`: "context canceled", `subject.contains("a")`: "operation interrupted"} {
		got, err := compiled(t, expression).Holds(ended, Call{Input: json.RawMessage(`{}`)})
		if got || !errors.Is(err, ErrUndecided) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with no time left: got %t, %v", expression, got, err)
		}
	}
}

func TestMistakesAreFoundWithTheirPlace(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		``:                                       `1:1: the expression is empty`,
		`input.`:                                 `1:7: Syntax error`,
		`inptu.environment == "x"`:               `1:1: undeclared reference to 'inptu'`,
		"true &&\n  session.chanel == \"slack\"": `2:10: undeclared reference to 'session.chanel'`,
		`input.environment`:                      `1:1: it is of type dyn, and has to be bool`,
		`"yes"`:                                  `1:1: it is of type string, and has to be bool`,
		`now() > 3`:                              `1:4: undeclared reference to 'now'`,
		`true && input.environmnt == "production"`:     `1:14: the input's schema has no field "environmnt" here`,
		`input["environmnt"] == "production"`:          `the input's schema has no field "environmnt" here`,
		`has(input.forced)`:                            `the input's schema has no field "forced" here`,
		`input.service.nam == ""`:                      `1:14: the input's schema has no field "nam" here`,
		`input.environment == "prod"`:                  `the field is never prod: by the schema it is one of [staging production]`,
		`"prod" != input.environment`:                  `the field is never prod`,
		`input.environment in ["production","prod"]`:   `the field is never prod`,
		`input.force == "true"`:                        `the field is never a string: by the schema it is of type [boolean]`,
		`input.labels[0] == 3`:                         `the field is never a number`,
		`input.service.name.matches("(")`:              `missing closing )`,
		`input.service.name.matches("(\\pL{40}){20}")`: `the regular expression is too large`,
	} {
		_, err := ForCall(expression, json.RawMessage(deploySchema))
		var mistake *Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", expression, err, want)
		}
	}
	if _, err := ForInput(`session.dryRun`, nil); err == nil {
		t.Error("what a call's effect is may depend on who calls")
	}
	if _, err := ForCall(`input.anything.goes == 3`, nil); err != nil {
		t.Errorf("without a schema: %v", err)
	}
}

// Each of these would loop, grow or wait, if it could.
func TestHostileExpressionsAreRefusedOrBounded(t *testing.T) {
	t.Parallel()
	large := json.RawMessage(`{"any":"` + strings.Repeat("a", 4<<20-20) + `"}`)
	deep := strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000)
	for _, expression := range []string{
		`[1,2,3].all(x, [1,2,3].all(y, x > y))`,
		`[1].exists(x, true)`, `[1].exists_one(x, true)`, `[1].map(x, x) == []`, `[1].filter(x, true) == []`,
		`timestamp("2020-01-01T00:00:00Z") < timestamp("2021-01-01T00:00:00Z")`,
		`duration("1s") == duration("1s")`, `dyn(1) == 1`, `type(input) == map`, `bytes("a") == b"a"`,
		deep,
		`true` + strings.Repeat(` && true`, 1000),
		`"` + strings.Repeat("x", 1<<20) + `" == ""`,
		"\x00", "true\x00", "\xff\xfe",
	} {
		if c, err := ForCall(expression, nil); err == nil {
			t.Errorf("%.60q compiles: %v", expression, c)
		}
	}
	for _, expression := range []string{
		`input.any` + strings.Repeat(` + input.any`, 40) + ` == ""`,
		`input.any.matches("(a?){60}b")`,
		`input.any.matches(input.any)`,
		`"a".matches(input.any)`,
	} {
		c, err := ForCall(expression, nil)
		if err != nil {
			t.Errorf("%.60q: %v", expression, err)
			continue
		}
		if holds, err := c.Holds(t.Context(), Call{Input: large}); !errors.Is(err, ErrUndecided) {
			t.Errorf("%.60q: %t, %v", expression, holds, err)
		}
	}
}

func FuzzCondition(f *testing.F) {
	f.Add(`input.environment == "production"`, `{"environment":"production"}`)
	f.Add(`input.any.matches("a+") && has(input.any)`, `{"any":"aaa"}`)
	f.Add(`size(input.labels) > -1 ? session.dryRun : subject in ["a"]`, `{"labels":[1,2,{}]}`)
	f.Add("{'a': input.any}['a'] == [1, 2.5, null]\n// end", `{"any":[1,2.5,null]}`)
	f.Fuzz(func(t *testing.T, expression, input string) {
		c, err := ForCall(expression, json.RawMessage(deploySchema))
		if err != nil {
			var mistake *Error
			if !errors.As(err, &mistake) || mistake.Line < 1 || mistake.Column < 1 || mistake.Text == "" {
				t.Fatalf("%q: %v", expression, err)
			}
			return
		}
		call := Call{Input: json.RawMessage(input)}
		first, err := c.Holds(context.Background(), call)
		if err != nil && (first || !errors.Is(err, ErrUndecided)) {
			t.Fatalf("%q of %q: %t, %v", expression, input, first, err)
		}
		if again, failed := c.Holds(context.Background(), call); again != first || (failed == nil) != (err == nil) {
			t.Fatalf("%q of %q: %t, then %t", expression, input, first, again)
		}
	})
}
