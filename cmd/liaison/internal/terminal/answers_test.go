package terminal

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	a := NewAnswers(strings.NewReader("  one \r\n\n" + "three"))
	for _, want := range []string{"one", "", "three"} {
		if got, err := a.Next(t.Context(), want == "one"); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := a.Next(t.Context(), false); !errors.Is(err, io.EOF) {
		t.Errorf("err = %v at the end", err)
	}
	if _, err := NewAnswers(strings.NewReader(strings.Repeat("x", 5000))).Next(t.Context(), false); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("err = %v for a line without an end", err)
	}
}
