package eval

import (
	"context"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// replacedSuffix marks the provider of types with onCodeChange: replace. The same source's other types have a
// provider without it.
const replacedSuffix = "#replace"

// dynamicProvider registers the provider of a dynamic type (D15) and returns the reference to it. It registers one
// provider per source, so that the state holds the code of each source once. Types whose objects are replaced when
// their code changes share a separate provider, which keeps the old code until the old objects are deleted.
func (e *evaluator) dynamicProvider(ctx context.Context, d *check.Dynamic) (string, *fault) {
	name := d.Path
	if d.Replaces() {
		name += replacedSuffix
	}
	return e.dynamic.Get(name, func() (string, *fault) { return e.registerDynamic(ctx, name, d) })
}

func (e *evaluator) registerDynamic(ctx context.Context, name string, d *check.Dynamic) (string, *fault) {
	rng := d.Decl.Name.Range
	if d.Code == nil {
		return "", blame(diag.OperationFailed, rng, "", "this engine cannot run %s: dynamic types need the engine of yamlhost",
			d.Path)
	}
	response, err := registerResource(ctx, e.monitor, monitor.RegisterRequest{
		Type: "pulumi:providers:" + program.DynamicNamespace, Name: name, Custom: true, Parent: e.stack,
		Inputs: program.DynamicInputs(e.root.body.Dynamic, d), SourcePosition: e.options.position(rng),
	})
	if err != nil {
		return "", failure(err, diag.OperationFailed, rng, "registering the provider of `%s` failed: %s", d.Decl.Name.Value, err)
	}
	return providerReference(&value.ResourceRef{URN: response.URN, ID: response.ID}), nil
}
