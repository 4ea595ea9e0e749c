package processgroup

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Group is a job object. The system ends all its processes when its last
// handle is closed, which happens when this program ends, however it ends.
type Group windows.Handle

// Attributes are those with which a program is started that shall have a job of its own.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// New returns the job of a program that was just started with [Attributes].
func New(pid int, l Limits) (Group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create a job object: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	if l.Memory > 0 {
		limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		limits.JobMemoryLimit = uintptr(l.Memory)
	}
	if l.Processes > 0 {
		limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		limits.BasicLimitInformation.ActiveProcessLimit = uint32(l.Processes)
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, pid)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("put the program into a job object: %w", err)
	}
	return Group(job), nil
}

func assign(job windows.Handle, pid int) error {
	child, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(child) }()
	return windows.AssignProcessToJobObject(job, child)
}

// Terminate is not supported: there is no signal that a program without a window
// would see.
func (Group) Terminate() error { return errors.ErrUnsupported }

// Kill ends all of the group at once.
func (g Group) Kill() error { return windows.TerminateJobObject(windows.Handle(g), 1) }

// Close lets go of the job, which ends what is left in it.
func (g Group) Close() { _ = windows.CloseHandle(windows.Handle(g)) }

// AwaitExit reports that this system has no need to wait without reaping: a job
// is named by a handle.
func AwaitExit(int) bool { return false }
