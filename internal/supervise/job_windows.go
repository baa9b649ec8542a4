package supervise

import (
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a command in a job object and in a process group of its own. Windows ends the processes of the job when our
// handle is closed, which is at the latest when this process ends.
type group struct {
	cmd *exec.Cmd
	mu  sync.Mutex     // guards job
	job windows.Handle // 0 if there is none (any more)
}

// begin starts the command and puts it into a job before it can start others. Where Windows refuses the job, the
// command runs without.
func (g *group) begin(cmd *exec.Cmd, _ []string) error {
	g.cmd = cmd
	flags := uint32(windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED)
	// we have no console, and the command shall not open a window
	if _, err := windows.GetConsoleOutputCP(); err != nil {
		flags |= windows.CREATE_NO_WINDOW
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= flags
	if err := cmd.Start(); err != nil {
		return err
	}
	var resumed error
	err := cmd.Process.WithHandle(func(process uintptr) {
		g.job = newJob(windows.Handle(process))
		resumed = resume(windows.Handle(process))
	})
	if err = errors.Join(err, resumed); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		g.end()
	}
	return err
}

// newJob returns a job with one process that ends with our handle; 0 if Windows refuses one.
func newJob(process windows.Handle) windows.Handle {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	if err = limit(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err == nil {
		err = windows.AssignProcessToJobObject(job, process)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0
	}
	return job
}

func limit(job windows.Handle, flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

var ntResumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// resume lets a process run that was started suspended.
func resume(process windows.Handle) error {
	if err := ntResumeProcess.Find(); err != nil {
		return err
	}
	if status, _, _ := ntResumeProcess.Call(uintptr(process)); status != 0 {
		return windows.NTStatus(status)
	}
	return nil
}

// interrupt sends Ctrl-Break, which needs a console that we share with the command. It ends programs that do not handle
// it.
func (g *group) interrupt() bool {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.cmd.Process.Pid)) == nil
}

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
		return
	}
	_ = g.cmd.Process.Kill()
}

// end closes the job, which kills what is left of it.
func (g *group) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
		g.job = 0
	}
}

// release closes the job and leaves its processes running.
func (g *group) release() {
	g.mu.Lock()
	if g.job != 0 {
		_ = limit(g.job, 0)
	}
	g.mu.Unlock()
	g.end()
}
