package eval

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/yamlhost/yamlhost/internal/supervise"
)

// RunCommand is a Command for Options: it starts words[0] with the other words as its arguments, in a folder and with
// an environment of "name=value", and returns what the command wrote. The command is killed with all that it has
// started when ctx ends, and, behind a supervisor, when this process does; see supervise.Start.
func RunCommand(env, supervisor []string) func(ctx context.Context, dir string, words []string) (said string,
	err error) {
	return func(ctx context.Context, dir string, words []string) (string, error) {
		var output bytes.Buffer
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &output, &output
		err := supervise.Run(ctx, cmd, supervisor)
		said := strings.TrimSpace(output.String())
		switch {
		case err != nil && said != "":
			return "", fmt.Errorf("%s: %w\n%s", words[0], err, said)
		case err != nil:
			return "", fmt.Errorf("%s: %w", words[0], err)
		}
		return said, nil
	}
}
