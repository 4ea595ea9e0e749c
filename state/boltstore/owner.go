package boltstore

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// owner is the small file beside the store that names the process that opened
// it last. Its lock is held only while a store is being opened or closed, so
// that two processes neither create nor migrate one file at once.
type owner struct{ f *lockedfile.File }

func lockOwner(path string) (*owner, error) {
	f, err := lockedfile.OpenFile(path+".owner", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &owner{f}, nil
}

// pid returns what the file says, or 0.
func (o *owner) pid() int {
	raw, err := io.ReadAll(io.NewSectionReader(o.f, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}

// write names this process, or no one.
func (o *owner) write(pid int) error {
	if err := o.f.Truncate(0); err != nil {
		return err
	}
	if pid == 0 {
		return nil
	}
	_, err := o.f.WriteAt([]byte(strconv.Itoa(pid)+"\n"), 0)
	return err
}

func (o *owner) unlock() error { return o.f.Close() }

// holder says who holds the file, for a message.
func (o *owner) holder() string {
	if pid := o.pid(); pid != 0 {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}
