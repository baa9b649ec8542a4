package check

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// pulumiName is the built-in variable (L3.F).
const pulumiName = "pulumi"

var pulumiType = argsObject(map[string]schema.Type{"cwd": schema.String, "organization": schema.String,
	"project": schema.String, "rootDirectory": schema.String, "stack": schema.String})

var kindNames = [...]string{ConfigNode: "configuration value", VariableNode: "variable", ResourceNode: "resource"}

// String returns the kind's name for messages.
func (k NodeKind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// undeclaredName collects the uses of an undeclared name for one diagnostic.
type undeclaredName struct {
	first   diag.Range
	related []diag.Related
	hasArgs bool // some use is where `args` is declared
	// forResource reports whether some use is in a place for resources only, so that the name is no configuration.
	forResource bool
}

// nodes are the nodes of a body, by index and by name.
type nodes struct {
	declared map[string]*Node // configuration, resources and variables by name
	byKey    map[string]*Node // configuration by full key, declared or not
	all      []*Node          // in source order: configuration, resources, variables; then undeclared configuration
	named    int              // how many of them are declared
	uses     []int32          // by name, of each of all
}

// lookup returns the node with a name; nil if there is none.
func (ns *nodes) lookup(name string) *Node { return ns.declared[name] }

// scope holds the names of a body (L3.1).
type scope struct {
	*run
	opts      Options
	file      *ast.File
	component *Component // the component of the body; nil for the program

	nodes

	undeclared map[string]*undeclaredName
	missing    []string      // unknown names that probably belong to entries without a name
	prefixes   []*ast.Access // accesses that begin with the name of a section
	slips      map[int]bool  // indexes in file.Slips whose entries something refers to
	names      *diag.Names   // declared; nil until asked for
	folded     []byte        // the text in lower case; nil until asked for
}

// startOf returns the start of a range in the whole text, also for a range in a block of it.
func (c *scope) startOf(rng diag.Range) int { return int(c.file.Origins.Place(rng).Start) }

// declare creates the node of every declaration and reports duplicate names (L3.1).
func (c *linker) declare() {
	if c.file.RequiredVersion != nil {
		c.number(&c.file.Unit, c.file.RequiredVersion)
	}
	for _, decl := range c.file.Hooks {
		c.number(&decl.Unit, decl.Command)
	}
	for _, decl := range c.file.Transforms {
		c.numbered(&decl.Unit, decl.Number)
	}
	for _, decl := range c.file.Policies {
		c.numbered(&decl.Unit, decl.Number)
	}
	for _, decl := range c.file.Messages {
		c.numbered(&decl.Unit, decl.Number)
	}
	nodes := make([]Node, len(c.file.Config)+len(c.file.Resources)+len(c.file.Variables))
	c.declared = make(map[string]*Node, len(nodes))
	c.all, c.uses = make([]*Node, 0, len(nodes)), make([]int32, 0, len(nodes))
	node := func(n Node) *Node {
		owner := &nodes[len(c.all)]
		*owner = n
		return owner
	}
	for _, decl := range c.file.Config {
		record := c.number(&decl.Unit, decl.Default)
		key := c.fullKey(decl.Name.Value)
		if decl.Key != nil {
			key = c.fullKey(decl.Key.Value)
		}
		n := node(Node{Kind: ConfigNode, Name: decl.Name.Value, Range: decl.Name.Range, Type: schema.Invalid,
			Config: &Config{Decl: decl, Key: key}, record: record})
		c.add(n)
		if c.byKey[key] == nil {
			c.byKey[key] = n
		}
	}
	resources := make([]Resource, len(c.file.Resources))
	for i, decl := range c.file.Resources {
		r := &resources[i]
		r.Decl, r.LogicalName = decl, logicalName(decl)
		c.add(node(Node{Kind: ResourceNode, Name: decl.Name.Value, Range: decl.Name.Range, Type: schema.Invalid,
			Resource: r, record: c.numbered(&decl.Unit, decl.Number)}))
	}
	for _, decl := range c.file.Variables {
		record := c.number(&decl.Unit, decl.Value)
		c.add(node(Node{Kind: VariableNode, Name: decl.Name.Value, Range: decl.Name.Range, Type: schema.Invalid,
			Variable: decl, record: record}))
	}
	c.program.Outputs = make([]*Output, 0, len(c.file.Outputs))
	for _, decl := range c.file.Outputs {
		c.number(&decl.Unit, decl.Value)
		c.program.Outputs = append(c.program.Outputs, &Output{Decl: decl, Type: schema.Invalid})
	}
	c.named = len(c.all)
	c.warnShadowed()
}

func logicalName(decl *ast.Resource) string {
	if name := decl.LogicalName.Text(); name != "" {
		return name
	}
	return decl.Name.Value
}

func (c *scope) fullKey(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return c.opts.Project + ":" + name
}

// addNode appends a node.
func (c *scope) addNode(n *Node) {
	n.place = len(c.all)
	c.all, c.uses = append(c.all, n), append(c.uses, 0)
}

func (c *scope) add(n *Node) {
	c.addNode(n)
	if n.Name == pulumiName {
		c.loose.Errorf(diag.DeclaredTwice, n.Range, "choose another name", "`%s` is the built-in variable and cannot be declared",
			n.Name)
		return
	}
	first := c.declared[n.Name]
	if first == nil {
		c.declared[n.Name] = n
		return
	}
	if first.Kind == n.Kind {
		return // reported by the parser (Y102)
	}
	c.loose.Add(diag.Diagnostic{
		Code: diag.DeclaredTwice, Subject: n.Range,
		Summary: n.Name + " is both a " + first.Kind.String() + " and a " + n.Kind.String(),
		Detail:  "configuration, variables and resources share one set of names: rename one of the two",
		Related: []diag.Related{{Range: first.Range, Message: "the " + first.Kind.String() + " is here"}},
	})
}

// warnShadowed finds keys of the stack that a declaration hides (L2.36).
func (c *scope) warnShadowed() {
	prefix := c.opts.Project + ":"
	for _, n := range c.all {
		if n.Kind == ConfigNode {
			continue
		}
		text, ok := c.opts.Config[prefix+n.Name]
		if !ok || text.Project || c.declared[n.Name] != n || c.byKey[prefix+n.Name] != nil {
			continue
		}
		c.loose.Warnf(diag.ConfigShadowed, n.Range, "read it as `${"+prefix+n.Name+"}`, or rename one of the two",
			"the stack's configuration %s is hidden by the %s %s", prefix+n.Name, n.Kind, n.Name)
	}
}

// resolve resolves a root (L5.20–L5.22).
func (c *scope) resolve(root ast.Literal) Ref {
	name := root.Value
	if n := c.lookup(name); n != nil {
		return Ref{Kind: RefNode, Node: n}
	}
	if name == pulumiName {
		return Ref{Kind: RefPulumi}
	}
	key := c.fullKey(name)
	n, namespace, namespaced := c.byKey[key], c.opts.Project, strings.Contains(name, ":")
	if namespaced {
		namespace, _, _ = strings.Cut(name, ":")
	}
	_, set := c.opts.Config[key]
	switch {
	case strings.Contains(name, ":-"): // no configuration key contains it
	case n != nil && namespaced:
		return Ref{Kind: RefNode, Node: n}
	case c.component != nil: // only its inputs come from outside
	case set || !c.opts.ConfigKnown && (namespace != c.opts.Project || slices.Contains(c.opts.StackKeys, key)):
		if n == nil || n.Name != name {
			n = &Node{Kind: ConfigNode, Name: name, Range: root.Range, Type: schema.Invalid, Config: &Config{Key: key}}
			c.addNode(n)
			c.byKey[key] = n
		}
		return Ref{Kind: RefNode, Node: n}
	}
	c.noteUndeclared(root)
	return Ref{Kind: RefBad}
}

func (c *scope) noteUndeclared(root ast.Literal) {
	if slices.Contains(c.file.Lost, root.Value) {
		return
	}
	for i := range c.file.Slips {
		if slices.Contains(c.file.Slips[i].Names, root.Value) {
			c.slips[i] = true
			return
		}
	}
	if known := c.undeclared[root.Value]; known != nil {
		known.related = append(known.related, diag.Related{Range: root.Range, Message: "it is used here too"})
		return
	}
	c.undeclared[root.Value] = &undeclaredName{first: root.Range}
}

// noteResourcePlaces marks undeclared names in places for resources only, so that they are no configuration.
func (c *scope) noteResourcePlaces() {
	if len(c.undeclared) == 0 {
		return
	}
	var note func(e ast.Expr)
	note = func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.Access:
			if wrong := c.undeclared[e.Root.Value]; wrong != nil {
				wrong.forResource = true
			}
		case *ast.List:
			for _, item := range e.Items {
				note(item)
			}
		case *ast.Map:
			for _, entry := range e.Entries {
				note(entry.Value)
			}
		}
	}
	for _, decl := range c.file.Resources {
		for _, spec := range ast.OptionSpecs() {
			if field := spec.In(&decl.Options); field != nil && *field != nil && (spec.Shape == ast.ResourceOption ||
				spec.Shape == ast.ResourcesOption) {
				note((*field).Value)
			}
		}
	}
}

