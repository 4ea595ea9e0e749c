//go:build !failpoint

package failpoint

import "testing"

func TestNothingHappensWithoutTheTag(t *testing.T) {
	t.Setenv("LIAISON_FAILPOINT", "here")
	At("here") // which would kill the test
}
