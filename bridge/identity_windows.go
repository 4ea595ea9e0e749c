package bridge

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/windows"
)

// processIdentity names the process that has the id pid now, so that it can be
// told from a later one with the same id; empty when there is none. It is the
// creation time in nanoseconds.
func processIdentity(pid int) (string, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return "", nil // no such process
	}
	if err != nil {
		return "", fmt.Errorf("look up process %d: %w", pid, err)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", fmt.Errorf("look up process %d: %w", pid, err)
	}
	if exited.Nanoseconds() > created.Nanoseconds() {
		return "", nil
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), nil
}
