package parser

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// body holds the sections of a program or a component by name.
type body map[string]*section

// outline is a text whose sections have been found but not read yet: expressions can only be parsed once the names are
// known that all texts of a program declare.
type outline struct {
	in         *bodyReader // reader of the whole text; collects all findings in the end
	options    Options
	file       *ast.File
	sections   body
	transforms []*section

	roots []*yamlnode.Node // roots of the text's YAML trees
	heads []*bodyReader    // readers of top-level blocks; empty if the text is read as a whole

	// project reports whether the text is a project file, in which the values of the section config are data (L2.17).
	project bool
}

// document is a document of another tool, which gives one finding in the place of a program.
type document struct {
	keys         []string // are all at the top of such a document, but are not of a program
	name, advice string
	// homonyms reports whether the document has keys of programs in another meaning, so that nothing of it is read.
	homonyms bool
	// alone reports whether a program may have the keys by mistake: it is the document if no section stands beside.
	alone bool
}

func documents() []document {
	return []document{
		{keys: []string{"apiVersion", "kind"}, name: "a Kubernetes manifest",
			advice: "`yamlhost convert --from kubernetes` converts manifests to a program"},
		{keys: []string{"AWSTemplateFormatVersion"}, name: "a template of CloudFormation", homonyms: true,
			advice: "`yamlhost convert --from cloudformation` converts templates to a program"},
		{keys: []string{"$schema", "contentVersion"}, name: "a template of Azure Resource Manager", homonyms: true,
			advice: "`yamlhost convert --from arm FOLDER` converts templates with a converter plugin"},
		{keys: []string{"jobs", "on"}, name: "a workflow of GitHub Actions", alone: true,
			advice: "`yamlhost new github-actions` writes workflows that run a program"},
		{keys: []string{"resource", "terraform"}, name: "a configuration of Terraform", alone: true,
			advice: "`yamlhost convert --from terraform FOLDER` converts modules with a converter plugin"},
		{keys: []string{"services"}, name: "a file of Docker Compose", alone: true,
			advice: "`services` is of Docker Compose: write `resources`, with a type in each"},
		{keys: []string{"values", "imports"}, name: "an environment of Pulumi ESC", alone: true,
			advice: "move it to `environments/NAME.yaml`, and name it in a stack's file: `environment: [NAME]`"},
	}
}

// documentOf returns the document of another tool that entries make, or nil.
func documentOf(entries []entry) *document {
	has := func(key string) bool {
		return slices.ContainsFunc(entries, func(e entry) bool { return e.name == key })
	}
	for _, d := range documents() {
		missing := slices.ContainsFunc(d.keys, func(key string) bool { return !has(key) })
		if !missing && !(d.alone && slices.ContainsFunc([]string{"resources", "variables", "outputs"}, has)) {
			return &d
		}
	}
	return nil
}

// newOutline finds the sections of a text among its top-level keys. included reports whether another text includes it.
func newOutline(r *bodyReader, top []*section, options Options, included bool) *outline {
	o := &outline{in: r, options: options, file: &ast.File{Source: r.text.Source}, sections: body{},
		project: options.Project && !included}
	byKey := make(map[*yamlnode.Node]*section, len(top))
	entries := make([]entry, 0, len(top))
	for _, s := range top {
		byKey[s.entry.key] = s
		entries = append(entries, s.entry)
	}
	foreign := documentOf(entries)
	if foreign != nil {
		at := entries[slices.IndexFunc(entries, func(e entry) bool { return e.name == foreign.keys[0] })].at
		if summary := foreign.name + " is not a program"; foreign.homonyms {
			r.report.fail(diag.UnknownKey, at, foreign.advice, "%s", summary)
			entries = nil
		} else {
			r.report.warn(diag.UnknownKey, at, foreign.advice, "%s", summary)
		}
	}
	r.nodes.fieldsOf(entries, sectionKeys, projectKeys, func(name string, e entry) {
		s := byKey[e.key]
		o.assign(name, s)
		if included && slices.Contains(mainOnly, name) {
			s.in.report.warn(diag.Ignored, e.at, "remove it, or move it to the file that includes this one",
				"`%s` has no effect in an included file", name)
			o.file.Name, o.file.Description, o.file.Version = nil, nil, nil
			delete(o.sections, "pulumi")
		}
	}, func(e entry) bool {
		s := byKey[e.key]
		if foreign != nil {
			return false
		}
		s.in.unknownSection(o.file, e, s.entryNames())
		return false
	})
	o.file.Lost = append(o.file.Lost, o.sections.listed()...)
	if options.Pack {
		o.packOnly()
	}
	if options.Plugin {
		for _, s := range o.take("config", "configuration", "variables", "resources", "outputs", "include") {
			r.report.fail(diag.UnknownKey, s.entry.at, "move it into a component",
				"a component plugin has no `%s` of its own", s.entry.name)
		}
	}
	return o
}

