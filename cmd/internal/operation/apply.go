package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// applied is the stage after an operation: state and history are written.
type applied struct {
	on     *Checked
	result *engine.Result // nil if the operation did not begin
}

// apply runs the operation in a session, and writes state and history. The result has what was done before an error.
func (p *planned) apply(ctx context.Context) (_ *applied, err error) {
	done := &applied{on: p.on}
	session, err := beginSession(ctx, p.on.Console.Streams.Err, p.on.Stack, p.on.options.LockTimeout,
		backend.BeginOptions{Command: p.on.op.Kind, Secrets: p.on.StackSecrets, Open: p.on.StackSecrets.Opener,
			Record: p.on.beginRecord()})
	if err != nil {
		return done, adviseRepair(console.ExplainSecret(err, p.on.Stack.Ref.Stack))
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	warnOfRecovery(p.on.Console, session.Recovered(), true)
	warnOfOrder(p.on.Console, session.Altered(), session.Moved())
	if err := p.on.lossHolds(false); err != nil {
		return done, err
	}
	base, err := p.on.pending.begin(ctx, session, p.on.op)
	if err != nil {
		return done, console.ExplainSecret(err, p.on.Stack.Ref.Stack)
	}
	p.on.Console.Signals.Announce("Terminating immediately may lose track of resources that are being created.")
	started := p.on.Console.Now()
	follows := p.result != nil
	x := &execution{on: p.on, phase: phase{name: p.on.op.Applying, final: true, after: follows}, follows: follows,
		strict: p.strict, watched: session.Watched(), engine: engine.Options{Base: base, Journal: session}}
	result, err := x.run(ctx)
	if err != nil {
		return done, console.ExplainSecret(err, p.on.Stack.Ref.Stack)
	}
	done.result = result
	final := result.Snapshot
	if result.Terminated {
		final = nil // the journal has everything, also pending operations
	}
	if err := p.on.lossEnds(session, result); err != nil {
		return done, err
	}
	record := finishRecord(p.on.beginRecord(), result, started, p.on.Console.Now())
	if !p.on.Console.World.AsPulumi {
		record.Own = change.Kept{Because: p.on.display.reasons(mostRecorded), Interrupted: result.Interrupted,
			Took: result.Duration.Milliseconds()}.Encode()
	}
	if err := Commit(ctx, p.on.Console, p.on.Stack, session, final, record); err != nil {
		return done, console.ExplainSecret(err, p.on.Stack.Ref.Stack)
	}
	return done, nil
}

// conclude reports what an operation has left, and removes the stack after a destruction if that was requested.
func (d *applied) conclude(ctx context.Context) error {
	if kept := d.on.pending.kept; len(kept) > 0 {
		return d.on.pending.unresolved(kept, "Everything else was destroyed.")
	}
	if d.on.op.Kind == "destroy" {
		return d.afterDestroy(ctx, len(d.result.Snapshot.Resources))
	}
	return nil
}

// afterDestroy removes the empty stack if requested, and otherwise shows how to (E7.39). left is the number of
// remaining resources after a partial destruction.
func (d *applied) afterDestroy(ctx context.Context, left int) error {
	a, o, s := d.on.Console, d.on.options, d.on.Stack
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
	if err := a.Stacks().Unselect(s.Project, s.Backend); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "The resources in the stack have been deleted, and the stack '%s' has been removed.\n",
		s.Ref.Stack)
	return nil
}
