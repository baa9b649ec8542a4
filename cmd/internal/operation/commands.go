package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Preview shows what `up` would do.
func Preview(ctx context.Context, a *console.Console, o *Options) error {
	s, err := prepare(ctx, a, o, previewOperation, chosen(a, o))
	if err != nil {
		return err
	}
	defer s.Close()
	return s.planOnly(ctx)
}

var (
	Up      = PlanAndApply(updateOperation)  // previews, asks and applies
	Refresh = PlanAndApply(refreshOperation) // reads every resource into the state
	Destroy = PlanAndApply(destroyOperation) // deletes everything
)

// Run checks, plans and applies without asking. A missing stack is created once the checks have passed.
func Run(ctx context.Context, a *console.Console, o *Options) error {
	o.unasked = true
	chosen := false
	find := func(_ context.Context, p *project.Project) (s *console.Stack, err error) {
		s, chosen, err = a.Stacks().OpenOrPlaceholder(p, o.Stack)
		return s, err
	}
	s, err := prepare(ctx, a, o, updateOperation, find)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.PlanOnly {
		return s.planOnly(ctx)
	}
	if err := s.canSeal(); err != nil {
		return err
	}
	p, err := s.planAhead(ctx)
	defer p.close()
	if err != nil {
		return err
	}
	if err := createMissing(ctx, a, p.on.Stack, chosen, o.LockTimeout); err != nil {
		return err
	}
	// There is no preview, since nobody would read it: each step is planned right before it is executed.
	done, err := p.apply(ctx)
	return exitError(a, o.ExpectNoChanges, "update", done.result, err)
}

// chosen opens the stack that the options choose.
func chosen(a *console.Console, o *Options) finder {
	return func(ctx context.Context, p *project.Project) (*console.Stack, error) {
		switch o.Command {
		case "up", "preview", "plan": // a missing stack has nothing to refresh or destroy
			return a.Stacks().OpenOrOffer(ctx, p, o.Stack)
		}
		return a.Stacks().Open(ctx, p, o.Stack)
	}
}

// PlanAndApply returns what `up` and similar commands do (E7.12): a preview, a question, the operation.
func PlanAndApply(op Operation) func(context.Context, *console.Console, *Options) error {
	return func(ctx context.Context, a *console.Console, o *Options) error {
		if err := MayAsk(a, o); err != nil {
			_, _, missing := a.OpenProject(a.World.Dir)
			if op.Kind != "destroy" && errors.Is(missing, project.ErrNotFound) {
				return missing // in an empty folder this comes first
			}
			return err
		}
		s, err := prepare(ctx, a, o, op, chosen(a, o))
		if err != nil {
			return err
		}
		defer s.Close()
		if o.PreviewOnly {
			return s.planOnly(ctx)
		}
		if err := s.canSeal(); err != nil {
			return err
		}
		p, err := s.planAgreed(ctx)
		defer p.close()
		if err != nil {
			return err
		}
		done, err := p.apply(ctx)
		if err := exitError(a, o.ExpectNoChanges, op.Kind, done.result, err); err != nil {
			return err
		}
		return done.conclude(ctx)
	}
}

// MayAsk returns an error if the operation would have to ask but there is no terminal.
func MayAsk(a *console.Console, o *Options) error {
	if !o.Yes && !o.SkipPreview && !o.PreviewOnly && !a.Interactive() {
		return console.WithCode(console.CodeUsage,
			"--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode")
	}
	return nil
}

// exitError returns the error, and so the exit code, of a finished operation (F7.14, E8.27–E8.29). With expectNone,
// changes are an error.
func exitError(a *console.Console, expectNone bool, what string, result *engine.Result, err error) error {
	switch {
	case result == nil || err != nil && !result.Terminated:
		return err
	case result.Terminated:
		cancelled := &console.ExitError{Code: console.CodeCancelled, Cause: fmt.Errorf("%s cancelled", what)}
		return errors.Join(cancelled, err)
	case result.Canceled && a.Signals.TimedOut():
		return &console.ExitError{Code: console.CodeTimeout}
	case result.Canceled:
		return &console.ExitError{Code: console.CodeInterrupted}
	case result.PlanViolated:
		return &console.ExitError{Code: console.CodePlan}
	case result.Failed:
		return &console.ExitError{Code: console.CodeFailed}
	case expectNone && result.HasChanges():
		return console.WithCode(console.CodeChanges, "no changes were expected for %s but changes were proposed", what)
	}
	return nil
}

// Inspect calls look with a stack and with the engine's options of a preview. Providers run as in an operation, with
// the stack's configuration, and their messages are shown; nothing is written. doing is the text of the progress line.
func Inspect(ctx context.Context, a *console.Console, o *Options, doing string,
	look func(context.Context, *Checked, engine.Options) error) error {
	options := *o // without the options for the operation that follows
	options.Json, options.PreviewOnly = false, false
	op := Operation{Kind: "look", Planning: doing,
		On: func(ctx context.Context, s *Checked, o engine.Options) (*engine.Result, error) {
			o.Serve = nil // not reachable for programs or components
			return &engine.Result{Snapshot: o.Base}, look(ctx, s, o)
		}}
	s, err := prepare(ctx, a, &options, op, chosen(a, &options))
	if err != nil {
		return err
	}
	defer s.Close()
	loaded, err := s.load(ctx)
	if err != nil {
		return err
	}
	base, err := s.sound(loaded)
	if err != nil {
		return err
	}
	a.Signals.Announce("")
	x := &execution{on: s, phase: phase{name: doing, plan: true}, engine: engine.Options{Base: base, DryRun: true}}
	if _, err = x.run(ctx); errors.Is(err, context.Canceled) {
		return a.Signals.Ended()
	}
	return err
}
