package parser

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// The fields of a resource (L3.B). Those that the stock host tolerates without any effect are reserved (L1.23).
var (
	resourceKeys = ast.ResourceFields()
	reservedKeys = []string{"condition", "metadata"}
	allFields    = append(resourceKeys[:len(resourceKeys):len(resourceKeys)], reservedKeys...)
	getKeys      = []string{"id", "state"}
	// elsewhere are keys that have a meaning one level down.
	elsewhere = slices.Concat(optionKeys, getKeys)
)

func (p *parser) resourceSection(section *entry) (resources []*ast.Resource) {
	var bare *ast.Resource // the one before, when there is nothing in it
	strays := false        // the entry before was a stray field
	for _, it := range p.items(section, (*parser).resourceItem) {
		if parent := it.stray; parent != "" {
			if bare != nil { // whose fields begin here
				parent = "`" + shorten(bare.Name.Value) + "`, with what belongs to it"
			}
			if !strays {
				code := diag.WrongKind
				if parent == aName {
					code = diag.Nameless
				}
				p.fail(code, it.name.Range, "indent this under "+parent, "`%s` is not a resource here", it.name.Value)
			}
			bare, strays = nil, true
			continue
		}
		if bare != nil {
			p.needsToken(bare)
		}
		bare, strays = nil, false
		if it.bare {
			bare = it.resource
		}
		p.diags.Add(it.diags...)
		resources = append(resources, it.resource)
	}
	if bare != nil {
		p.needsToken(bare)
	}
	return resources
}

// resourceItem reads one resource. That there is nothing in it is left to the caller to report.
func (p *parser) resourceItem(e entry, name ast.Literal) item {
	if parent, stray := p.misplaced(e); stray {
		return item{stray: parent}
	}
	r := &ast.Resource{Name: name, Range: p.whole(e)}
	bare := false
	p.with(e.value, e.via, func(n *node, at diag.Range) {
		switch {
		case n.Kind == yaml.MappingNode:
			p.resourceFields(r, n)
		case empty(n):
			if p.repairs == nil || !p.lostBehind(at) {
				bare = true
			}
		default:
			p.wrongKind(n, at, "the resource `"+shorten(name.Value)+"`", "a map", bodyHint(n))
		}
	})
	r.Number()
	return item{resource: r, bare: bare}
}

func (p *parser) needsToken(r *ast.Resource) {
	p.fail(diag.BadTypeToken, r.Name.Range, "add `type: package:module:Type`", "the resource `%s` needs a type",
		shorten(r.Name.Value))
}

// bodyHint is how to write what stands in the place of a resource's fields.
func bodyHint(n *node) string {
	if n.Kind == yaml.ScalarNode {
		for _, field := range resourceKeys {
			rest, ok := strings.CutPrefix(n.Value, field)
			switch value := strings.TrimSpace(rest); {
			case !ok || value == "":
			case strings.HasPrefix(rest, ":"):
				return "a space is missing behind the colon: write `" + field + ": " + shorten(value[1:]) + "`"
			case rest[0] == ' ':
				return "a colon is missing: write `" + field + ": " + shorten(value) + "`"
			}
		}
		if strings.Contains(n.Value, ":") && !strings.ContainsAny(n.Value, " \t\n") {
			return "write it as the type: `{type: " + shorten(n.Value) + "}`"
		}
	}
	return "it has at least a `type`"
}

// misplaced reports whether an entry is a field of the resource above that has been indented one level too little
// (L4.7), and what it has to be under.
const aName = "a resource's name"

// aSection is what a section has to be under that stands among the resources.
const aSection = "the program, as `resources` is"

func (p *parser) misplaced(e entry) (parent string, stray bool) {
	body := p.deref(e.value)
	switch {
	case e.name == "type" && isText(body):
		parent = aName
	case body.Kind != yaml.MappingNode || hasKey(body, "type"):
		return "", false
	case (e.name == "outputs" || e.name == "variables") && len(body.Content) > 0 && !hasKey(body, resourceKeys...):
		return aSection, true
	case e.name == "options" && allKeys(body, optionKeys), e.name == "get" && allKeys(body, getKeys),
		e.name == "properties" && len(body.Content) > 0 && !hasKey(body, resourceKeys...):
		parent = "the resource that it belongs to"
	default:
		return "", false
	}
	return parent, true
}