// take removes sections that a text of its kind cannot have, and returns those that are there.
func (o *outline) take(names ...string) (taken []*section) {
	for _, name := range names {
		if s := o.sections[name]; s != nil {
			taken = append(taken, s)
			delete(o.sections, name)
		}
	}
	return taken
}

// extensions maps sections that only yamlhost has to their descriptions.
var extensions = map[string]string{"components": "a component inside of a program", "hooks": "a section of hooks",
	"dynamic": "a section of dynamic types", "messages": "a section of messages", "policies": "a section of policies",
	"include": "the section `include`"}

// assign stores a section by its name, or reads it at once if it does not depend on other sections.
func (o *outline) assign(name string, s *section) {
	r, plugin, pack := s.in, o.options.Plugin, o.options.Pack
	refuse := func(detail, summary string) { r.report.fail(diag.UnknownKey, s.entry.at, detail, "%s", summary) }
	switch {
	case name == "name":
		o.file.Name = r.nodes.plainText(s.entry, "`name`")
	case name == "description":
		o.file.Description = r.nodes.plainText(s.entry, "`description`")
	case name == "version":
		o.file.Version = r.nodes.plainText(s.entry, "`version`")
	case name == "namespace":
		if o.file.Namespace = r.nodes.plainText(s.entry, "`namespace`"); !plugin {
			refuse("remove it; only component plugins have one", "a program has no `namespace`")
		}
	case name == "enforcement" && !pack:
		refuse("write it into each policy; a policy pack has one for all of its policies", "a program has no `enforcement`")
	case name == "enforcement":
		o.file.Enforcement = enforcementLevel(r.nodes, s.entry)
	case plugin && (name == transformsName || name == transformationsName):
		refuse("write the option `transforms` on a resource of a component", "a package cannot have `transforms`")
	case plugin && name == "messages":
		refuse("write them in the program that uses the package", "a package has no `messages`")
	case plugin && name == "policies":
		refuse("write them in a policy pack, or in the program that uses the package", "a package has no `policies`")
	case name == transformsName || name == transformationsName:
		o.transforms = append(o.transforms, s)
	default:
		usual := plugin && (name == "components" || name == "dynamic") || pack && name == "policies"
		if what := extensions[name]; what != "" && !usual {
			r.nodes.extension(s.entry.at, "%s", what)
		}
		o.sections[name] = s
	}
}

// packOnly reports sections that a policy pack cannot have, and missing ones.
func (o *outline) packOnly() {
	o.file.Pack = true
	others := o.take("config", "configuration", "resources", "outputs", "components", "hooks", "dynamic", "messages")
	for _, s := range append(others, o.transforms...) {
		o.in.report.fail(diag.UnknownKey, s.entry.at, "a pack has `policies` and `variables`; its configuration is declared in each policy",
			"a policy pack has no `%s`", s.entry.name)
	}
	o.transforms = nil
	if o.file.Name == nil {
		o.in.report.fail(diag.RequiredMissing, diag.NewRange(o.in.text.Source, 0, 0), "add `name: …`, which violations show",
			"the policy pack has no name")
	}
	if o.sections["policies"] == nil {
		o.in.report.fail(diag.RequiredMissing, diag.NewRange(o.in.text.Source, 0, 0), "add `policies`", "the policy pack has no policies")
	}
}

// onlyFormer reports whether only the section `configuration` can declare a value: `config` of a project file does not
// support its type (L2.11), or would read another value, because it has data, whose texts have no `$$` and no
// expressions but a whole call (L2.17), encrypted secrets, and neither types nor defaults of other namespaces.
func (o *outline) onlyFormer(c *ast.Config) bool {
	for t := c.Type; t != nil; t = t.Item {
		if t.Optional || t.Name == "any" || t.Name == "object" && t.Item != nil {
			return true
		}
	}
	if !o.project {
		return false
	}
	if namespace, _, is := strings.Cut(c.Name.Value, ":"); is && (o.file.Name == nil || namespace != o.file.Name.Value) &&
		(c.Type != nil || strings.Contains(c.Range.Text(), "default")) {
		return true
	}
	if call, is := c.Default.(*ast.Call); is && call.Argument != nil || c.Default == nil {
		return false
	}
	other := c.Secret != nil && c.Secret.Value
	ast.Walk(c.Default, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Null, *ast.Bool, *ast.Number, *ast.List, *ast.Map:
		case *ast.String:
			text := e.Range().Text()
			other = other || strings.Contains(text, "$$") || timestamp().MatchString(text)
		default:
			other = true
		}
		return !other
	})
	return other
}

