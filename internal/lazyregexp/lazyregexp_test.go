package lazyregexp

import "testing"

// A mistake in an expression must not wait for the one change that needs it.
func TestMistakesAreFoundByEveryTest(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an expression that is none was taken")
		}
	}()
	New("(")
}

func TestCompiledWhenNeeded(t *testing.T) {
	was := inTest
	t.Cleanup(func() { inTest = was })
	inTest = false
	wrong := New("(") // nobody uses it
	if got := New("b+").ReplaceAllString("abbc", "x"); got != "axc" {
		t.Errorf("got %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an expression that is none was used")
		}
	}()
	wrong.MatchString("x")
}
