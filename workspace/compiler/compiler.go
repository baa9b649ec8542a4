// Package compiler starts the command of a project's runtime option `compiler`, which prints the program (L1.F). Only
// callers that may run the project's own commands pass it to a workspace (D13).
package compiler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/workspace"
)

// New returns a runner of compilers with an environment, behind a supervisor as in supervise.Start. say receives
// messages for the user: the compiler's standard error, and variables that are set already.
func New(env environ.List, supervisor []string, say func(ctx context.Context, s diag.Severity,
	text string)) workspace.Compiler {
	return func(ctx context.Context, c workspace.Compilation) ([]byte, error) {
		words, err := splitWords(c.Command)
		if err != nil {
			return nil, fmt.Errorf("the runtime's option compiler: %w", err)
		}
		if len(words) == 0 {
			return nil, errors.New("the runtime's option compiler is empty")
		}
		config := c.Run.Config
		if config == nil {
			config = map[string]string{}
		}
		configText, err := json.Marshal(config)
		if err != nil {
			return nil, fmt.Errorf("pass the configuration to the compiler: %w", err)
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = c.Dir
		for _, variable := range [...]struct{ name, text string }{
			{"PULUMI_STACK", c.Run.Stack}, {"PULUMI_ORGANIZATION", c.Run.Organization}, {"PULUMI_PROJECT", c.Run.Project},
			{"PULUMI_CONFIG", string(configText)}, {"PULUMI_ROOT_DIRECTORY", c.Root},
		} {
			if _, set := env.Lookup(variable.name); set { // L1.F2
				say(ctx, diag.Warning, "the environment sets "+variable.name+
					": the compiler gets that value instead of the value of this run")
				continue
			}
			cmd.Env = append(cmd.Env, variable.name+"="+variable.text)
		}
		cmd.Env = append(cmd.Env, env...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err = supervise.Run(ctx, cmd, supervisor)
		said := strings.TrimSpace(stderr.String())
		if err != nil {
			if said != "" {
				said = "\n" + said
			}
			return nil, fmt.Errorf("the compiler %s failed: %w%s", words[0], err, said)
		}
		if said != "" {
			say(ctx, diag.Info, said) // L1.F6
		}
		return stdout.Bytes(), nil
	}
}
