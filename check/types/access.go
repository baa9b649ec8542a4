package types

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/phrasebook"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// accessor finds the types of members and items, and reports the steps that a type does not have.
type accessor struct{ decl *declaration }

// step is one step into a value: a member's name or the index of an item. owner is a text, since what comes before the
// step may be a part of an access that has no node of its own.
type step struct {
	name    string
	index   int
	isIndex bool
	at      diag.Range
	owner   string // the expression before the step, as a message names it
}

// target names the target of the step in a message.
func (s step) target() string {
	if s.isIndex {
		return "elements"
	}
	return "member " + findings.Quote(s.name)
}

// inferAccess follows an access from its root (L8.B, L5.E). Where the root is a variable with a literal value, the
// literal is followed as far as the steps lead, since the type of a list says only what its items have in common. With
// an optional step this is left out: the literal might be found not to have the member, which `?.` allows.
func (c *typer) inferAccess(e *ast.Access) schema.Type {
	ref := c.decl.program.Ref(e)
	var t schema.Type
	switch ref.Kind {
	case program.RefPulumi:
		t = pulumiVariable(c.decl.file)
	case program.RefNode:
		t = ref.Node.Type
	case program.RefEach:
		t = program.EachOf(c.infer(ref.Node.Resource.Decl.ForEach))
	case program.RefArgs, program.RefPolicy:
		t = c.decl.body.Scope.ArgType(e)
	default:
		return schema.Invalid
	}
	// From here on t and owner always belong to what comes before steps.
	owner, steps := e.Root.Value, e.Steps
	optional := slices.ContainsFunc(steps, func(s ast.Step) bool { return s.Optional })
	if len(e.Steps) > 0 && ref.Kind == program.RefNode && !optional {
		c.looksLikeOutput(e, ref.Node)
		// infer returns the recorded type if the part belongs to a declaration that has been checked, which it always
		// does: the variable is a dependency.
		if part, rest := c.constants.intoLiteral(e, ref); part != nil {
			owner = findings.DescribeSteps(owner, steps[:len(steps)-len(rest)])
			t, steps = c.infer(part), rest
			if c.accessor.outOfRange(part, rest) {
				return schema.Invalid
			}
			if c.accessor.mayHave(part, rest) {
				return schema.Any
			}
		}
	}
	for i := range steps {
		s := &steps[i]
		// A null short-circuits all steps after it, whatever they are.
		if s.Optional && schema.Required(t) == schema.Null {
			return schema.Null
		}
		t = c.accessor.optionalMember(s.Optional, t, step{name: s.Name, index: s.Index, isIndex: s.IsIndex, at: s.Range,
			owner: owner})
		if t == schema.Invalid {
			return t
		}
		if i == len(steps)-1 {
			break
		}
		owner = findings.DescribeSteps(owner, steps[i:i+1])
	}
	if optional {
		return schema.OptionalOf(t)
	}
	return t
}

// optionalMember is member for a step that may be optional. Then an alternative of a union may lack the member.
func (c *accessor) optionalMember(optional bool, t schema.Type, s step) schema.Type {
	if _, several := schema.Required(t).(*schema.Union); !optional || !several {
		return c.member(t, s)
	}
	// The step is tried on the union as a whole, which asks each alternative.
	found := schema.Type(schema.Any)
	// Some alternative has the member or none; which one the value has is known in a run.
	if len(c.decl.report.Attempt(func() { found = c.member(t, s) })) > 0 {
		return schema.Any
	}
	return found
}

// outOfRange reports a step beyond the end of a literal list (L8.D). intoLiteral stops at a step that the literal does
// not have; a number beyond the end is the only one that the type would allow.
func (c *accessor) outOfRange(part ast.Expr, rest []ast.Step) bool {
	list, ok := part.(*ast.List)
	if !ok || len(rest) == 0 || !rest[0].IsIndex {
		return false
	}
	return c.checkIndex(list, rest[0].Index, rest[0].Range)
}

// checkIndex reports an index that a list does not have. It returns true if it reported one.
func (c *accessor) checkIndex(list *ast.List, i int, rng diag.Range) bool {
	if i >= 0 && i < len(list.Items) {
		return false
	}
	c.decl.report.Errorf(diag.IndexOutOfRange, rng, "items are counted from 0", "index %d, list has %s", i,
		diag.Count(len(list.Items), "element"))
	return true
}

