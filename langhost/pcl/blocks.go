package pcl

import (
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/schema"
)

// translate translates all blocks of a module into its sections.
func (m *module) translate() {
	for _, body := range m.bodies {
		for _, b := range body.Blocks {
			if b.Type == "hook" && len(b.Labels) == 2 {
				m.hooks[b.Labels[1]] = true
			}
		}
	}
	for _, body := range m.bodies {
		for _, i := range items(body) {
			if i.attribute != nil {
				m.out.variables.add(i.attribute.Name, m.value(i.attribute.Expr), m.comments(i.rng)...)
				continue
			}
			m.block(i.block)
		}
	}
}

func (m *module) block(b *hclsyntax.Block) {
	rng, labels := b.DefRange(), len(b.Labels)
	if labels > 0 && slices.Contains([]string{"resource", "read", "component"}, b.Type) {
		m.objects = append(m.objects, Object{Kind: b.Labels[labels-1], Name: b.Labels[0], Place: m.place(rng)})
	}
	asResource := func(translate func(*hclsyntax.Block) node) func(*hclsyntax.Block) {
		return func(b *hclsyntax.Block) { m.out.resources.add(b.Labels[0], translate(b), m.comments(rng)...) }
	}
	kind, known := map[string]struct {
		least, most int // number of labels
		translate   func(*hclsyntax.Block)
	}{
		"config":    {1, 2, m.config},
		"resource":  {2, 2, asResource(m.resource)},
		"read":      {2, 2, asResource(m.resource)},
		"component": {1, 2, asResource(m.componentUse)},
		"output":    {1, 2, m.output},
		"hook":      {2, 2, m.hook},
		"pulumi":    {0, math.MaxInt, m.settingsBlock},
		"package":   {0, math.MaxInt, m.packageBlock},
	}[b.Type]
	switch {
	case !known:
		m.fail(rng, "", "a block `%s` is not understood", b.Type)
	case labels < kind.least || labels > kind.most:
		m.fail(rng, "", "a block `%s` with %d labels is not understood", b.Type, labels)
	default:
		kind.translate(b)
	}
}

func (m *module) settingsBlock(b *hclsyntax.Block) {
	m.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		if a.Name != "requiredVersionRange" {
			m.fail(a.NameRange, "", "the setting `%s` is not understood", a.Name)
			return
		}
		m.out.pulumi.add("requiredVersion", m.value(a.Expr))
	})
}

// config translates the declaration of a configuration value or of a component's input.
func (m *module) config(b *hclsyntax.Block) {
	out := &mapping{}
	typed := false
	if len(b.Labels) > 1 {
		if name := configType(b.Labels[1]); name != "" {
			out.entries = append(out.entries, entry{key: "type", value: scalar(Scalar(name))})
			typed = true
			m.further = m.further || m.isProgram() && !inProjects(name)
		} else {
			m.fail(b.LabelRanges[1], "", "the type %s of a configuration value is not understood", b.Labels[1])
		}
	}
	var rest mapping
	m.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		switch a.Name {
		case "__logicalName":
			rest.add("name", m.value(a.Expr))
		case "default", "secret", "description":
			rest.add(a.Name, m.value(a.Expr))
		case "nullable":
			rest.add("optional", m.value(a.Expr))
		default:
			m.fail(a.NameRange, "", "the setting `%s` of a configuration value is not understood", a.Name)
		}
	})
	if !typed && len(b.Labels) == 1 {
		out.add("type", scalar("any"))
		m.further = m.further || m.isProgram()
	}
	out.entries = append(out.entries, rest.entries...)
	m.out.config.add(b.Labels[0], out, m.comments(b.DefRange())...)
}

// inProjects reports whether project files support a type (L2.11).
func inProjects(typed string) bool {
	return !strings.Contains(typed, "?") && !strings.Contains(typed, "any") && !strings.Contains(typed, "map<")
}

// plainTypes maps the types without parameters to YAML.
var plainTypes = map[string]string{"string": "string", "number": "number", "any": "any", "int": "integer",
	"bool": "boolean"}