// allKeys reports whether a map has entries and all its keys are known.
func allKeys(n *node, known []string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if _, ok := canonical(n.Content[i].Value, known); !ok {
			return false
		}
	}
	return len(n.Content) > 0
}

func (p *parser) resourceFields(r *ast.Resource, n *node) {
	var typed bool
	var properties, get, options, each, condition *entry
	var unknown []entry
	p.fieldsOf(p.described(n), allFields, elsewhere, func(key string, e entry) {
		switch key {
		case "type":
			if typed = !empty(p.deref(e.value)); typed {
				r.Type = p.typeToken(e, "`type`")
			}
		case "name":
			r.LogicalName = p.literalText(e, "`name`")
		case "defaultProvider":
			r.DefaultProvider = p.literalBool(e, "`defaultProvider`")
		case "properties":
			properties = &e
		case "options":
			options = &e
		case "get":
			get = &e
		case "forEach":
			p.extension(e.at, "the field `forEach`")
			each = &e
		case "if":
			p.extension(e.at, "the field `if`")
			condition = &e
		default:
			detail := "remove it"
			if key == "condition" {
				detail = "`if` makes a resource depend on a condition"
			}
			p.warn(diag.Ignored, e.at, detail, "`%s` has no effect", key)
		}
	}, func(e entry) bool { unknown = append(unknown, e); return true })
	for _, e := range unknown {
		if e.meant == "" {
			r.Misplaced = append(r.Misplaced, e.name)
		}
		p.unknownKey(diag.Error, e, "a resource", resourceKeys, p.levelHint(e, properties))
	}
	if !typed {
		p.needsToken(r)
	}
	if each != nil {
		r.ForEach = p.present(p.expression(*each))
	}
	read := func() {
		if condition != nil {
			r.If = p.present(p.expression(*condition))
		}
		if properties != nil {
			p.properties(r, *properties)
		}
		if get != nil {
			r.Get = p.get(r, *get)
			if properties != nil && r.Get != nil {
				d := p.fail(diag.WrongKind, get.at, "a resource is either read with `get` or managed with `properties`",
					"`get` and `properties` exclude each other")
				d.Related = []diag.Related{{Range: properties.at, Message: "`properties` stands here"}}
			}
		}
		if options != nil {
			p.optionBlock(&r.Options, *options)
		}
	}
	if each != nil {
		p.alsoDeclared("each", read)
		return
	}
	read()
}

// levelHint says where a key that is no field of a resource would have a meaning (L4.7).
func (p *parser) levelHint(e entry, properties *entry) string {
	if slices.Contains(resourceKeys, e.meant) {
		return ""
	}
	if name, ok := canonical(e.name, optionKeys); ok {
		return "indent `" + name + "` under `options`"
	}
	if name, ok := canonical(e.name, getKeys); ok {
		return "indent `" + name + "` under `get`, or under `properties` if it is an input"
	}
	if properties != nil && len(diag.Suggest(e.name, resourceKeys)) == 0 {
		if body := p.deref(properties.value); body.Kind == yaml.MappingNode && hasExactKey(body, e.name) {
			return "it stands under `properties` already"
		}
	}
	if len(diag.Suggest(e.name, resourceKeys)) == 0 {
		return "if it is an input of the resource, indent it under `properties`"
	}
	return ""
}

// typeToken reads a type (L3.10): two or three parts, none of them empty. Whether such a type exists is for the
// checker.
func (p *parser) typeToken(e entry, what string) *ast.Literal {
	literal := p.literalText(e, what)
	if literal == nil {
		return nil
	}
	parts := strings.Split(literal.Value, ":")
	ok := len(parts) == 2 || len(parts) == 3
	for _, part := range parts {
		ok = ok && part != "" && strings.TrimSpace(part) == part
	}
	if !ok {
		d := p.fail(diag.BadTypeToken, literal.Range, "write `package:module:Type`, or `package:Type`",
			"`%s` is not a type", shorten(literal.Value))
		p.foreignType(d, literal)
		return nil
	}
	return literal
}