// mayHave reports whether a computed key of a literal map may give the member. Then the type of the map has no such
// member although the value may have it.
func (c *accessor) mayHave(part ast.Expr, rest []ast.Step) bool {
	m, ok := part.(*ast.Map)
	return ok && len(rest) > 0 && !rest[0].IsIndex && slices.ContainsFunc(m.Entries, func(e ast.MapEntry) bool {
		_, literal := e.Key.(*ast.String)
		return !literal
	})
}

// member returns the type of a step into a value of type t. If t has no such step it reports that and returns Invalid.
// Any, JSON and Invalid are open: nothing is known that a step could contradict. A type of another package is replaced
// by its definition only here, since most are never stepped into, and loading the package takes long.
func (c *accessor) member(t schema.Type, s step) schema.Type {
	switch t := t.(type) {
	case schema.Primitive:
		switch t {
		case schema.Any, schema.JSON, schema.Invalid:
			return t
		case schema.AnyResource:
			if s.isIndex {
				break
			}
			if s.name == "id" || s.name == "urn" {
				return schema.String
			}
			return schema.Any
		}
	case *schema.Optional:
		return c.member(t.Elem, s)
	case *schema.Token:
		// A token stays itself if its package cannot be loaded.
		if found := c.decl.known(t); found != schema.Type(t) {
			return c.member(found, s)
		}
		return c.member(t.Underlying, s)
	// A value of an enum is one of its base, and texts have no members.
	case *schema.Enum:
		return c.member(t.Base, s)
	case *schema.Array:
		if s.isIndex {
			return t.Item
		}
		hint := "write an index, as in `${" + s.owner + "[0]}`"
		if _, resources := schema.Required(t.Item).(*schema.ResourceType); resources {
			hint = "write `${" + s.owner + "[0]." + s.name + "}` for one, or `${" + s.owner + "[*]." + s.name + "}` for all"
		}
		return c.decl.invalid(diag.NotIndexable, s.at, cmp.Or(phrasebook.Member(s.name, s.owner), hint),
			"%s is a list, which has no member `%s`", s.owner, s.name)
	case *schema.Map:
		if !s.isIndex {
			return t.Item
		}
		return c.decl.invalid(diag.NotIndexable, s.at, fmt.Sprintf("write a key as a string: `[%q]`", fmt.Sprint(s.index)),
			"%s is a map, which has no elements", s.owner)
	case *schema.Object:
		return c.objectMember(t, s)
	case *schema.ResourceType:
		if found, ok := c.decl.known(t).(*schema.ResourceType); ok {
			t = found
		}
		return c.resourceMember(t, s)
	case *schema.Union:
		return c.unionMember(t, s)
	}
	what, hint := "members", phrasebook.Member(s.name, s.owner)
	switch {
	case s.isIndex && t == schema.String:
		what, hint = "elements", fmt.Sprintf(
			"write `substr(%s, %d, 1)` for a part of it, or `split(\",\", %[1]s)[%[2]d]`", s.owner, s.index)
	case s.isIndex:
		what, hint = "elements", "write `${"+s.owner+"}` without the index"
	case hint == "" && t == schema.String:
		hint = "write `${" + s.owner + "}` alone, or `fromJSON(" + s.owner + ")." + s.name + "` for a text in JSON"
	case hint == "":
		hint = "write `${" + s.owner + "}` alone"
	}
	return c.decl.invalid(diag.NotIndexable, s.at, hint, "%s is %s, which has no %s", s.owner, typeWithArticle(t), what)
}

// objectMember returns the type of a member of an object; Invalid after reporting an index, which only a list has.
func (c *accessor) objectMember(o *schema.Object, s step) schema.Type {
	if s.isIndex {
		return c.decl.invalid(diag.NotIndexable, s.at, findings.NearOrAll(nil, propertyNames(o), "it has ", ""),
			"%s is a map, which has no elements", s.owner)
	}
	return c.property(o, s, "member")
}

// property returns the type of a property that a step names. noun is the word for it in messages; others are further
// members. An object that is not closed may have members that its schema does not list.
func (c *accessor) property(o *schema.Object, s step, noun string, others ...string) schema.Type {
	if p := o.Property(s.name); p != nil {
		c.warnDeprecated(p.Deprecation, s.at, noun, s.name)
		return p.Type
	}
	if !o.Closed {
		return schema.Any
	}
	c.noMember(s, append(propertyNames(o), others...))
	return schema.Invalid
}