// configType translates a type to YAML (L2.20); it returns "" for an unknown type.
func configType(text string) string {
	text = strings.ReplaceAll(text, " ", "")
	if name := plainTypes[text]; name != "" {
		return name
	}
	for _, generic := range []struct{ pcl, yaml string }{{"list", "list"}, {"map", "map"}, {"set", "list"}} {
		if inner, ok := argument(text, generic.pcl); ok {
			if inner = configType(inner); inner == "" {
				return ""
			}
			return generic.yaml + "<" + inner + ">"
		}
	}
	if inner, ok := argument(text, "optional"); ok {
		if inner = configType(inner); inner != "" {
			return inner + "?"
		}
	}
	if _, ok := argument(text, "object"); ok {
		return "object"
	}
	return ""
}

func argument(text, name string) (string, bool) {
	inner, ok := strings.CutPrefix(text, name+"(")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(inner, ")")
}

// used records the package of a token and returns the token in the form used in YAML.
func (m *module) used(token string) string {
	name, rest, _ := strings.Cut(token, ":")
	if provider, ok := strings.CutPrefix(rest, "providers:"); ok && name == "pulumi" {
		name = provider
	}
	if name != "pulumi" {
		m.packages[name] = true
	}
	return schema.CollapseToken(token)
}

// resource translates a resource, or an existing resource that is only read (L3.C).
func (m *module) resource(b *hclsyntax.Block) node {
	reads := b.Type == "read"
	out, get, properties, options := &mapping{}, &mapping{}, &mapping{}, &mapping{}
	out.add("type", scalar(Scalar(m.used(b.Labels[1]))))
	m.settings(b, out, options, func(a *hclsyntax.Attribute) {
		switch {
		case a.Name == "__logicalName":
			out.add("name", m.value(a.Expr))
		case a.Name == "id" && reads:
			get.add("id", m.value(a.Expr), m.comments(a.NameRange)...)
		default:
			properties.add(a.Name, m.value(a.Expr), m.comments(a.NameRange)...)
		}
	})
	if reads {
		get.addFilled("state", properties)
		out.add("get", get)
	} else {
		out.addFilled("properties", properties)
	}
	out.addFilled("options", options)
	return out
}

// settings calls attribute for each attribute of a resource block and translates its options block.
func (m *module) settings(b *hclsyntax.Block, out, options *mapping, attribute func(*hclsyntax.Attribute)) {
	write := func(o *hclsyntax.Block) { m.writeOptions(o, out, options) }
	m.attributes(b.Body, map[string]func(*hclsyntax.Block){"options": write}, attribute)
}

func (m *module) output(b *hclsyntax.Block) {
	name, comment := b.Labels[0], m.comments(b.DefRange())
	var value node
	m.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		switch a.Name {
		case "value":
			value = m.value(a.Expr)
		case "__logicalName":
			if text, ok := literalText(a.Expr); ok {
				name = text
			} else {
				m.fail(a.Expr.Range(), "", "the name of an output must be a literal string")
			}
		case "description":
			if text, ok := literalText(a.Expr); ok {
				comment = append(comment, strings.Split(text, "\n")...) // YAML can keep it only as a comment
			}
		default:
			m.fail(a.NameRange, "", "the setting `%s` of an output is not understood", a.Name)
		}
	})
	if value == nil {
		m.fail(b.DefRange(), "", "the output `%s` has no value", name)
		return
	}
	m.out.outputs.add(name, value, comment...)
}

// componentUse translates an instance of a component. A local component becomes a component of the program (decision
// D6).
func (m *module) componentUse(b *hclsyntax.Block) node {
	out, properties, options := &mapping{}, &mapping{}, &mapping{}
	token := ""
	var inputs []string
	m.settings(b, out, options, func(a *hclsyntax.Attribute) {
		if a.Name == "token" && len(b.Labels) == 1 {
			if text, ok := literalText(a.Expr); ok {
				token = text
			} else {
				m.fail(a.Expr.Range(), "", "the token of a component must be a literal string")
			}
			return
		}
		inputs = append(inputs, a.Name)
		properties.add(a.Name, m.value(a.Expr))
	})
	switch {
	case len(b.Labels) == 2:
		token = m.componentOf(b)
	case token == "":
		m.fail(b.DefRange(), "", "the component `%s` has neither a folder nor a token", b.Labels[0])
	default:
		m.emptyComponent(b.Labels[0], token, inputs)
	}
	out.entries = append([]entry{{key: "type", value: scalar(Scalar(schema.CollapseToken(token)))}}, out.entries...)
	out.addFilled("properties", properties)
	out.addFilled("options", options)
	return out
}

