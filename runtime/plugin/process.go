package plugin

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

const (
	// startLimit is the default time for a plugin to print its port and answer its first call (E3.3, F2.7).
	startLimit = 10 * time.Second
	// graceLimit is the default time for a plugin to end by itself once asked to (F2.13).
	graceLimit = 5 * time.Second
	// closeLimit is the time to end for a plugin that can be told only by closing its input: few watch that.
	closeLimit = 500 * time.Millisecond
	// drainLimit is the time to wait for the last output of an ended process, whose children may hold the output open
	// for ever. A machine under load needs most of it.
	drainLimit = 2 * time.Second
	// breakLimit is the time that a failed call waits for signs of a broken connection. Without a sign the plugin
	// itself reported the error.
	breakLimit = 400 * time.Millisecond
	// outputLimit bounds the kept output of a plugin, in bytes; lineLimit bounds its first line.
	outputLimit = 16 << 10
	lineLimit   = 4 << 10
)

// process is a running plugin. Its methods are safe for concurrent use.
type process struct {
	name    string // for messages
	command *exec.Cmd
	group   *supervise.Group
	stdin   io.Closer
	outputs []io.Closer // our ends of its pipes
	output  *tail
	first   chan firstLine // receives exactly one value
	readers sync.WaitGroup
	ended   chan struct{} // closed once the process has ended and its output has been read
	exit    string        // set before ended is closed
	script  *scriptRun    // of a plugin that this process, the host of its language, runs; nil for a plugin itself
	stop    sync.Once
	limit   time.Duration // to print its port, for messages
	grace   time.Duration // to end by itself
}

type firstLine struct {
	text string
	err  error
}

// launch runs an executable and waits until it has printed its port, for at most limit. The caller stops the process;
// there is none if the error is not nil.
func (o *Options) launch(ctx context.Context, c program, limit time.Duration) (*process, int, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p, err := o.start(c, limit)
	if err != nil {
		return nil, 0, err
	}
	port, err := p.port(ctx)
	if err != nil {
		p.kill()
		return nil, 0, err
	}
	return p, port, nil
}

// program describes a process to start. The arguments, the variables and the folder are as in exec.Cmd.
type program struct {
	name, path string // the name for messages
	args, env  []string
	dir        string
}

func (o *Options) start(c program, limit time.Duration) (*process, error) {
	p := &process{
		name: c.name, output: &tail{limit: outputLimit}, first: make(chan firstLine, 1), ended: make(chan struct{}),
		limit: limit, grace: o.EndLimit, command: exec.Command(c.path, c.args...),
	}
	p.command.Env, p.command.Dir = c.env, c.dir
	var stdout, stderr io.ReadCloser
	var err error
	if p.stdin, err = p.command.StdinPipe(); err == nil {
		stdout, err = p.command.StdoutPipe()
	}
	if err == nil {
		stderr, err = p.command.StderrPipe()
	}
	if err == nil {
		// a group of its own, so that an interrupt reaches only us (F2.4)
		p.group, err = supervise.Begin(p.command, o.Supervisor)
	}
	if err != nil {
		return nil, fmt.Errorf("start plugin %s: %w", c.name, err)
	}
	p.outputs = []io.Closer{p.stdin, stdout, stderr}
	p.readers.Go(func() { p.readStdout(stdout) })
	p.readers.Go(func() { _, _ = io.Copy(p.output, stderr) })
	go p.wait()
	return p, nil
}

// readStdout reads the port from the first line and keeps the rest as output.
func (p *process) readStdout(r io.Reader) {
	reader := bufio.NewReaderSize(r, lineLimit)
	line, err := reader.ReadSlice('\n')
	first := firstLine{text: string(line)}
	if err != nil {
		_, _ = p.output.Write(line)
		if !errors.Is(err, bufio.ErrBufferFull) {
			first.err = io.ErrUnexpectedEOF
		}
	}
	p.first <- first
	_, _ = io.Copy(p.output, reader)
}