// resourceMember returns the type of a resource's member. Without a known schema, any member is accepted. A component
// has no ID.
func (c *accessor) resourceMember(t *schema.ResourceType, s step) schema.Type {
	if s.isIndex {
		return c.decl.invalid(diag.NotIndexable, s.at,
			"write `${"+s.owner+"}` without the index; only a resource with `forEach` has instances",
			"%s is a resource, which has no elements", s.owner)
	}
	if s.name == "urn" || s.name == "id" && !t.Component {
		return schema.String // L5.31
	}
	var outputs *schema.Object
	if t.Outputs != nil {
		outputs = t.Outputs()
	}
	if outputs == nil {
		return schema.Any
	}
	if t.Component {
		return c.property(outputs, s, "output", "urn")
	}
	return c.property(outputs, s, "output", "urn", "id")
}

// unionMember requires every alternative to allow the step (L8.7). The first alternative without the step is reported.
func (c *accessor) unionMember(u *schema.Union, s step) schema.Type {
	var results []schema.Type
	for _, m := range u.Members {
		var t schema.Type
		// Attempt, since the message must name the alternative and not only what it lacks.
		faults := c.decl.report.Attempt(func() { t = c.member(m, s) })
		if faults.HasErrors() {
			// The rest follows from it or is about parts of the alternative.
			first := faults[0]
			// Cloned: types are shared by all checks.
			others := slices.DeleteFunc(slices.Clone(u.Members), func(o schema.Type) bool { return o == m })
			if len(others) > 0 {
				first.Summary = fmt.Sprintf("%s may be %s, which has no %s", s.owner, typeWithArticle(m), s.target())
				first.Detail = "it may also be " + typeWithArticle(others[0])
			}
			c.decl.report.Add(first)
			return schema.Invalid
		}
		results = append(results, t)
	}
	return program.Unify(results)
}

// noMember reports a step that leads to nothing, with the similar names.
func (c *accessor) noMember(s step, names []string) {
	// The names themselves are the key of the memo: two types with the same members have the same suggestions.
	near := c.decl.report.Suggest(s.name, strings.Join(names, ","), func() []string { return names })
	name := s.at
	// The range of a step includes its dot, which a fix must keep.
	if name.Text() == "."+s.name {
		name.Start++
	}
	c.decl.report.Add(diag.Diagnostic{Code: diag.NoMember, Subject: s.at,
		Detail:  findings.NearOrAll(near, names, "it has ", "it has no members at all"),
		Summary: fmt.Sprintf("%s has no member `%s`", s.owner, s.name), Fixes: findings.Rename(name, s.name, near)})
}

// warnDeprecated reports a property whose schema has a note on deprecation; nothing for an empty note.
func (c *accessor) warnDeprecated(message string, rng diag.Range, what, name string) {
	if message != "" {
		c.decl.report.Warnf(diag.Deprecated, rng, schema.Plain(message), "%s `%s` is deprecated", what, name)
	}
}

// propertyNames returns the names of the members of an object, in the order of the schema.
func propertyNames(o *schema.Object) []string {
	names := make([]string, 0, len(o.Properties())+2)
	for _, p := range o.Properties() {
		names = append(names, p.Name)
	}
	return names
}

// unnamed stands in messages for an expression without a name.
const unnamed = "this"

// describeExpr names an expression in a message. It names what a person would recognize in the text, and does not
// render the expression.
func describeExpr(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Access:
		return findings.DescribeSteps(e.Root.Value, e.Steps)
	case *ast.LocalRef:
		if e.Local.Of == nil {
			return e.Local.Name
		}
		if source := describeExpr(e.Local.Of); source != unnamed {
			return source + "[*]"
		}
	case *ast.Member:
		if object := describeExpr(e.Object); object != unnamed {
			return object + "." + e.Name.Value
		}
	case *ast.Call:
		return e.Name.Value + "(…)"
	}
	return unnamed
}

// The built-in variable (L3.F), in a program and in a policy pack.
var (
	pulumiType = program.ObjectOf(map[string]schema.Type{"cwd": schema.String, "organization": schema.String,
		"project": schema.String, "rootDirectory": schema.String, "stack": schema.String})
	packPulumi = program.ObjectOf(map[string]schema.Type{"project": schema.String, "stack": schema.String,
		"organization": schema.String, "dryRun": schema.Bool, "config": &schema.Map{Item: schema.String},
		"tags": &schema.Map{Item: schema.String}, "cwd": schema.String, "rootDirectory": schema.String})
)

// pulumiVariable returns the type of the variable pulumi.
func pulumiVariable(file *ast.File) schema.Type {
	if file.Pack {
		return packPulumi
	}
	return pulumiType
}
