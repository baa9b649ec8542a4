package editor

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// ItemKind tells what a completion stands for.
type ItemKind uint8

// The kinds of completions.
const (
	KeyItem ItemKind = iota
	TypeItem
	PropertyItem
	ValueItem
	NameItem
	FunctionItem
	PackageItem
)

// Item is something that may be written at a place.
type Item struct {
	Label      string
	Kind       ItemKind
	Detail     string // on one line
	Docs       string // Markdown
	Insert     string // in place of the word
	First      bool   // goes before the others: it is required
	Deprecated bool
}

// Completions are what may stand at a place, and the byte offsets of the word that they replace.
type Completions struct {
	Start, End int
	Items      []Item
	Partial    bool // there are more, which further letters would show
}

// maxItems bounds the answer; anyone who looks for one of more writes another letter.
const maxItems = 500

// Complete says what may be written at a place.
func Complete(ctx context.Context, s *Snapshot, path string, offset int) (Completions, error) {
	document := s.Text(path)
	if document == nil {
		return Completions{}, nil
	}
	text := document.Source().Text()
	c := parser.Cursor(text, offset)
	answer := Completions{Start: c.Start, End: c.End}
	p, err := s.Recent(ctx, path)
	if err != nil || p.Document == nil && p.SettingsOf == "" {
		return answer, err
	}
	block := document.Block(offset)
	q := &completer{ctx: ctx, p: p, cursor: c, block: string(text[block.Start:min(int(block.End), len(text))]),
		offset: offset - int(block.Start)}
	if p.Document != nil && p.Document != document {
		q.text = document
	}
	var items []Item
	if p.SettingsOf != "" {
		c = namespaced(text, offset, c)
		answer.Start, answer.End = c.Start, c.End
		items = s.completeSettings(ctx, p, c)
	} else {
		items = q.items()
	}
	for _, item := range items {
		if matches(item.Label, c.Typed) {
			answer.Items = append(answer.Items, item)
		}
	}
	slices.SortStableFunc(answer.Items, func(a, b Item) int {
		if a.First != b.First {
			if a.First {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Label, b.Label)
	})
	if len(answer.Items) > maxItems {
		answer.Items, answer.Partial = answer.Items[:maxItems], true
	}
	answer.Partial = answer.Partial || q.partial
	return answer, nil
}

// matches reports whether the letters that were typed stand in a label in that order, the first of them anywhere.
func matches(label, typed string) bool {
	label = strings.ToLower(label)
	for _, r := range strings.ToLower(typed) {
		i := strings.IndexRune(label, r)
		if i < 0 {
			return false
		}
		label = label[i+len(string(r)):]
	}
	return true
}

type completer struct {
	ctx     context.Context
	p       *Program
	cursor  parser.Context
	block   string
	offset  int // in block
	partial bool
	text    *parser.Document // as it is now; nil where the program is of that
}

func keys(kind ItemKind, names ...string) []Item {
	items := make([]Item, 0, len(names))
	for _, name := range names {
		items = append(items, Item{Label: name, Kind: kind, Insert: name + ": "})
	}
	return items
}

func values(names ...string) []Item {
	items := make([]Item, 0, len(names))
	for _, name := range names {
		items = append(items, Item{Label: name, Kind: ValueItem, Insert: name})
	}
	return items
}

var (
	sections = []string{"name", "description", "pulumi", "config", "variables", "resources", "outputs", "components",
		"hooks", "dynamic", "transforms", "messages", "include", "runtime", "packages", "plugins", "template", "backend",
		"options"}
	blockKeys = []string{"config", "variables", "resources", "outputs", "components", "hooks", "dynamic", "transforms",
		"messages", "match", "properties", "arguments", "options", "get", "inputs", "pulumi", "packages"}
	componentKeys = []string{"description", "inputs", "variables", "resources", "outputs"}
	configKeys    = []string{"type", "default", "secret", "items", "optional", "name", "description"}
	configTypes   = []string{"string", "integer", "number", "boolean", "object", "list<string>", "list<integer>",
		"list<object>"}
	invokeKeys  = []string{"function", "arguments", "options", "return"}
	timeoutKeys = []string{"create", "update", "delete"}
	yesNo       = []string{"true", "false"}
)

// items are all that may stand at the place, whatever has been typed.
func (q *completer) items() []Item {
	c, path := q.cursor, q.cursor.Path
	if c.Kind == parser.NameCursor {
		return q.names()
	}
	component := ""
	if len(path) >= 2 && path[0] == "components" {
		component = path[1]
		if len(path) == 2 && c.Kind == parser.KeyCursor {
			return fields(componentKeys...)
		}
		path = path[2:]
		if len(path) > 0 && path[0] == "inputs" {
			path = append([]string{"config"}, path[1:]...)
		}
	}
	if len(path) == 0 {
		if component == "" && c.Kind == parser.KeyCursor {
			return fields(sections...)
		}
		return nil
	}
	switch path[0] {
	case "config", "configuration":
		return q.config(path)
	case "resources":
		return q.resource(path)
	case "variables", "outputs":
		if len(path) >= 2 {
			return q.expression(schema.Any, path[2:])
		}
	case "runtime":
		return values("yaml")
	case "hooks":
		if len(path) == 2 && c.Kind == parser.KeyCursor {
			return fields("command", "onDryRun", "ignoreErrors")
		}
	case "messages":
		switch {
		case len(path) == 2 && c.Kind == parser.KeyCursor:
			return fields(messageKeys...)
		case len(path) == 3 && path[2] == "level":
			return values("debug", "info", "warning", "error")
		case len(path) == 3 && path[2] == "resource":
			return q.references(func(n *check.Node) bool { return n.Kind == check.ResourceNode })
		case len(path) > 2:
			return q.expression(schema.Any, path[3:])
		}
	case "transforms", "transformations":
		return q.transform(path[1:], true)
	}
	return nil
}

// fields are keys of the language; those of maps end their line.
func fields(names ...string) []Item {
	items := keys(KeyItem, names...)
	for i, name := range names {
		if slices.Contains(blockKeys, name) {
			items[i].Insert = name + ":"
		}
	}
	return items
}

func (q *completer) config(path []string) []Item {
	switch {
	case len(path) == 2 && q.cursor.Kind == parser.KeyCursor:
		return fields(configKeys...)
	case len(path) == 3 && path[2] == "type" && q.cursor.Kind == parser.ValueCursor:
		return values(configTypes...)
	case len(path) == 3 && (path[2] == "secret" || path[2] == "optional"):
		return values(yesNo...)
	}
	return nil
}

func (q *completer) resource(path []string) []Item {
	key := q.cursor.Kind == parser.KeyCursor
	switch {
	case len(path) == 1:
		return nil
	case len(path) == 2 && key:
		names := ast.ResourceFields()
		items := fields(names...)
		for i := range items {
			items[i].First = items[i].Label == "type"
		}
		return items
	case len(path) < 3:
		return nil
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
		if len(path) == 3 && key {
			return fields("id", "state")
		}
		if r := q.schemaOf(path[1]); r != nil && len(path) >= 4 && path[3] == "state" {
			return q.expression(r.Outputs, path[4:])
		}
	case "defaultProvider":
		return values(yesNo...)
	}
	return nil
}

// transform completes an item of a list of transforms; path begins with the item.
func (q *completer) transform(path []string, stack bool) []Item {
	key := q.cursor.Kind == parser.KeyCursor
	switch {
	case len(path) == 0:
		return nil
	case len(path) == 1 && key:
		return fields(slices.DeleteFunc(slices.Clone(transformKeys), func(name string) bool {
			return name == "arguments" &&
				!stack
		})...)
	case len(path) < 2:
		return nil
	}
	switch path[1] {
	case "match":
		switch {
		case len(path) == 2 && key:
			return fields(slices.DeleteFunc(slices.Clone(matchKeys), func(name string) bool {
				return name == "function" &&
					!stack
			})...)
		case len(path) > 2 && path[2] == "type":
			return q.types()
		case len(path) == 3 && path[2] == "custom":
			return values(yesNo...)
		}
	case "replace":
		return values(yesNo...)
	case "when", "properties", "arguments":
		return q.expression(schema.Any, path[2:])
	case "options":
		return slices.DeleteFunc(q.option(path[2:]), func(i Item) bool {
			return len(path) == 2 && (i.Label == "parent" || i.Label == "transforms" || i.Label == "envVarMappings")
		})
	}
	return nil
}

// optionDoc says what an option of a resource does; it is empty for any other name.
func optionDoc(name string) string {
	if spec := ast.OptionSpecOf(name); spec != nil {
		return spec.Doc
	}
	return ""
}

func (q *completer) option(path []string) []Item {
	var spec ast.OptionSpec
	if len(path) > 0 {
		if known := ast.OptionSpecOf(path[0]); known != nil {
			spec = *known
		}
	}
	switch {
	case len(path) > 1 && path[0] == "transforms":
		return q.transform(path[1:], false)
	case len(path) == 0:
		items := keys(KeyItem, ast.OptionNames()...)
		for i := range items {
			items[i].Docs = optionDoc(items[i].Label)
		}
		return items
	case spec.Shape == ast.FlagOption:
		return values(yesNo...)
	case spec.Shape == ast.ResourceOption || spec.Shape == ast.ResourcesOption:
		return q.references(func(n *check.Node) bool { return n.Kind == check.ResourceNode })
	case path[0] == "customTimeouts" && len(path) == 1 && q.cursor.Kind == parser.KeyCursor:
		return fields(timeoutKeys...)
	}
	return nil
}

var typeLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\btype["']?\s*:\s*["']?([A-Za-z][\w./-]*:[\w:./-]+)`)
})

