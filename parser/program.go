package parser

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// The sections of a program (L1.C), and the fields that only the project's reader looks at (L1.B).
var (
	sectionKeys = []string{"name", "description", "version", "namespace", "pulumi", "config", "configuration", "variables",
		"resources", "outputs", "components", "hooks", "dynamic", "transforms", "transformations", "messages", "include"}
	projectKeys = []string{"runtime", "main", "author", "website", "license", "template", "backend", "options", "packages",
		"plugins", "stackConfigDir", "requiredPulumiVersion"}
)

// body is what programs and components share.
type body struct {
	config, configuration, variables, resources, outputs *entry
}

// outline is a text of which the sections are known and not read yet: how expressions are to be read depends on the
// names that all texts of a program declare.
type outline struct {
	p    *parser // of the text as a whole; it gets all findings in the end
	file *ast.File
	body
	components, pulumi, hooks, dynamic, messages, include *entry
	transforms                                            []entry

	roots []*node   // of the YAML trees of the text
	heads []*parser // that read the keys at the top by blocks; none where p does
}

// outline finds the sections of the text among the keys at its top. part says that another text includes it.
func (p *parser) outline(top []entry, part bool) *outline {
	file := &ast.File{Source: p.src}
	var b body
	var components, pulumi, hooks, dynamic, messages, include *entry
	var transforms []entry
	p.fieldsOf(top, sectionKeys, projectKeys, func(name string, e entry) {
		p := e.p
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
		case "dynamic":
			if p.options.Plugin {
				p.fail(diag.UnknownKey, e.at, "declare the types in the program that uses them",
					"a package cannot have `dynamic` types in this version")
				break
			}
			p.extension(e.at, "a section of dynamic types")
			dynamic = &e
		case transformsName, transformationsName:
			if p.options.Plugin {
				p.fail(diag.UnknownKey, e.at, "write the option `transforms` on a resource of a component",
					"a package has no `transforms` of its own")
				break
			}
			transforms = append(transforms, e)
		case "messages":
			if p.options.Plugin {
				p.fail(diag.UnknownKey, e.at, "write them in the program that uses the package", "a package has no `messages`")
				break
			}
			p.extension(e.at, "a section of messages")
			messages = &e
		case "include":
			p.extension(e.at, "the section `include`")
			include = &e
		}
		if part && slices.Contains(mainOnly, name) {
			p.warn(diag.Ignored, e.at, "remove it, or move it to the file that includes this one",
				"`%s` has no effect in an included file", name)
			file.Name, file.Description, file.Version, pulumi = nil, nil, nil, nil
		}
	}, func(e entry) bool {
		e.p.unknownSection(file, e)
		return false
	})
	if e := b.configuration; e != nil {
		d := e.p.warn(diag.Deprecated, e.at, "", "`configuration` is deprecated: write `config`")
		if b.config == nil {
			d.Fixes = e.renamed("config")
		} else {
			d.Detail = "move its entries to `config`"
		}
	}
	if p.options.Plugin {
		for _, e := range []*entry{b.config, b.configuration, b.variables, b.resources, b.outputs, include} {
			if e != nil {
				p.fail(diag.UnknownKey, e.at, "move it into a component", "a component plugin has no `%s` of its own", e.name)
			}
		}
		b, include = body{}, nil
	}
	return &outline{p: p, file: file, body: b, components: components, pulumi: pulumi, hooks: hooks, dynamic: dynamic,
		transforms: transforms, messages: messages, include: include}
}

// mainOnly are the sections that only the main text of a program may have an effect with.
var mainOnly = []string{"name", "description", "version", "namespace", "pulumi"}

// read reads the sections; names are those that the texts of the program declare.
func (o *outline) read(names map[string]bool) {
	p, file, b := o.p, o.file, o.body
	p.scope = &scope{declared: names, keys: &oddKeys{roots: o.roots},
		stack: make(map[string]bool, len(p.options.Declared))}
	for _, name := range p.options.Declared {
		p.scope.stack[name] = true
	}
	for _, head := range o.heads {
		head.scope = p.scope
	}
	if o.pulumi != nil {
		file.RequiredVersion = o.pulumi.p.pulumiBlock(o.pulumi, file)
		file.Unit = ast.NewUnit(file.RequiredVersion)
	}
	file.Config = append(p.configSection(b.config, nil), p.configSection(b.configuration, b.config)...)
	file.Variables = p.variableSection(b.variables)
	file.Resources = p.resourceSection(b.resources)
	file.Outputs = p.outputSection(b.outputs)
	file.Hooks = p.hookSection(o.hooks)
	file.Dynamic = p.dynamicSection(o.dynamic)
	for _, e := range o.transforms {
		file.Transforms = append(file.Transforms, e.p.transformList(e, true)...)
	}
	for _, t := range file.Transforms {
		t.Number()
	}
	if o.messages != nil {
		file.Messages = o.messages.p.messageList(*o.messages)
	}
	file.Components = p.componentSection(o.components)
	o.gatherDiags()
}

// gatherDiags moves the findings of the keys at the top to the rest.
func (o *outline) gatherDiags() {
	for _, head := range o.heads {
		o.p.diags.Add(head.diags...)
		head.diags = nil
	}
	if len(o.heads) > 0 {
		o.p.diags = limited(o.p.diags)
	}
}

