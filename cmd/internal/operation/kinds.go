package operation

import (
	"context"

	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Operation is one kind of operation on a stack, such as update or destroy.
type Operation struct {
	Kind     string // as history has it: update, refresh or destroy
	Planning string // what a preview says it does
	Applying string // what it says when it acts
	Question string
	program  bool            // it runs the program
	policies bool            // policy packs check it
	destroys bool            // policy packs check only what it destroys
	Entered  func(*Pipeline) // told of the pipeline before the operation runs; may be nil
	Run      func(ctx context.Context, o engine.Options, program ProgramFunc) (*engine.Result, error)
}

// ProgramFunc runs a program against a monitor.
type ProgramFunc = func(ctx context.Context, m monitor.Monitor) error

var (
	updateOperation = Operation{Kind: "update", Planning: "Previewing update", Applying: "Updating", program: true,
		policies: true,
		Question: "Do you want to perform this update?",
		Run: func(ctx context.Context, o engine.Options, program ProgramFunc) (*engine.Result, error) {
			return engine.Update(ctx, o, program)
		}}
	refreshOperation = Operation{Kind: "refresh", Planning: "Previewing refresh", Applying: "Refreshing",
		Question: "Do you want to perform this refresh?\nNo resources will be modified as part of this refresh; just your " +
			"stack's state will be.",
		Run: func(ctx context.Context, o engine.Options, program ProgramFunc) (*engine.Result, error) {
			return engine.Refresh(ctx, o, onlyIf(o.RunProgram, program))
		}}
	destroyOperation = Operation{Kind: "destroy", Planning: "Previewing destroy", Applying: "Destroying", destroys: true,
		Question: "Do you want to perform this destroy?",
		Run: func(ctx context.Context, o engine.Options, program ProgramFunc) (*engine.Result, error) {
			return engine.Destroy(ctx, o, onlyIf(o.RunProgram, program))
		}}
)

// onlyIf is a program, or none.
func onlyIf(wanted bool, program ProgramFunc) ProgramFunc {
	if !wanted {
		return nil
	}
	return program
}

// previewOperation is an update that is never applied.
var previewOperation = Operation{Kind: "preview", Planning: updateOperation.Planning, program: true,
	policies: true,
	Run:      updateOperation.Run}