// timestamp matches the beginning of a time, which is a text for a program and a time in data.
var timestamp = lazyregexp.New(`^\d{4}-\d\d?-\d`)

// mainOnly lists the sections that only have an effect in the main text of a program.
var mainOnly = []string{"name", "description", "version", "namespace", "pulumi"}

// read reads the sections. names holds the names that all texts of the program declare.
func (o *outline) read(names map[string]bool) {
	r, file, sections := o.in, o.file, o.sections
	r.texts.scope = newScope(names, o.options.Declared, o.roots)
	for _, head := range o.heads {
		head.texts.scope = r.texts.scope
	}
	if s := sections["pulumi"]; s != nil {
		file.RequiredVersion = s.in.pulumiBlock(s.entry, file)
		file.Unit = ast.NewUnit(file.RequiredVersion)
	}
	former := r.configSection(sections["configuration"], sections["config"], (*bodyReader).configItem)
	if s := sections["configuration"]; s != nil && !slices.ContainsFunc(former, o.onlyFormer) {
		d := s.in.report.warn(diag.Deprecated, s.entry.at, "", "`configuration` is deprecated: write `config`")
		if sections["config"] == nil {
			d.Fixes = s.entry.renamed("config")
		} else {
			d.Detail = "move its entries to `config`"
		}
	}
	readConfig := (*bodyReader).configItem
	if o.project {
		readConfig = (*bodyReader).projectConfigItem
	}
	config := sections["config"]
	if o.project && config != nil && isText(config.entry.value.Target()) {
		config = nil // in old projects, the directory of the stack configuration (L1.B)
	}
	file.Config = append(r.configSection(config, nil, readConfig), former...)
	file.Variables = declarationsOf[*ast.Variable](r, sections["variables"], (*bodyReader).variableItem)
	file.Resources = r.resourceSection(sections["resources"])
	file.Outputs = declarationsOf[*ast.Output](r, sections["outputs"], (*bodyReader).outputItem)
	file.Hooks = declarationsOf[*ast.Hook](r, sections["hooks"], (*bodyReader).hook)
	file.Dynamic = declarationsOf[*ast.Dynamic](r, sections["dynamic"], (*bodyReader).dynamicItem)
	for _, d := range file.Dynamic {
		if o.options.Plugin && d.Provider != nil && d.Inputs == nil {
			r.report.fail(diag.RequiredMissing, d.Name.Range, "list them: users of the package see nothing else of the type",
				"the type `%s` of a package needs `inputs`", diag.Excerpt(d.Name.Value))
		}
	}
	for _, s := range o.transforms {
		file.Transforms = append(file.Transforms, transformList(s.in.exprs, s.entry, true)...)
	}
	for _, t := range file.Transforms {
		t.Number()
	}
	if s := sections["messages"]; s != nil {
		file.Messages = s.in.messageList(s.entry)
	}
	file.Policies = r.policySection(sections["policies"], o.options.Pack)
	file.Components = declarationsOf[*ast.Component](r, sections["components"], (*bodyReader).componentItem)
	o.gatherDiags()
}

// gatherDiags moves the findings about top-level keys to o.in.
func (o *outline) gatherDiags() {
	for _, head := range o.heads {
		o.in.report.diags.Add(head.report.takeFrom(0)...)
	}
	if len(o.heads) > 0 {
		o.in.report.diags = limited(o.in.report.diags)
	}
}

// unknownSection reports an unknown top-level key (L1.17). If the key is almost certainly a misspelt section, it is
// recorded for the checker instead, which knows whether the program refers to the section's entries.
//
// names holds the keys in the section.
func (b *bodyReader) unknownSection(file *ast.File, e entry, names []string) {
	if slices.Contains(projectKeys, e.name) {
		return
	}
	if slices.Contains([]string{"config", "variables", "resources"}, e.meant) && e.advice == "" && !e.taken && len(names) > 0 {
		file.Slips = append(file.Slips, ast.Slip{Key: ast.Literal{Value: e.name, Range: e.at}, Meant: e.meant,
			Names: names})
		return
	}
	if !e.taken && e.advice == "" && slices.Contains([]string{"components", "hooks", "dynamic"}, e.meant) {
		file.Lost = append(file.Lost, names...)
	}
	hint := ""
	if body := e.value.Target(); body.Kind == yamlnode.Map && hasKey(body, "type") &&
		hasKey(body, "properties", "options", "get") {
		hint = "this looks like a resource: indent it under `resources`"
	}
	b.nodes.unknownKey(diag.Warning, e, "the program; it is ignored", topKeys, hint)
}

