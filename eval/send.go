package eval

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// storable returns a fault for a value that neither the state nor a message to a provider can hold (F1.10), for
// instance from a file, a function or configuration. written has the places of the top-level properties.
func storable(what string, v value.Value, written propertyRanges, otherwise diag.Range) *fault {
	err := value.Storable(v)
	if err == nil {
		return nil
	}
	rng := otherwise
	if f, ok := errors.AsType[*value.StorableError](err); ok && len(f.Path) > 0 {
		rng = written.of(f.Path[0].Key, otherwise)
	}
	return blame(diag.ReservedKey, rng,
		"select the part that is needed, or pass the value on as a string with fn::toJSON",
		"%s: %s", what, err)
}

// converter converts values for providers, also inside types of other packages (F8.7).
func (e *evaluator) converter(ctx context.Context) schema.Converter {
	return schema.Converter{
		Known:  func(t schema.Type) schema.Type { return e.program.Known(ctx, t) },
		Getenv: e.options.Getenv,
	}
}

// hydrate looks up the resources that inputs refer to and that the program did not register itself: the ones in the
// answer of a remote component. Other Pulumi hosts read such a resource as soon as they meet it (L5.38), and that makes
// the engine start the resource's provider. This host does the same, to get equal states. A reference that cannot be
// looked up is passed on unchanged, and the engine decides.
func (e *evaluator) hydrate(ctx context.Context, inputs value.Value, rng diag.Range) {
	inputs.Any(func(v value.Value) bool {
		if ref, ok := v.AsResource(); ok && e.resources.get(ref.URN) == nil {
			_, _ = e.lookup(ctx, ref, rng)
		}
		return false
	})
}

// sendable converts properties for their provider. object has their types; nil if unknown. whole still has the nulls,
// which are not sent but carry dependencies (L3.13).
func sendable(c schema.Converter, what string, object *schema.Object, v value.Value, written propertyRanges,
	rng diag.Range) (whole, sent value.Value, _ *fault) {
	if object != nil {
		converted, err := c.Convert(object, v)
		if err != nil {
			return value.Null, value.Null, conversionFault(what, err, written, rng)
		}
		v = converted
	}
	sent = withoutNulls(v)
	return v, sent, storable(what, sent, written, rng)
}

// propertyRanges holds the positions of properties in a literal map or an expression. The zero value has none.
type propertyRanges struct {
	list []ast.Property
	expr ast.Expr
}

// of returns the range of the value of a property, or otherwise.
func (p propertyRanges) of(name string, otherwise diag.Range) diag.Range {
	for _, property := range slices.Backward(p.list) {
		if property.Name.Value == name {
			return property.Value.Range()
		}
	}
	if m, ok := p.expr.(*ast.Map); ok {
		for _, entry := range slices.Backward(m.Entries) {
			if key, ok := entry.Key.(*ast.String); ok && key.Value == name {
				return entry.Value.Range()
			}
		}
	}
	return otherwise
}

// refusal returns the fault for an error of the engine that needs no further text: a reported error, that of a
// transform, or the refusal of a provider, with each reason at its property. It returns nil for other errors.
func refusal(err error, code diag.Code, what string, inputs value.Value, written propertyRanges,
	otherwise diag.Range) *fault {
	if f := cmp.Or(silent(err), faultOf(err)); f != nil {
		return f
	}
	refused, _ := errors.AsType[*monitor.FailuresError](err)
	if refused == nil {
		return nil
	}
	var all *fault
	for _, failure := range refused.Failures {
		reason, rng := redact(failure.Reason, inputs), otherwise
		if failure.Property != "" {
			reason = failure.Property + ": " + reason
			top, err := value.ParsePath(failure.Property)
			if err == nil && len(top) > 0 {
				rng = written.of(top[0].Key, otherwise)
			}
		}
		all = all.and(blame(code, rng, "", "%s: %s", what, reason))
	}
	return all
}

// conversionFault returns the fault for a value that cannot be sent to a provider (L8.40).
func conversionFault(what string, err error, written propertyRanges, otherwise diag.Range) *fault {
	rng, text := otherwise, err.Error()
	if c, ok := err.(*schema.ConvertError); ok && len(c.Path) > 0 {
		rng = written.of(c.Path[0].Key, otherwise)
	}
	return blame(diag.NotAssignable, rng, "", "%s: %s", what, text)
}

// redact hides every secret of inputs in a message that came from outside (L9.34).
func redact(message string, inputs value.Value) string { return mask.New(inputs).Hide(message) }
