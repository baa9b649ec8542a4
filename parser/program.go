package parser

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// The sections of a program (L1.C), and the fields that only the project's reader looks at (L1.B).
var (
	sectionKeys = []string{"name", "description", "version", "namespace", "pulumi", "config", "configuration", "variables",
		"resources", "outputs", "components", "hooks", "include"}
	projectKeys = []string{"runtime", "main", "author", "website", "license", "template", "backend", "options", "packages",
		"plugins", "stackConfigDir", "requiredPulumiVersion"}
)

// body is what programs and components share.
type body struct {
	config, configuration, variables, resources, outputs *entry
}

// outline is a text of which the sections are known and not read yet: how expressions are to be read depends on the names
// that all texts of a program declare.
type outline struct {
	p    *parser
	file *ast.File
	body
	components, pulumi, hooks, include *entry
}

// outline finds the sections of the text. part says that another text includes it.
func (p *parser) outline(root *node, part bool) *outline {
	file := &ast.File{Source: p.src}
	var b body
	var components, pulumi, hooks, include *entry
	p.fields(root, sectionKeys, func(name string, e entry) {
		switch name {
		case "name":
			file.Name = p.plainText(e, "`name`")
		case "description":
			file.Description = p.plainText(e, "`description`")
		case "version":
			file.Version = p.plainText(e, "`version`")
		case "namespace":
			if file.Namespace = p.plainText(e, "`namespace`"); !p.options.Plugin {
				p.fail(diag.UnknownKey, e.at, "remove it; only component plugins have one", "a program has no `namespace`")
			}
		case "pulumi":
			pulumi = &e
		case "config":
			b.config = &e
		case "configuration":
			p.warn(diag.Deprecated, e.at, "", "`configuration` is deprecated: write `config`")
			b.configuration = &e
		case "variables":
			b.variables = &e
		case "resources":
			b.resources = &e
		case "outputs":
			b.outputs = &e
		case "components":
			if components = &e; !p.options.Plugin {
				p.extension(e.at, "a component inside of a program")
			}
		case "hooks":
			p.extension(e.at, "a section of hooks")
			hooks = &e
		case "include":
			p.extension(e.at, "the section `include`")
			include = &e
		}
		if part && slices.Contains(mainOnly, name) {
			p.warn(diag.Ignored, e.at, "remove it, or move it to the file that includes this one", "`%s` has no effect in an included file", name)
			file.Name, file.Description, file.Version, pulumi = nil, nil, nil, nil
		}
	}, func(e entry) { p.unknownSection(e) })
	if p.options.Plugin {
		for _, e := range []*entry{b.config, b.configuration, b.variables, b.resources, b.outputs, include} {
			if e != nil {
				p.fail(diag.UnknownKey, e.at, "move it into a component", "a component plugin has no `%s` of its own", e.name)
			}
		}
		b, include = body{}, nil
	}
	return &outline{p: p, file: file, body: b, components: components, pulumi: pulumi, hooks: hooks, include: include}
}

// mainOnly are the sections that only the main text of a program may have an effect with.
var mainOnly = []string{"name", "description", "version", "namespace", "pulumi"}

// read reads the sections; others are the names that other texts of the program declare.
func (o *outline) read(others map[string]bool) {
	p, file, b := o.p, o.file, o.body
	p.scope(b, func() {
		maps.Copy(p.names, others)
		file.RequiredVersion = p.pulumiBlock(o.pulumi, file)
		file.Config = append(p.configSection(b.config, nil), p.configSection(b.configuration, b.config)...)
		file.Variables = p.variableSection(b.variables)
		file.Resources = p.resourceSection(b.resources)
		file.Outputs = p.outputSection(b.outputs)
		file.Hooks = p.hookSection(o.hooks)
	})
	file.Components = p.componentSection(o.components)
}

func (p *parser) unknownSection(e entry) {
	for _, key := range projectKeys {
		if e.name == key {
			return
		}
	}
	hint := ""
	if body := p.deref(e.value); body.Kind == yaml.MappingNode && hasKey(body, "type") && hasKey(body, "properties", "options", "get") {
		hint = "this looks like a resource: indent it under `resources`"
	}
	p.unknownKey(diag.Warning, e, "the program; it is ignored", append(sectionKeys[:len(sectionKeys):len(sectionKeys)], projectKeys...), hint)
}

// hasKey reports whether a map has one of some keys.
func hasKey(n *node, keys ...string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if _, found := canonical(n.Content[i].Value, keys); found {
			return true
		}
	}
	return false
}

// scope reads a body with the names that it declares in scope.
func (p *parser) scope(b body, fn func()) {
	outer := p.names
	p.names = map[string]bool{"pulumi": true}
	for _, name := range p.options.Declared {
		p.names[name] = true
	}
	p.gatherBody(b)
	fn()
	p.names = outer
}

// gatherBody notes the names that a body declares.
func (p *parser) gatherBody(b body) {
	for _, section := range []*entry{b.config, b.configuration, b.variables, b.resources} {
		if section != nil {
			p.gatherNames(p.deref(section.value), 0)
		}
	}
}

// gatherNames notes the keys of a section as declared. It reports nothing; reading the section will.
func (p *parser) gatherNames(section *node, depth int) {
	if section.Kind != yaml.MappingNode || depth > 10 {
		return
	}
	for i := 0; i+1 < len(section.Content); i += 2 {
		key := p.deref(section.Content[i])
		if key.Kind != yaml.ScalarNode {
			continue
		}
		if key.Tag != mergeTag {
			p.names[key.Value] = true
			continue
		}
		merged := p.deref(section.Content[i+1])
		p.gatherNames(merged, depth+1)
		for _, item := range merged.Content {
			if merged.Kind == yaml.SequenceNode {
				p.gatherNames(p.deref(item), depth+1)
			}
		}
	}
}

