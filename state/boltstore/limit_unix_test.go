//go:build unix

package boltstore_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// TestALimitOfTheProcessIsAFullStore runs this test binary with a limit on the
// size of files, which a full volume resembles: nothing acknowledged is lost,
// and the store does not count as failed.
func TestALimitOfTheProcessIsAFullStore(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("BOLTSTORE_TEST_LIMIT"); path != "" {
		fillUnderLimit(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "liaison.db")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestALimitOfTheProcessIsAFullStore$", "-test.v")
	child.Env = append(os.Environ(), "BOLTSTORE_TEST_LIMIT="+path)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("the limited process: %v\n%s", err, out)
	}
	_, after, _ := strings.Cut(string(out), "acknowledged ")
	acknowledged, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil || acknowledged < 20 {
		t.Fatalf("the limited process says %q", out)
	}
	s := open(t, path, boltstore.Options{Verify: true})
	pending, err := s.Pending(t.Context(), 0, 10_000)
	if err != nil || len(pending) != acknowledged {
		t.Errorf("%d of %d deliveries are there, %v", len(pending), acknowledged, err)
	}
}

func fillUnderLimit(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ) // as the service does: the write then fails
	const most = 2 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, boltstore.Options{})
	acknowledged := 0
	for {
		_, err := s.Accept(t.Context(), delivery(fmt.Sprint(acknowledged)))
		if errors.Is(err, state.ErrUnavailable) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if acknowledged++; acknowledged > 1000 {
			t.Fatal("the limit holds nothing back")
		}
	}
	select {
	case <-s.Failed():
		t.Error("a full disk counts as a failure")
	default:
	}
	if pending, err := s.Pending(t.Context(), 0, 10_000); err != nil || len(pending) != acknowledged {
		t.Errorf("%d of %d deliveries can be read, %v", len(pending), acknowledged, err)
	}
	fmt.Println("acknowledged", acknowledged)
}
