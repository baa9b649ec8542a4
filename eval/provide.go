package eval

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Constructed is an instance of a component.
type Constructed struct {
	URN     urn.URN
	Outputs value.Value // a map; each output carries its dependencies
}

// Construct creates an instance of a component for another program, which may be in any language (L1.35): it registers
// the component with request, evaluates its body and registers its outputs. The request's inputs come from the other
// program; Construct sets its type and kind. The options' directories are the other program's (L3.55).
func Construct(ctx context.Context, c *check.Component, m monitor.Monitor, request monitor.RegisterRequest,
	o Options) (Constructed, diag.Diagnostics) {
	e := newEvaluator(c.Body, m, o)
	ctx = e.budget.paying(ctx)
	if err := e.loadInfo(ctx); err != nil {
		return Constructed{}, diag.Diagnostics{{Code: diag.OperationFailed,
			Summary: fmt.Sprintf("cannot ask which deployment this is: %s", err)}}
	}
	e.stack = urn.New(e.info.Stack, e.info.Project, "", urn.RootStackType, e.info.Project+"-"+e.info.Stack)
	e.root = newFrame(c.Body, request.Parent)

	name := ast.Literal{Value: request.Name, Range: c.Decl.Name.Range}
	r := &check.Resource{Decl: &ast.Resource{Name: name}, Token: c.Token, LogicalName: request.Name, Component: c,
		Schema: c.Schema}
	inputs, err := e.converter(ctx).Convert(c.Schema.Inputs, request.Inputs)
	if err != nil {
		return Constructed{}, conversionFault(request.Name, err, propertyRanges{}, c.Decl.Name.Range).findings
	}
	request.Type, request.Custom, request.Remote, request.Inputs = c.Token, false, false, inputs
	request.SourcePosition = e.options.position(c.Decl.Name.Range)
	s := &instance{scope: scope{e: e, frame: e.root}, resource: r}
	made, f := s.provide(ctx, request)
	findings := e.notes.sorted()
	if f != nil {
		if len(f.findings) == 0 {
			f = blame(diag.OperationFailed, c.Decl.Name.Range, "", "a resource of `%s` could not be created", request.Name)
		}
		return Constructed{}, append(f.findings, findings...)
	}
	return made, findings
}

// provide registers a component for another program and evaluates its body.
func (s *instance) provide(ctx context.Context, request monitor.RegisterRequest) (Constructed, *fault) {
	response, err := registerResource(ctx, s.e.monitor, request)
	if err != nil {
		return Constructed{}, registrationFault(s.resource, err, request.Inputs, propertyRanges{})
	}
	if _, f := s.construct(ctx, response.URN, request.Inputs); f != nil {
		return Constructed{}, f
	}
	return Constructed{URN: response.URN, Outputs: s.e.resources.get(response.URN).outputs}, nil
}
