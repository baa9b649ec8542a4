package monitor

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
)

// HookRegistrar is a Monitor that lets programs take part in operations on resources (E2.75). A Monitor that does not
// implement it has no hooks.
type HookRegistrar interface {
	// RegisterHook announces a hook, before resources name it. It is called at any time until the program has waited for
	// the engine (SignalAndWaitForShutdown), also several times at once.
	RegisterHook(ctx context.Context, h Hook) error
}

// Hook runs beside an operation on a resource.
type Hook struct {
	Name         string
	OnDryRun     bool // in previews too
	IgnoreErrors bool // a fault is a warning
	// OnError makes it a hook that is asked, after a failure, whether to try again.
	OnError bool
	// Run runs it. args is a map that describes the operation: urn, id, name, type, newInputs, oldInputs,
	// newOutputs, oldOutputs, and of an error hook failedOperation and errors. retry counts for an error hook only.
	Run func(ctx context.Context, args value.Value) (retry bool, err error)
}
