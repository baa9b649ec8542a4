package dynamic

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

//go:embed host/host.cjs
var nodeHost string

//go:embed host/host.py
var pythonHost string

// maxAnswer is the maximum size of an answer in bytes. The host scripts and readLine enforce it.
const maxAnswer = 64 << 20

// pipeVariable is the environment variable with the name of the host script's pipes, where it has no descriptors 3 and
// 4 for them.
const pipeVariable = "YAMLHOST_DYNAMIC_PIPES"

// tailSize is the size of the kept end of the standard error in bytes.
const tailSize = 2 << 10

// grace is the time that a process gets to exit after its input is closed.
const grace = 2 * time.Second

// process runs the code of one source. Calls run concurrently. It is safe for concurrent use.
type process struct {
	log      func(LogLine)
	suppress bool        // Options.SuppressSecretOutput
	secret   atomic.Bool // a request had a secret
	child    *supervise.Child
	pipes    *pipes

	write sync.Mutex // one request at a time

	mu      sync.Mutex
	last    int           // guarded by mu
	calls   map[int]*call // guarded by mu; calls without an answer, by number
	why     error         // guarded by mu; why the process was ended or has ended; nil while it runs
	tail    []byte        // the end of the standard error; written by its reader, read after waiting
	done    chan struct{} // closed when the process and its readers have ended
	waiting sync.WaitGroup
}

// call is a request that waits for its answer.
type call struct {
	subject provider.Subject
	method  string
	begun   bool       // guarded by process.mu
	answer  chan reply // gets one reply, or is closed if the process ended
}

// goneError is returned when the process ended before it answered a call.
type goneError struct {
	begun bool // the call had begun, so its outcome is unknown
	why   string
}

func (e *goneError) Error() string { return e.why }

// startProcess starts the interpreter. If it fails, it has changed nothing.
func startProcess(s *Source, o Options) (*process, error) {
	name, script := "node", nodeHost
	if s.Language == bundle.Python {
		name, script = "python3", pythonHost
	}
	program := findProgram(name, o.Path)
	if program == "" {
		version := map[string]string{"node": "Node.js 18 or newer", "python3": "Python 3.9 or newer"}[name]
		return nil, &provider.Error{Message: fmt.Sprintf(
			"%s needs %s, and there is no %s on PATH: install it; nothing was done", s.File, version, name)}
	}
	args := []string{"-e", script}
	if s.Language == bundle.Python {
		args = []string{"-X", "utf8", "-c", script} // as on Linux, also where the system has another code page
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = o.Dir, environment(o.Environ, s.Env)

	fail := func(err error) (*process, error) {
		return nil, &provider.Error{Message: fmt.Sprintf("%s: %s cannot be started: %v; nothing was done", s.File, program,
			err)}
	}
	pipes, err := openPipes(cmd)
	if err != nil {
		return fail(err)
	}
	texts, err := openTexts(cmd)
	p := &process{log: o.Log, suppress: o.SuppressSecretOutput, pipes: pipes, calls: map[int]*call{},
		done: make(chan struct{})}
	if err == nil {
		p.child, err = supervise.Start(cmd, o.Supervisor)
	}
	pipes.started()
	for _, f := range []io.Writer{cmd.Stdout, cmd.Stderr} {
		if file, ok := f.(*os.File); ok {
			file.Close()
		}
	}
	if err != nil {
		pipes.requests.Close()
		pipes.answers.Close()
		closeAll(texts)
		return fail(err)
	}
	p.waiting.Go(func() { p.readText(texts[0], "info") })
	p.waiting.Go(func() { p.readText(texts[1], "warning") })
	p.waiting.Go(func() { p.readAnswers(pipes.answers) })
	go p.wait(texts)
	return p, nil
}

// openTexts connects the standard output and error of a command to pipes and returns their read ends.
func openTexts(cmd *exec.Cmd) (texts []*os.File, err error) {
	for _, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return texts, err
		}
		*stream, texts = w, append(texts, r)
	}
	return texts, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// wait waits until the process has ended, then frees its files and fails the calls without an answer.
func (p *process) wait(texts []*os.File) {
	p.child.Wait()
	p.pipes.ended()
	p.waiting.Wait()
	err := p.child.Finish()
	closeAll(texts)
	p.pipes.answers.Close()
	p.pipes.requests.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		p.why = errors.New(exitText(err, string(p.tail)))
	}
	close(p.done)
	for n, c := range p.calls {
		delete(p.calls, n)
		close(c.answer)
	}
}

func exitText(err error, tail string) string {
	text := "its process ended"
	if err != nil {
		text += " (" + err.Error() + ")"
	}
	if tail != "" {
		text += ": " + tail
	}
	return text
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.why != nil
	}
}

// end closes the input, on which the host script exits, and kills the process group if it still runs after grace.
func (p *process) end() { p.kill(errors.New("its process was ended"), grace) }