// schemaOf is the type of a resource by its name: as its text says it, or as the checker knows it.
func (q *completer) schemaOf(name string) *schema.Resource {
	if q.text != nil { // what was checked may have been another type
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

// written is the type of a resource as its text says it.
func (q *completer) written(name string) *schema.Resource {
	from := 0
	if i := strings.LastIndex(q.block[:min(q.offset, len(q.block))], name+":"); i >= 0 {
		from = i
	}
	m := typeLine().FindStringSubmatch(q.block[from:])
	if m == nil {
		return nil
	}
	pkg := q.load(m[1])
	if pkg == nil {
		return nil
	}
	r, err := pkg.ResolveResource(m[1])
	if err != nil {
		return nil
	}
	return r
}

// load is the package of a token, if it is known.
func (q *completer) load(token string) *schema.Package {
	name, _, _ := strings.Cut(token, ":")
	if q.p.Schemas() == nil {
		return nil
	}
	d := schema.Descriptor{Name: name}
	for _, known := range append(slices.Clip(q.p.Checked.Packages), q.p.Check.Packages...) {
		if known.PackageName() == name {
			d = known
			break
		}
	}
	pkg, err := q.p.Schemas().Load(q.ctx, d)
	if err != nil {
		return nil
	}
	return pkg
}

// types are resource types: the packages, and the types of the one that has been written.
func (q *completer) types() []Item {
	typed := q.cursor.Typed
	name, _, inside := strings.Cut(typed, ":")
	var items []Item
	for _, c := range q.p.Checked.Components {
		items = append(items, Item{Label: schema.CollapseToken(c.Token), Kind: TypeItem,
			Insert: schema.CollapseToken(c.Token), Detail: "component"})
	}
	packages := q.p.Packages()
	if inside {
		packages = []string{name}
	} else {
		q.partial = true // the types of a package come when its name is there
	}
	for _, known := range packages {
		if !inside {
			items = append(items, Item{Label: known, Kind: PackageItem, Insert: known + ":", Detail: "package"})
			if len(typed) < 2 || !strings.HasPrefix(known, typed) {
				continue
			}
		}
		pkg := q.load(known + ":")
		if pkg == nil {
			continue
		}
		for _, token := range pkg.ResourceTokens() {
			short := schema.CollapseToken(token)
			items = append(items, Item{Label: short, Kind: TypeItem, Insert: short})
		}
		items = append(items, Item{Label: "pulumi:providers:" + known, Kind: TypeItem, Insert: "pulumi:providers:" + known})
	}
	return items
}

// expression is what may stand inside of a value of a type, under some keys.
func (q *completer) expression(t schema.Type, path []string) []Item {
	for i, step := range path {
		if name, call := strings.CutPrefix(step, "fn::"); call {
			return q.argument(name, path[i+1:])
		}
		if step == "[]" {
			step = "[0]"
		}
		var ok bool
		if t, ok = q.into(t, step); !ok {
			t = schema.Any
		}
	}
	if q.cursor.Kind == parser.ValueCursor || len(path) > 0 && path[len(path)-1] == "[]" {
		items := q.constants(t)
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

func (q *completer) into(t schema.Type, step string) (schema.Type, bool) {
	t = q.p.Checked.Known(q.ctx, schema.Required(t))
	found, _ := memberType(t, step)
	if found == nil {
		return schema.Any, false
	}
	return q.p.Checked.Known(q.ctx, found), true
}

func (q *completer) properties(t schema.Type) []Item {
	var items []Item
	for _, p := range members(t) {
		items = append(items, propertyItem(p))
	}
	return items
}

func propertyItem(p *schema.Property) Item {
	item := Item{Label: p.Name, Kind: PropertyItem, Detail: schema.TypeName(schema.Required(p.Type)), Docs: p.Description,
		Insert: p.Name + ": ", First: p.Required, Deprecated: p.Deprecation != ""}
	switch schema.Required(p.Type).(type) {
	case *schema.Object, *schema.Map, *schema.Array:
		item.Insert = p.Name + ":"
	}
	if p.Required {
		item.Detail += ", required"
	}
	return item
}

// constants are the values of a type that are few.
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

// functions are the calls that may begin a value.
func functions() []Item {
	var items []Item
	for _, f := range builtins.Table() {
		items = append(items, Item{Label: "fn::" + f.Name, Kind: FunctionItem, Insert: "fn::" + f.Name + ": ",
			Detail: f.Signature(), Docs: f.Summary})
	}
	return items
}

// argument is what may stand inside of the argument of a function in the fn:: form.
func (q *completer) argument(name string, path []string) []Item {
	if strings.EqualFold(name, "invoke") {
		switch {
		case len(path) == 0 && q.cursor.Kind == parser.KeyCursor:
			return fields(invokeKeys...)
		case len(path) == 1 && strings.EqualFold(path[0], "function"):
			return q.functionTokens()
		case len(path) >= 1 && strings.EqualFold(path[0], "arguments"):
			if f := q.invoked(); f != nil {
				return q.expression(f.Inputs, path[1:])
			}
		}
		return nil
	}
	return q.expression(schema.Any, path)
}

func (q *completer) functionTokens() []Item {
	name, _, inside := strings.Cut(q.cursor.Typed, ":")
	var items []Item
	packages := q.p.Packages()
	if inside {
		packages = []string{name}
	} else {
		q.partial = true
	}
	for _, known := range packages {
		if !inside {
			items = append(items, Item{Label: known, Kind: PackageItem, Insert: known + ":", Detail: "package"})
			continue
		}
		if pkg := q.load(known + ":"); pkg != nil {
			for _, token := range pkg.FunctionTokens() {
				short := schema.CollapseToken(token)
				items = append(items, Item{Label: short, Kind: FunctionItem, Insert: short})
			}
		}
	}
	return items
}

var functionLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bfunction["']?\s*:\s*["']?([A-Za-z][\w./-]*:[\w:./-]+)`)
})

func (q *completer) invoked() *schema.Function {
	m := functionLine().FindStringSubmatch(q.block)
	if m == nil {
		return nil
	}
	pkg := q.load(m[1])
	if pkg == nil {
		return nil
	}
	f, err := pkg.ResolveFunction(m[1])
	if err != nil {
		return nil
	}
	return f
}

// scope are the nodes that expressions at the place may name, each name once.
func (q *completer) scope() []*check.Node {
	body := q.p.Checked
	if path := q.cursor.Path; len(path) >= 2 && path[0] == "components" {
		for _, c := range q.p.Checked.Components {
			if !c.Packaged && c.Decl.Name.Value == path[1] {
				body = c.Body
			}
		}
	}
	if body != q.p.Checked || q.text == nil {
		return body.Nodes
	}
	return append(slices.Clip(body.Nodes), q.unchecked()...)
}

// unchecked are names that the text has by now, and nobody has checked yet.
func (q *completer) unchecked() []*check.Node {
	known := map[string]bool{}
	for _, n := range q.p.Checked.Nodes {
		known[n.Name] = true
	}
	var nodes []*check.Node
	for _, d := range q.text.Declared() {
		if known[d.Name] {
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

// references are whole references to names.
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
			items = append(items, Item{Label: reference, Kind: NameItem, Insert: reference, Detail: nodeDetail(n)})
		}
	}
	return items
}

func nodeDetail(n *check.Node) string {
	if n.Resource != nil {
		return schema.CollapseToken(n.Resource.Token)
	}
	return schema.TypeName(n.Type)
}

// names are what may stand inside of ${…}.
func (q *completer) names() []Item {
	c := q.cursor
	if len(c.Steps) == 0 {
		var items []Item
		for _, n := range q.scope() {
			items = append(items, Item{Label: n.Name, Kind: NameItem, Insert: n.Name, Detail: nodeDetail(n)})
		}
		items = append(items, Item{Label: "pulumi", Kind: NameItem, Insert: "pulumi", Detail: "what is known of the run"})
		for _, f := range builtins.Table() {
			if f.Call != "" {
				items = append(items, Item{Label: f.Name, Kind: FunctionItem, Insert: f.Name + "(", Detail: f.Signature(),
					Docs: f.Summary})
			}
		}
		return items
	}
	var t schema.Type
	if c.Steps[0] == "pulumi" && len(c.Steps) == 1 {
		return keysWithout("cwd", "project", "stack", "organization", "rootDirectory")
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

func keysWithout(names ...string) []Item {
	items := values(names...)
	for i := range items {
		items[i].Kind = PropertyItem
	}
	return items
}
