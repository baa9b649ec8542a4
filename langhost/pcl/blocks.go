package pcl

import (
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/schema"
)

// translator translates the blocks of one module.
type translator struct {
	*module
	out sections
}

// translate translates all blocks of a module.
func (m *module) translate() *sections {
	t := &translator{module: m}
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
				t.out.variables.add(i.attribute.Name, m.value(i.attribute.Expr), m.about(i.attribute.SrcRange)...)
				continue
			}
			t.block(i.block)
		}
	}
	return &t.out
}

func (t *translator) block(b *hclsyntax.Block) {
	rng, labels := b.DefRange(), len(b.Labels)
	if labels > 0 && slices.Contains([]string{"resource", "read", "component"}, b.Type) {
		t.objects = append(t.objects, Object{Kind: b.Labels[labels-1], Name: b.Labels[0], Place: t.place(rng)})
	}
	asResource := func(translate func(*hclsyntax.Block) node) func(*hclsyntax.Block) {
		return func(b *hclsyntax.Block) { t.out.resources.add(b.Labels[0], translate(b), t.about(b.Range())...) }
	}
	kind, known := map[string]struct {
		least, most int // number of labels
		translate   func(*hclsyntax.Block)
	}{
		"config":    {1, 2, t.config},
		"resource":  {2, 2, asResource(t.resource)},
		"read":      {2, 2, asResource(t.resource)},
		"component": {1, 2, asResource(t.componentUse)},
		"output":    {1, 2, t.output},
		"hook":      {2, 2, t.hook},
		"pulumi":    {0, math.MaxInt, t.settingsBlock},
		"package":   {0, math.MaxInt, t.packageBlock},
	}[b.Type]
	switch {
	case !known:
		t.fail(rng, "", "a block `%s` is not understood", b.Type)
	case labels < kind.least || labels > kind.most:
		t.fail(rng, "", "a block `%s` with %s is not understood", b.Type, diag.Count(labels, "label"))
	default:
		kind.translate(b)
	}
}

func (t *translator) settingsBlock(b *hclsyntax.Block) {
	t.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		if a.Name != "requiredVersionRange" {
			t.fail(a.NameRange, "", "the setting `%s` is not understood", a.Name)
			return
		}
		t.out.pulumi.add("requiredVersion", t.value(a.Expr), t.about(b.Range())...)
	})
}

// config translates the declaration of a configuration value or of a component's input.
func (t *translator) config(b *hclsyntax.Block) {
	out := &mapping{}
	typed, defaulted, secret := false, false, false
	if len(b.Labels) > 1 {
		if name := configType(b.Labels[1]); name != "" {
			out.entries = append(out.entries, entry{key: "type", value: scalar(literal.Scalar(name))})
			typed = true
			t.further = t.further || t.isProgram() && !inProjects(name)
		} else {
			t.fail(b.LabelRanges[1], "", "the type %s of a configuration value is not understood", b.Labels[1])
		}
	}
	var rest mapping
	t.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		switch a.Name {
		case "__logicalName":
			rest.add("name", t.value(a.Expr), t.inside(b, a)...)
		case "default", "secret", "description":
			value := t.value(a.Expr)
			rest.add(a.Name, value, t.inside(b, a)...)
			defaulted, secret = defaulted || a.Name == "default", secret || a.Name == "secret"
			t.further = t.further || t.isProgram() && a.Name == "default" && !isData(a.Expr, value)
		case "nullable":
			rest.add("optional", t.value(a.Expr), t.inside(b, a)...)
		default:
			t.fail(a.NameRange, "", "the setting `%s` of a configuration value is not understood", a.Name)
		}
	})
	if !typed && len(b.Labels) == 1 {
		out.add("type", scalar("any"))
		t.further = t.further || t.isProgram()
	}
	// in project files, only encrypted defaults are secret
	t.further = t.further || t.isProgram() && defaulted && secret
	out.entries = append(out.entries, rest.entries...)
	t.out.config.add(b.Labels[0], out, t.about(b.Range())...)
}

