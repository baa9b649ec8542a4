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

// garbagePercent lets the heap grow to four times the live memory before it is collected. A command takes seconds, and
// on big programs it spent a third of its time on collecting memory that its end would have freed anyway.
const garbagePercent = 300

// System returns the real world: the process's streams, environment, directories and signals. It also configures the
// process to trade memory for time, unless the user has set GOGC, and to keep its memory private.
func System(version string) (console.Streams, console.World) {
	// First, since everything after this may hold secrets.
	keepMemoryToOurselves(os.Environ())
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	// A limit of memory bounds what garbagePercent allows. Both leave the runtime alone if the user has set GOGC.
	memory.Bound(os.Getenv)
	isTerminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	s := console.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal: isTerminal(os.Stdin), OutTerminal: isTerminal(os.Stdout), ErrTerminal: isTerminal(os.Stderr),
		Size: func() (columns, lines int) {
			// Standard error comes first: questions and progress are there, and it is a terminal also when standard
			// output is piped.
			for _, f := range []*os.File{os.Stderr, os.Stdout} {
				if columns, lines, err := term.GetSize(int(f.Fd())); err == nil {
					return columns, lines
				}
			}
			return 0, 0
		},
		ReadPassword: func() (string, error) {
			text, err := term.ReadPassword(int(os.Stdin.Fd()))
			return string(text), err
		},
		Keys: func() (restore func(), err error) {
			before, err := term.MakeRaw(int(os.Stdin.Fd()))
			return func() { _ = term.Restore(int(os.Stdin.Fd()), before) }, err
		},
	}
	// The state of the terminal is taken before a prompt can change it. Restore is called when deferred calls do not
	// run.
	if before, err := term.GetState(int(os.Stdin.Fd())); err == nil {
		s.Restore = func() { _ = term.Restore(int(os.Stdin.Fd()), before) }
	}
	// It may correct the fields about terminals, so it comes after them.
	beginOutput(&s)
	w := console.World{Version: version, Env: os.Environ(), Process: backend.ThisProcess, Now: time.Now}
	w.Self = self()
	name := filepath.Base(os.Args[0])
	// The name decides about behaviour, as it does for busybox: a link called pulumi is all that a tool needs to start
	// this program instead of the CLI.
	w.AsPulumi = name == "pulumi" || runtime.GOOS == "windows" && // where a command may be typed in any letter case
		(strings.EqualFold(name, "pulumi") || strings.EqualFold(name, "pulumi.exe"))
	// Either may be unknown. A command that needs it reports that; others work.
	w.Dir, _ = os.Getwd()
	w.Home, _ = os.UserHomeDir()
	// Notify drops what the channel cannot hold, and the second signal, which hastens the end, must not be lost.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores the signal
		signal.Notify(signals, syscall.SIGHUP)
	}
	w.Signals = signals
	// With a handler for this signal, writing to a closed pipe returns an error instead of killing the process in the
	// middle of an operation. The signal is not ignored, because children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return s, w
}

// self returns the path of the file that this process was started from. It keeps the name used to start it, because the
// program's behaviour may depend on the name.
func self() string {
	// os.Executable follows links on some systems, and the name of the link would be lost.
	path, err := exec.LookPath(os.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		path, _ = os.Executable() // may stay empty
	}
	return path
}

// A profile records the costs of a command, for `go tool pprof` and `go tool trace`. A process can have only one at a
// time.
type profile struct {
	dir   string // empty unless recording
	files []*os.File
}

// start begins to record into files of a folder, which it creates if necessary.
func (p *profile) start(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	// Both record from here on; the other profiles are snapshots that stop takes.
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
	// Only now, as nothing else undoes it: stop does nothing without dir.
	runtime.SetMutexProfileFraction(1)
	p.dir = dir
	return nil
}

// stop ends recording and writes the results. Without a start it does nothing.
func (p *profile) stop() error {
	if p.dir == "" {
		return nil
	}
	err := p.end()
	runtime.GC() // the profile of allocations ends with the last collection
	// The profile of allocations includes the heap profile.
	for name, file := range map[string]string{"mutex": "mutex.pprof", "allocs": "heap.pprof"} {
		f, failed := os.Create(filepath.Join(p.dir, file))
		if failed == nil {
			failed = errors.Join(pprof.Lookup(name).WriteTo(f, 0), f.Close())
		}
		err = errors.Join(err, failed)
	}
	// Tests run many commands in one process, of which only some record.
	runtime.SetMutexProfileFraction(0)
	p.dir = ""
	if err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	return nil
}

// end stops the recorders that write continuously.
func (p *profile) end() (err error) {
	pprof.StopCPUProfile()
	trace.Stop()
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	p.files = nil
	return err
}
