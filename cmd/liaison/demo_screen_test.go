package main

import (
	"fmt"
	"strings"
	"testing"
)

// A demo that failed shows the end of the service's log, and not all of it.
func TestLastLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		written int
		want    string
	}{
		{0, ""},
		{2, "log:\n1\n2\n"},
		{7, "log:\n3\n4\n5\n6\n7\n"},
	} {
		var l lastLines
		for i := range tt.written {
			fmt.Fprintf(&l, "%d\n", i+1)
		}
		var shown strings.Builder
		l.writeTo(&shown)
		if got := shown.String(); !strings.HasSuffix(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("of %d lines: %q", tt.written, got)
		}
	}
}
