package parser

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

func (b *bodyReader) resourceSection(section *section) (resources []*ast.Resource) {
	var bare *ast.Resource // the previous resource, if it is empty
	strays := false        // the previous entry was a misplaced field
	for _, it := range b.items(section, (*bodyReader).resourceItem) {
		if parent := it.stray; parent != "" {
			if bare != nil { // these are its fields
				parent = "`" + diag.Excerpt(bare.Name.Value) + "`, with its fields"
			}
			if !strays {
				code := diag.WrongKind
				if parent == aName {
					code = diag.Nameless
				}
				b.report.fail(code, it.name.Range, "indent this under "+parent, "`%s` is not a resource here", it.name.Value)
			}
			bare, strays = nil, true
			continue
		}
		if bare != nil {
			needsToken(b.report, bare)
		}
		bare, strays = nil, false
		if it.bare {
			bare = it.declaration.(*ast.Resource)
		}
		b.report.diags.Add(it.diags...)
		resources = append(resources, it.declaration.(*ast.Resource))
	}
	if bare != nil {
		needsToken(b.report, bare)
	}
	return resources
}

// resourceItem reads one resource. The caller reports an empty one.
func (b *bodyReader) resourceItem(e entry, name ast.Literal) item {
	if parent, stray := misplaced(e); stray {
		return item{stray: parent}
	}
	r := &ast.Resource{Name: name, Range: b.nodes.whole(e)}
	bare := false
	b.nodes.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		switch {
		case n.Kind == yamlnode.Map:
			(&resourceReader{b.exprs, b.nodes, b.report, r}).fieldsOfMap(n)
		case yamlnode.IsNull(n):
			if !b.nodes.lostBehind(rng) {
				bare = true
			}
		default:
			b.nodes.wrongKind(n, rng, "the resource `"+diag.Excerpt(name.Value)+"`", "a map", bodyHint(n))
		}
	})
	r.Number()
	return item{declaration: r, bare: bare}
}

// needsToken reports a resource without a type.
func needsToken(f *findings, r *ast.Resource) {
	f.fail(diag.BadTypeToken, r.Name.Range, "add `type: package:module:Type`", "the resource `%s` needs a type",
		diag.Excerpt(r.Name.Value))
}

// bodyHint returns advice on how to write the value n, which is in the place of a resource's fields.
func bodyHint(n *yamlnode.Node) string {
	if n.Kind == yamlnode.Scalar {
		for _, field := range resourceKeys {
			rest, ok := strings.CutPrefix(n.Value, field)
			switch value := strings.TrimSpace(rest); {
			case !ok || value == "":
			case strings.HasPrefix(rest, ":"):
				return "a space is missing after the colon: write `" + field + ": " + diag.Excerpt(value[1:]) + "`"
			case rest[0] == ' ':
				return "a colon is missing: write `" + field + ": " + diag.Excerpt(value) + "`"
			}
		}
		if strings.Contains(n.Value, ":") && !strings.ContainsAny(n.Value, " \t\n") {
			return "write it as the type: `{type: " + diag.Excerpt(n.Value) + "}`"
		}
	}
	return "it has at least a `type`"
}

// aName describes the missing parent of a field type that is directly among the resources.
const aName = "a resource's name"

// aSection describes the missing parent of a section that is among the resources.
const aSection = "the program, as `resources` is"

