package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Preview shows what `up` would do.
func Preview(ctx context.Context, a *console.Console, o *Options) error {
	return withPipeline(ctx, a, o, previewOperation, chosen(a, o), func(ctx context.Context, p *Pipeline) error {
		result, err := p.plan(ctx, previewOperation)
		return p.exitPlan("preview", o.ExpectNoChanges, result, err)
	})
}

// Up previews, asks and applies.
func Up(ctx context.Context, a *console.Console, o *Options) error {
	return PlanAndApply(ctx, a, o, updateOperation)
}

// Refresh reads every resource into the state.
func Refresh(ctx context.Context, a *console.Console, o *Options) error {
	op := refreshOperation
	op.program = o.Scope.runProgram
	return PlanAndApply(ctx, a, o, op)
}

// Destroy deletes everything.
func Destroy(ctx context.Context, a *console.Console, o *Options) error {
	op := destroyOperation
	op.program = o.Scope.runProgram
	return PlanAndApply(ctx, a, o, op)
}

// Run checks, plans and applies without asking. A missing stack is created once the checks have passed.
func Run(ctx context.Context, a *console.Console, o *Options) error {
	switch {
	case o.PlanOnly:
	case o.savePlan != "":
		return console.WithCode(console.CodeBadUsage, "--save-plan writes a plan, and without --plan-only run makes none")
	case o.importFile != "":
		return console.WithCode(console.CodeBadUsage,
			"--import-file writes what a plan would create, and without --plan-only run makes none")
	}
	o.unasked = true
	chosen := false
	open := func(_ context.Context, p *project.Project) (s *console.Stack, err error) {
		s, chosen, err = a.Stacks().OpenOrImagine(p, o.Stack)
		return s, err
	}
	return withPipeline(ctx, a, o, updateOperation, open, func(ctx context.Context, p *Pipeline) error {
		if o.PlanOnly {
			result, err := p.plan(ctx, updateOperation)
			return p.exitPlan("preview", o.ExpectNoChanges, result, err)
		}
		if err := p.canSeal(); err != nil {
			return err
		}
		if err := p.planAhead(ctx, updateOperation); err != nil {
			return err
		}
		if err := realize(ctx, a, p.Stack, chosen, o.LockTimeout); err != nil {
			return err
		}
		// There is no preview, since nobody would read it: each step is planned right before it is executed.
		result, err := p.apply(ctx, updateOperation)
		return exitError(a, o.ExpectNoChanges, "update", result, err)
	})
}

// planAhead plans an operation without a preview, if it must not change anything, has a limit of deletions, or has
// policy packs. Unexpected changes end it with exit code 7 before anything is done, unlike in the Pulumi CLI (F7.14).
func (p *Pipeline) planAhead(ctx context.Context, op Operation) error {
	expectNone := p.options.ExpectNoChanges && op.Kind == updateOperation.Kind
	packs, err := p.policyPacks()
	if err != nil {
		return err
	}
	// A violation in the plan must stop the operation before anything is changed.
	guarded := len(packs) > 0 && op.policies && !p.options.SkipPreview
	if !expectNone && !guarded && p.options.MaxDeletes == nil && !p.options.writeAliases {
		return nil
	}
	p.display.ahead = true
	result, err := p.plan(ctx, op)
	p.display.ahead = false
	if err = p.exitPlan(op.Kind, expectNone, result, err); err != nil {
		if fault := p.display.showDelayed(); fault != nil {
			return errors.Join(err, fault)
		}
		return err
	}
	p.display.delayed = nil
	return nil
}

// exitPlan is exitError for a plan. A plan that destroys more objects than --max-deletes allows is an error, too.
func (p *Pipeline) exitPlan(what string, expectNone bool, result *engine.Result, err error) error {
	if err := exitError(p.Console, expectNone, what, result, err); err != nil {
		return err
	}
	limit, blast := p.options.MaxDeletes, p.display.blast
	if limit == nil || blast.Destroyed() <= *limit {
		return nil
	}
	return console.WithCode(console.CodePlan, "the plan destroys %s (%s), and --max-deletes allows %d: nothing was changed\n"+
		"raise --max-deletes if this is intended", diag.Count(blast.Destroyed(), "object"), blast.String(), *limit)
}

// chosen opens the stack that the options choose.
func chosen(a *console.Console, o *Options) opener {
	return func(ctx context.Context, p *project.Project) (*console.Stack, error) {
		switch o.Command {
		case "up", "preview", "plan": // a missing stack has nothing to refresh or destroy
			return a.Stacks().OpenOrOffer(ctx, p, o.Stack)
		}
		return a.Stacks().Open(ctx, p, o.Stack)
	}
}

// PlanAndApply runs `up` and similar commands (E7.12): a preview, a question, the operation.
func PlanAndApply(ctx context.Context, a *console.Console, o *Options, op Operation) error {
	if o.SkipPreview && o.PreviewOnly {
		return console.WithCode(console.CodeBadUsage, "--skip-preview and --preview-only cannot be used together")
	}
	if o.Strict && (o.SkipPreview || o.plan != "") {
		return console.WithCode(console.CodeBadUsage, "--strict binds to the preview: leave out --skip-preview and --plan")
	}
	if err := MayAsk(a, o); err != nil {
		if _, _, missing := a.OpenProject(a.World.Dir); op.Kind != "destroy" && errors.Is(missing, project.ErrNotFound) {
			return missing // in an empty folder this comes first
		}
		return err
	}
	return withPipeline(ctx, a, o, op, chosen(a, o), func(ctx context.Context, p *Pipeline) error {
		return p.planAndApply(ctx, op)
	})
}

