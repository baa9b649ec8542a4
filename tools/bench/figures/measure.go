package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// figure is the cost of one command, with all processes that it started.
type figure struct {
	Wall, CPU time.Duration
	Peak      int64 // bytes, of the largest process
	Written   int64 // bytes that the process itself handed to the system
}

// order is a command that another process is to measure.
type order struct {
	Args, Env []string
	Dir       string
}

// measurement is the answer of that process.
type measurement struct {
	figure
	Exit   int
	Output string // the end of the output
}

// exitError is returned for a command that ended with an exit code other than 0.
type exitError struct {
	code   int
	output string
}

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d\n%s", e.code, e.output) }

// measure runs a command from a small process of this program, because the parent's memory at the start counts towards
// a process's peak. It returns an *exitError if the command failed.
func measure(cmd *exec.Cmd, dir string, env []string) (figure, error) {
	self, err := os.Executable()
	if err != nil {
		return figure{}, err
	}
	text, err := json.Marshal(order{Args: cmd.Args, Env: env, Dir: dir})
	if err != nil {
		return figure{}, err
	}
	small := exec.Command(self, "-measure")
	small.Stdin = bytes.NewReader(text)
	small.Stderr = os.Stderr
	answer, err := small.Output()
	if err != nil {
		return figure{}, err
	}
	var m measurement
	if err := json.Unmarshal(answer, &m); err != nil {
		return figure{}, err
	}
	if m.Exit != 0 {
		return m.figure, &exitError{m.Exit, m.Output}
	}
	return m.figure, nil
}

// measureHere measures the command on standard input and writes the measurement to standard output.
func measureHere() error {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	adoptOrphans()
	cmd := exec.Command(o.Args[0], o.Args[1:]...)
	cmd.Dir, cmd.Env = o.Dir, o.Env
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	m := measurement{figure: figure{Written: bytesWritten(cmd.Process.Pid)}}
	err := cmd.Wait()
	m.Wall = time.Since(start)
	m.CPU, m.Peak = usage(cmd.ProcessState)
	reapOrphans()
	if all := cpuOfChildren(); all > 0 {
		m.CPU = all
	}
	text := output.String()
	m.Exit, m.Output = cmd.ProcessState.ExitCode(), text[max(0, len(text)-2000):]
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}
