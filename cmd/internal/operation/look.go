package operation

import (
	"context"
	"errors"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Look calls look with a stack's pipeline and with the engine's options of a preview. Providers run as in an
// operation, with the stack's configuration, and their messages are shown; nothing is written. doing is the text of
// the progress line.
func Look(ctx context.Context, a *console.Console, o *Options, doing string,
	look func(context.Context, *Pipeline, engine.Options) error) error {
	ctx, done := a.Signals.Gentle(ctx)
	defer done()
	options := *o // without the options that are for the operation behind it
	options.Json, options.PreviewOnly = false, false
	var p *Pipeline
	op := Operation{Kind: "look", Planning: doing,
		Run: func(ctx context.Context, o engine.Options, _ ProgramFunc) (*engine.Result, error) {
			o.Serve = nil // no program or component is to talk to it
			return &engine.Result{Snapshot: o.Base}, look(ctx, p, o)
		}}
	p, err := prepare(ctx, a, &options, op, chosen(a, &options))
	//lint:ignore SA5001 what prepare returns with an error has to be closed too
	defer p.Close()
	if err != nil {
		return err
	}
	base, err := p.load(ctx)
	if err != nil {
		return err
	}
	a.Signals.Announce("")
	if _, err = p.operate(ctx, op, engine.Options{Base: base, DryRun: true}); errors.Is(err, context.Canceled) {
		return a.Signals.Ended()
	}
	return err
}
