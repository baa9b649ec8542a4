package eval

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// RunCommand is a Command for Options: it starts words[0] with the other words as its arguments, in a folder and with an
// environment of "name=value". What the command writes goes to say, line by line once it has ended; when it fails, what it
// wrote is part of the error. say may be nil.
func RunCommand(env []string, say func(line string)) func(ctx context.Context, dir string, words []string) error {
	return func(ctx context.Context, dir string, words []string) error {
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, env
		output, err := cmd.CombinedOutput()
		said := strings.TrimSpace(string(output))
		switch {
		case err != nil && said != "":
			return fmt.Errorf("%s: %w\n%s", words[0], err, said)
		case err != nil:
			return fmt.Errorf("%s: %w", words[0], err)
		}
		if say != nil && said != "" {
			for line := range strings.Lines(said) {
				say(strings.TrimRight(line, "\r\n"))
			}
		}
		return nil
	}
}
