//go:build unix

package supervise

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Messages to a supervisor are one byte each, its answers one line each.
const (
	sayAsk  = 't'
	sayKill = 'k'
	sayGo   = 'd'

	saidStarted = "started"
	saidEnded   = "ended"
	saidFailed  = "failed: "
)

// system is a command with or without a supervisor.
type system struct {
	cmd     *exec.Cmd
	control *os.File      // nil without a supervisor
	status  *bufio.Reader // the supervisor's answers
	source  *os.File      // the file that status reads
	err     error         // how a process without a supervisor ended
}

func start(cmd *exec.Cmd, supervisor []string) (system, error) {
	if len(supervisor) == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			return system{}, err
		}
		return system{cmd: cmd}, nil
	}
	outer := exec.Command(supervisor[0], append(append(supervisor[1:len(supervisor):len(supervisor)],
		strconv.Itoa(len(cmd.ExtraFiles)), cmd.Path), cmd.Args...)...)
	outer.Dir, outer.Env, outer.Stdin, outer.Stdout, outer.Stderr = cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr
	outer.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	theirControl, control, err := os.Pipe()
	if err != nil {
		return system{}, err
	}
	status, theirStatus, err := os.Pipe()
	if err != nil {
		return system{}, errors.Join(err, theirControl.Close(), control.Close())
	}
	// descriptors 3 and 4; the command's own follow
	outer.ExtraFiles = append([]*os.File{theirControl, theirStatus}, cmd.ExtraFiles...)
	err = outer.Start()
	_, _ = theirControl.Close(), theirStatus.Close()
	if err != nil {
		_, _ = control.Close(), status.Close()
		if errors.Is(err, fs.ErrNotExist) { // this executable has been removed since it was started
			return start(cmd, nil)
		}
		return system{}, err
	}
	s := system{cmd: outer, control: control, status: bufio.NewReader(status), source: status}
	if said := s.hear(); said != saidStarted {
		_, _ = control.Close(), status.Close()
		_ = outer.Wait()
		if reason, failed := strings.CutPrefix(said, saidFailed); failed {
			return system{}, errNotStarted(reason)
		}
		return system{}, errLost
	}
	return s, nil
}

// hear returns the supervisor's next line, or "" if the supervisor has ended.
func (s *system) hear() string {
	line, err := s.status.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(line, "\n")
}

func (s *system) say(word byte) {
	_, _ = s.control.Write([]byte{word}) // a supervisor that has ended needs no message
}

// Wait waits for the started process to end. Processes that it has started may still be running.
func (s *system) Wait() {
	if s.control == nil {
		s.err = s.cmd.Wait()
		return
	}
	for said := s.hear(); said != saidEnded && said != ""; said = s.hear() {
	}
}

// Ask asks the process and its group to end.
func (s *system) Ask() {
	if s.control == nil {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM)
		return
	}
	s.say(sayAsk)
}

// Kill kills the process and its descendants. Without a supervisor, and on systems other than Linux, it kills the
// process group.
func (s *system) Kill() {
	if s.control == nil {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		return
	}
	s.say(sayKill)
}

// Finish releases the command after Wait, and returns how it ended: nil or an *exec.ExitError.
func (s *system) Finish() error {
	if s.control == nil {
		return s.err
	}
	s.say(sayGo)
	err := s.cmd.Wait()
	_, _ = s.control.Close(), s.source.Close()
	return err
}