// limited is findings up to the bound on how many there may be.
func limited(diags diag.Diagnostics) diag.Diagnostics {
	var found [diag.Warning + 1]int
	kept := diags[:0:0]
	for _, d := range diags {
		if d.Severity <= diag.Warning {
			if found[d.Severity]++; found[d.Severity] > maxFindings {
				continue
			}
		}
		kept = append(kept, d)
	}
	return kept
}

// unknownSection reports a key at the top that is no section (L1.17). What is surely a slip of a section whose entries
// others refer to is noted for the checker, which knows whether they do.
func (p *parser) unknownSection(file *ast.File, e entry) {
	if slices.Contains(projectKeys, e.name) {
		return
	}
	if names := entryNames(p, e); slices.Contains([]string{"config", "variables", "resources"}, e.meant) && !e.taken &&
		len(names) > 0 {
		file.Slips = append(file.Slips, ast.Slip{Key: ast.Literal{Value: e.name, Range: e.at}, Meant: e.meant, Names: names})
		return
	}
	hint := ""
	if body := p.deref(e.value); body.Kind == yaml.MappingNode && hasKey(body, "type") &&
		hasKey(body, "properties", "options", "get") {
		hint = "this looks like a resource: indent it under `resources`"
	}
	p.unknownKey(diag.Warning, e, "the program; it is ignored", append(sectionKeys[:len(sectionKeys):len(sectionKeys)],
		projectKeys...), hint)
}

// entryNames are the keys of a section.
func entryNames(p *parser, section entry) []string {
	var names []string
	for _, part := range section.parts {
		names = append(names, part.name)
	}
	if body := p.deref(section.value); body.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(body.Content); i += 2 {
			names = append(names, body.Content[i].Value)
		}
	}
	return names
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
				p.wrongKind(p.deref(e.value), required.Range(), "`requiredVersion`", "a string",
					"put it in quotes, such as \">=3.100.0\"")
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

func (p *parser) variableSection(section *entry) (variables []*ast.Variable) {
	for _, it := range p.items(section, (*parser).variableItem) {
		p.diags.Add(it.diags...)
		variables = append(variables, it.variable)
	}
	return variables
}

func (p *parser) variableItem(e entry, name ast.Literal) item {
	value := p.expression(e)
	return item{variable: &ast.Variable{Name: name, Range: p.whole(e), Value: value, Unit: ast.NewUnit(value)}}
}

func (p *parser) outputSection(section *entry) (outputs []*ast.Output) {
	for _, it := range p.items(section, (*parser).outputItem) {
		p.diags.Add(it.diags...)
		outputs = append(outputs, it.output)
	}
	return outputs
}

func (p *parser) outputItem(e entry, name ast.Literal) item {
	value := p.expression(e)
	return item{output: &ast.Output{Name: name, Range: p.whole(e), Value: value, Unit: ast.NewUnit(value)}}
}

var componentKeys = []string{"name", "description", "token", "pulumi", "inputs", "variables", "resources", "outputs"}

// componentSection reads components (L3.E).
func (p *parser) componentSection(section *entry) (components []*ast.Component) {
	for _, it := range p.items(section, (*parser).componentItem) {
		p.diags.Add(it.diags...)
		components = append(components, it.component)
	}
	return components
}

func (p *parser) componentItem(e entry, name ast.Literal) item {
	component := &ast.Component{Name: name, Range: p.whole(e)}
	var b body
	var pulumi *entry
	p.section(e, "the component `"+shorten(e.name)+"`", func(n *node, _ diag.Range) {
		p.fieldsOf(p.described(n), componentKeys, nil, func(key string, e entry) {
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
		}, func(e entry) bool { p.unknownKey(diag.Error, e, "a component", componentKeys, ""); return true })
		p.inside(b, func() {
			component.RequiredVersion = p.pulumiBlock(pulumi, nil)
			component.Unit = ast.NewUnit(component.RequiredVersion)
			p.component = true
			component.Inputs = p.configSection(b.config, nil)
			p.component = false
			component.Variables = p.variableSection(b.variables)
			component.Resources = p.resourceSection(b.resources)
			component.Outputs = p.outputSection(b.outputs)
		})
	})
	return item{component: component}
}

var hookKeys = []string{"command", "onDryRun", "ignoreErrors"}

// hookSection reads hooks, an extension of yamlhost. In a command, `args` stands for what the engine says about the
// operation.
func (p *parser) hookSection(section *entry) (hooks []*ast.Hook) {
	for _, it := range p.items(section, (*parser).hook) {
		p.diags.Add(it.diags...)
		hooks = append(hooks, it.hook)
	}
	return hooks
}

func (p *parser) hook(e entry, name ast.Literal) item {
	hook := &ast.Hook{Name: name, Range: p.whole(e)}
	p.section(e, "the hook `"+shorten(e.name)+"`", func(n *node, _ diag.Range) {
		p.fieldsOf(p.described(n), hookKeys, nil, func(key string, e entry) {
			switch key {
			case "command":
				p.alsoDeclared("args", func() { hook.Command = p.present(p.expression(e)) })
			case "onDryRun":
				hook.OnDryRun = p.literalBool(e, "`onDryRun`")
			case "ignoreErrors":
				hook.IgnoreErrors = p.literalBool(e, "`ignoreErrors`")
			}
		}, func(e entry) bool { p.unknownKey(diag.Error, e, "a hook", hookKeys, ""); return true })
	})
	if hook.Command == nil {
		p.fail(diag.RequiredMissing, name.Range, "add `command: [program, argument]`", "the hook `%s` needs a command",
			shorten(e.name))
	}
	hook.Unit = ast.NewUnit(hook.Command)
	return item{hook: hook}
}
