package boltstore_test

import (
	"testing"

	"github.com/liaison-bot/liaison/state/boltstore"
)

// The list of free pages may cost a commit more where its absence would cost an
// opening more.
func TestTheListOfFreePagesMayGrowWithTheFile(t *testing.T) {
	t.Parallel()
	for pages, want := range map[int64]int{0: 4096, 100_000: 4096, 262_144: 4096, 262_208: 4097, 1_400_000: 21_875} {
		if got := boltstore.MaxListed(pages); got != want {
			t.Errorf("of %d pages up to %d free ones are listed, want %d", pages, got, want)
		}
	}
}
