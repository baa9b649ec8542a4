// Package supervise starts commands that end when this process ends, however that happens, also by SIGKILL.
//
// On Linux and other Unix systems a supervisor stands between: a small process that runs the same executable with the
// argument Word. It starts the command and waits on a pipe that this process holds open. When the pipe closes without a
// word, it kills the command with all its descendants. On Linux it is their subreaper, so that also those are found
// which have left the process group or lost their parent. On other Unix systems it kills the process group. On Windows
// there is no supervisor: a job object, whose handle the system closes, does the same.
//
// Processes that a command leaves running at its end go on: the supervisor is told to exit, and exits alone.
package supervise

import (
	"errors"
	"os/exec"
)

// Word is the first argument of a supervisor. An executable that is its own supervisor calls Main with what follows it.
const Word = "__supervise"

// Child is a command that was started. Its owner calls Wait and then Finish. Ask and Kill may be called at any time
// before Finish, from any goroutine.
type Child struct{ system }

// Start starts cmd, whose Path, Args, Dir, Env, Stdin, Stdout, Stderr and ExtraFiles count. supervisor is the command
// line of a supervisor, such as the path of this executable and Word. Without one the command is started as a process
// group of its own, which outlives this process if that is killed. An error says that the command was not started.
func Start(cmd *exec.Cmd, supervisor []string) (*Child, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	s, err := start(cmd, supervisor)
	if err != nil {
		return nil, err
	}
	return &Child{s}, nil
}

// errNotStarted is a supervisor's message about a command that it cannot start.
type errNotStarted string

func (e errNotStarted) Error() string { return string(e) }

// errLost is returned when the supervisor is gone.
var errLost = errors.New("the process that watches over the command has ended")
