package editor

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// Completion in a value: constants, properties, functions, and the names in `${…}`.

// expression returns completions for the part of a value of type t below path. The path is followed in the type as far
// as it leads; behind an unknown member anything may stand, as in a text that is not finished.
func (q *completer) expression(t schema.Type, path []string) []Item {
	for i, step := range path {
		if name, call := strings.CutPrefix(step, "fn::"); call {
			return q.argument(name, path[i+1:])
		}
		if step == "[]" {
			// memberType takes any number in brackets for an item.
			step = "[0]"
		}
		var ok bool
		if t, ok = q.into(t, step); !ok {
			t = schema.Any
		}
	}
	// An item of a list that has no colon yet may become a value or the first key of a map, and gets both.
	if q.cursor.Kind == parser.ValueCursor || len(path) > 0 && path[len(path)-1] == "[]" {
		items := q.constants(t)
		// Behind other letters the user writes a text, in which names of nodes would be noise.
		if q.cursor.Typed == "" || strings.HasPrefix(q.cursor.Typed, "$") {
			items = append(items, q.references(func(*check.Node) bool { return true })...)
		}
		if q.cursor.Kind == parser.KeyCursor {
			items = append(items, q.properties(t)...)
		}
		return items
	}
	return append(q.properties(t), functions()...)
}

// into returns the type of a member of t. It reports false if t has no such member.
func (q *completer) into(t schema.Type, step string) (schema.Type, bool) {
	// Types of other packages are loaded here, at the first look into them.
	t = q.p.Checked.Known(q.ctx, schema.Required(t))
	found, _ := memberType(t, step)
	if found == nil {
		return schema.Any, false
	}
	return q.p.Checked.Known(q.ctx, found), true
}

// properties returns completions for the keys of a value of type t.
func (q *completer) properties(t schema.Type) []Item {
	var items []Item
	for _, p := range members(t) {
		items = append(items, propertyItem(p))
	}
	return items
}

// propertyItem returns the completion of a property as a key. Its value goes on the next line if it is a map or list.
func propertyItem(p *schema.Property) Item {
	item := Item{Label: p.Name, Kind: PropertyItem, Detail: schema.TypeName(schema.Required(p.Type)),
		Docs: p.Description, Insert: p.Name + ": ", First: p.Required, Deprecated: p.Deprecation != ""}
	switch schema.Required(p.Type).(type) {
	case *schema.Object, *schema.Map, *schema.Array:
		// A space behind it would stay at the end of the line.
		item.Insert = p.Name + ":"
	}
	if p.Required {
		item.Detail += ", required"
	}
	return item
}

// constants returns the values of a boolean or enum type. A union offers the values of all alternatives.
func (q *completer) constants(t schema.Type) []Item {
	switch t := schema.Required(t).(type) {
	case schema.Primitive:
		if t == schema.Bool {
			return values(yesNo...)
		}
	case *schema.Enum:
		var items []Item
		for _, v := range t.Values {
			text := schema.ScalarText(v.Value)
			items = append(items, Item{Label: text, Kind: ValueItem, Insert: text, Detail: v.Name, Docs: v.Description,
				Deprecated: v.Deprecation != ""})
		}
		return items
	case *schema.Union:
		var items []Item
		for _, member := range t.Members {
			items = append(items, q.constants(member)...)
		}
		return items
	}
	return nil
}

// functions returns the builtin functions in their fn:: form.
func functions() []Item {
	var items []Item
	for _, f := range builtins.Table() {
		items = append(items, Item{Label: "fn::" + f.Name, Kind: FunctionItem, Insert: "fn::" + f.Name + ": ",
			Detail: f.Signature(), Docs: f.Summary})
	}
	return items
}

// files returns the files and folders that match the typed path. The editor replaces the whole path, and so each label
// has the folder that was typed.
func (q *completer) files() []Item {
	if q.p.Files == nil {
		return nil
	}
	folder := q.cursor.Typed[:strings.LastIndexByte(q.cursor.Typed, '/')+1]
	var items []Item
	for _, name := range q.p.Files(folder) {
		items = append(items, Item{Label: folder + name, Kind: FileItem, Insert: folder + name})
	}
	return items
}

// argument returns completions for the argument of a function in the fn:: form. fn::invoke has arguments of the
// function that the text around the cursor names: the check may be older than that text.
func (q *completer) argument(name string, path []string) []Item {
	if strings.EqualFold(name, "invoke") {
		switch {
		case len(path) == 0 && q.cursor.Kind == parser.KeyCursor:
			return q.language(nil, "invoke")
		case len(path) == 1 && strings.EqualFold(path[0], "function"):
			return q.tokens(FunctionItem, (*schema.Package).FunctionTokens)
		case len(path) >= 1 && strings.EqualFold(path[0], "arguments"):
			f := resolved(q, functionLine().FindStringSubmatch(q.block), (*schema.Package).ResolveFunction)
			if f != nil { // the first function that an invoke in the block names
				return q.expression(f.Inputs, path[1:])
			}
		}
		return nil
	}
	if q.cursor.Kind == parser.ValueCursor && takesPath(name, path) {
		return append(q.files(), q.references(func(*check.Node) bool { return true })...)
	}
	return q.expression(schema.Any, path)
}