// misplaced reports whether an entry is a field of the resource above that is indented one level too little (L4.7), and
// describes its proper parent.
func misplaced(e entry) (parent string, stray bool) {
	body := e.value.Target()
	switch {
	case e.name == "type" && isText(body):
		parent = aName
	case body.Kind != yamlnode.Map || hasKey(body, "type"):
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

// allKeys reports whether a map is not empty and all of its keys are known.
func allKeys(n *yamlnode.Node, known []string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if _, ok := canonical(n.Content[i].Value, known); !ok {
			return false
		}
	}
	return len(n.Content) > 0
}

// resourceReader reads the fields of one resource.
type resourceReader struct {
	exprs    *exprReader
	nodes    *nodeReader
	report   *findings
	resource *ast.Resource
}

// resourceParts holds the fields of a resource that are not read in the order of the text.
type resourceParts struct{ properties, get, options, each, condition *entry }

func (r *resourceReader) fieldsOfMap(n *yamlnode.Node) {
	var typed, known bool
	var parts resourceParts
	var unknown []entry
	r.nodes.fieldsOf(r.nodes.described(n), allFields, elsewhere, func(key string, e entry) {
		known = true
		switch key {
		case "type":
			if typed = !yamlnode.IsNull(e.value.Target()); typed {
				r.resource.Type = r.nodes.typeToken(e, "`type`")
			}
		case "name":
			r.resource.LogicalName = r.nodes.literalText(e, "`name`")
		case "defaultProvider":
			r.resource.DefaultProvider = r.nodes.literalBool(e, "`defaultProvider`")
		case "properties":
			parts.properties = &e
		case "options":
			parts.options = &e
		case "get":
			parts.get = &e
		case "forEach":
			r.nodes.extension(e.at, "the field `forEach`")
			parts.each = &e
		case "if":
			r.nodes.extension(e.at, "the field `if`")
			parts.condition = &e
		default:
			if manifestIn(n) >= 0 {
				return
			}
			detail := "remove it"
			if key == "condition" {
				detail = "`if` makes a resource depend on a condition"
			}
			r.report.warn(diag.Ignored, e.at, detail, "`%s` has no effect", key)
		}
	}, func(e entry) bool { unknown = append(unknown, e); return true })
	if at := manifestIn(n); at >= 0 {
		r.report.fail(diag.UnknownKey, r.nodes.text.Span(n.Content[at]), manifestAdvice(n),
			"`%s` is a Kubernetes manifest, not a resource", diag.Excerpt(r.resource.Name.Value))
		return
	}
	for _, e := range unknown {
		if e.meant == "" {
			r.resource.Misplaced = append(r.resource.Misplaced, e.name)
		}
		r.nodes.unknownKey(diag.Error, e, "a resource", resourceKeys, levelHint(e, parts.properties))
	}
	if !typed && (known || len(unknown) == 0 && !strangeKeys(n)) { // else the whole map is something else
		needsToken(r.report, r.resource)
	}
	if parts.each == nil {
		r.readParts(parts)
		return
	}
	r.resource.ForEach = present(r.exprs.expression(*parts.each))
	r.exprs.texts.scope.also(func() { r.readParts(parts) }, "each")
}

// readParts reads the fields that may refer to `each`.
func (r *resourceReader) readParts(parts resourceParts) {
	if parts.condition != nil {
		r.resource.If = present(r.exprs.expression(*parts.condition))
	}
	if parts.properties != nil {
		r.properties(*parts.properties)
	}
	if parts.get != nil {
		r.resource.Get = r.get(*parts.get)
		if parts.properties != nil && r.resource.Get != nil {
			d := r.report.fail(diag.WrongKind, parts.get.at, "a resource is either read with `get` or managed with `properties`",
				"`get` and `properties` cannot be used together")
			d.Related = []diag.Related{{Range: parts.properties.at, Message: "`properties` stands here"}}
		}
	}
	if parts.options != nil {
		(&optionReader{r.exprs, r.nodes, r.report, &r.resource.Options}).read(*parts.options)
	}
}

// manifestIn returns the index of the first key that makes a map a Kubernetes manifest, or -1 for any other map.
func manifestIn(n *yamlnode.Node) int {
	if n.Index("kind") < 0 || n.Index("type") >= 0 || n.Index("resources") >= 0 {
		return -1
	}
	return n.Index("apiVersion")
}

// manifestAdvice returns how a manifest is written as a resource.
func manifestAdvice(n *yamlnode.Node) string {
	version, kind := n.Content[n.Index("apiVersion")+1].Target(), n.Content[n.Index("kind")+1].Target()
	if !isText(version) || !isText(kind) {
		return "`yamlhost convert --from kubernetes` converts manifests"
	}
	group := version.Value
	if !strings.Contains(group, "/") {
		group = "core/" + group
	}
	return "write `type: kubernetes:" + diag.Excerpt(group) + ":" + diag.Excerpt(kind.Value) +
		"`, and the other fields under `properties`; `yamlhost convert --from kubernetes` converts manifests"
}

// levelHint returns advice about the level at which a key that is not a field of a resource has a meaning (L4.7).
func levelHint(e entry, properties *entry) string {
	if slices.Contains(resourceKeys, e.meant) {
		return ""
	}
	if name, ok := canonical(e.name, optionKeys); ok {
		return "indent `" + name + "` under `options`"
	}
	if slices.Contains(optionKeys, e.meant) {
		return "write `" + e.meant + "` under `options`"
	}
	if name, ok := canonical(e.name, getKeys); ok {
		return "indent `" + name + "` under `get`, or under `properties` if it is an input"
	}
	if properties != nil && len(diag.Suggest(e.name, resourceKeys)) == 0 {
		if body := properties.value.Target(); body.Kind == yamlnode.Map && hasExactKey(body, e.name) {
			return "it is under `properties` already"
		}
	}
	if strings.HasPrefix(e.name, "fn::") && properties == nil {
		return "what a function returns is declared under `variables`"
	}
	if e.advice == "" && len(diag.Suggest(e.name, resourceKeys)) == 0 {
		return "if it is an input of the resource, indent it under `properties`"
	}
	return ""
}

// typeToken reads a type token (L3.10): two or three parts, none of them empty. The checker decides whether the type
// exists.
func (r *nodeReader) typeToken(e entry, what string) *ast.Literal {
	literal := r.literalText(e, what)
	if literal == nil {
		return nil
	}
	parts := strings.Split(literal.Value, ":")
	ok := len(parts) == 2 || len(parts) == 3
	for _, part := range parts {
		ok = ok && part != "" && strings.TrimSpace(part) == part
	}
	if !ok {
		d := r.report.fail(diag.BadTypeToken, literal.Range, "write `package:module:Type`, or `package:Type`",
			"`%s` is not a type", diag.Excerpt(literal.Value))
		foreignType(d, literal)
		return nil
	}
	return literal
}

var (
	dottedType    = lazyregexp.New(`^[a-z][a-z0-9-]*(\.[A-Za-z][\w/]*){1,2}$`)
	slashedType   = lazyregexp.New(`^([a-z][a-z0-9-]*)((?:/[\w.-]+)*)/([A-Za-z]\w*)$`)
	terraformType = lazyregexp.New(`^([a-z0-9]+)((?:_[a-z0-9]+)+)$`)
	bareType      = lazyregexp.New(`^[A-Z]\w*$`)
	cloudType     = lazyregexp.New(`^(AWS|Google|Azure)::(\w+)::(\w+)$`)
)

// foreignType adds advice to d if the type is in the notation of another tool or language.
func foreignType(d *diag.Diagnostic, literal *ast.Literal) {
	text := literal.Value
	colons := func(right string) {
		d.Detail = "its parts are separated by colons: `" + right + "`"
		d.Fixes = rewritten(literal.Range, text, right)
	}
	switch {
	case bareType().MatchString(text):
		d.Detail += "; a component of the program is `components:" + text + "`"
	case dottedType().MatchString(text):
		colons(strings.ReplaceAll(text, ".", ":"))
	case slashedType().MatchString(text):
		m := slashedType().FindStringSubmatch(text)
		right := m[1] + ":" + m[3]
		if m[2] != "" {
			right = m[1] + ":" + m[2][1:] + ":" + m[3]
		}
		colons(right)
	case terraformType().MatchString(text):
		m := terraformType().FindStringSubmatch(text)
		var name strings.Builder
		for word := range strings.SplitSeq(text, "_") {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		short := strings.TrimPrefix(name.String(), strings.ToUpper(m[1][:1])+m[1][1:])
		d.Detail = "that is a type of Terraform: here it is one of the package " + m[1] + ", such as `" + m[1] + ":" +
			name.String() + "` or `" +
			m[1] + ":" + short + "`; `yamlhost schema " + m[1] + "` lists them"
	case cloudType().MatchString(text):
		m := cloudType().FindStringSubmatch(text)
		pkg := strings.ToLower(m[1]) + "-native"
		d.Detail = "that is a type of CloudFormation: here it is `" + pkg + ":" + strings.ToLower(m[2]) + ":" + m[3] + "`"
	}
}

// properties reads a resource's properties: a map with plain keys, or one expression (L3.11).
func (r *resourceReader) properties(e entry) {
	r.nodes.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		if yamlnode.IsNull(n) {
			return // L1.16
		}
		if n.Kind != yamlnode.Map {
			r.resource.PropertiesRange = rng
			r.resource.PropertiesExpr = r.exprs.valueAt(n, rng, true)
			switch r.resource.PropertiesExpr.(type) {
			case *ast.Bool, *ast.Number, *ast.String, *ast.Template, *ast.List:
				r.nodes.wrongKind(n, rng, "`properties`", "a map", "")
				r.resource.PropertiesExpr = bad(rng)
			}
			return
		}
		r.resource.PropertiesRange = rng
		for i := 0; i+1 < len(n.Content); i += 2 {
			if isCall(n.Content[i].Value) {
				r.resource.PropertiesExpr = r.exprs.valueAt(n, rng, true)
				return
			}
		}
		r.resource.Properties = r.exprs.propertyList(n)
	})
}