func (p *Pipeline) planAndApply(ctx context.Context, op Operation) error {
	a, o := p.Console, p.options
	if !o.PreviewOnly {
		if err := p.canSeal(); err != nil {
			return err
		}
	}
	expectNone := o.ExpectNoChanges && op.Kind == updateOperation.Kind
	if o.SkipPreview {
		if err := p.planAhead(ctx, op); err != nil {
			return err
		}
	} else {
		outline := view.NewOutline(p.display.viewOptions(op.Planning), p.sink.masker)
		if !o.Yes {
			p.display.listen = outline.Event
		}
		result, err := p.plan(ctx, op)
		p.display.listen = nil
		if o.PreviewOnly {
			return p.exitPlan("preview", o.ExpectNoChanges, result, err)
		}
		if err := p.exitPlan(op.Kind, expectNone, result, err); err != nil {
			return err
		}
		if o.Strict { // E7.63
			p.bound = result.Plan
		}
		if !o.Yes && (a.World.AsPulumi || !nothingToDo(result, outline)) {
			question := p.display.blast.Question() + op.Question
			if err := a.Prompt().ConfirmDetails(question, p.display.details(outline)); err != nil {
				return err
			}
		}
	}
	result, err := p.apply(ctx, op)
	if err := exitError(a, o.ExpectNoChanges, op.Kind, result, err); err != nil {
		return err
	}
	if kept := p.pending.kept; len(kept) > 0 {
		return p.pending.unresolved(kept, "Everything else was destroyed.")
	}
	if op.Kind == "destroy" {
		return afterDestroy(ctx, a, o, p, len(result.Snapshot.Resources))
	}
	return nil
}

// nothingToDo reports whether a plan changes no resource and no output. Such an operation asks nothing: it only records
// itself, and options that no provider sees, such as protect.
func nothingToDo(result *engine.Result, plan *view.Outline) bool {
	changed := func(o view.Output) bool { return o.Sign != " " }
	return !result.HasChanges() && result.Changes[engine.OpDiscard] == 0 && !slices.ContainsFunc(plan.Outputs(), changed)
}

// MayAsk returns an error if the operation would have to ask but there is no terminal.
func MayAsk(a *console.Console, o *Options) error {
	if !o.Yes && !o.SkipPreview && !o.PreviewOnly && !a.Interactive() {
		return console.WithCode(console.CodeUsage,
			"--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode")
	}
	return nil
}

// afterDestroy removes the empty stack if requested, and otherwise shows how to (E7.39). left is the number of
// remaining resources after a partial destruction.
func afterDestroy(ctx context.Context, a *console.Console, o *Options, p *Pipeline, left int) error {
	s := p.Stack
	if !o.Remove {
		if !o.Json && left == 0 {
			fmt.Fprintf(a.Streams.Err,
				"The resources in the stack have been deleted, but the history and configuration associated with the stack are "+
					"still maintained.\nTo remove the stack completely, run `yamlhost stack rm %s`.\n", s.Ref.Stack)
		}
		return nil
	}
	if err := s.Backend.Remove(ctx, s.Ref, backend.RemoveOptions{}); err != nil {
		return err
	}
	if err := backend.SelectStack(a.World.PulumiHome(), s.Project.Name.Text, s.Project.Path, s.Backend.URL(), ""); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "The resources in the stack have been deleted, and the stack '%s' has been removed.\n",
		s.Ref.Stack)
	return nil
}

// exitError returns the error, and so the exit code, of a finished operation (F7.14, E8.27–E8.29). With expectNone,
// changes are an error.
func exitError(a *console.Console, expectNone bool, what string, result *engine.Result, err error) error {
	switch {
	case result == nil || err != nil && !result.Terminated:
		return err
	case result.Terminated:
		return errors.Join(&console.ExitError{Code: console.CodeCancelled, Cause: fmt.Errorf("%s cancelled", what)}, err)
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

// Look calls look with a stack's pipeline and with the engine's options of a preview. Providers run as in an
// operation, with the stack's configuration, and their messages are shown; nothing is written. doing is the text of
// the progress line.
func Look(ctx context.Context, a *console.Console, o *Options, doing string,
	look func(context.Context, *Pipeline, engine.Options) error) error {
	options := *o // without the options for the operation that follows
	options.Json, options.PreviewOnly = false, false
	op := Operation{Kind: "look", Planning: doing}
	return withPipeline(ctx, a, &options, op, chosen(a, &options), func(ctx context.Context, p *Pipeline) error {
		op.Run = func(ctx context.Context, o engine.Options, _ engine.Program) (*engine.Result, error) {
			o.Serve = nil // not reachable for programs or components
			return &engine.Result{Snapshot: o.Base}, look(ctx, p, o)
		}
		base, _, err := p.load(ctx)
		if err != nil {
			return err
		}
		a.Signals.Announce("")
		if _, err = p.operate(ctx, op, engine.Options{Base: base, DryRun: true}); errors.Is(err, context.Canceled) {
			return a.Signals.Ended()
		}
		return err
	})
}
