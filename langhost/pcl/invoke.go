package pcl

import (
	"context"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/schema"
)

// invocation is a call of a provider function.
type invocation struct {
	token     string
	arguments hclsyntax.Expression // a map; nil for none
	options   *hclsyntax.ObjectConsExpr
}

// invoke returns a call of a provider function (L6.C). path selects a part of the result.
func (m *module) invoke(e *hclsyntax.FunctionCallExpr, path string) node {
	call, ok := m.invocation(e)
	if !ok {
		return scalar("null")
	}
	body := &mapping{}
	body.add("function", scalar(literal.Scalar(call.token)))
	if object, ok := call.arguments.(*hclsyntax.ObjectConsExpr); call.arguments != nil &&
		(!ok || len(object.Items) > 0) {
		body.add("arguments", m.value(call.arguments))
	}
	if call.options != nil {
		options := &mapping{}
		for _, item := range call.options.Items {
			if name, ok := m.invokeOption(item); ok {
				options.add(name, m.value(item.ValueExpr))
			}
		}
		body.add("options", options)
	}
	if path != "" {
		body.add("return", scalar(literal.Scalar(strings.TrimPrefix(path, "."))))
	}
	return &mapping{[]entry{{key: "fn::invoke", value: body}}}
}

var invokeOptions = map[string]string{
	"provider": "provider", "parent": "parent", "version": "version", "dependsOn": "dependsOn",
	"pluginDownloadUrl": "pluginDownloadURL", "pluginDownloadURL": "pluginDownloadURL",
}

func (m *module) invokeOption(item hclsyntax.ObjectConsItem) (string, bool) {
	key, _ := literalKey(item.KeyExpr)
	name := invokeOptions[key]
	if name == "" {
		m.fail(item.KeyExpr.Range(), "", "the option `%s` of a function call is not understood", key)
	}
	return name, name != ""
}

// invocation parses invoke(token, {arguments}, {options}), or a call with positional arguments (conformance
// l2-invoke-multi-argument).
func (m *module) invocation(e *hclsyntax.FunctionCallExpr) (call invocation, ok bool) {
	if len(e.Args) == 0 {
		m.fail(e.Range(), "", "invoke needs the token of a function")
		return call, false
	}
	written, literal := literalText(e.Args[0])
	if !literal {
		m.fail(e.Args[0].Range(), "", "the token of a function must be a literal string")
		return call, false
	}
	call.token = m.used(written)
	rest := e.Args[1:]
	positions := m.options.positional(m.ctx, written)
	if len(positions) > 0 {
		named := &hclsyntax.ObjectConsExpr{SrcRange: e.Range()}
		for i, argument := range rest {
			if options, isObject := argument.(*hclsyntax.ObjectConsExpr); isObject && i == len(rest)-1 && i > 0 {
				call.options = options
				break
			}
			if i >= len(positions) {
				m.fail(argument.Range(), "", "%s takes %s", written, diag.Count(len(positions), "argument"))
				return call, false
			}
			key := hcl.Traversal{hcl.TraverseRoot{Name: positions[i]}}
			named.Items = append(named.Items, hclsyntax.ObjectConsItem{ValueExpr: argument,
				KeyExpr: &hclsyntax.ObjectConsKeyExpr{Wrapped: &hclsyntax.ScopeTraversalExpr{Traversal: key}}})
		}
		if len(named.Items) > 0 {
			call.arguments = named
		}
		return call, true
	}
	if len(rest) > 2 {
		m.fail(rest[2].Range(), "", "%s takes a map of arguments and a map of options", written)
		return call, false
	}
	if len(rest) > 0 {
		if call.arguments = rest[0]; neverMap(rest[0]) {
			m.fail(rest[0].Range(), "the schema of the package has them: install its plugin, or give --schema-dir",
				"the names of the arguments of %s are not known", written)
			return call, false
		}
	}
	if len(rest) > 1 {
		if call.options, ok = rest[1].(*hclsyntax.ObjectConsExpr); !ok {
			m.fail(rest[1].Range(), "", "the options of a function call must be a map that is written out")
			return call, false
		}
	}
	return call, true
}

// neverMap reports whether an expression is written as another value than a map.
func neverMap(e hclsyntax.Expression) bool {
	switch x := e.(type) {
	case *hclsyntax.TemplateExpr, *hclsyntax.TupleConsExpr, *hclsyntax.BinaryOpExpr, *hclsyntax.UnaryOpExpr:
		return true
	case *hclsyntax.LiteralValueExpr:
		return !x.Val.IsNull()
	case *hclsyntax.ForExpr:
		return x.KeyExpr == nil
	}
	return false
}

// positional returns the names of a function's positional arguments; nil if its schema declares none.
func (o *Options) positional(ctx context.Context, token string) []string {
	if o.Schemas == nil {
		return nil
	}
	name, _, _ := strings.Cut(token, ":")
	d, declared := o.Packages[name]
	if !declared {
		d = schema.Descriptor{Name: name}
	}
	pkg, err := o.Schemas.Load(ctx, d)
	if err != nil {
		return nil // running the program reports the error
	}
	f, err := pkg.ResolveFunction(token)
	if err != nil {
		return nil
	}
	return f.MultiArg
}