// emptyComponent declares a component that has only a token and inputs.
func (m *module) emptyComponent(name, token string, inputs []string) {
	if m.tokens["="+token] != "" {
		return
	}
	m.tokens["="+token] = token
	declared := &mapping{}
	for _, input := range inputs {
		declared.add(input, &mapping{[]entry{{key: "type", value: scalar("any")}}})
	}
	out := &mapping{}
	out.add("token", scalar(Scalar(token)))
	out.add("inputs", declared)
	m.components.add(m.componentName(name), out)
}

// componentName returns an unused name for a component.
func (m *module) componentName(base string) string {
	name := pascal(base)
	for slices.Contains(m.names, name) {
		name += "X"
	}
	m.names = append(m.names, name)
	return name
}

// componentOf returns the token of the component in a folder. It translates the component at its first use.
func (m *module) componentOf(b *hclsyntax.Block) string {
	folder := path.Join(m.folder, b.Labels[1])
	if token, known := m.tokens[folder]; known {
		if token == "" {
			m.fail(b.LabelRanges[1], "", "the component in %s contains itself", folder)
		}
		return token
	}
	if folder == "." {
		m.fail(b.LabelRanges[1], "its folder is above that of the program; convert a copy of the program that has its "+
			"modules below it", "the module `%s` has taken the place of the program", b.Labels[0])
		return ""
	}
	m.tokens[folder] = ""
	if m.generator.options.Component == nil {
		m.fail(b.LabelRanges[1], "", "the component in %s cannot be read here", folder)
		return ""
	}
	sources, err := m.generator.options.Component(folder)
	if err != nil {
		m.fail(b.LabelRanges[1], err.Error(), "the component in %s cannot be read", folder)
		return ""
	}
	component := m.generator.module(folder, sources)
	component.translate()
	name := m.componentName(path.Base(folder))
	token := "components:index:" + name
	m.tokens[folder] = token
	if len(component.out.hooks.entries) > 0 {
		m.fail(b.DefRange(), "", "hooks inside of a component are not understood")
	}
	m.components.add(name, component.out.document("inputs", &mapping{}), component.header()...)
	return token
}

// pascal converts a name to Pascal case: fooBar and foo-bar become FooBar.
func pascal(name string) string {
	var b strings.Builder
	upper := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (m *module) hook(b *hclsyntax.Block) {
	out := &mapping{}
	if b.Labels[0] != "resource" && b.Labels[0] != "error" {
		m.fail(b.LabelRanges[0], "", "hooks of the kind %s are not understood", b.Labels[0])
	}
	m.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		switch a.Name {
		case "command", "onDryRun", "ignoreErrors":
			out.add(a.Name, m.value(a.Expr))
		default:
			m.fail(a.NameRange, "", "the setting `%s` of a hook is not understood", a.Name)
		}
	})
	m.out.hooks.add(b.Labels[1], out, m.comments(b.DefRange())...)
}

func (m *module) packageBlock(b *hclsyntax.Block) {
	var d Declaration
	fields := map[string]*string{
		"baseProviderName": &d.Name, "baseProviderVersion": &d.Version, "baseProviderDownloadUrl": &d.DownloadURL,
	}
	if len(b.Labels) > 0 {
		d.Name = b.Labels[0]
	}
	take := func(fields map[string]*string) func(*hclsyntax.Attribute) {
		return func(a *hclsyntax.Attribute) {
			text, ok := literalText(a.Expr)
			if dst := fields[a.Name]; dst != nil && ok {
				*dst = text
				return
			}
			m.fail(a.NameRange, "", "the setting `%s` of a package is not understood", a.Name)
		}
	}
	m.attributes(b.Body, map[string]func(*hclsyntax.Block){"parameterization": func(p *hclsyntax.Block) {
		d.Parameter = &Parameter{}
		m.attributes(p.Body, nil, take(map[string]*string{"name": &d.Parameter.Name, "version": &d.Parameter.Version,
			"value": &d.Parameter.Value}))
	}}, take(fields))
	m.declared = append(m.declared, d)
}
