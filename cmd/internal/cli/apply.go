package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// preview shows what `up` would do.
func (a *app) preview(ctx context.Context, o *operationOptions) error {
	ctx, done := a.signals.gentle(ctx)
	defer done()
	p, err := a.prepare(ctx, o, previewOperation, a.chosen(o))
	defer p.Close()
	if err != nil {
		return err
	}
	result, err := p.plan(ctx, previewOperation)
	return a.verdict(o, "preview", result, err)
}

// up previews, asks and applies.
func (a *app) up(ctx context.Context, o *operationOptions) error {
	return a.planAndApply(ctx, o, updateOperation)
}

// refresh reads every resource into the state.
func (a *app) refresh(ctx context.Context, o *operationOptions) error {
	op := refreshOperation
	op.program = o.scope.runProgram
	return a.planAndApply(ctx, o, op)
}

// destroy deletes everything.
func (a *app) destroy(ctx context.Context, o *operationOptions) error {
	op := destroyOperation
	op.program = o.scope.runProgram
	return a.planAndApply(ctx, o, op)
}

// run checks, plans and applies without asking. A stack that is missing is created once nothing stands against the run.
func (a *app) run(ctx context.Context, o *operationOptions) error {
	ctx, done := a.signals.gentle(ctx)
	defer done()
	switch {
	case o.planOnly:
	case o.savePlan != "":
		return withCode(codeError, "--save-plan writes a plan, and without --plan-only run makes none")
	case o.importFile != "":
		return withCode(codeError, "--import-file writes what a plan would create, and without --plan-only run makes none")
	}
	o.unasked = true
	chosen := false
	p, err := a.prepare(ctx, o, updateOperation, func(_ context.Context, p *project.Project) (s *stack, err error) {
		s, chosen, err = a.openOrImagine(p, o.stack)
		return s, err
	})
	defer p.Close()
	if err != nil && p.wantsConfig && p.stack.missing {
		fmt.Fprintf(a.streams.Err, "The stack '%[1]s' does not exist yet: give the values with -c key=value, or run `yamlhost stack init %[1]s` "+
			"and set them.\n", p.stack.ref.Stack)
	}
	if err != nil {
		return err
	}
	if o.planOnly {
		result, err := p.plan(ctx, updateOperation)
		return a.verdict(o, "preview", result, err)
	}
	if err := p.canSeal(); err != nil {
		return err
	}
	if o.expectNoChanges {
		if err := p.expectNone(ctx, updateOperation); err != nil {
			return err
		}
	}
	if err := a.realize(ctx, p.stack, chosen); err != nil {
		return err
	}
	// Nobody is asked, so nobody would read a preview: each step is planned right before it is taken.
	result, err := p.apply(ctx, updateOperation)
	return a.verdict(o, "update", result, err)
}

// expectNone plans an operation that is expected to change nothing, and ends it with exit code 7 where it would: unlike
// with the Pulumi CLI, nothing is done then (F7.14).
func (p *pipeline) expectNone(ctx context.Context, op operation) error {
	result, err := p.plan(ctx, op)
	return p.app.verdict(&operationOptions{expectNoChanges: true}, op.kind, result, err)
}

// chosen opens the stack that the options choose.
func (a *app) chosen(o *operationOptions) func(context.Context, *project.Project) (*stack, error) {
	return func(ctx context.Context, p *project.Project) (*stack, error) { return a.openStack(ctx, p, o.stack) }
}

// planAndApply is `up` and its kin (E7.12): a preview, a question, the operation.
func (a *app) planAndApply(ctx context.Context, o *operationOptions, op operation) error {
	if o.skipPreview && o.previewOnly {
		return withCode(codeError, "--skip-preview and --preview-only exclude each other")
	}
	if o.strict && (o.skipPreview || o.plan != "") {
		return withCode(codeError, "--strict binds to the preview: leave out --skip-preview and --plan")
	}
	if !o.yes && !o.skipPreview && !o.previewOnly && !a.interactive() {
		return withCode(codeUsage, "--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode")
	}
	ctx, done := a.signals.gentle(ctx)
	defer done()
	p, err := a.prepare(ctx, o, op, a.chosen(o))
	defer p.Close()
	if err != nil {
		return err
	}
	if !o.previewOnly {
		if err := p.canSeal(); err != nil {
			return err
		}
	}
	expectNone := o.expectNoChanges && op.kind == updateOperation.kind
	if o.skipPreview && expectNone {
		if err := p.expectNone(ctx, op); err != nil {
			return err
		}
	}
	if !o.skipPreview {
		result, err := p.plan(ctx, op)
		if o.previewOnly {
			return a.verdict(o, "preview", result, err)
		}
		if err := a.verdict(&operationOptions{expectNoChanges: expectNone}, op.kind, result, err); err != nil {
			return err
		}
		if o.strict { // E7.63
			p.bound = result.Plan
		}
		if !o.yes {
			if err := a.confirm(op.question); err != nil {
				return err
			}
		}
	}
	result, err := p.apply(ctx, op)
	if err := a.verdict(o, op.kind, result, err); err != nil {
		return err
	}
	if len(p.kept) > 0 {
		return p.unsettledAfter(p.kept)
	}
	if op.kind == "destroy" {
		return a.afterDestroy(ctx, o, p, len(result.Snapshot.Resources))
	}
	return nil
}

// afterDestroy removes the empty stack if it should, and says how to if not (E7.39). left is the number of resources that
// the destruction of a part has left in the stack.
func (a *app) afterDestroy(ctx context.Context, o *operationOptions, p *pipeline, left int) error {
	s := p.stack
	if !o.remove {
		if !o.json && left == 0 {
			fmt.Fprintf(a.streams.Err, "The resources in the stack have been deleted, but the history and configuration associated with the stack are still "+
				"maintained.\nTo remove the stack completely, run `yamlhost stack rm %s`.\n", s.ref.Stack)
		}
		return nil
	}
	if err := s.backend.Remove(ctx, s.ref, backend.RemoveOptions{}); err != nil {
		return err
	}
	if err := backend.SelectStack(a.pulumiHome(), s.project.Name.Text, s.project.Path, s.backend.URL(), ""); err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Err, "The resources in the stack have been deleted, and the stack '%s' has been removed.\n", s.ref.Stack)
	return nil
}

// verdict is the error, and so the exit code, of an operation that has come to its end (F7.14, E8.27–E8.29).
func (a *app) verdict(o *operationOptions, what string, result *engine.Result, err error) error {
	switch {
	case result == nil || err != nil && !result.Terminated:
		return err
	case result.Terminated:
		return errors.Join(&exitError{code: codeCancelled, cause: fmt.Errorf("%s cancelled", what)}, err)
	case result.Failed || result.Canceled:
		return errReported
	case o.expectNoChanges && result.HasChanges():
		return withCode(codeChanges, "no changes were expected for %s but changes were proposed", what)
	}
	return nil
}
