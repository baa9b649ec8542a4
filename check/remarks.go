package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// remarks are the findings of a check, in the order in which it makes them. The three kinds are kept apart because they
// arise interleaved, body by body, while messages of one kind belong together; the caller sorts them by place.
type remarks struct {
	types      diag.Diagnostics // of the look-ups of the types of resources, in the order of the nodes
	undeclared diag.Diagnostics // undeclared names
	outcomes   diag.Diagnostics // of the declarations, in the order of evaluation
}

// all returns all findings, behind those about several declarations or the program as a whole.
func (r *remarks) all(loose diag.Diagnostics) diag.Diagnostics {
	found := slices.Clone(loose)
	found.Add(r.types...)
	found.Add(r.undeclared...)
	found.Add(r.outcomes...)
	return found
}