var (
	dottedType    = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[A-Za-z][\w/]*){1,2}$`)
	terraformType = regexp.MustCompile(`^([a-z0-9]+)((?:_[a-z0-9]+)+)$`)
	cloudType     = regexp.MustCompile(`^(AWS|Google|Azure)::(\w+)::(\w+)$`)
)

// foreignType says how a type of another tool, or of another language, is written here.
func (p *parser) foreignType(d *diag.Diagnostic, literal *ast.Literal) {
	text := literal.Value
	switch {
	case dottedType.MatchString(text):
		right := strings.ReplaceAll(text, ".", ":")
		d.Detail = "its parts are separated by colons: `" + right + "`"
		if at, ok := literal.Range.Word(text); ok {
			d.Fixes = []diag.Fix{{Label: "Write `" + right + "`", Edits: []diag.Edit{{Range: at, Text: right}}}}
		}
	case terraformType.MatchString(text):
		m := terraformType.FindStringSubmatch(text)
		var name strings.Builder
		for _, word := range strings.Split(text, "_") {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		short := strings.TrimPrefix(name.String(), strings.ToUpper(m[1][:1])+m[1][1:])
		d.Detail = "that is a type of Terraform: here it is one of the package " + m[1] + ", such as `" + m[1] + ":" +
			name.String() + "` or `" +
			m[1] + ":" + short + "`; `yamlhost schema " + m[1] + "` lists them"
	case cloudType.MatchString(text):
		m := cloudType.FindStringSubmatch(text)
		pkg := strings.ToLower(m[1]) + "-native"
		d.Detail = "that is a type of CloudFormation: here it is `" + pkg + ":" + strings.ToLower(m[2]) + ":" + m[3] + "`"
	}
}

// properties reads a resource's properties: a map with plain keys, or one expression (L3.11).
func (p *parser) properties(r *ast.Resource, e entry) {
	p.with(e.value, e.via, func(n *node, at diag.Range) {
		if empty(n) {
			return // L1.16
		}
		if n.Kind != yaml.MappingNode {
			r.PropertiesRange = at
			r.PropertiesExpr = p.readAt(n, at, true)
			switch r.PropertiesExpr.(type) {
			case *ast.Bool, *ast.Number, *ast.String, *ast.Template, *ast.List:
				p.wrongKind(n, at, "`properties`", "a map", "")
				r.PropertiesExpr = bad(at)
			}
			return
		}
		r.PropertiesRange = at
		for i := 0; i+1 < len(n.Content); i += 2 {
			if isCall(n.Content[i].Value) {
				r.PropertiesExpr = p.readAt(n, at, true)
				return
			}
		}
		r.Properties = p.propertyList(n)
	})
}

// propertyList reads a map whose keys are plain text and whose values are expressions.
func (p *parser) propertyList(n *node) []ast.Property {
	entries := p.entries(n)
	list := make([]ast.Property, 0, len(entries))
	for _, e := range entries {
		list = append(list, ast.Property{Name: ast.Literal{Value: e.name, Range: e.at}, Value: p.expression(e)})
	}
	return list
}

// get reads the field get (L3.C).
func (p *parser) get(r *ast.Resource, e entry) *ast.Get {
	var get *ast.Get
	p.with(e.value, e.via, func(n *node, at diag.Range) {
		get = &ast.Get{Range: at}
		given := false
		switch {
		case n.Kind == yaml.MappingNode:
			p.fields(n, getKeys, func(key string, e entry) {
				if key == "id" {
					get.ID = p.present(p.expression(e))
					given = get.ID != nil
					switch get.ID.(type) {
					case *ast.Number, *ast.Bool, *ast.List, *ast.Map:
						p.wrongKind(p.deref(e.value), get.ID.Range(), "`id`", "a string", "put it in quotes")
						get.ID = bad(get.ID.Range())
					}
					return
				}
				p.section(e, "`state`", func(n *node, _ diag.Range) { get.State = p.propertyList(n) })
			}, func(e entry) { p.unknownKey(diag.Error, e, "`get`", getKeys, "") })
		case !empty(n):
			p.wrongKind(n, at, "`get`", "a map", "write `get: {id: …}`")
			return
		}
		if !given {
			p.fail(diag.RequiredMissing, e.at, "add the id of the existing resource", "`get` needs an id")
		}
	})
	return get
}