// nameless reports whether an unknown name probably belongs to an entry without a name, which was reported before
// (Y117). The first unknown names do, as many as there are such entries.
func (c *scope) nameless(name string) bool {
	if slices.Contains(c.missing, name) {
		return true
	}
	if len(c.missing) >= c.file.Nameless {
		return false
	}
	c.missing = append(c.missing, name)
	return true
}

// reportUndeclared reports each undeclared name once, in the order of the text.
func (c *scope) reportUndeclared() {
	names := slices.Collect(maps.Keys(c.undeclared))
	c.reportPrefixes()
	c.noteResourcePlaces()
	start := func(name string) int { return c.startOf(c.undeclared[name].first) }
	slices.SortStableFunc(names, func(a, b string) int { return start(a) - start(b) })
	for i, name := range names {
		if c.ctx.Err() != nil {
			return
		}
		near := c.nearNames(name, i)
		hint := findings.DidYouMean(near)
		if configName().MatchString(name) && c.nameless(name) {
			continue
		}
		severity := diag.Error
		switch {
		case hint != "":
		case strings.Contains(name, ":-"):
			key, fallback, _ := strings.Cut(name, ":-")
			hint = "write the default in the declaration: `config: {" + key + ": {default: " + fallback +
				"}}`, and read the value as `${" + key + "}`"
		case name == "self" && c.undeclared[name].hasArgs:
			hint = "what a transform changes is `args`: write `${args.properties.NAME}`, or `${args.arguments.NAME}` for a call"
		case name == eachName:
			hint = "`each` is the instance of a resource with `forEach`; every field of the resource may use it, except `forEach`"
		case strings.Contains(name, ":"):
			hint = "the stack has no such configuration key; set it with: yamlhost config set " + name + " VALUE"
		case operatorHint(name) != "":
			hint = operatorHint(name)
		case isFunction(name):
			hint = "a function of that name is called: write `" + name + "(…)`, or declare the name"
		case c.file.Pack:
			hint = "a policy reads `resource`, `args`, `resources` for the whole stack, `config`, `pulumi`, and the variables of " +
				"its pack"
		case c.component != nil:
			hint = "declare it under inputs, variables or resources of the component"
		case c.opts.ConfigKnown && configName().MatchString(name):
			hint = "declare it under variables, resources or config, or set it for the stack: yamlhost config set " + name +
				" VALUE"
		default:
			hint = "declare it under variables, resources or config"
		}
		if c.mayBeConfiguration(name, near) && !c.undeclared[name].forResource {
			severity = diag.Warning
			hint = findings.Sentences(hint,
				"or, if it is configuration that a stack sets, check with that stack: yamlhost check --stack NAME")
		}
		wrong := c.undeclared[name]
		d := diag.Diagnostic{Severity: severity, Code: diag.Undeclared, Subject: wrong.first, Summary: findings.Shown(name) +
			" is not declared", Detail: hint, Related: wrong.related}
		c.mendName(&d, name, diag.Meant(name, near), wrong, i < maxSearches)
		c.loose.Add(d)
	}
}

