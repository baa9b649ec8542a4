package eval

import (
	"context"

	"github.com/yamlhost/yamlhost/schema"
)

// converter makes of values what providers expect, inside types of other packages too (F8.7).
func (e *evaluator) converter(ctx context.Context) schema.Converter {
	return schema.Converter{
		Known:  func(t schema.Type) schema.Type { return e.program.Known(ctx, t) },
		Getenv: e.options.Getenv,
	}
}
