package cli

import (
	"os"
	"slices"

	"golang.org/x/sys/windows"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// beginOutput has consoles understand the sequences that colour text and move the cursor. One that does not know them
// counts as no terminal. Text itself needs nothing: Go writes it to consoles as UTF-16, whatever their code page.
func beginOutput(s *console.Streams) {
	var restore []func()
	for f, isTerminal := range map[*os.File]*bool{os.Stdout: &s.OutTerminal, os.Stderr: &s.ErrTerminal} {
		handle, mode := windows.Handle(f.Fd()), uint32(0)
		if !*isTerminal || windows.GetConsoleMode(handle, &mode) != nil {
			continue
		}
		if windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
			*isTerminal = false
			continue
		}
		// The mode belongs to the console and not to this process, so it would stay for the shell.
		restore = append(restore, func() { _ = windows.SetConsoleMode(handle, mode) })
	}
	if len(restore) > 0 {
		s.End = func() {
			for _, f := range slices.Backward(restore) { // both may be one console: what was first seen is set last
				f()
			}
		}
	}
}
