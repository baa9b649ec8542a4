package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// pulumiName is the built-in variable (L3.F).
const pulumiName = "pulumi"

var pulumiType = func() *schema.Object {
	var members []*schema.Property
	for _, name := range []string{"cwd", "organization", "project", "rootDirectory", "stack"} {
		members = append(members, &schema.Property{Name: name, Type: schema.String, Required: true})
	}
	return schema.ObjectOf(members...)
}()

var kindNames = [...]string{ConfigNode: "configuration value", VariableNode: "variable", ResourceNode: "resource"}

// String is the kind's name for people.
func (k NodeKind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// undeclaredName is a name that stands for nothing: one diagnostic for all of its uses.
type undeclaredName struct {
	first   diag.Range
	related []diag.Related
}

// declare makes a node of every declaration and finds names that are taken already (L3.1).
func (c *checker) declare() {
	for _, decl := range c.file.Config {
		key := c.fullKey(decl.Name.Value)
		if decl.Key != nil {
			key = c.fullKey(decl.Key.Value)
		}
		n := &Node{Kind: ConfigNode, Name: decl.Name.Value, Range: decl.Name.Range, Type: schema.Invalid,
			Config: &Config{Decl: decl, Key: key}}
		c.add(n)
		if c.byKey[key] == nil {
			c.byKey[key] = n
		}
	}
	for _, decl := range c.file.Resources {
		c.add(&Node{Kind: ResourceNode, Name: decl.Name.Value, Range: decl.Name.Range, Type: schema.Invalid,
			Resource: &Resource{Decl: decl, LogicalName: logicalName(decl)}})
	}
	for _, decl := range c.file.Variables {
		c.add(&Node{Kind: VariableNode, Name: decl.Name.Value, Range: decl.Name.Range, Type: schema.Invalid, Variable: decl})
	}
	for _, decl := range c.file.Outputs {
		c.program.Outputs = append(c.program.Outputs, &Output{Decl: decl, Type: schema.Invalid})
	}
	c.warnShadowed()
}

func logicalName(decl *ast.Resource) string {
	if name := decl.LogicalName.Text(); name != "" {
		return name
	}
	return decl.Name.Value
}

func (c *checker) fullKey(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return c.opts.Project + ":" + name
}

func (c *checker) add(n *Node) {
	c.all = append(c.all, n)
	if n.Name == pulumiName {
		c.errorf(diag.DeclaredTwice, n.Range, "choose another name", "`%s` is the built-in variable and cannot be declared",
			n.Name)
		return
	}
	first := c.declared[n.Name]
	if first == nil {
		c.declared[n.Name] = n
		return
	}
	if first.Kind == n.Kind {
		return // reading the text has found it (Y102)
	}
	c.report(diag.Diagnostic{
		Code: diag.DeclaredTwice, Subject: n.Range,
		Summary: n.Name + " is both a " + first.Kind.String() + " and a " + n.Kind.String(),
		Detail:  "configuration, variables and resources share one set of names: rename one of the two",
		Related: []diag.Related{{Range: first.Range, Message: "the " + first.Kind.String() + " is here"}},
	})
}

// warnShadowed finds keys of the stack that a declaration hides (L2.36).
func (c *checker) warnShadowed() {
	prefix := c.opts.Project + ":"
	for _, n := range c.all {
		if n.Kind == ConfigNode {
			continue
		}
		text, ok := c.opts.Config[prefix+n.Name]
		if !ok || text.Project || c.declared[n.Name] != n || c.byKey[prefix+n.Name] != nil {
			continue
		}
		c.warnf(diag.ConfigShadowed, n.Range, "read it as `${"+prefix+n.Name+"}`, or rename one of the two",
			"the stack's configuration %s is hidden by the %s %s", prefix+n.Name, n.Kind, n.Name)
	}
}

// resolve finds what a root stands for (L5.20–L5.22).
func (c *checker) resolve(root ast.Literal) Ref {
	name := root.Value
	if n := c.declared[name]; n != nil {
		return Ref{Kind: RefNode, Node: n}
	}
	if name == pulumiName {
		return Ref{Kind: RefPulumi}
	}
	key := c.fullKey(name)
	if n := c.byKey[key]; n != nil && strings.Contains(name, ":") {
		return Ref{Kind: RefNode, Node: n}
	}
	if c.component != nil {
		c.noteUndeclared(root) // only its inputs come from outside
		return Ref{Kind: RefBad}
	}
	_, set := c.opts.Config[key]
	set = set || !c.opts.ConfigKnown && slices.Contains(c.opts.StackKeys, key)
	namespace, _, namespaced := strings.Cut(name, ":")
	if set || namespaced && !c.opts.ConfigKnown && namespace != c.opts.Project {
		n := c.byKey[key]
		if n == nil || n.Name != name {
			n = &Node{Kind: ConfigNode, Name: name, Range: root.Range, Type: schema.Invalid, Config: &Config{Key: key}}
			c.all = append(c.all, n)
			c.byKey[key] = n
		}
		return Ref{Kind: RefNode, Node: n}
	}
	c.noteUndeclared(root)
	return Ref{Kind: RefBad}
}

func (c *checker) noteUndeclared(root ast.Literal) {
	if slices.Contains(c.file.Lost, root.Value) {
		return
	}
	if known := c.undeclared[root.Value]; known != nil {
		known.related = append(known.related, diag.Related{Range: root.Range, Message: "it is used here too"})
		return
	}
	c.undeclared[root.Value] = &undeclaredName{first: root.Range}
}

// reportUndeclared reports each name that stands for nothing once, in the order of the text.
func (c *checker) reportUndeclared() {
	names := make([]string, 0, len(c.undeclared))
	for name := range c.undeclared {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return c.startOf(c.undeclared[a].first) - c.startOf(c.undeclared[b].first) })
	for _, name := range names {
		near := c.suggest(name, "names", c.declaredNames)
		hint := didYouMean(near)
		severity := diag.Error
		switch {
		case hint != "":
		case name == eachName:
			hint = "it stands for an instance inside of a resource that has `forEach`, in every field but `forEach` itself"
		case strings.Contains(name, ":"):
			hint = "the stack has no such configuration key; set it with: yamlhost config set " + name + " VALUE"
		case operatorHint(name) != "":
			hint = operatorHint(name)
		case isFunction(name):
			hint = "a function of that name is called: write `" + name + "(…)`, or declare the name"
		case c.component != nil:
			hint = "declare it under inputs, variables or resources of the component"
		case c.opts.ConfigKnown && configName.MatchString(name):
			hint = "declare it under variables, resources or config, or set it for the stack: yamlhost config set " + name + " VALUE"
		default:
			hint = "declare it under variables, resources or config"
		}
		if c.mayBeConfiguration(name, near) {
			severity = diag.Warning
			hint = sentences(hint, "or, if it is configuration that a stack sets, check with that stack: yamlhost check --stack NAME")
		}
		wrong := c.undeclared[name]
		d := diag.Diagnostic{Severity: severity, Code: diag.Undeclared, Subject: wrong.first, Summary: "nothing is called " + shown(name),
			Detail: hint, Related: wrong.related, Fixes: rename(wrong.first, name, near)}
		if len(d.Fixes) > 0 { // everywhere or nowhere
			for _, use := range wrong.related {
				if use.Range.Text() == name {
					d.Fixes[0].Edits = append(d.Fixes[0].Edits, diag.Edit{Range: use.Range, Text: d.Fixes[0].Edits[0].Text})
				}
			}
		}
		c.report(d)
	}
}

