package apply

import (
	"fmt"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Import holds the options of one resource in an import without a program.
type Import struct {
	Component bool        // it has no provider
	Inputs    value.Value // a map: values that the provider does not return; null for none
	Outputs   value.Value // a map: the resource's outputs, used without reading it; null to read it
}

// Import executes an import step without a program; see Take.
func (x *Executor) Import(s plan.Step, reg *resources.Registration, i *Import) (*state.Resource, error) {
	return x.take(&execution{Step: s, command: i}, reg)
}

// performCommandImport performs an import without a program: the provider reads the resource and checks the inputs that
// it returned; failures of the check are only warnings (E7.52–E7.55).
func (x *Executor) performCommandImport(s *execution) (*state.Resource, error) {
	i := s.command
	if i.Component || i.Outputs.Is(value.KindMap) {
		n := s.New.Clone()
		n.Created = x.Timestamp()
		n.Modified = n.Created
		n.ImportID = ""
		n.Inputs, n.Outputs = i.Inputs.MapOrEmpty(), i.Outputs.MapOrEmpty()
		return n, nil
	}
	n, err := x.performImport(&execution{Step: plan.Step{Op: s.Op, URN: s.URN, Type: s.Type, New: s.New}})
	if n == nil {
		return nil, err
	}
	n.ImportID = "" // E7.54
	n.Inputs = supplemented(n.Inputs, i.Inputs)
	p, broken := x.Providers.Of(n)
	if broken != nil {
		return nil, broken
	}
	r, checking := p.Check(x.Calls, provider.CheckRequest{Subject: provider.SubjectOf(n.URN), Olds: n.Inputs,
		News: n.Inputs, RandomSeed: x.Seed(), AllowUnknowns: x.DryRun})
	if checking != nil {
		return nil, checking
	}
	if len(r.Failures) > 0 { // E7.53
		x.Report.Tell(Note{URN: n.URN, Severity: diag.Warning,
			Text: fmt.Sprintf("One or more imported inputs failed to validate. "+
				"This is almost certainly a bug in the `%s` provider. The import will still proceed, but you will need "+
				"to edit the generated code after copying it into your program.", n.URN.Package())})
		for _, f := range r.Failures {
			text := fmt.Sprintf("%s resource '%s' has a problem: %s", n.Type, n.URN.Name(), f.Reason)
			if f.Property != "" {
				text = fmt.Sprintf("%s resource '%s': property %s has a problem: %s", n.Type, n.URN.Name(), f.Property, f.Reason)
			}
			x.Report.Tell(Note{URN: n.URN, Severity: diag.Warning, Text: text, Property: f.Property})
		}
	}
	return n, err
}

// supplemented returns the values in read, with missing ones filled in from more. Values that are secret in more are
// secret in the result.
func supplemented(read, more value.Value) value.Value {
	if !more.Is(value.KindMap) {
		return read
	}
	for i, key := range more.Keys() {
		part, ok := read.Lookup(key)
		switch {
		case !ok || part.IsNull():
			read = read.With(key, more.At(i))
		case more.At(i).IsSecret() && !part.IsSecret():
			read = read.With(key, part.Secret())
		}
	}
	return read
}
