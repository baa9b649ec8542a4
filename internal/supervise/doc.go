// Package supervise starts commands that end when this process ends, even if it is killed by SIGKILL.
//
// On Unix systems a supervisor stands in between: a small process that runs the same executable with the argument Word.
// It starts the command and waits on a pipe that this process holds open. If the pipe closes without a message, the
// supervisor kills the command with all its descendants. On Linux it is their subreaper, so that it also finds
// descendants that have left the process group or lost their parent. On other Unix systems it kills the process group.
// Groups, for plugins, have no supervisor in between: on Linux the kernel kills them, on other Unix systems a guard,
// the leader of their process group. Windows needs no supervisor: a job object, whose handle the system closes, has the
// same effect.
//
// Processes that a command leaves running when it ends are not killed: the supervisor is told to exit, and only it
// exits.
package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
)

// Word is the first argument of a supervisor process. An executable that acts as its own supervisor calls Main with the
// arguments after Word.
const Word = "__supervise"

// Child is a started command. Its owner calls Wait and then Finish. Ask and Kill may be called from any goroutine at
// any time before Finish.
type Child struct{ system }

// Start starts cmd and uses its Path, Args, Dir, Env, Stdin, Stdout, Stderr and ExtraFiles. supervisor is the command
// line of a supervisor, such as the path of this executable and Word. Without a supervisor, the command runs in a
// process group of its own, which survives if this process is killed. Start returns an error if the command was not
// started.
func Start(cmd *exec.Cmd, supervisor []string) (*Child, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	s, err := start(cmd, supervisor)
	if err != nil {
		return nil, unlessGone(cmd, err)
	}
	return &Child{s}, nil
}

// unlessGone returns the error of a start, or one that names the folder of the command if that does not exist: most
// systems give the same error for a missing program and a missing folder.
func unlessGone(cmd *exec.Cmd, err error) error {
	if cmd.Dir == "" {
		return err
	}
	if _, gone := os.Stat(cmd.Dir); errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s, in which it starts, does not exist", cmd.Dir)
	}
	return err
}

// errNotStarted is a supervisor's message for a command that it cannot start.
type errNotStarted string

func (e errNotStarted) Error() string { return string(e) }

// errLost is returned if the supervisor has ended.
var errLost = errors.New("the process that watches over the command has ended")