// propertyList reads a map whose keys are literal strings and whose values are expressions.
func (x *exprReader) propertyList(n *yamlnode.Node) []ast.Property {
	entries := x.nodes.entries(n)
	list := make([]ast.Property, 0, len(entries))
	for _, e := range entries {
		list = append(list, ast.Property{Name: ast.Literal{Value: e.name, Range: e.at}, Value: x.expression(e)})
	}
	x.nodes.release(entries)
	return list
}

// get reads the field get (L3.C).
func (r *resourceReader) get(e entry) *ast.Get {
	var get *ast.Get
	r.nodes.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		get = &ast.Get{Range: rng}
		switch {
		case n.Kind == yamlnode.Map:
			r.nodes.onlyFields(r.nodes.entries(n), "`get`", getKeys, func(key string, e entry) {
				if key == "id" {
					get.ID = r.exprs.textExpression(e, "`id`", "put it in quotes")
					return
				}
				r.nodes.section(e, "`state`", func(n *yamlnode.Node, _ diag.Range) { get.State = r.exprs.propertyList(n) })
			})
		case !yamlnode.IsNull(n):
			r.nodes.wrongKind(n, rng, "`get`", "a map", "write `get: {id: …}`")
			return
		}
		if get.ID == nil {
			r.report.fail(diag.RequiredMissing, e.at, "add the id of the existing resource", "`get` needs an id")
		}
	})
	return get
}
