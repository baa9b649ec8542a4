package eval

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// hydrate looks up the resources that inputs refer to and that the program did not register itself: the ones in the
// answer of a remote component. Other Pulumi hosts read such a resource as soon as they meet it (L5.38), and that
// makes the engine start the resource's provider. This host does the same, to get equal states. A reference that
// cannot be looked up is passed on as it is: the engine decides whether it may be used.
func (e *evaluator) hydrate(ctx context.Context, inputs value.Value, rng diag.Range) {
	inputs.Any(func(v value.Value) bool {
		if ref, ok := v.AsResource(); ok && e.resources.get(ref.URN) == nil {
			_, _ = e.lookup(ctx, ref, rng)
		}
		return false
	})
}
