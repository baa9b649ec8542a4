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
	args, env  []string
	dir, stdin string
	secrets    *mask.Masker                   // masks secrets in log and both
	log        func(line string, stderr bool) // may be nil; called from two goroutines
	grace      time.Duration                  // time between asking the process to end and killing it

	supervisor []string // see supervise.Start
}

// processResult is the output of a process that was read before it ended or was killed.
type processResult struct {
	started        bool
	stdout, stderr string
	both           string // stdout and stderr interleaved, with secrets masked
}

// logPiece is the size in bytes at which a long line is split for the log.
const logPiece = 16 << 10

// run starts the process and waits until it has ended and its output pipes are closed, so that the output of background
// children is not lost. When ctx ends, run asks the process group to end, then kills it, and returns ctx.Err(); it does
// not wait for processes that have left the group. If this process ends first, the supervisor, if any, kills the
// command and its child processes.
func (p process) run(ctx context.Context) (processResult, error) {
	if err := ctx.Err(); err != nil {
		return processResult{}, err
	}
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	asWritten(cmd)
	if info, err := os.Stat(p.dir); err != nil || !info.IsDir() {
		return processResult{}, fmt.Errorf("there is no directory %s", p.dir)
	}
	if p.stdin != "" {
		cmd.Stdin = strings.NewReader(p.stdin)
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
	readers.Go(func() { out.copy(&out.stdout, outRead, p, false) })
	readers.Go(func() { out.copy(&out.stderr, errRead, p, true) })
	ended := make(chan struct{})
	closer := make(chan struct{})
	cut := false // the process was asked to end; read after closer is closed
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
		if !waits(ended, time.Second) { // a process outside the group holds the pipes open
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

// waits reports whether done is closed within d.
func waits(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

// capture collects the output of a process.
type capture struct {
	mu             sync.Mutex   // guards both
	both           bytes.Buffer // with secrets masked
	stdout, stderr bytes.Buffer // each written by its own reader
}

// copy reads src to its end into dst. It also writes the masked text to both and passes its lines to the log of p.
func (c *capture) copy(dst *bytes.Buffer, src io.Reader, p process, stderr bool) {
	lines := &lines{capture: c, log: p.log, stderr: stderr}
	shown := mask.NewWriter(lines, p.secrets) // before the text is split: half a secret would not be recognized
	chunk := make([]byte, 4096)
	for {
		n, err := src.Read(chunk)
		dst.Write(chunk[:n])
		_, _ = shown.Write(chunk[:n]) // never fails, since lines does not
		if err != nil {
			_ = shown.Flush()
			lines.end()
			return
		}
	}
}

// lines writes one stream to both and passes complete lines to log.
type lines struct {
	*capture
	log     func(line string, stderr bool) // may be nil
	stderr  bool
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
		l.log(strings.TrimSuffix(string(line), "\r"), l.stderr)
		l.pending = rest
	}
}

// end logs the text after the last line break.
func (l *lines) end() {
	if len(l.pending) > 0 {
		l.log(string(l.pending), l.stderr)
	}
}