// sectionPrefixes are the roots that precede names in other tools.
var sectionPrefixes = []string{"resources", "resource", "config", "configuration", "variables", "variable", "var",
	"vars", "local", "locals", "param", "params", "parameters", "inputs"}

// prefixed reports whether an access begins with a section and continues with a name declared in it, and records it.
func (c *scope) prefixed(e *ast.Access) bool {
	if len(e.Steps) == 0 || e.Steps[0].IsIndex || c.declared[e.Root.Value] != nil || c.declared[e.Steps[0].Name] == nil ||
		!slices.Contains(sectionPrefixes, e.Root.Value) && !c.namesType(e) {
		return false
	}
	if _, set := c.opts.Config[c.fullKey(e.Root.Value)]; set {
		return false
	}
	c.prefixes = append(c.prefixes, e)
	return true
}

// namesType reports whether an access names a resource as Terraform does, by type and name: random_password.pw.
func (c *scope) namesType(e *ast.Access) bool {
	return strings.Contains(e.Root.Value, "_") && c.lookup(e.Steps[0].Name).Kind == ResourceNode
}

// reportPrefixes reports accesses that begin with a section or a type: each prefix once, with all of its uses.
func (c *scope) reportPrefixes() {
	first := make(map[string]int)
	var found diag.Diagnostics
	for _, e := range c.prefixes {
		prefix, name := e.Root.Value, e.Steps[0].Name
		rng := e.Root.Range
		edit := diag.Edit{Range: diag.Range{Source: rng.Source, Start: rng.Start, End: e.Steps[0].Range.Start + 1}}
		plainly := edit.Range.Text() == prefix+"."
		i, again := first[prefix]
		if !again {
			i = len(found)
			first[prefix] = i
			without := "section"
			if !slices.Contains(sectionPrefixes, prefix) {
				without = "type"
			}
			found.Add(diag.Diagnostic{Code: diag.Undeclared, Subject: rng, Summary: findings.Shown(prefix) + " is not declared",
				Detail: "a name is written without its " + without + ": write `${" + findings.DescribeSteps(name, e.Steps[1:]) + "}`"})
		} else {
			found[i].Related = append(found[i].Related, diag.Related{Range: rng, Message: "it is used here too"})
		}
		if d := &found[i]; plainly && (!again || len(d.Fixes) > 0) {
			if len(d.Fixes) == 0 {
				d.Fixes = []diag.Fix{{Label: "Leave " + findings.Quote(prefix+".") + " out"}}
			}
			d.Fixes[0].Edits = append(d.Fixes[0].Edits, edit)
		} else {
			d.Fixes = nil
		}
	}
	c.loose.Add(found...)
}

