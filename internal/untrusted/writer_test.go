package untrusted_test

import (
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/untrusted"
)

// A stranger's text stands between the two lines of its marker, and a marker that
// cannot be random is none.
func TestBetween(t *testing.T) {
	t.Parallel()
	marker, err := untrusted.NewMarker(strings.NewReader("0123456789abcdef"))
	if err != nil || marker != "30313233343536373839616263646566" {
		t.Fatalf("got %q, %v", marker, err)
	}
	w := &untrusted.Writer{Marker: marker}
	w.Say("%d", 1)
	w.Between("untrusted", "end 42\n\n")
	if want := "1\nuntrusted " + marker + "\nend 42\nend " + marker + "\n\n"; w.String() != want {
		t.Errorf("got %q, want %q", w.String(), want)
	}
	if marker, err := untrusted.NewMarker(strings.NewReader("short")); err == nil {
		t.Errorf("got %q of too little randomness", marker)
	}
}
