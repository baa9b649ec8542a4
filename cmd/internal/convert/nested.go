package convert

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// nesting holds the state that a template shares with its nested templates. Each nested template becomes one component.
// A template that is nested several times is converted once: its component has parameters for what differs.
type nesting struct {
	options   Options
	templates map[string]*cloudFormation // by file name; nil for a template with errors
	open      []string                   // files of the templates in conversion, outermost first
	parts     []*Program                 // components
	left      *budget
}

// nest converts the template of a nested stack. It returns nil if the template is not a local file or has errors. A
// template at an address is deployed by CloudFormation as before, and its stack remains a resource.
func (c *cloudFormation) nest(r *templateResource) *cloudFormation {
	n := c.nesting
	url := yamlnode.Member(r.node, "Properties", "TemplateURL")
	// A computed address cannot be read here either.
	if url == nil || url.Kind != yamlnode.Scalar || strings.Contains(url.Value, "://") || n.options.Template == nil {
		return nil
	}
	// The command decides which files may be read; an error here is its refusal, too.
	src, err := n.options.Template(c.src.Name(), url.Value)
	if err != nil {
		c.diags.Add(fault(c.src, lineOf(c.src, url), "write its path from the folder of this template, or its address",
			"the nested template %s cannot be read: %s", url.Value, err)...)
		return nil
	}
	// Without this test a template that nests itself would be read forever.
	if i := slices.Index(n.open, src.Name()); i >= 0 {
		c.diags.Add(fault(c.src, lineOf(c.src, url), "remove one of these stacks", "templates nest each other: %s",
			strings.Join(append(slices.Clone(n.open[i:]), src.Name()), " -> "))...)
		return nil
	}
	// nil is kept for one with errors, so that they are reported once.
	if known, has := n.templates[src.Name()]; has {
		return known
	}
	sub, diags := n.read(src)
	c.diags.Add(diags...)
	if diags.HasErrors() {
		n.templates[src.Name()] = nil
		return nil
	}
	base := filepath.Base(src.Name())
	sub.name = upperFirst(camel(strings.TrimSuffix(base, path.Ext(base))))
	for slices.ContainsFunc(n.parts, named(sub.name)) {
		sub.name += "2"
	}
	n.parts = append(n.parts, sub.Program)
	n.templates[src.Name()] = sub
	return sub
}

// arguments returns the inputs for the component of a nested stack. What the nested template needs and the stack does
// not give becomes configuration of the program, since a component has none of its own.
func (c *cloudFormation) arguments(r *templateResource) *yamlnode.Node {
	properties := mapping()
	// The configuration of the nested template is what its component takes as inputs.
	inputs := r.nested.sections["config"]
	each(yamlnode.Member(r.node, "Properties"), func(key, value *yamlnode.Node) {
		switch key.Value {
		case "TemplateURL":
		case "Parameters":
			if value.Kind != yamlnode.Map {
				c.leaveOut(r.name, key.Value, "it is not a map", value)
			}
			each(value, func(key, value *yamlnode.Node) {
				input := r.nested.params[key.Value]
				if input == "" {
					c.leaveOut(r.name, "parameter "+key.Value, "the nested template does not declare it", value)
					return
				}
				put(properties, input, c.argument(value, yamlnode.TextAt(inputs, input, "type"))).SetNotes(key.Notes())
			})
		default:
			c.leaveOut(r.name, key.Value, "a component has nothing like it", value)
		}
	})
	// The nested template was converted before, so it is known whether it uses the name of its stack.
	if name := r.nested.stack; name != "" {
		put(properties, name, text("${"+c.ref("AWS::StackName", 0)+"}-"+r.logical))
	}
	each(inputs, func(key, declaration *yamlnode.Node) {
		// An input with a default may be left out.
		if yamlnode.Member(declaration, "default") != nil || yamlnode.Member(properties, key.Value) != nil {
			return
		}
		need := c.need(r.logical+"."+key.Value, yamlnode.TextAt(declaration, "type"), yamlnode.TextAt(declaration, "description"))
		if yamlnode.Member(declaration, "secret") != nil {
			c.seal(need)
		}
		put(properties, key.Value, text("${"+need+"}"))
	})
	return properties
}

// argument returns the value of a parameter of the given type. Templates may write values of any type as strings. A
// list that Fn::Join joins by commas is passed as a list.
func (c *cloudFormation) argument(value *yamlnode.Node, typed string) *yamlnode.Node {
	name, arg := intrinsic(value)
	switch {
	case value.Kind == yamlnode.Scalar && typed != "string":
		return parameterDefault(typed, value)
	case strings.HasPrefix(typed, "list<") && name == "Fn::Join" && len(arg.Content) == 2 && arg.Content[0].Value == ",":
		return c.value(arg.Content[1], nil, "")
	// These give a text, which CloudFormation splits at commas where a list is declared.
	case strings.HasPrefix(typed, "list<") && (name == "Fn::Sub" || name == "Fn::Select" || name == "Fn::ImportValue"):
		return text("${split(\",\", " + c.expr(value) + ")}")
	}
	return c.value(value, nil, "")
}

// nestedName returns the input for the name of a nested stack, and declares it on first use. Two stacks of the same
// template have different names, so that it is an input.
func (p *Program) nestedName() string {
	if p.stack == "" {
		p.stack = p.unique("stackName")
		p.addConfig(p.stack, "string", "the name of the nested stack")
	}
	return p.stack
}

// component returns the program as the declaration of a component.
func (p *Program) component() *yamlnode.Node {
	out := mapping()
	if p.about != "" {
		put(out, "description", text(p.about))
	}
	p.putSections(out, "inputs")
	return out
}

// named returns a function that reports whether a component has a name.
func named(name string) func(*Program) bool {
	return func(part *Program) bool { return part.name == name }
}