// reportSlips reports sections with a misspelt key: an error that replaces those of all references into the section, or
// a warning if there are none, since other hosts ignore such keys (L1.17).
func (c *scope) reportSlips() {
	for i, slip := range c.file.Slips {
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownKey, Subject: slip.Key.Range,
			Detail:  findings.DidYouMean([]string{slip.Meant}),
			Summary: "unknown key " + findings.Shown(slip.Key.Value) + " in the program; it is ignored",
			Fixes:   findings.Replace(slip.Key.Range, slip.Key.Value, slip.Meant)}
		if c.slips[i] {
			d.Severity, d.Summary = diag.Error, "unknown key "+findings.Shown(slip.Key.Value)+" in the program"
		}
		c.loose.Add(d)
	}
}

// maxSearches bounds the undeclared names that are compared with all others; the rest is compared only with names that
// differ in one character.
const maxSearches = 100

// nearNames returns the declared names that the i-th undeclared name may mean.
func (c *scope) nearNames(name string, i int) []string {
	if i < maxSearches {
		return diag.Suggest(name, c.declaredNames())
	}
	if c.names == nil {
		c.names = diag.NewNames(c.declaredNames())
	}
	return c.names.Near(name)
}

// mendName adds a fix to the finding on an undeclared name if meant certainly is the same name. If the declaration has
// other uses, the undeclared uses are misspelt; if it has none and the undeclared name has several, the declaration is
// misspelt. Between one use and its declaration the rest of the text decides, if search is set.
func (c *scope) mendName(d *diag.Diagnostic, name, meant string, wrong *undeclaredName, search bool) {
	n := c.lookup(meant)
	if meant == "" || n == nil && meant != pulumiName {
		return
	}
	uses := []diag.Range{wrong.first}
	for _, use := range wrong.related {
		uses = append(uses, use.Range)
	}
	misspelt := false // the declaration
	if n != nil && c.uses[n.place] == 0 {
		here, there := 0, 0 // other occurrences in the text
		if search {
			here, there = c.wordCount(name)-len(uses), c.wordCount(meant)-1
		}
		switch {
		case here > 0 && there == 0:
			misspelt = true
		case there > 0 && here == 0:
		case len(uses) > 1:
			misspelt = true
		default:
			d.Detail = "did you mean " + findings.Quote(meant) + "? If not, its declaration is misspelt"
			d.Related = append(d.Related, diag.Related{Range: n.Range, Message: findings.Quote(meant) + " is declared here"})
			return
		}
	}
	if misspelt {
		d.Fixes = findings.Replace(n.Range, meant, name)
		d.Detail = "the declaration of " + findings.Quote(meant) + " looks misspelt: nothing uses it by that name"
		d.Related = append(d.Related, diag.Related{Range: n.Range, Message: findings.Quote(meant) + " is declared here"})
		return
	}
	if !findings.Plain(meant) {
		return
	}
	fix := diag.Fix{Label: "Write " + findings.Quote(meant)}
	for _, use := range uses { // all of them or none
		rng, written := use.Word(name)
		if !written {
			return
		}
		fix.Edits = append(fix.Edits, diag.Edit{Range: rng, Text: meant})
	}
	d.Fixes = []diag.Fix{fix}
}

