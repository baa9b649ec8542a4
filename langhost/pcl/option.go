package pcl

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/literal"
)

// pathOptions are the options whose values are property paths of the resource itself.
var pathOptions = map[string]bool{"ignoreChanges": true, "replaceOnChanges": true, "additionalSecretOutputs": true,
	"hideDiffs": true}

// valueOptions maps the options whose values are expressions from PCL to YAML.
var valueOptions = map[string]string{
	"parent": "parent", "provider": "provider", "providers": "providers", "dependsOn": "dependsOn", "protect": "protect",
	"retainOnDelete": "retainOnDelete", "deleteBeforeReplace": "deleteBeforeReplace", "version": "version",
	"import":            "import",
	"pluginDownloadURL": "pluginDownloadURL", "pluginDownloadUrl": "pluginDownloadURL", "aliases": "aliases",
	"deletedWith": "deletedWith",
	"replaceWith": "replaceWith", "replacementTrigger": "replacementTrigger", "customTimeouts": "customTimeouts",
	"envVarMappings": "envVarMappings",
}

// writeOptions writes a block of options to out. The option range becomes forEach of the resource.
func (t *translator) writeOptions(b *hclsyntax.Block, resource, out *mapping) {
	t.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		comment := t.inside(b, a)
		switch {
		case a.Name == "range":
			resource.add("forEach", t.value(a.Expr), comment...)
		case pathOptions[a.Name]:
			out.add(a.Name, t.paths(a.Expr), comment...)
		case a.Name == "hooks":
			out.add("hooks", t.hookNames(a.Expr), comment...)
		case valueOptions[a.Name] != "":
			out.add(valueOptions[a.Name], t.value(a.Expr), comment...)
		default:
			t.fail(a.NameRange, "", "the option `%s` is not understood", a.Name)
		}
	})
}

// paths returns a list of property paths as a list of strings.
func (m *module) paths(e hclsyntax.Expression) node {
	list, ok := e.(*hclsyntax.TupleConsExpr)
	if !ok {
		m.fail(e.Range(), "", "a list of properties is needed here")
		return scalar("[]")
	}
	out := &sequence{}
	for _, item := range list.Exprs {
		switch item := item.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			out.items = append(out.items, scalar(literal.Scalar(pathText(item.Traversal))))
		default:
			text, ok := literalText(item)
			if !ok {
				m.fail(item.Range(), "", "the path of a property is needed here")
			}
			out.items = append(out.items, scalar(literal.Scalar(text)))
		}
	}
	return out
}

// pathText returns a traversal as a property path (F3.14).
func pathText(t hcl.Traversal) string {
	var b strings.Builder
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(step.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + step.Name)
		case hcl.TraverseIndex:
			if step.Key.Type().FriendlyName() == "string" {
				b.WriteString(`["` + strings.ReplaceAll(step.Key.AsString(), `"`, `\"`) + `"]`)
			} else {
				b.WriteString("[" + step.Key.AsBigFloat().Text('f', 0) + "]")
			}
		case hcl.TraverseSplat:
			b.WriteString("[*]")
		}
	}
	return b.String()
}

// hookNames returns the option hooks: the names of the hooks by kind.
func (m *module) hookNames(e hclsyntax.Expression) node {
	object, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		m.fail(e.Range(), "", "the option hooks needs a map from kinds of hooks to lists of hooks")
		return scalar("{}")
	}
	out := &mapping{}
	for _, item := range object.Items {
		key, ok := literalKey(item.KeyExpr)
		list, isList := item.ValueExpr.(*hclsyntax.TupleConsExpr)
		if !ok || !isList {
			m.fail(item.KeyExpr.Range(), "", "the option hooks needs a map from kinds of hooks to lists of hooks")
			continue
		}
		names := &sequence{}
		for _, hook := range list.Exprs {
			use, ok := hook.(*hclsyntax.ScopeTraversalExpr)
			if !ok || len(use.Traversal) != 1 || !m.hooks[use.Traversal.RootName()] {
				m.fail(hook.Range(), "", "the name of a hook is needed here")
				continue
			}
			names.items = append(names.items, scalar(literal.Scalar(use.Traversal.RootName())))
		}
		out.add(key, names)
	}
	return out
}