var pulumiKeys = []string{"requiredVersion", "allowEnv", "publicEnv"}

// pulumiBlock reads the section pulumi (L3.G) and returns the required version. It stores the other keys in file, which
// is nil for a component, where there are none.
func (b *bodyReader) pulumiBlock(e entry, file *ast.File) (required ast.Expr) {
	keys := pulumiKeys
	if file == nil {
		keys = keys[:1]
	}
	b.nodes.section(e, "`pulumi`", func(n *yamlnode.Node, _ diag.Range) {
		b.nodes.fields(b.nodes.entries(n), "`pulumi`", keys, fieldReaders{
			"allowEnv":  func(e entry) { file.AllowEnv = b.variables(e, "`allowEnv`") },
			"publicEnv": func(e entry) { file.PublicEnv = b.variables(e, "`publicEnv`") },
			"requiredVersion": func(e entry) {
				required = b.exprs.textExpression(e, "`requiredVersion`", "put it in quotes, such as \">=3.100.0\"")
			},
		})
	})
	return required
}

// variables reads a field with names of environment variables, an extension of yamlhost.
func (b *bodyReader) variables(e entry, field string) []ast.Literal {
	b.nodes.extension(e.at, "the field "+field)
	return b.nodes.literals(e, field, "the name of an environment variable")
}

func (b *bodyReader) variableItem(e entry, name ast.Literal) item {
	value := b.exprs.expression(e)
	return item{declaration: &ast.Variable{Name: name, Range: b.nodes.whole(e), Value: value, Unit: ast.NewUnit(value)}}
}

func (b *bodyReader) outputItem(e entry, name ast.Literal) item {
	value := b.exprs.expression(e)
	return item{declaration: &ast.Output{Name: name, Range: b.nodes.whole(e), Value: value, Unit: ast.NewUnit(value)}}
}

// componentItem reads a component (L3.E).
func (b *bodyReader) componentItem(e entry, name ast.Literal) item {
	component := &ast.Component{Name: name, Range: b.nodes.whole(e)}
	sections := body{}
	var pulumi *entry
	b.nodes.section(e, "the component `"+diag.Excerpt(e.name)+"`", func(n *yamlnode.Node, _ diag.Range) {
		reader := func(name string) func(e entry) {
			return func(e entry) { sections[name] = &section{entry: e, in: b} }
		}
		b.nodes.fields(b.nodes.described(n), "a component", componentKeys, fieldReaders{
			"name":        func(e entry) { b.nodes.plainText(e, "`name`") },
			"description": func(e entry) { component.Description = b.nodes.plainText(e, "`description`") },
			"token": func(e entry) {
				b.nodes.extension(e.at, "the field `token` of a component")
				component.Token = b.nodes.typeToken(e, "`token`")
			},
			"pulumi":    func(e entry) { pulumi = &e },
			"inputs":    reader("config"),
			"variables": reader("variables"),
			"resources": reader("resources"),
			"outputs":   reader("outputs"),
		})
		outer := b.texts.scope
		b.texts.scope = outer.inside(sections.names())
		if pulumi != nil {
			component.RequiredVersion = b.pulumiBlock(*pulumi, nil)
		}
		component.Unit = ast.NewUnit(component.RequiredVersion)
		component.Config = declarationsOf[*ast.Config](b, sections["config"], (*bodyReader).inputItem)
		component.Variables = declarationsOf[*ast.Variable](b, sections["variables"], (*bodyReader).variableItem)
		component.Resources = b.resourceSection(sections["resources"])
		component.Outputs = declarationsOf[*ast.Output](b, sections["outputs"], (*bodyReader).outputItem)
		b.texts.scope = outer
	})
	return item{declaration: component}
}

