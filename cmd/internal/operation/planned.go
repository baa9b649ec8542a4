package operation

import (
	"context"
	"errors"
	"slices"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// planned is the stage before an operation changes anything. It is made by a plan, or by the decision that none is
// needed.
type planned struct {
	on      *Checked
	result  *engine.Result     // of the plan; nil without one
	shown   *shownPhase        // nil without a plan
	outline *view.Outline      // nil unless requested
	strict  *engine.UpdatePlan // that the operation has to keep to; nil for none
	aliased bool               // the plan has written aliases into the program, and is out of date
	close   func()             // ends Checked if it was made to plan again
}

// planning describes a plan.
type planning struct {
	what       string             // is planned, in messages
	expectNone bool               // changes are an error
	ahead      bool               // the plan decides whether the operation runs, and is shown only if it does not
	outlined   bool               // its outline is wanted
	loaded     *backend.Loaded    // the state, if it is read already
	listen     func(engine.Event) // called with every event once it is shown; may be nil
}

// settle decides about a plan and the error of its preview: it returns an error if the operation may not run. If the
// plan has written aliases into the program, the result is made of the written program.
func (p *planned) settle(ctx context.Context, how planning, err error) (*planned, error) {
	if err == nil && p.aliased {
		return p.again(ctx, how)
	}
	if err = p.refusal(how, err); err != nil {
		if fault := p.showDelayed(); fault != nil {
			return p, errors.Join(err, fault)
		}
	}
	return p, err
}

// again plans the program into which the plan has written aliases.
func (p *planned) again(ctx context.Context, how planning) (*planned, error) {
	if err := p.showDelayed(); err != nil {
		return p, err
	}
	next, err := p.on.reopen(ctx)
	if err != nil {
		return p, err
	}
	if how.ahead {
		p, err = next.planAhead(ctx)
	} else {
		p, err = next.preview(ctx, how)
		p, err = p.settle(ctx, how, err)
	}
	p.close = next.Close
	return p, err
}

// showDelayed shows the streams of a plan ahead that no operation follows.
func (p *planned) showDelayed() (err error) {
	if p.shown == nil {
		return nil
	}
	for _, show := range p.shown.delayed {
		err = errors.Join(err, show())
	}
	return err
}

// planOnly plans, and ends the command.
func (s *Checked) planOnly(ctx context.Context) error {
	how := planning{what: "preview", expectNone: s.options.ExpectNoChanges}
	p, err := s.preview(ctx, how)
	p, err = p.settle(ctx, how, err)
	p.close()
	return err
}

// planAhead plans an operation without a preview, if it must not change anything, has a limit of deletions, or has
// policy packs. Unexpected changes end it with exit code 7 before anything is done, unlike in the Pulumi CLI (F7.14).
func (s *Checked) planAhead(ctx context.Context) (*planned, error) {
	unplanned := &planned{on: s, close: func() {}}
	packs := s.policyPacks()
	// A violation in the plan must stop the operation before anything is changed.
	guarded := len(packs) > 0 && s.op.policies && !s.options.SkipPreview
	if !s.expectsNone() && !guarded && s.options.MaxDeletes == nil && !s.options.writeAliases {
		return unplanned, nil
	}
	how := planning{what: s.op.Kind, expectNone: s.expectsNone(), ahead: true}
	p, err := s.preview(ctx, how)
	return p.settle(ctx, how, err)
}

// planAgreed plans an operation, and asks whether it may run.
func (s *Checked) planAgreed(ctx context.Context) (*planned, error) {
	o := s.options
	if o.SkipPreview {
		return s.planAhead(ctx)
	}
	how := planning{what: s.op.Kind, expectNone: s.expectsNone(), outlined: !o.Yes}
	p, err := s.preview(ctx, how)
	if p, err = p.settle(ctx, how, err); err != nil {
		return p, err
	}
	if o.Strict { // E7.63
		p.strict = p.result.Plan
	}
	if !o.Yes && (s.Console.World.AsPulumi || !nothingToDo(p.result, p.outline)) {
		question := p.shown.blast.Question() + s.op.Question
		return p, s.Console.Prompt().ConfirmDetails(question, p.on.display.details(p.outline))
	}
	return p, nil
}

// expectsNone reports whether changes are an error before the operation has done anything.
func (s *Checked) expectsNone() bool {
	return s.options.ExpectNoChanges && s.op.Kind == updateOperation.Kind
}

// nothingToDo reports whether a plan changes no resource and no output. Such an operation asks nothing: it only records
// itself, and options that no provider sees, such as protect.
func nothingToDo(result *engine.Result, plan *view.Outline) bool {
	changed := func(o view.Output) bool { return o.Sign != " " }
	return !result.HasChanges() && result.Changes[engine.OpDiscard] == 0 &&
		!slices.ContainsFunc(plan.Outputs(), changed)
}

// refusal is exitError for a plan. A plan that destroys more objects than --max-deletes allows is an error, too.
func (p *planned) refusal(how planning, err error) error {
	if err := exitError(p.on.Console, how.expectNone, how.what, p.result, err); err != nil {
		return err
	}
	limit := p.on.options.MaxDeletes
	if limit == nil || p.shown.blast.Destroyed() <= *limit {
		return nil
	}
	return console.WithCode(console.CodePlan, "the plan destroys %s (%s), and --max-deletes allows %d: nothing was changed\n"+
		"raise --max-deletes if this is intended", diag.Count(p.shown.blast.Destroyed(), "object"), p.shown.blast.String(),
		*limit)
}

// preview runs the operation in the engine without changing anything.
func (s *Checked) preview(ctx context.Context, how planning) (*planned, error) {
	p := &planned{on: s, close: func() {}}
	x := &execution{on: s, listen: how.listen, engine: engine.Options{DryRun: true},
		phase: phase{name: s.op.Planning, plan: true, final: s.document, ahead: how.ahead}}
	if how.outlined {
		p.outline = view.NewOutline(s.display.viewOptions(s.op.Planning), s.sink.masker)
		x.listen = p.outline.Event
	}
	if s.Stack.Missing {
		if _, err := pendingAnswersOf(s.options.ResolvePending, nil); err != nil {
			return p, err
		}
	} else {
		loaded := how.loaded
		if loaded == nil {
			var err error
			if loaded, err = s.load(ctx); err != nil {
				return p, err
			}
		}
		sound, err := s.sound(loaded)
		if err != nil {
			return p, err
		}
		if err := s.lossHolds(s.document); err != nil {
			return p, err
		}
		if x.engine.Base = sound; len(loaded.Held) == 0 { // otherwise the pending operations are those of the other run
			if x.engine.Base, err = s.pending.resolveAll(ctx, sound, s.op); err != nil {
				return p, err
			}
		}
		if x.watched, err = s.Stack.Backend.Watch(ctx, s.Stack.Ref, s.beginRecord()); err != nil {
			return p, err
		}
	}
	s.Console.Signals.Announce("")
	var err error
	p.result, err = x.run(ctx)
	p.shown, p.aliased = x.shown, x.aliased
	status := "succeeded"
	if err != nil || p.result.Failed || p.result.Canceled {
		status = "failed"
	}
	x.watched.Close(status)
	return p, err
}

// load reads the stack's state. A plan alone does not mind that another run is changing it, while a plan before an
// operation waits for the stack's lock as the operation does.
func (p *Checked) load(ctx context.Context) (loaded *backend.Loaded, err error) {
	err = awaitLock(ctx, p.Console.Streams.Err, p.Stack, p.options.LockTimeout, func() error {
		loaded, err = p.Stack.Backend.Load(ctx, p.Stack.Ref, p.StackSecrets.Opener)
		if err == nil && len(loaded.Held) > 0 && !p.document {
			return &backend.LockedError{Ref: p.Stack.Ref, Locks: loaded.Held}
		}
		return err
	})
	return loaded, console.ExplainSecret(err, p.Stack.Ref.Stack)
}

// sound returns a state in a sound order, and warns of a run that is changing it and of what had to be mended.
func (p *Checked) sound(loaded *backend.Loaded) (*state.Snapshot, error) {
	if len(loaded.Held) > 0 {
		warnOfHolder(p.Console, loaded)
	} else {
		warnOfRecovery(p.Console, loaded.Recovered, false)
	}
	sound, moved, err := loaded.Snapshot.InOrder()
	if err != nil {
		return nil, adviseRepair(err)
	}
	warnOfOrder(p.Console, loaded.Altered, moved)
	return sound, nil
}
