//go:build lean

package environments

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Lean is why this edition opens no environments; empty if it does.
const Lean = "this is the lean edition of yamlhost, which opens no environments"

func refused(src *diag.Source) diag.Diagnostics {
	return diag.Diagnostics{{Code: diag.BadEnvironment, Subject: diag.NewRange(src, 0, 0), Summary: Lean,
		Detail: "use the default edition"}}
}

// Section opens nothing in this edition.
func (o Options) Section(_ context.Context, settings *diag.Source) (*Environment, diag.Diagnostics) {
	return nil, refused(settings)
}

// document opens nothing in this edition.
func (o Options) document(_ context.Context, _ string, src *diag.Source) (*Environment, diag.Diagnostics) {
	return nil, refused(src)
}