// hook reads a hook, an extension of yamlhost. In a command, `args` is the engine's description of the operation.
func (b *bodyReader) hook(e entry, name ast.Literal) item {
	hook := &ast.Hook{Name: name, Range: b.nodes.whole(e)}
	b.nodes.section(e, "the hook `"+diag.Excerpt(e.name)+"`", func(n *yamlnode.Node, _ diag.Range) {
		b.nodes.fields(b.nodes.described(n), "a hook", hookKeys, fieldReaders{
			"command":      func(e entry) { b.texts.scope.also(func() { hook.Command = present(b.exprs.expression(e)) }, "args") },
			"onDryRun":     func(e entry) { hook.OnDryRun = b.nodes.literalBool(e, "`onDryRun`") },
			"ignoreErrors": func(e entry) { hook.IgnoreErrors = b.nodes.literalBool(e, "`ignoreErrors`") },
		})
	})
	if hook.Command == nil {
		b.report.fail(diag.RequiredMissing, name.Range, "add `command: [program, argument]`", "the hook `%s` needs a command",
			diag.Excerpt(e.name))
	}
	hook.Unit = ast.NewUnit(hook.Command)
	return item{declaration: hook}
}

// listed returns the names in sections that are lists by mistake, which is reported: what refers to them is right.
func (b body) listed() (names []string) {
	for _, name := range []string{"config", "configuration", "variables", "resources"} {
		if s := b[name]; s != nil {
			names = append(names, listedNames(s.entry.value.Target())...)
		}
	}
	if s := b["components"]; s != nil {
		for _, e := range append([]part{{entry: s.entry}}, s.parts...) {
			for _, component := range valuesOf(e.entry.value.Target()) {
				for i, section := range valuesOf(component) {
					if section.Kind == yamlnode.List && slices.Contains(componentKeys, component.Content[2*i].Value) {
						names = append(names, listedNames(section)...)
					}
				}
			}
		}
	}
	return names
}

// valuesOf returns the values of a map; none for any other node.
func valuesOf(n *yamlnode.Node) (values []*yamlnode.Node) {
	for i := 1; n.Kind == yamlnode.Map && i < len(n.Content); i += 2 {
		values = append(values, n.Content[i].Target())
	}
	return values
}

// listedNames returns the names of the entries of a list: texts, the keys of maps, and what they have under `name`.
func listedNames(n *yamlnode.Node) (names []string) {
	for i := 0; n.Kind == yamlnode.List && i < len(n.Content); i++ {
		item := n.Content[i].Target()
		names = append(names, textKeys(item)...)
		if at := item.Index("name"); at >= 0 {
			item = item.Content[at+1].Target()
		}
		if item.Kind == yamlnode.Scalar {
			names = append(names, item.Value)
		}
	}
	return names
}

// names returns the names that a body declares, together with others and the predeclared name.
func (b body) names(others ...string) map[string]bool {
	names := map[string]bool{"pulumi": true}
	for _, name := range others {
		names[name] = true
	}
	for _, section := range []string{"config", "configuration", "variables", "resources"} {
		s := b[section]
		if s == nil {
			continue
		}
		gatherNames(s.entry.value.Target(), names, 0)
		for _, part := range s.parts {
			gatherNames(part.entry.value.Target(), names, 0)
		}
	}
	return names
}

// gatherNames adds the keys of a section to names. It reports nothing; that is done when the section is read.
func gatherNames(section *yamlnode.Node, names map[string]bool, depth int) {
	if section.Kind != yamlnode.Map || depth > 10 {
		return
	}
	for i := 0; i+1 < len(section.Content); i += 2 {
		key := section.Content[i].Target()
		if key.Kind != yamlnode.Scalar {
			continue
		}
		if key.Tag != yamlnode.MergeTag {
			names[key.Value] = true
			continue
		}
		merged := section.Content[i+1].Target()
		gatherNames(merged, names, depth+1)
		for _, item := range merged.Content {
			if merged.Kind == yamlnode.List {
				gatherNames(item.Target(), names, depth+1)
			}
		}
	}
}

// Options configures Parse. The zero value is suitable for a program without a stack.
type Options struct {
	// Declared holds names that expressions may use although the text does not declare them, such as the keys of the
	// stack's configuration. They only matter if a `${…}` is ambiguous (decision D6).
	Declared []string
	// Project reports whether the text is a project file too, in which the values of configuration are data (L2.17).
	Project bool
	// Plugin reports whether the text belongs to a component plugin, which has components but no program (L1.31).
	Plugin bool
	// Pack reports whether the text is a policy pack, which has policies but no program.
	Pack bool
	// Include returns the texts that match a pattern in the section include, such as parts/*.yaml, in order (L10.C11).
	// Its error explains why they cannot be included. Parse calls it from one goroutine. If it is nil, the section is
	// reported as an error.
	Include func(pattern string) ([]*diag.Source, error)
}
