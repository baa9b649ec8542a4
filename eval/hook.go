package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// registerHooks registers the hooks of the program (L10.C14), before any resource names them.
func (e *evaluator) registerHooks(ctx context.Context) *fault {
	var failed *fault
	for _, h := range e.program.Hooks {
		rng := h.Decl.Name.Range
		if e.options.Untrusted {
			return blame(diag.OperationFailed, rng, "the run is --untrusted, and starts no command",
				"the hook `%s` runs a command", h.Decl.Name.Value)
		}
		registrar, ok := e.monitor.(monitor.HookRegistrar)
		if !ok || e.options.Command == nil {
			return blame(diag.OperationFailed, rng, "", "this engine cannot run hooks, such as `%s`", h.Decl.Name.Value)
		}
		err := registrar.RegisterHook(ctx, monitor.Hook{
			Name: h.Decl.Name.Value, OnError: h.OnError,
			OnDryRun:     h.Decl.OnDryRun.IsTrue(),
			IgnoreErrors: h.Decl.IgnoreErrors.IsTrue(),
			Run: func(ctx context.Context, args value.Value) (bool, error) {
				return e.runHook(e.budget.paying(ctx), h, args)
			},
		})
		if err == nil {
			continue
		}
		if f := silent(err); f != nil {
			return f
		}
		failed = failed.and(blame(diag.OperationFailed, rng, "", "cannot register the hook `%s`: %s", h.Decl.Name.Value, err))
	}
	return failed
}

// runHook evaluates the command of a hook, with the engine's description of the operation, and runs it in the program's
// folder. If the command of an error hook succeeds, the operation is tried again.
func (e *evaluator) runHook(ctx context.Context, h *check.Hook, args value.Value) (retry bool, err error) {
	s := scope{e: e, frame: e.root, args: args}
	v, f := s.eval(ctx, h.Decl.Command)
	if f != nil {
		return false, f
	}
	items, ok := v.AsList()
	if !ok || len(items) == 0 {
		return false, errors.New("its command is empty or not known")
	}
	words := make([]string, len(items))
	for i, item := range items {
		text, err := value.Text(item)
		if err != nil {
			return false, fmt.Errorf("word %d of its command: %w", i+1, err)
		}
		if words[i], ok = text.AsString(); !ok {
			return false, fmt.Errorf("word %d of its command is not known", i+1)
		}
	}
	said, err := e.options.Command(ctx, e.options.Cwd, words)
	known := value.List(v, args)
	if e.options.SuppressSecretOutput && v.ContainsSecret() {
		said = ""
		if err != nil {
			reason, _, _ := strings.Cut(err.Error(), "\n")
			err = errors.New(reason)
		}
	}
	if err != nil {
		return false, errors.New(redact(err.Error(), known))
	}
	if e.options.Says != nil && said != "" {
		for line := range strings.Lines(redact(said, known)) {
			e.options.Says(strings.TrimRight(line, "\r\n"))
		}
	}
	return h.OnError, nil
}

// RunCommand returns a Command for Options: it starts words[0] with the other words as its arguments, in a folder and
// with an environment of "name=value", and returns the command's output. The command and its child processes are killed
// when ctx ends and, with a supervisor, when this process ends; see supervise.Start.
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