// pulumiBlock reads the section pulumi (L3.G) and answers the required version. What else it says goes into file; a
// component, for which that is nil, has nothing else to say.
func (p *parser) pulumiBlock(e *entry, file *ast.File) (required ast.Expr) {
	if e == nil {
		return nil
	}
	keys := []string{"requiredVersion"}
	if file != nil {
		keys = append(keys, "allowEnv", "publicEnv")
	}
	p.section(*e, "`pulumi`", func(n *node, _ diag.Range) {
		p.fields(n, keys, func(name string, e entry) {
			switch name {
			case "allowEnv":
				p.extension(e.at, "the field `allowEnv`")
				file.AllowEnv = p.literals(e, "`allowEnv`", "the name of an environment variable")
				return
			case "publicEnv":
				p.extension(e.at, "the field `publicEnv`")
				file.PublicEnv = p.literals(e, "`publicEnv`", "the name of an environment variable")
				return
			}
			required = p.present(p.expression(e))
			switch required.(type) {
			case *ast.Number, *ast.Bool, *ast.List, *ast.Map:
				p.wrongKind(p.deref(e.value), required.Range(), "`requiredVersion`", "a string", "put it in quotes, such as \">=3.100.0\"")
				required = bad(required.Range())
			}
		}, func(e entry) { p.unknownKey(diag.Error, e, "`pulumi`", keys, "") })
	})
	return required
}

// present is an expression, or nil where it is null.
func (p *parser) present(e ast.Expr) ast.Expr {
	if _, null := e.(*ast.Null); null {
		return nil
	}
	return e
}

// named calls fn for each entry of a section whose keys are names that the user chooses.
func (p *parser) named(section *entry, fn func(e entry, name ast.Literal)) {
	if section == nil {
		return
	}
	p.section(*section, "`"+section.name+"`", func(n *node, _ diag.Range) {
		for _, e := range p.entries(n) {
			fn(e, ast.Literal{Value: e.name, Range: e.at})
		}
	})
}

func (p *parser) variableSection(section *entry) (variables []*ast.Variable) {
	p.named(section, func(e entry, name ast.Literal) {
		variables = append(variables, &ast.Variable{Name: name, Range: p.whole(e), Value: p.expression(e)})
	})
	return variables
}

func (p *parser) outputSection(section *entry) (outputs []*ast.Output) {
	p.named(section, func(e entry, name ast.Literal) {
		outputs = append(outputs, &ast.Output{Name: name, Range: p.whole(e), Value: p.expression(e)})
	})
	return outputs
}

var componentKeys = []string{"name", "description", "token", "pulumi", "inputs", "variables", "resources", "outputs"}

// componentSection reads components (L3.E).
func (p *parser) componentSection(section *entry) (components []*ast.Component) {
	p.named(section, func(e entry, name ast.Literal) {
		component := &ast.Component{Name: name, Range: p.whole(e)}
		components = append(components, component)
		var b body
		var pulumi *entry
		p.section(e, "the component `"+shorten(e.name)+"`", func(n *node, _ diag.Range) {
			p.fields(n, componentKeys, func(key string, e entry) {
				switch key {
				case "name":
					p.plainText(e, "`name`")
				case "description":
					component.Description = p.plainText(e, "`description`")
				case "token":
					p.extension(e.at, "the field `token` of a component")
					component.Token = p.typeToken(e, "`token`")
				case "pulumi":
					pulumi = &e
				case "inputs":
					b.config = &e
				case "variables":
					b.variables = &e
				case "resources":
					b.resources = &e
				case "outputs":
					b.outputs = &e
				}
			}, func(e entry) { p.unknownKey(diag.Error, e, "a component", componentKeys, "") })
			p.scope(b, func() {
				component.RequiredVersion = p.pulumiBlock(pulumi, nil)
				p.component = true
				component.Inputs = p.configSection(b.config, nil)
				p.component = false
				component.Variables = p.variableSection(b.variables)
				component.Resources = p.resourceSection(b.resources)
				component.Outputs = p.outputSection(b.outputs)
			})
		})
	})
	return components
}

var hookKeys = []string{"command", "onDryRun", "ignoreErrors"}

// hookSection reads hooks, an extension of yamlhost. In a command, `args` stands for what the engine says about the
// operation.
func (p *parser) hookSection(section *entry) (hooks []*ast.Hook) {
	p.named(section, func(e entry, name ast.Literal) {
		hook := &ast.Hook{Name: name, Range: p.whole(e)}
		hooks = append(hooks, hook)
		p.section(e, "the hook `"+shorten(e.name)+"`", func(n *node, _ diag.Range) {
			p.fields(n, hookKeys, func(key string, e entry) {
				switch key {
				case "command":
					p.alsoDeclared("args", func() { hook.Command = p.present(p.expression(e)) })
				case "onDryRun":
					hook.OnDryRun = p.literalBool(e, "`onDryRun`")
				case "ignoreErrors":
					hook.IgnoreErrors = p.literalBool(e, "`ignoreErrors`")
				}
			}, func(e entry) { p.unknownKey(diag.Error, e, "a hook", hookKeys, "") })
		})
		if hook.Command == nil {
			p.fail(diag.RequiredMissing, name.Range, "add `command: [program, argument]`", "the hook `%s` needs a command", shorten(e.name))
		}
	})
	return hooks
}

// alsoDeclared reads something in which one more name is declared.
func (p *parser) alsoDeclared(name string, fn func()) {
	already := p.names[name]
	p.names[name] = true
	fn()
	if !already {
		delete(p.names, name)
	}
}
