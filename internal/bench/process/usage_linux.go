package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor times in /proc: USER_HZ is 100 on every
// architecture that Go knows (man 5 proc_pid_stat).
const tick = 10 * time.Millisecond

// Usage returns what the service has used so far, without its children.
func (s *Service) Usage() (Usage, error) { return Of(s.cmd.Process.Pid) }

// Of returns what a process has used so far, without its children.
func Of(pid int) (Usage, error) { return usage(strconv.Itoa(pid)) }

// Bridge returns what the service's children have used.
func (s *Service) Bridge() (Usage, error) {
	var sum Usage
	paths, err := filepath.Glob("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/task/*/children")
	if err != nil {
		return sum, err
	}
	for _, path := range paths {
		children, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that ended meanwhile
		}
		for _, pid := range strings.Fields(string(children)) {
			u, err := usage(pid)
			if err != nil {
				return sum, err
			}
			sum.CPU += u.CPU
			sum.Anonymous += u.Anonymous
			sum.Mapped += u.Mapped
			sum.Peak += u.Peak
		}
	}
	return sum, nil
}

func usage(pid string) (u Usage, err error) {
	dir := filepath.Join("/proc", pid)
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return u, err
	}
	// The second field is a name in brackets, which may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime, stime = 14 - 3, 15 - 3
	if len(fields) <= stime {
		return u, fmt.Errorf("%s/stat has %d fields", dir, len(fields))
	}
	for _, i := range []int{utime, stime} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return u, fmt.Errorf("%s/stat: %w", dir, err)
		}
		u.CPU += time.Duration(n) * tick
	}
	status, err := sizes(filepath.Join(dir, "status"))
	if err != nil {
		return u, err
	}
	u.Anonymous = status["RssAnon"]
	u.Mapped = status["VmRSS"] - status["RssAnon"]
	u.Peak = status["VmHWM"]
	return u, nil
}

// sizes reads the lines "name: number kB" of a file in /proc, in bytes.
func sizes(path string) (map[string]int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found := map[string]int64{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		number, isSize := strings.CutSuffix(strings.TrimSpace(value), " kB")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && isSize {
			found[name] = n << 10
		}
	}
	return found, nil
}