// takesPath reports whether the argument of a function is a path, or the member of that argument at a path of keys.
func takesPath(name string, path []string) bool {
	f, ok := builtins.Lookup(name)
	return ok && slices.ContainsFunc(f.Params, func(p builtins.Param) bool {
		return p.Path && (f.Shape == builtins.Whole && len(path) == 0 || f.Shape == builtins.Fields && len(path) == 1 &&
			path[0] == p.Name)
	})
}

// functionLine matches the line that gives fn::invoke its function.
var functionLine = lazyregexp.New(`(?i)\bfunction["']?\s*:\s*["']?([A-Za-z][\w./-]*:[\w:./-]+)`)

// scope returns the nodes that expressions at the cursor may name, each name once.
func (q *completer) scope() []*check.Node {
	body := q.p.Checked
	if path := q.cursor.Path; len(path) >= 2 && path[0] == "components" {
		body = bodyNamed(q.p.Checked, path[1])
	}
	if body != q.p.Checked || q.text == nil {
		return body.Nodes
	}
	return append(slices.Clip(body.Nodes), q.unchecked()...)
}

// unchecked returns nodes for the declarations that were added since the last check. A name that has just been declared
// should be offered at once, although nothing is known of it but its section.
func (q *completer) unchecked() []*check.Node {
	var nodes []*check.Node
	for _, d := range q.text.DeclaredSince(q.p.Document) {
		if slices.ContainsFunc(q.p.Checked.Nodes, func(n *check.Node) bool { return n.Name == d.Name }) {
			continue
		}
		n := &check.Node{Kind: check.VariableNode, Name: d.Name, Type: schema.Any}
		if d.Section == "resources" {
			n.Kind, n.Resource = check.ResourceNode, &check.Resource{}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// references returns `${…}` references to the wanted nodes. The declaration around the cursor is left out: it would be
// a cycle.
func (q *completer) references(wanted func(*check.Node) bool) []Item {
	own := ""
	if len(q.cursor.Path) >= 2 {
		own = q.cursor.Path[1]
	}
	var items []Item
	for _, n := range q.scope() {
		if n.Name != own && wanted(n) {
			reference := "${" + n.Name + "}"
			if q.cursor.Flow {
				reference = `"` + reference + `"`
			}
			items = append(items, Item{Label: reference, Kind: NameItem, Insert: reference, node: n})
		}
	}
	return items
}

// each returns the type of `each` in the resource at the cursor; nil if it has no forEach.
func (q *completer) each() schema.Type {
	i := slices.Index(q.cursor.Path, "resources")
	if i < 0 || len(q.cursor.Path) < i+2 {
		return nil
	}
	for _, n := range q.scope() {
		if n.Name == q.cursor.Path[i+1] && n.Resource != nil {
			return q.p.Checked.Each(n)
		}
	}
	return nil
}

// nodeDetail returns the type of a name. It is asked for the items that are sent, and not for all names of a large
// program.
func nodeDetail(n *check.Node) string {
	if n.Resource != nil {
		return schema.CollapseToken(n.Resource.Token)
	}
	return schema.TypeName(n.Type)
}

// names returns completions for names inside ${…}. Behind a dot, only members of what is before it; at the start, all
// names in scope and the functions.
func (q *completer) names() []Item {
	c := q.cursor
	if len(c.Steps) == 0 {
		var items []Item
		for _, n := range q.scope() {
			items = append(items, Item{Label: n.Name, Kind: NameItem, Insert: n.Name, node: n})
		}
		if q.each() != nil {
			items = append(items, Item{Label: "each", Kind: NameItem, Insert: "each", Detail: "this instance of the resource"})
		}
		for name, t := range q.policyNames() {
			items = append(items, Item{Label: name, Kind: NameItem, Insert: name, Detail: schema.TypeName(t),
				First: true})
		}
		items = append(items, Item{Label: "pulumi", Kind: NameItem, Insert: "pulumi", Detail: "values about the run"})
		for _, f := range builtins.Table() {
			if f.Call != "" {
				items = append(items, Item{Label: f.Name, Kind: FunctionItem, Insert: f.Name + "(", Detail: f.Signature(),
					Docs: f.Summary})
			}
		}
		return items
	}
	var t schema.Type
	switch {
	case c.Steps[0] == "pulumi" && len(c.Steps) == 1:
		return words(PropertyItem, "", []string{"cwd", "project", "stack", "organization", "rootDirectory"})
	case c.Steps[0] == "each":
		t = q.each()
	case q.policyNames()[c.Steps[0]] != nil:
		t = q.policyNames()[c.Steps[0]]
	}
	for _, n := range q.scope() {
		if n.Name == c.Steps[0] {
			t = n.Type
		}
	}
	if t == nil {
		return nil
	}
	for _, step := range c.Steps[1:] {
		var ok bool
		if t, ok = q.into(t, step); !ok {
			return nil
		}
	}
	var items []Item
	for _, p := range members(q.p.Checked.Known(q.ctx, schema.Required(t))) {
		item := propertyItem(p)
		item.Insert, item.First = p.Name, false
		item.Detail = schema.TypeName(schema.Required(p.Type))
		items = append(items, item)
	}
	return items
}
