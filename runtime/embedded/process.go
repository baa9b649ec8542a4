package embedded

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/internal/value/mask"
)

// process is one child process to run.
type process struct {
	args, env []string
	dir, in   string
	secrets   *mask.Masker                   // hides what log and both must not have
	log       func(line string, stderr bool) // may be nil; called from two goroutines
	grace     time.Duration                  // between asking to end and killing

	supervisor []string // see supervise.Start
}

// processResult is the output of a process, as far as it was read.
type processResult struct {
	started        bool
	stdout, stderr string
	both           string // as they came, without secrets
}

// logPiece is the most of one line that is logged at a time.
const logPiece = 16 << 10

// logger is log for one stream; nil for none.
func (p process) logger(stderr bool) func(line string) {
	if p.log == nil {
		return nil
	}
	return func(line string) { p.log(line, stderr) }
}

// run starts the process and waits until it has ended and everyone who holds its output has closed it, so that what a
// background child prints is not lost. When ctx ends, the whole process group is asked to end and then killed, and run
// returns the reason; nobody who escaped the group can hold it up. When this process ends before, the command is killed
// with all that it has started, as far as there is a supervisor.
func (p process) run(ctx context.Context) (processResult, error) {
	if err := ctx.Err(); err != nil {
		return processResult{}, err
	}
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	if info, err := os.Stat(p.dir); err != nil || !info.IsDir() {
		return processResult{}, fmt.Errorf("there is no directory %s", p.dir)
	}
	if p.in != "" {
		cmd.Stdin = strings.NewReader(p.in)
	}
	var out capture
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return processResult{}, err
	}
	defer outRead.Close()
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		outWrite.Close()
		return processResult{}, err
	}
	defer errRead.Close()
	cmd.Stdout, cmd.Stderr = outWrite, errWrite
	child, err := supervise.Start(cmd, p.supervisor)
	outWrite.Close()
	errWrite.Close()
	if err != nil {
		return processResult{}, err
	}

	var readers sync.WaitGroup
	readers.Go(func() { out.copy(&out.stdout, outRead, p.secrets, p.logger(false)) })
	readers.Go(func() { out.copy(&out.stderr, errRead, p.secrets, p.logger(true)) })
	ended := make(chan struct{})
	closer := make(chan struct{})
	cut := false // it was asked to end; read once closer is closed
	go func() {
		defer close(closer)
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		cut = true
		child.Ask()
		if waits(ended, p.grace) {
			return
		}
		child.Kill()
		if !waits(ended, time.Second) { // someone outside of the group holds the pipes open
			outRead.Close()
			errRead.Close()
		}
	}()
	child.Wait()
	readers.Wait()
	close(ended)
	<-closer
	err = child.Finish()
	if (err != nil || cut) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return processResult{true, out.stdout.String(), out.stderr.String(), out.both.String()}, err
}

// waits reports whether done comes within d.
func waits(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

// capture collects output. Its mutex guards both, in which the two streams meet.
type capture struct {
	mu             sync.Mutex
	both           bytes.Buffer // without secrets
	stdout, stderr bytes.Buffer // each written by its own reader
}

// copy reads a stream to its end into to. The parts that users may see go to both, and line by line to log, which may
// be nil.
func (c *capture) copy(to *bytes.Buffer, from io.Reader, secrets *mask.Masker, log func(line string)) {
	lines := &lines{capture: c, log: log}
	shown := mask.NewWriter(lines, secrets) // in front of everything that cuts: half a secret would not be recognized
	chunk := make([]byte, 4096)
	for {
		n, err := from.Read(chunk)
		to.Write(chunk[:n])
		_, _ = shown.Write(chunk[:n]) // never fails, since lines does not
		if err != nil {
			_ = shown.Flush()
			lines.end()
			return
		}
	}
}

// lines adds one stream to both, and hands complete lines to log.
type lines struct {
	*capture
	log     func(line string)
	pending []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.both.Write(p)
	l.mu.Unlock()
	if l.log == nil {
		return len(p), nil
	}
	l.pending = append(l.pending, p...)
	for {
		line, rest, found := bytes.Cut(l.pending, []byte("\n"))
		if !found && len(l.pending) < logPiece {
			return len(p), nil
		}
		l.log(strings.TrimSuffix(string(line), "\r"))
		l.pending = rest
	}
}

// end hands over what comes after the last line break.
func (l *lines) end() {
	if len(l.pending) > 0 {
		l.log(string(l.pending))
	}
}
