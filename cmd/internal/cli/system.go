package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"syscall"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/memory"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"golang.org/x/term"
)

// garbagePercent lets the heap grow to four times what is in use before it is swept. A command is over in seconds: a
// third of its time on big programs went into sweeping memory that it would have given back at once.
const garbagePercent = 300

// System is the real world: the process's streams, environment, directories and signals. It also makes the process one
// that spends memory to save time, unless the user has decided otherwise with GOGC, and that keeps its memory to
// itself.
func System(version string) (console.Streams, console.World) {
	keepMemoryToOurselves(os.Environ())
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	memory.Bound(os.Getenv)
	isTerminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	s := console.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal: isTerminal(os.Stdin), OutTerminal: isTerminal(os.Stdout), ErrTerminal: isTerminal(os.Stderr),
		Size: func() (columns, lines int) {
			columns, lines, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil {
				return 0, 0
			}
			return columns, lines
		},
		ReadPassword: func() (string, error) {
			text, err := term.ReadPassword(int(os.Stdin.Fd()))
			return string(text), err
		},
	}
	if before, err := term.GetState(int(os.Stdin.Fd())); err == nil {
		s.Restore = func() { _ = term.Restore(int(os.Stdin.Fd()), before) }
	}
	w := console.World{Version: version, Env: os.Environ(), Process: backend.ThisProcess, Now: time.Now}
	w.Self = self()
	w.AsPulumi = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "pulumi"
	w.Dir, _ = os.Getwd()
	w.Home, _ = os.UserHomeDir()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		signal.Notify(signals, syscall.SIGHUP)
	}
	w.Signals = signals
	// Who takes this signal gets an error from the write instead of being killed in the middle of an operation. It is not
	// ignored, because children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return s, w
}

// self is the file that this process was started from, by the name that it was started under: what a program does may
// depend on that.
func self() string {
	path, err := exec.LookPath(os.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		path, _ = os.Executable() // without it, others have to start us
	}
	return path
}

// profile records what a command costs, for `go tool pprof` and `go tool trace`. One process has at most one at a time.
type profile struct {
	dir   string // empty while nothing is recorded
	files []*os.File
}

// start begins to record into files of a folder, which it makes if it is missing.
func (p *profile) start(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	for _, recorder := range []struct {
		name  string
		begin func(*os.File) error
	}{
		{"cpu.pprof", func(f *os.File) error { return pprof.StartCPUProfile(f) }},
		{"trace.out", func(f *os.File) error { return trace.Start(f) }},
	} {
		f, err := os.Create(filepath.Join(dir, recorder.name))
		if err == nil {
			p.files = append(p.files, f)
			err = recorder.begin(f)
		}
		if err != nil {
			return fmt.Errorf("--profile: %w", errors.Join(err, p.end()))
		}
	}
	runtime.SetMutexProfileFraction(1)
	p.dir = dir
	return nil
}

// stop writes what was recorded since start. Without a start it does nothing.
func (p *profile) stop() error {
	if p.dir == "" {
		return nil
	}
	err := p.end()
	// the profile of allocations has the heap too
	for name, file := range map[string]string{"mutex": "mutex.pprof", "allocs": "heap.pprof"} {
		f, failed := os.Create(filepath.Join(p.dir, file))
		if failed == nil {
			failed = errors.Join(pprof.Lookup(name).WriteTo(f, 0), f.Close())
		}
		err = errors.Join(err, failed)
	}
	runtime.SetMutexProfileFraction(0)
	p.dir = ""
	if err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	return nil
}

// end stops what writes as it goes.
func (p *profile) end() (err error) {
	pprof.StopCPUProfile()
	trace.Stop()
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	p.files = nil
	return err
}
