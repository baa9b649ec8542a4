package editor

import (
	"context"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Completion in a resource: fields, options, transforms and types.

// resource completes below a path in the section resources. `type` comes first while it is missing, since the other
// fields depend on it.
func (q *completer) resource(path []string) []Item {
	if len(path) < 3 {
		items := q.language(path)
		for i := range items {
			// In place of the order in which the language lists its keys.
			items[i].First = items[i].Label == "type"
		}
		return items
	}
	switch path[2] {
	case "type":
		return q.types()
	case "properties":
		r := q.schemaOf(path[1])
		if r == nil {
			return q.expression(schema.Any, path[3:])
		}
		return q.expression(r.Inputs, path[3:])
	case "options":
		return q.option(path[3:])
	case "get":
		if r := q.schemaOf(path[1]); r != nil && len(path) >= 4 && path[3] == "state" {
			// The state of a resource that is read narrows the search by outputs.
			return q.expression(r.Outputs, path[4:])
		}
	}
	return q.language(path)
}

// transform completes an item of a list of transforms. path starts with the item; list is the definition of the list in
// the language's schema. The excluded options are those that no transform can set.
func (q *completer) transform(path []string, list string) []Item {
	if len(path) > 1 {
		switch path[1] {
		case "match":
			if len(path) > 2 && path[2] == "type" {
				return q.types()
			}
		case "when", "properties", "arguments":
			return q.expression(schema.Any, path[2:])
		case "options":
			return slices.DeleteFunc(q.option(path[2:]), func(i Item) bool {
				// Deeper in the path the labels are those of values.
				return len(path) == 2 && (i.Label == "parent" || i.Label == "transforms" || i.Label == "envVarMappings")
			})
		}
	}
	return q.language(path, list)
}

// optionDoc returns the documentation of a resource option; "" for any other name.
func optionDoc(name string) string {
	if spec := ast.OptionSpecOf(name); spec != nil {
		return spec.Doc
	}
	return ""
}

// option completes the value of an option, by its shape in the table of options or by a case of its own.
func (q *completer) option(path []string) []Item {
	var spec ast.OptionSpec
	if len(path) > 0 {
		if known := ast.OptionSpecOf(path[0]); known != nil {
			spec = *known
		}
	}
	switch {
	case len(path) > 1 && path[0] == "transforms":
		return q.transform(path[1:], "transforms option")
	case len(path) == 0:
		items := keys(KeyItem, ast.OptionNames()...)
		for i := range items {
			items[i].Docs = optionDoc(items[i].Label)
		}
		return items
	case spec.Shape == ast.ResourceOption || spec.Shape == ast.ResourcesOption:
		// provider and providers take providers; the other options any resource.
		manages := strings.HasPrefix(path[0], "provider")
		return q.references(func(n *check.Node) bool {
			return n.Kind == check.ResourceNode && (!manages || strings.HasPrefix(n.Resource.Token, "pulumi:providers:"))
		})
	case spec.Shape == ast.PathsOption || path[0] == "additionalSecretOutputs":
		return q.propertyNames(path[0])
	case path[0] == "hooks" && len(path) > 1:
		var names []string
		for _, h := range q.p.File.Hooks {
			names = append(names, h.Name.Value)
		}
		return values(names...)
	case path[0] == "aliases" && path[len(path)-1] == "[]":
		return fields(program.AliasKeys()...)
	}
	return q.language(append([]string{"options"}, path...), "resource")
}

// propertyNames returns the properties that an option of the resource may name: outputs for additionalSecretOutputs,
// else inputs.
func (q *completer) propertyNames(option string) []Item {
	i := slices.Index(q.cursor.Path, "options")
	if i < 1 {
		return nil
	}
	r := q.schemaOf(q.cursor.Path[i-1])
	if r == nil {
		return nil
	}
	named := r.Inputs
	if option == "additionalSecretOutputs" {
		named = r.Outputs
	}
	var items []Item
	for _, p := range named.Properties() {
		item := propertyItem(p)
		// Here the name is a value, behind which no colon follows, and none is required.
		item.Insert, item.First = p.Name, false
		items = append(items, item)
	}
	return items
}

// typeLine matches the line that gives a resource its type, with or without quotes. The token needs a colon.
var typeLine = lazyregexp.New(`\btype["']?\s*:\s*["']?([A-Za-z][\w./-]*:[\w:./-]+)`)

// schemaOf returns the type of a resource by its name, from the current text if it changed since the check, else from
// the checker. It returns nil if the type is unknown. Bodies are asked in turn, without regard to the component around
// the cursor: equal names in two of them are rare, and an answer of the wrong one harmless.
func (q *completer) schemaOf(name string) *schema.Resource {
	if q.text != nil { // the type may have changed since the check
		if r := q.written(name); r != nil {
			return r
		}
	}
	for _, body := range q.p.bodies() {
		for _, n := range body.Nodes {
			if n.Name == name && n.Resource != nil && n.Resource.Schema != nil {
				return n.Resource.Schema
			}
		}
	}
	return q.written(name)
}

// written returns the type that the current text gives a resource, or nil. The text is no YAML yet, mostly, and so it
// is searched for the line that gives the type.
func (q *completer) written(name string) *schema.Resource {
	from, above := 0, q.block[:min(q.offset, len(q.block))]
	for _, key := range []string{name + ":", name + `":`, name + `':`} {
		// The last one above the cursor; a property of the same name between the two would be taken for it.
		from = max(from, strings.LastIndex(above, key))
	}
	return resolved(q, typeLine().FindStringSubmatch(q.block[from:]), (*schema.Package).ResolveResource)
}

// resolved returns the resource or function of the token in a regular expression match, or nil if it is unknown.
func resolved[T any](q *completer, match []string, resolve func(*schema.Package, string) (*T, error)) *T {
	if match == nil {
		return nil
	}
	pkg := q.p.load(q.ctx, match[1])
	if pkg == nil {
		return nil
	}
	found, _ := resolve(pkg, match[1])
	return found
}

// load returns the package of a token, with its extensions; nil if it is unknown. It goes by the packages that the
// check has resolved, so that completion offers what the checker will accept.
func (p *Program) load(ctx context.Context, token string) *schema.Package {
	name, _, _ := strings.Cut(token, ":")
	schemas := p.Check.Schemas
	if schemas == nil {
		return nil
	}
	d := schema.Descriptor{Name: name}
	found := false
	var extensions []*schema.Package
	for _, known := range append(slices.Clip(p.Checked.Packages), p.Check.Packages...) {
		switch {
		case known.Extension && known.Name == name: // L1.41
			if more, err := schemas.Load(ctx, known); err == nil && !slices.Contains(extensions, more) {
				extensions = append(extensions, more)
			}
		// The first one is that of the program; those of the project file follow, and one package may be in both.
		case known.PackageName() == name && !found:
			d, found = known, true
		}
	}
	pkg, err := schemas.Load(ctx, d)
	switch {
	case len(extensions) > 0:
		if err != nil {
			// Extensions may be of use without the package itself, which is then not installed.
			pkg = nil
		}
		return schema.Extended(pkg, err, extensions...)
	case err != nil:
		return nil
	}
	return pkg
}

// types returns completions for resource types: components, packages, and the types of the typed package.
func (q *completer) types() []Item {
	var items []Item
	for _, c := range q.p.Checked.Components {
		items = append(items, Item{Label: schema.CollapseToken(c.Token), Kind: TypeItem,
			Insert: schema.CollapseToken(c.Token), Detail: "component"})
	}
	return append(items, q.tokens(TypeItem, (*schema.Package).ResourceTokens)...)
}

// tokens returns packages, or the tokens of the package before the typed colon. Types appear as soon as two letters of
// their package are typed. Loading the schema of a large package takes a noticeable time, so that it waits for two
// letters.
func (q *completer) tokens(kind ItemKind, list func(*schema.Package) []string) []Item {
	typed := q.cursor.Typed
	name, _, inside := strings.Cut(typed, ":")
	packages := []string{name}
	if !inside {
		packages = q.p.Packages()
		q.partial = true // tokens follow once the package is typed
	}
	var items []Item
	for _, known := range packages {
		if !inside {
			items = append(items, Item{Label: known, Kind: PackageItem, Insert: known + ":", Detail: "package"})
			// Functions wait for the colon: a package has many, and mostly none of them is wanted.
			if kind != TypeItem || len(typed) < 2 || !strings.HasPrefix(known, typed) {
				continue
			}
		}
		pkg := q.p.load(q.ctx, known)
		if pkg == nil {
			continue
		}
		for _, token := range list(pkg) {
			short := schema.CollapseToken(token)
			items = append(items, Item{Label: short, Kind: kind, Insert: short})
		}
		if kind == TypeItem {
			// No schema lists the type of its own provider.
			items = append(items, words(TypeItem, "", []string{"pulumi:providers:" + known})...)
		}
	}
	return items
}