// isData reports whether an expression is a value that is written without escapes, and so as the data that defaults in
// project files are.
func isData(e hclsyntax.Expression, written node) bool {
	_, diags := e.Value(nil)
	var b strings.Builder
	writeEntries(&b, &mapping{[]entry{{key: "default", value: written}}}, 0)
	return !diags.HasErrors() && !strings.Contains(b.String(), "$$")
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
func (t *translator) resource(b *hclsyntax.Block) node {
	reads := b.Type == "read"
	out, get, properties, options := &mapping{}, &mapping{}, &mapping{}, &mapping{}
	out.add("type", scalar(literal.Scalar(t.used(b.Labels[1]))))
	t.settings(b, out, options, func(a *hclsyntax.Attribute) {
		switch {
		case a.Name == "__logicalName":
			out.add("name", t.value(a.Expr), t.inside(b, a)...)
		case a.Name == "id" && reads:
			get.add("id", t.value(a.Expr), t.inside(b, a)...)
		default:
			properties.add(a.Name, t.value(a.Expr), t.inside(b, a)...)
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
func (t *translator) settings(b *hclsyntax.Block, out, options *mapping, attribute func(*hclsyntax.Attribute)) {
	write := func(o *hclsyntax.Block) { t.writeOptions(o, out, options) }
	t.attributes(b.Body, map[string]func(*hclsyntax.Block){"options": write}, attribute)
}

func (t *translator) output(b *hclsyntax.Block) {
	name, comment := b.Labels[0], t.about(b.Range())
	var value node
	t.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		switch a.Name {
		case "value":
			value = t.value(a.Expr)
		case "__logicalName":
			if text, ok := literalText(a.Expr); ok {
				name = text
			} else {
				t.fail(a.Expr.Range(), "", "the name of an output must be a literal string")
			}
		case "description":
			if text, ok := literalText(a.Expr); ok {
				comment = append(comment, strings.Split(text, "\n")...) // YAML can keep it only as a comment
			}
		default:
			t.fail(a.NameRange, "", "the setting `%s` of an output is not understood", a.Name)
		}
	})
	if value == nil {
		t.fail(b.DefRange(), "", "the output `%s` has no value", name)
		return
	}
	t.out.outputs.add(name, value, comment...)
}

// componentUse translates an instance of a component. A local component becomes a component of the program (decision
// D6).
func (t *translator) componentUse(b *hclsyntax.Block) node {
	out, properties, options := &mapping{}, &mapping{}, &mapping{}
	token := ""
	var inputs []string
	t.settings(b, out, options, func(a *hclsyntax.Attribute) {
		if a.Name == "token" && len(b.Labels) == 1 {
			if text, ok := literalText(a.Expr); ok {
				token = text
			} else {
				t.fail(a.Expr.Range(), "", "the token of a component must be a literal string")
			}
			return
		}
		inputs = append(inputs, a.Name)
		properties.add(a.Name, t.value(a.Expr), t.inside(b, a)...)
	})
	switch {
	case len(b.Labels) == 2:
		token = t.componentOf(b)
	case token == "":
		t.fail(b.DefRange(), "", "the component `%s` has neither a folder nor a token", b.Labels[0])
	default:
		t.emptyComponent(b.Labels[0], token, inputs)
	}
	out.entries = append([]entry{{key: "type", value: scalar(literal.Scalar(schema.CollapseToken(token)))}}, out.entries...)
	out.addFilled("properties", properties)
	out.addFilled("options", options)
	return out
}

// emptyComponent declares a component that has only a token and inputs.
func (t *translator) emptyComponent(name, token string, inputs []string) {
	if t.tokens["="+token] != "" {
		return
	}
	t.tokens["="+token] = token
	declared := &mapping{}
	for _, input := range inputs {
		declared.add(input, &mapping{[]entry{{key: "type", value: scalar("any")}}})
	}
	out := &mapping{}
	out.add("token", scalar(literal.Scalar(token)))
	out.add("inputs", declared)
	t.components.add(t.componentName(name), out)
}

// componentName returns an unused name for a component.
func (t *translator) componentName(base string) string {
	name := pascal(base)
	for slices.Contains(t.names, name) {
		name += "X"
	}
	t.names = append(t.names, name)
	return name
}

// componentOf returns the token of the component in a folder. It translates the component at its first use.
func (t *translator) componentOf(b *hclsyntax.Block) string {
	folder := path.Join(t.folder, b.Labels[1])
	if token, known := t.tokens[folder]; known {
		if token == "" {
			t.fail(b.LabelRanges[1], "", "the component in %s contains itself", folder)
		}
		return token
	}
	if folder == "." {
		t.fail(b.LabelRanges[1], "its folder is above that of the program; convert a copy of the program that has its "+
			"modules below it", "the module `%s` has taken the place of the program", b.Labels[0])
		return ""
	}
	t.tokens[folder] = "components:index:" + pascal(path.Base(folder)) // unless it is read, for further uses
	if t.generator.options.Component == nil {
		t.fail(b.LabelRanges[1], "", "the component in %s cannot be read here", folder)
		return ""
	}
	sources, err := t.generator.options.Component(folder)
	if err != nil {
		t.fail(b.LabelRanges[1], err.Error(), "the component in %s cannot be read", folder)
		return ""
	}
	t.tokens[folder] = ""
	component := t.generator.module(folder, sources)
	body := component.translate()
	name := t.componentName(path.Base(folder))
	token := "components:index:" + name
	t.tokens[folder] = token
	if len(body.hooks.entries) > 0 {
		t.fail(b.DefRange(), "", "hooks inside of a component are not understood")
	}
	t.components.add(name, body.document("inputs", &mapping{}), append(component.heading, component.rest()...)...)
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

func (t *translator) hook(b *hclsyntax.Block) {
	out := &mapping{}
	if b.Labels[0] != "resource" && b.Labels[0] != "error" {
		t.fail(b.LabelRanges[0], "", "hooks of the kind %s are not understood", b.Labels[0])
	}
	t.attributes(b.Body, nil, func(a *hclsyntax.Attribute) {
		switch a.Name {
		case "command", "onDryRun", "ignoreErrors":
			out.add(a.Name, t.value(a.Expr), t.inside(b, a)...)
		default:
			t.fail(a.NameRange, "", "the setting `%s` of a hook is not understood", a.Name)
		}
	})
	t.out.hooks.add(b.Labels[1], out, t.about(b.Range())...)
}

func (t *translator) packageBlock(b *hclsyntax.Block) {
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
			t.fail(a.NameRange, "", "the setting `%s` of a package is not understood", a.Name)
		}
	}
	t.attributes(b.Body, map[string]func(*hclsyntax.Block){"parameterization": func(p *hclsyntax.Block) {
		d.Parameter = &Parameter{}
		t.attributes(p.Body, nil, take(map[string]*string{"name": &d.Parameter.Name, "version": &d.Parameter.Version,
			"value": &d.Parameter.Value}))
	}}, take(fields))
	t.declared = append(t.declared, d)
}