// wordCount returns how often a word occurs in the text, alone or in longer words, in any capitals.
func (c *scope) wordCount(word string) int {
	if c.file.Source == nil {
		return 0
	}
	if c.folded == nil {
		c.folded = bytes.ToLower(c.file.Source.Text())
	}
	return bytes.Count(c.folded, []byte(strings.ToLower(word)))
}

// mayBeConfiguration reports whether a name that the program does not declare is the full key of a configuration value
// that no stack file sets (L2.35): there is no stack, and the name is not certainly a misspelling. A name without a
// namespace that no stack file sets is an error.
func (c *scope) mayBeConfiguration(name string, near []string) bool {
	return !c.opts.ConfigKnown && c.component == nil && strings.Contains(name, ":") && configName().MatchString(name) &&
		!slices.ContainsFunc(near, func(other string) bool { return diag.Surely(name, other) })
}

var configName = lazyregexp.New(`^[A-Za-z_][\w-]*(:[A-Za-z_][\w-]*)?$`)

// operatorHint returns the equivalent of an operator that other languages write as this name; empty if there is none.
func operatorHint(name string) string {
	words := strings.Fields(name)
	switch {
	case len(name) >= 2 && name[0] == '\'' && name[len(name)-1] == '\'':
		return "inside of `${…}`, a string needs double quotes"
	case len(words) == 2 && words[0] == "not":
		return "`not` is written `!`: `!" + words[1] + "`"
	case len(words) == 3 && words[1] == "and":
		return "`and` is written `&&`"
	case len(words) == 3 && words[1] == "or":
		return "`or` is written `||`"
	}
	return ""
}

func (c *scope) declaredNames() []string {
	return append(slices.Collect(maps.Keys(c.declared)), pulumiName)
}