// mayBeConfiguration reports whether a name that the program does not declare may be a key of a stack's configuration,
// which nobody has to declare (L2.35): there is no stack, and the name is not surely another one misspelt.
func (c *checker) mayBeConfiguration(name string, near []string) bool {
	return !c.opts.ConfigKnown && c.component == nil && name != eachName && configName.MatchString(name) && !isFunction(name) &&
		!slices.ContainsFunc(near, func(other string) bool { return diag.Surely(name, other) })
}

var configName = regexp.MustCompile(`^[A-Za-z_][\w-]*(:[A-Za-z_][\w-]*)?$`)

// operatorHint is how something is written that other languages write as this name; empty where the name looks like none.
func operatorHint(name string) string {
	words := strings.Fields(name)
	switch {
	case len(name) >= 2 && name[0] == '\'' && name[len(name)-1] == '\'':
		return "inside of `${…}`, a text stands in double quotes"
	case len(words) == 2 && words[0] == "not":
		return "`not` is written `!`: `!" + words[1] + "`"
	case len(words) == 3 && words[1] == "and":
		return "`and` is written `&&`"
	case len(words) == 3 && words[1] == "or":
		return "`or` is written `||`"
	}
	return ""
}

func (c *checker) declaredNames() []string {
	names := make([]string, 0, len(c.declared)+1)
	for name := range c.declared {
		names = append(names, name)
	}
	return append(names, pulumiName)
}
