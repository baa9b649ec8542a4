package supervise

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// system is a command in a job object. Windows ends the job when our handle is closed.
type system struct {
	cmd *exec.Cmd
	job windows.Handle // 0 if there is none
	err error          // how the process ended
}

func start(cmd *exec.Cmd, _ []string) (system, error) {
	s := system{cmd: cmd}
	if err := cmd.Start(); err != nil {
		return system{}, err
	}
	// If no job can be created, the command still runs, but without supervision.
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return s, nil
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false,
		uint32(cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		_ = windows.CloseHandle(process)
	}
	if err == nil {
		err = limit(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return s, nil
	}
	s.job = job
	return s, nil
}

func limit(job windows.Handle, flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// Wait waits for the started process to end. Processes that it has started may still be running.
func (s *system) Wait() { s.err = s.cmd.Wait() }

// Ask kills the process: Windows offers no gentler way.
func (s *system) Ask() { s.Kill() }

// Kill kills the process and its descendants.
func (s *system) Kill() {
	if s.job != 0 {
		_ = windows.TerminateJobObject(s.job, 1)
		return
	}
	_ = s.cmd.Process.Kill()
}

// Finish lets go of the command after Wait, and returns how it ended: nil or an *exec.ExitError.
func (s *system) Finish() error {
	if s.job != 0 {
		_ = limit(s.job, 0) // processes that it has left running are not killed
		_ = windows.CloseHandle(s.job)
		s.job = 0
	}
	return s.err
}