func (p *process) wait() {
	state, _ := p.command.Process.Wait() // waits only for the process, not for children that hold its output
	p.exit = state.String()
	// Children that remain in its group are killed as well.
	p.group.End()
	drained := make(chan struct{})
	go func() {
		p.readers.Wait()
		close(drained)
	}()
	select {
	case <-drained:
	case <-time.After(drainLimit):
	}
	for _, f := range p.outputs {
		_ = f.Close() // wakes readers that would block for ever
	}
	<-drained
	close(p.ended)
}

// gone reports whether the process has ended.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// crash returns the error for an ended process.
func (p *process) crash() *provider.CrashError {
	exit := p.exit
	if p.script != nil {
		exit = cmp.Or(p.script.ended(), exit)
	}
	return &provider.CrashError{Plugin: p.name, Exit: exit, Output: p.output.String(), PID: p.command.Process.Pid}
}

// progress matches a terminal's progress output; some plugins' runtimes print it before anything else (F2.5).
var progress = strings.NewReplacer("\x1b]9;4;3;\x1b\\", "", "\x1b]9;4;0;\x1b\\", "")

// port waits for the port on the first line of output.
func (p *process) port(ctx context.Context) (int, error) {
	var line firstLine
	select {
	case line = <-p.first:
	case <-p.ended:
		select {
		case line = <-p.first:
		default:
			line.err = io.ErrUnexpectedEOF
		}
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			p.kill() // its output then has the beginning of a line, too
			return 0, fmt.Errorf("plugin %s did not print its port within %s%s", p.name, p.limit, p.lastWords())
		}
		return 0, fmt.Errorf("start plugin %s: %w", p.name, ctx.Err())
	}
	text := strings.TrimSpace(progress.Replace(line.text))
	if line.err != nil {
		// A process that has closed its output can no longer print its port.
		select {
		case <-p.ended:
			return 0, p.crash()
		case <-time.After(drainLimit):
			return 0, fmt.Errorf("plugin %s closed its output without printing its port%s", p.name, p.lastWords())
		}
	}
	port, err := strconv.Atoi(text)
	if err != nil || port <= 0 || port > 65535 {
		return 0, fmt.Errorf("plugin %s printed %q where its port was expected; is it a Pulumi plugin?%s", p.name,
			shorten(text), p.lastWords())
	}
	return port, nil
}

func (p *process) lastWords() string {
	out := strings.TrimSpace(p.output.String())
	if out == "" {
		return ""
	}
	return "; its last output:\n    " + strings.ReplaceAll(out, "\n", "\n    ")
}

func shorten(text string) string {
	const limit = 80
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}

// close asks the process to end, and kills it after the time limit. It returns once the process has ended.
func (p *process) close() { p.end(p.grace) }

// kill ends the process at once.
func (p *process) kill() { p.end(0) }

func (p *process) end(grace time.Duration) {
	p.stop.Do(func() {
		if p.script != nil {
			p.script.close()
		}
		if grace > 0 {
			if !p.group.Interrupt() {
				grace = min(grace, closeLimit)
			}
			_ = p.stdin.Close()
			select {
			case <-p.ended:
				return
			case <-time.After(grace):
			}
		}
		if !p.gone() {
			p.group.Kill()
			_ = p.command.Process.Kill()
		}
	})
	<-p.ended
}

// tail keeps the end of a process's output, bounded. It is safe for concurrent use.
type tail struct {
	mu    sync.Mutex // guards the fields below
	limit int
	kept  []byte
	cut   bool
}

// Write appends p and drops the beginning if it does not fit. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if len(p) > t.limit {
		p, t.cut = p[len(p)-t.limit:], true
	}
	if excess := len(t.kept) + len(p) - t.limit; excess > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[excess:]...), true
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// String returns the kept output, from the first whole line on if it was truncated.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.kept
	if t.cut {
		if _, whole, _ := bytes.Cut(text, []byte("\n")); len(whole) > 0 {
			text = whole
		}
	}
	return string(text)
}
