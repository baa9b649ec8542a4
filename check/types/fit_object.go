package types

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/phrasebook"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// mapHint shows the form of a map by its first required, or else optional, members.
func mapHint(want schema.Type) string {
	o, ok := want.(*schema.Object)
	if !ok {
		return "write a map, each entry on a line `name: value`"
	}
	var names []string
	for _, p := range o.Properties() {
		if p.Required {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		names = propertyNames(o)
	}
	if len(names) == 0 {
		return "write `{}`: it has no members"
	}
	return "write a map with " + findings.Listed(names)
}

// fitMap checks a literal map. Where something else is wanted, it is mostly a form of another tool, which the hints
// name: {Ref: name}, a call without its prefix, a map of tags for a list of pairs.
func (c *fitter) fitMap(e *ast.Map, want schema.Type, p *destination) bool {
	code, hint := diag.NotAssignable, ""
	var fixes []diag.Fix
	switch want := want.(type) {
	case *schema.Object:
		return c.fitObject(e, want, p)
	case *schema.Map:
		ok := true
		for _, entry := range e.Entries {
			// The name is for messages; a literal key takes its place.
			inner := c.decl.destinations.enter(p.inside("(computed)", entry.Key.Range()))
			if key, literal := entry.Key.(*ast.String); literal {
				inner.member = key.Value
			}
			inner.nullable = true // left out (L3.13)
			ok = c.fit(entry.Value, want.Item, inner) && (!want.Plain || c.inTime(entry.Value, want.Item, inner)) && ok
			c.decl.destinations.leave(inner)
		}
		return ok
	case *schema.Array:
		hint, fixes = c.pairsHint(e, want, p)
	case *schema.ResourceType:
		code = diag.NeedsResource
	case schema.Primitive:
		// CloudFormation writes calls so, and templates are copied from there.
		switch key := callWithoutPrefix(e); {
		case len(e.Entries) == 1 && literalKey(e.Entries[0]) == "Ref":
			hint = phrasebook.Function("Ref")
		case key != nil:
			hint = "a call is written with its prefix: `fn::" + key.Value + "`"
			if p.use.IsZero() {
				fixes = findings.Replace(key.Range(), key.Value, "fn::"+key.Value)
			}
		case want == schema.String:
			hint = "use fn::toJSON to make a string of it"
		case want == schema.Asset || want == schema.Archive:
			hint = assetHint(want)
		}
	}
	return c.misfit(code, e, hint, want, "object", p, fixes...)
}

// literalKey returns the key of an entry; empty for a computed one.
func literalKey(entry ast.MapEntry) string {
	if key, ok := entry.Key.(*ast.String); ok {
		return key.Value
	}
	return ""
}

// callWithoutPrefix returns the only key of a map if it is the name of a function; else nil.
func callWithoutPrefix(e *ast.Map) *ast.String {
	if len(e.Entries) != 1 {
		return nil
	}
	key, ok := e.Entries[0].Key.(*ast.String)
	if !ok || !isFunction(key.Value) {
		return nil
	}
	return key
}

// pairsHint suggests how to write a map where a list is wanted; fixes rewrite a map of key and value pairs, such as
// tags. Fixes are offered for a map in braces only, where the new text can take the place of the old one without
// indentation.
func (c *fitter) pairsHint(e *ast.Map, list *schema.Array, p *destination) (hint string, fixes []diag.Fix) {
	hint = "write a list, each item after a dash"
	item, ok := c.decl.known(schema.Required(list.Item)).(*schema.Object)
	if !ok {
		return hint, nil
	}
	name := ""
	for _, key := range []string{"key", "name"} {
		if item.Property(key) != nil && item.Property("value") != nil && name == "" {
			// Tags are {key, value} with some providers and {name, value} with others.
			name = key
		}
	}
	if name == "" {
		return hint, nil
	}
	hint = "write a list: `- {" + name + ": …, value: …}`"
	var pairs []string
	for _, entry := range e.Entries {
		key, literal := entry.Key.(*ast.String)
		text := entry.Value.Range().Text()
		if !literal || strings.Contains(text, "\n") || !p.use.IsZero() || !simple(entry.Value) ||
			strings.ContainsAny(text, "{}[],") {
			return hint, nil
		}
		// Texts are copied from the source, with their quotes.
		pairs = append(pairs, "{"+name+": "+key.Range().Text()+", value: "+text+"}")
	}
	if whole := e.Range(); !strings.HasPrefix(whole.Text(), "{") || len(pairs) == 0 {
		return hint, nil
	}
	return hint, []diag.Fix{{Label: "Write a list", Edits: []diag.Edit{{Range: e.Range(), Text: "[" +
		strings.Join(pairs, ", ") + "]"}}}}
}

// simple reports whether an expression is a text, number or boolean whose source a fix can move.
func simple(e ast.Expr) bool {
	switch e.(type) {
	case *ast.String, *ast.Number, *ast.Bool:
		return true
	}
	return false
}

// fitObject checks the entries of a map literal against an object's members. The set of written members is complete
// before the first is checked: what an unknown name may mean depends on those that are there already. With a computed
// key any member may be set, so that none is missing for certain.
func (c *fitter) fitObject(e *ast.Map, want *schema.Object, p *destination) bool {
	ok := true
	// present and meant are of this object alone; requireMembers reads both at the end.
	p.setMembers(len(e.Entries))
	for _, entry := range e.Entries {
		if key, literal := entry.Key.(*ast.String); literal {
			p.present[key.Value] = true
		} else {
			p.computed = true
		}
	}
	for _, entry := range e.Entries {
		key, literal := entry.Key.(*ast.String)
		if !literal {
			continue
		}
		ok = c.fitMember(ast.Literal{Value: key.Value, Range: key.Range()}, entry.Value, want, p) && ok
	}
	// A provider gets the computed key, and refuses what is missing then.
	if !p.computed {
		ok = c.requireMembers(want, p, p.keyAt(e.Range())) && ok
	}
	return ok
}

// fitMember checks one named member: its existence, value, constant, and whether it is known in time.
func (c *fitter) fitMember(key ast.Literal, v ast.Expr, object *schema.Object, pl *destination) bool {
	p := object.Property(key.Value)
	if p == nil && strings.HasPrefix(key.Value, "x-kubernetes-") { // in a definition; the provider takes both spellings
		p = object.Property(strings.ReplaceAll(key.Value, "-", "_"))
	}
	if p == nil {
		misspelt := object.Closed && // a misspelt name may mean a secret
			slices.ContainsFunc(object.Properties(), func(p *schema.Property) bool { return p.Secret })
		if misspelt || diag.SoundsSecret(key.Value) {
			ast.HideTexts(v)
		}
		if object.Closed {
			c.unknownMember(key, v, object, pl)
		}
		return !object.Closed
	}
	inner := c.decl.destinations.enter(pl.inside(p.Name, key.Range))
	defer c.decl.destinations.leave(inner)
	// At the key: the value has no part in it.
	c.accessor.warnDeprecated(p.Deprecation, inner.keyAt(key.Range), "property", p.Name)
	want := p.Type
	if pl.optional {
		want = schema.OptionalOf(want)
	}
	// Before any finding about the value, since findings quote their line. The literal behind a variable stands in
	// another line.
	if p.Secret {
		ast.HideTexts(v)
		ast.HideTexts(c.constants.constant(v))
	}
	if !c.fit(v, want, inner) {
		return false
	}
	if p.Const != nil && !c.fitConst(v, p, inner) {
		return false
	}
	return !p.Plain || pl.optional || c.inTime(v, p.Type, inner)
}

// inTime checks a value that must be known in a preview (L8.18). Literal lists and maps are known; their members are
// checked against the schema's members. A plain property is an argument of the provider's own code that it reads before
// it can wait for anything. What comes from a resource is unknown in the first preview.
func (c *fitter) inTime(v ast.Expr, t schema.Type, p *destination) bool {
	late := v
	switch literal := c.constants.constant(v).(type) {
	case *ast.List:
		if composite(t) {
			return true
		}
	case *ast.Map:
		if !composite(t) {
			break
		}
		late = nil
		for _, entry := range literal.Entries {
			if c.constants.comesFromResource(entry.Key) {
				// A computed key is not compared with the schema, so it is the one part of the map that must be known
				// itself.
				late = entry.Key
			}
		}
	}
	if p.optional || late == nil || !c.constants.comesFromResource(late) {
		return true
	}
	c.decl.report.Errorf(diag.NotKnownInTime, p.at(v.Range()), "use configuration, variables or constants here",
		"%s must be known before anything is created", p)
	return false
}

// composite reports whether the schema describes the members of a list or map, so that they are checked one by one.
func composite(t schema.Type) bool {
	switch t := schema.Required(t).(type) {
	case *schema.Array, *schema.Map, *schema.Object:
		return true
	case *schema.Token:
		return composite(t.Underlying)
	case *schema.Union:
		return slices.ContainsFunc(t.Members, composite)
	}
	return false
}

// fitConst compares a literal with the constant that the schema wants (L3.14, L8.17).
func (c *fitter) fitConst(v ast.Expr, p *schema.Property, pl *destination) bool {
	var text string
	switch literal := c.constants.constant(v).(type) {
	case *ast.String:
		text = literal.Value
	case *ast.Number:
		text = scalarText(literal.Value)
	case *ast.Bool:
		text = scalarText(literal.Value)
	default:
		return true
	}
	if want := scalarText(p.Const); text != want {
		c.decl.report.Errorf(diag.NotInEnum, pl.at(v.Range()), "leave it out: its value is fixed", "%s must be %s", pl, findings.Shown(want))
		return false
	}
	return true
}

// unknownMember reports a member that an object does not have. The cases are in the order of certainty. An option or a
// field of the resource at the wrong depth, and an output, are no misspellings of inputs, however similar these are.
func (c *fitter) unknownMember(key ast.Literal, v ast.Expr, want *schema.Object, p *destination) {
	names := propertyNames(want)
	noun := p.noun
	if noun == "" || p.outer != nil {
		noun = "member"
	}
	near, meant := c.membersMeant(key.Value, v, want, p)
	detail := findings.DidYouMean(near)
	switch {
	case p.noun == "input" && p.outer == nil && slices.Contains(ast.OptionNames(), key.Value):
		near, meant, detail = nil, "", "`"+key.Value+"` is an option: indent it under `options`, beside `properties`"
	case p.noun == "input" && p.outer == nil && slices.Contains(ast.ResourceFields(), key.Value):
		near, meant, detail = nil, "", "`"+key.Value+"` is a field of the resource: indent it as `properties` is"
	case p.present[meant]:
		detail = findings.Quote(meant) + " is set already: remove one of the two"
	case p.outputs != nil && p.outputs.Property(key.Value) != nil:
		near, meant, detail = nil, "", "it is an output, which the provider sets: remove it"
	case detail != "" && meant != "":
	case c.innerOwner(key.Value, want) != "":
		near, detail = nil, findings.Quote(key.Value)+" is a member of "+findings.Quote(c.innerOwner(key.Value, want))+": indent it there"
	case detail != "":
	case len(names) == 0:
		detail = "it takes none"
	default:
		detail = "it has " + findings.Listed(names)
	}
	// A value of another kind in the place of an item or a member is one fault: what it should have goes with it.
	if len(near) == 0 && p.outer != nil && !p.inUnion && !p.computed {
		for _, required := range c.missing(want, p) {
			near = append(near, required.Name)
		}
		if len(near) > 0 {
			detail += "; it needs " + findings.Listed(near)
		}
	}
	// So that requireMembers does not report the same member as missing.
	p.mean(near...)
	d := diag.Diagnostic{Code: diag.UnknownProperty, Subject: p.at(key.Range), Detail: detail,
		Summary: fmt.Sprintf("%s has no %s `%s`", p.name(), noun, key.Value)}
	if p.use.IsZero() && !p.present[meant] {
		d.Fixes = findings.RenameTo(key.Range, key.Value, meant)
	}
	c.decl.report.Add(d)
}

// membersMeant returns the members that an unknown name may mean, and the one that it certainly means. These are
// members with a similar spelling, members that differ only in capitals, dashes and underscores, and required, missing
// members that accept the value and whose name begins or ends with the unknown one. A similar spelling alone may be
// chance among hundreds of members; that the value fits, and that the member is missing, make it likely.
func (c *fitter) membersMeant(name string, v ast.Expr, want *schema.Object, pl *destination) (near []string,
	meant string) {
	names := propertyNames(want)
	near = diag.Suggest(name, names)
	if meant = diag.Meant(name, near); meant != "" {
		return near, meant
	}
	var related []string
	for _, p := range want.Properties() {
		if diag.SameName(p.Name, name) {
			return []string{p.Name}, p.Name
		}
		if !p.Required || pl.optional || pl.present[p.Name] || !partOf(name, p.Name) && !partOf(p.Name, name) {
			continue
		}
		inner := pl.inside(p.Name, diag.Range{})
		if len(c.decl.report.Attempt(func() { c.fit(v, p.Type, &inner) })) == 0 {
			// Several such members would be a guess, so that only a single one counts below.
			related = append(related, p.Name)
		}
	}
	if len(related) == 1 {
		return related, related[0]
	}
	if len(near)+len(related) == 0 {
		for _, p := range want.Properties() {
			if !p.Required && !pl.present[p.Name] && partOf(name, p.Name) {
				near = append(near, p.Name)
			}
		}
		if len(near) > 1 { // any of them
			return nil, ""
		}
	}
	return near, ""
}

// innerOwner returns the only property of an object that has a member of that name; empty if there is none or more than
// one. It finds a property that was written one level too high, as in many examples of other tools, which flatten.
func (c *fitter) innerOwner(name string, want *schema.Object) string {
	owner := ""
	for _, p := range want.Properties() {
		inner, ok := c.decl.known(schema.Required(p.Type)).(*schema.Object)
		if ok && inner.Closed && inner.Property(name) != nil {
			if owner != "" {
				return ""
			}
			owner = p.Name
		}
	}
	return owner
}

// partOf reports whether a name of sufficient length is a prefix or suffix of another.
func partOf(part, whole string) bool {
	const enough = 3
	part, whole = strings.ToLower(part), strings.ToLower(whole)
	return len(part) >= enough && len(whole) > len(part) && (strings.HasPrefix(whole, part) ||
		strings.HasSuffix(whole, part))
}

// requireMembers reports each missing required member (L8.12). Constants may be missing, except discriminators of
// unions. A name that the parser has lost with a broken line, or that an unknown one may mean, is not missing a second
// time.
func (c *fitter) requireMembers(want *schema.Object, pl *destination, where diag.Range) bool {
	missing := c.missing(want, pl)
	for _, p := range missing {
		c.decl.report.Errorf(diag.RequiredMissing, where, "", "%s needs %s (%s)", pl.name(), p.Name,
			schema.TypeName(p.Type))
	}
	return len(missing) == 0
}

// missing returns the required members that requireMembers reports.
func (c *fitter) missing(want *schema.Object, pl *destination) (missing []*schema.Property) {
	for _, p := range want.Properties() {
		if !pl.optional && p.Required && (p.Const == nil || pl.inUnion) && p.Default == nil &&
			!pl.meant[p.Name] && !pl.present[p.Name] && !c.decl.hasLost(p.Name) {
			missing = append(missing, p)
		}
	}
	return missing
}
