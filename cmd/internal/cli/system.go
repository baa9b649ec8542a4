package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"golang.org/x/term"
)

// System is the real world: the process's streams, environment, directories and signals.
func System(version string) (Streams, World) {
	isTerminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	s := Streams{
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
	w := World{Version: version, Env: os.Environ(), Process: backend.ThisProcess, Now: time.Now}
	w.Dir, _ = os.Getwd()
	w.Home, _ = os.UserHomeDir()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	w.Signals = signals
	return s, w
}