// kill closes the input, kills the process group after patience, and waits until the process has ended.
func (p *process) kill(why error, patience time.Duration) {
	p.mu.Lock()
	if p.why == nil {
		p.why = why
	}
	p.mu.Unlock()
	p.pipes.requests.Close() // without the lock, which a request has that nobody reads
	select {
	case <-p.done:
	case <-time.After(patience):
		p.child.Kill()
		<-p.done
	}
}

// do sends a request and waits for its answer. A timeout or a cancelled ctx ends the process, since code that loops
// cannot be stopped otherwise. The error is always a *goneError.
func (p *process) do(ctx context.Context, r request) (reply, error) {
	c := &call{subject: r.subject, method: r.Method, answer: make(chan reply, 1)}
	p.mu.Lock()
	if p.why != nil {
		defer p.mu.Unlock()
		return reply{}, &goneError{why: p.why.Error()}
	}
	if r.secret { // before the code can print it
		p.secret.Store(true)
	}
	p.last++
	n := p.last
	p.calls[n] = c
	p.mu.Unlock()

	line, err := json.Marshal(struct {
		N int            `json:"n"`
		M string         `json:"m"`
		A map[string]any `json:"a"`
	}{n, r.Method, r.Args})
	if err == nil {
		p.write.Lock()
		_, err = p.pipes.requests.Write(append(line, '\n'))
		p.write.Unlock()
	}
	if err != nil && !errors.Is(err, os.ErrClosed) && p.waitEnd() == nil {
		p.forget(n)
		return reply{}, &goneError{why: "the request cannot be sent: " + err.Error()}
	}
	timer := time.NewTimer(r.limit)
	defer timer.Stop()
	select {
	case answer, ok := <-c.answer:
		if ok {
			return answer, nil
		}
		return reply{}, p.gone(c)
	case <-timer.C:
		p.kill(fmt.Errorf("%s took longer than %s, so its process was ended", what(c), r.limit), 0)
	case <-ctx.Done():
		p.kill(fmt.Errorf("%s was cancelled, so its process was ended", what(c)), 0)
	}
	if answer, ok := <-c.answer; ok {
		return answer, nil
	}
	return reply{}, p.gone(c)
}

// waitEnd waits up to grace for the process to end and returns why it ended; nil if it still runs.
func (p *process) waitEnd() error {
	select {
	case <-p.done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.why
	case <-time.After(grace):
		return nil
	}
}

func what(c *call) string {
	if c.subject.Name == "" {
		return c.method
	}
	return c.method + " of " + c.subject.Name
}

func (p *process) gone(c *call) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &goneError{begun: c.begun, why: p.why.Error()}
}

func (p *process) forget(n int) {
	p.mu.Lock()
	delete(p.calls, n)
	p.mu.Unlock()
}

// readAnswers reads the replies of the host script. Any other text on that descriptor ends the process.
func (p *process) readAnswers(out io.Reader) {
	lines := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := readLine(lines)
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				go p.kill(err, 0)
			}
			return
		}
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			go p.kill(errors.New("its process wrote something that is not an answer to descriptor 4"), 0)
			return
		}
		p.take(r)
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxAnswer+1<<10:
			return nil, errors.New("its process gave an answer of more than 64 MiB")
		}
	}
}

func (p *process) take(r reply) {
	p.mu.Lock()
	c := p.calls[r.N]
	switch {
	case r.Log != nil:
		p.mu.Unlock()
		p.tell(c, r.Severity, *r.Log)
		return
	case c == nil: // no call waits for this answer
	case r.Begun:
		c.begun = true
	default:
		delete(p.calls, r.N)
		c.answer <- r
	}
	p.mu.Unlock()
}

// suppresses reports whether what the code prints must not be shown.
func (p *process) suppresses() bool { return p.suppress && p.secret.Load() }

func (p *process) tell(c *call, severity, text string) {
	if p.log == nil || p.suppresses() {
		return
	}
	line := LogLine{Severity: severity, Secret: p.secret.Load(), Text: text}
	if c != nil {
		line.URN = c.subject.URN
	}
	p.log(line)
}

// readText logs the text that the code writes directly to its standard output or error.
func (p *process) readText(r io.Reader, severity string) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if text := strings.TrimRight(line, "\r\n"); text != "" {
			if severity == "warning" && !p.suppresses() {
				p.keep(text)
			}
			p.tell(nil, severity, text)
		}
		if err != nil {
			return
		}
	}
}

// keep adds a line to the end of the standard error.
func (p *process) keep(line string) {
	if len(p.tail) > 0 {
		p.tail = append(p.tail, '\n')
	}
	p.tail = append(p.tail, line...)
	p.tail = p.tail[max(0, len(p.tail)-tailSize):]
}
