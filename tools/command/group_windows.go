package command

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The limits of a tool's processes together.
const (
	maxMemory    = 2 << 30
	maxProcesses = 256
)

// group is a job object. The system ends all its processes when its last handle is
// closed, which happens when this program ends, however it ends.
type group windows.Handle

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func newGroup(pid int) (group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create a job object: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_JOB_MEMORY |
				windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
			ActiveProcessLimit: maxProcesses,
		},
		JobMemoryLimit: maxMemory,
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, pid)
	}
	if err != nil {
		_ = windows.CloseHandle(job) // the other error is told
		return 0, fmt.Errorf("put the tool into a job object: %w", err)
	}
	return group(job), nil
}

func assign(job windows.Handle, pid int) error {
	child, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(child) }()
	return windows.AssignProcessToJobObject(job, child)
}

// terminate does what kill does: there is no signal that a program without a window
// would see.
func (g group) terminate() error { return g.kill() }

func (g group) kill() error { return windows.TerminateJobObject(windows.Handle(g), 1) }

func (g group) close() { _ = windows.CloseHandle(windows.Handle(g)) }

// awaitExit reports that this system has no need to wait without reaping: a job is
// named by a handle.
func awaitExit(int) bool { return false }

// limited is argv: the limits are the job's.
func limited(argv []string) []string { return argv }

func signalled(state *os.ProcessState) string { return state.String() }

// closeOnExec does nothing: a process gets the handles that are named for it.
func closeOnExec() {}
