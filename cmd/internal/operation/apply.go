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
	*planned
	result *engine.Result // nil if the operation did not begin
}

// apply runs the operation in a session, and writes state and history. The result has what was done before an error.
func (p *planned) apply(ctx context.Context) (_ *applied, err error) {
	done := &applied{planned: p}
	session, err := beginSession(ctx, p.Console.Streams.Err, p.Stack, p.options.LockTimeout,
		backend.BeginOptions{Command: p.op.Kind, Secrets: p.StackSecrets, Open: p.StackSecrets.Opener,
			Record: p.beginRecord()})
	if err != nil {
		return done, adviseRepair(console.ExplainSecret(err, p.Stack.Ref.Stack))
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	warnOfRecovery(p.Console, session.Recovered(), true)
	warnOfOrder(p.Console, session.Altered(), session.Moved())
	if err := p.lossHolds(false); err != nil {
		return done, err
	}
	base, err := p.pending.begin(ctx, session, p.op)
	if err != nil {
		return done, console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	p.Console.Signals.Announce("Terminating immediately may lose track of resources that are being created.")
	started := p.Console.Now()
	x := &execution{Checked: p.Checked, phase: phase{name: p.op.Applying, final: true}, follows: p.result != nil,
		strict: p.strict, watched: session.Watched(), engine: engine.Options{Base: base, Journal: session}}
	result, err := x.run(ctx)
	if err != nil {
		return done, console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	done.result = result
	final := result.Snapshot
	if result.Terminated {
		final = nil // the journal has everything, also pending operations
	}
	if err := p.lossEnds(session, result); err != nil {
		return done, err
	}
	record := finishRecord(p.beginRecord(), result, started, p.Console.Now())
	if !p.Console.World.AsPulumi {
		record.Own = change.Keep(p.display.reasons(mostRecorded))
	}
	if err := Commit(ctx, p.Console, p.Stack, session, final, record); err != nil {
		return done, console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	return done, nil
}

// conclude reports what an operation has left, and removes the stack after a destruction if that was requested.
func (d *applied) conclude(ctx context.Context) error {
	if kept := d.pending.kept; len(kept) > 0 {
		return d.pending.unresolved(kept, "Everything else was destroyed.")
	}
	if d.op.Kind == "destroy" {
		return d.afterDestroy(ctx, len(d.result.Snapshot.Resources))
	}
	return nil
}

// afterDestroy removes the empty stack if requested, and otherwise shows how to (E7.39). left is the number of
// remaining resources after a partial destruction.
func (d *applied) afterDestroy(ctx context.Context, left int) error {
	a, o, s := d.Console, d.options, d.Stack
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
