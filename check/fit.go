package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// place is where a value is wanted. Places inside others are linked, so that a path is only written when a message
// needs it.
type place struct {
	what   string // how messages name the place, such as property "size"; empty for one inside outer
	owner  string // what the members belong to, such as zoo:Typed, for messages on names
	noun   string // what a member of it is called: input, argument, member
	outer  *place
	member string // in outer
	index  int    // in outer, when member is empty
	key    diag.Range
	// strict refuses conversions between text, numbers and booleans: what does not go to a provider is not converted.
	strict   bool
	nullable bool // null is the same as leaving it out
	// use is where a constant is used that was followed to its declaration; zero while the text at hand is the place.
	use diag.Range
	// optional says that no member is required, as in the state of a get.
	optional bool
	inUnion  bool
	// meant are members that unknown ones may have been meant to be: that they are missing is said already.
	meant map[string]bool
}

func (p *place) inside(member string, key diag.Range) place {
	return place{outer: p, member: member, key: key, strict: p.strict, use: p.use, noun: p.noun, optional: p.optional}
}

func (p *place) item(i int) place {
	return place{outer: p, index: i, key: p.key, strict: p.strict, use: p.use, noun: p.noun, optional: p.optional}
}

// path is how a member is written in a message: property "a.b[0]".
func (p *place) String() string {
	suffix := ""
	for ; p.outer != nil; p = p.outer {
		switch {
		case p.member == "":
			suffix = fmt.Sprintf("[%d]%s", p.index, suffix)
		case p.outer.outer == nil && p.outer.what == "":
			suffix = p.member + suffix
		default:
			suffix = "." + p.member + suffix
		}
	}
	noun := p.noun
	switch {
	case p.what != "" && suffix == "":
		return p.what
	case p.what != "":
		return p.what + ", " + quote(strings.TrimPrefix(suffix, "."))
	case noun == "input":
		noun = "property"
	case noun == "":
		noun = "member"
	}
	return noun + " " + quote(suffix)
}

// name is the owner that messages on unknown names speak of.
func (p *place) name() string {
	if p.owner != "" {
		return p.owner
	}
	return p.String()
}

// at is what a message on the value points at.
func (p *place) at(e ast.Expr) diag.Range {
	if !p.use.IsZero() {
		return p.use
	}
	return e.Range()
}

// keyAt is what a message on the place itself points at.
func (p *place) keyAt(fallback diag.Range) diag.Range {
	switch {
	case !p.use.IsZero():
		return p.use
	case !p.key.IsZero():
		return p.key
	}
	return fallback
}

// maxIndirections bounds how many variables a constant is followed through.
const maxIndirections = 32

// constant follows variables to the literal that they stand for (L8.15); e itself when it is no such thing.
func (c *checker) constant(e ast.Expr) ast.Expr {
	for at, i := e, 0; i < maxIndirections; i++ {
		access, ok := at.(*ast.Access)
		if !ok {
			switch at.(type) {
			case *ast.Null, *ast.Bool, *ast.Number, *ast.String, *ast.Map, *ast.List:
				return at
			}
			return e
		}
		n := c.program.refs[access].Node
		if len(access.Steps) > 0 || n == nil || n.Kind != VariableNode || c.cyclic[n] {
			return e
		}
		at = n.Variable.Value
	}
	return e
}

// fit checks that an expression, whose type is inferred already, may stand where a type is wanted (L8.C), and reports
// what is wrong as near to the fault as possible.
func (c *checker) fit(e ast.Expr, to schema.Type, at *place) bool {
	if literal := c.constant(e); literal != e {
		inner := *at
		if inner.use.IsZero() {
			inner.use = e.Range()
		}
		return c.fit(literal, to, &inner)
	}
	target := c.known(schema.Required(to))
	if target == schema.Any || target == schema.Invalid || target == schema.JSON {
		return true
	}
	switch e := e.(type) {
	case *ast.Null:
		if _, optional := to.(*schema.Optional); optional || at.nullable || target == schema.Null {
			return true
		}
		c.errorf(diag.NotAssignable, at.at(e), "give a value", "%s: expected %s, got null", at, schema.TypeName(to))
		return false
	case *ast.Bool:
		return c.fitScalar(e, e.Value, target, at)
	case *ast.Number:
		return c.fitScalar(e, e.Value, target, at)
	case *ast.String:
		return c.fitScalar(e, e.Value, target, at)
	case *ast.Map:
		return c.fitMap(e, target, at)
	case *ast.List:
		return c.fitList(e, target, at)
	case *ast.Bad:
		return true
	}
	from := c.infer(e)
	if at.nullable && from == schema.Null {
		return true
	}
	a := assigner{strict: at.strict, known: c.known}
	if m := a.assign(to, from); m != nil {
		c.reportMismatch(e, m, to, from, at)
		return false
	}
	return true
}

// reportMismatch tells the deepest cause first, then what it is a part of.
func (c *checker) reportMismatch(e ast.Expr, m *mismatch, to, from schema.Type, at *place) {
	path, reason := m.deepest()
	target := schema.Required(to)
	code, hint := diag.NotAssignable, ""
	switch {
	case target == schema.AnyResource || isResource(target):
		code = diag.NeedsResource
		hint = c.resourceWanted(e)
	case target == schema.Asset || target == schema.Archive:
		hint = assetHint(target)
	}
	if path == "" {
		c.errorf(code, at.at(e), hint, "%s: %s", at, reason)
		return
	}
	c.errorf(code, at.at(e), sentences(hint, fmt.Sprintf("this is in the value of type %s, where %s is wanted",
		schema.TypeName(from), schema.TypeName(to))), "%s: its member `%s`: %s", at, strings.TrimPrefix(path, "."), reason)
}

func isResource(t schema.Type) bool { _, ok := t.(*schema.ResourceType); return ok }

// resourceWanted says how to name a resource where something of it was given (L4.4).
func (c *checker) resourceWanted(e ast.Expr) string {
	if hint := c.eachHint(e); hint != "" {
		return hint
	}
	if a, ok := e.(*ast.Access); ok {
		ref := c.program.refs[a]
		if ref.Kind == RefNode && len(a.Steps) > 0 && isResource(ref.Node.Type) {
			return "use `${" + a.Root.Value + "}`, not `${" + describeExpr(a) + "}`"
		}
	}
	if s, ok := e.(*ast.String); ok {
		if n := c.declared[s.Value]; n != nil && n.Kind == ResourceNode {
			return "write `${" + s.Value + "}`"
		}
	}
	return "write `${name}` with the name of a resource"
}

func assetHint(t schema.Type) string {
	if t == schema.Archive {
		return "use fn::fileArchive, fn::assetArchive or fn::remoteArchive"
	}
	return "use fn::stringAsset, fn::fileAsset or fn::remoteAsset"
}

// fitScalar checks a literal text, number or boolean.
func (c *checker) fitScalar(e ast.Expr, v any, to schema.Type, at *place) bool {
	from := literalType(v)
	switch to := to.(type) {
	case schema.Primitive:
		if fitsPrimitive(v, to, at.strict) {
			return true
		}
		hint := ""
		code := diag.NotAssignable
		text, isText := v.(string)
		switch to {
		case schema.Asset, schema.Archive:
			hint = assetHint(to)
		case schema.AnyResource:
			code, hint = diag.NeedsResource, c.resourceWanted(e)
		case schema.Number, schema.Integer:
			if isText {
				hint = shown(text) + " is not a number"
				if _, err := strconv.ParseFloat(text, 64); err == nil {
					hint = "write it without quotes"
				}
			}
		case schema.Bool:
			if isText {
				hint = "write true or false, without quotes"
			}
		}
		c.errorf(code, at.at(e), hint, "%s: expected %s, got %s", at, schema.TypeName(to), from)
		return false
	case *schema.Object, *schema.Map:
		c.errorf(diag.NotAssignable, at.at(e), mapHint(to), "%s: expected %s, got %s", at, schema.TypeName(to), from)
		return false
	case *schema.Token:
		return c.fitScalar(e, v, schema.Required(to.Underlying), at)
	case *schema.Enum:
		return c.fitEnum(e, v, to, at)
	case *schema.Union:
		return c.fitUnion(e, to, at)
	case *schema.ResourceType:
		c.errorf(diag.NeedsResource, at.at(e), c.resourceWanted(e), "%s: expected %s, got %s", at, schema.TypeName(to), from)
		return false
	case *schema.Array:
		c.errorf(diag.NotAssignable, at.at(e), "write a list with one item", "%s: expected %s, got %s", at,
			schema.TypeName(to), from)
		return false
	}
	c.errorf(diag.NotAssignable, at.at(e), "", "%s: expected %s, got %s", at, schema.TypeName(to), from)
	return false
}

func literalType(v any) string {
	switch v.(type) {
	case bool:
		return "bool"
	case float64:
		return "number"
	}
	return "string"
}

// fitsPrimitive is L8.C with the conversions of literals of L8.41.
func fitsPrimitive(v any, to schema.Primitive, strict bool) bool {
	if to == schema.Any || to == schema.JSON || to == schema.Invalid {
		return true
	}
	switch v := v.(type) {
	case string:
		switch to {
		case schema.String:
			return true
		case schema.Number, schema.Integer:
			f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			return !strict && err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) && !strings.ContainsAny(v, "xXpP_")
		case schema.Bool:
			return !strict && (v == "true" || v == "false")
		}
	case float64:
		return to == schema.Number || to == schema.Integer && (!strict || v == math.Trunc(v)) || to == schema.String && !strict
	case bool:
		return to == schema.Bool || to == schema.String && !strict
	}
	return false
}

func (c *checker) fitEnum(e ast.Expr, v any, to *schema.Enum, at *place) bool {
	if !fitsPrimitive(v, to.Base, at.strict) {
		c.errorf(diag.NotAssignable, at.at(e), "it must be "+orList(enumTexts(to)), "%s: expected %s, got %s", at,
			schema.TypeName(to), literalType(v))
		return false
	}
	text := scalarText(v)
	for i := range to.Values {
		if allowed := &to.Values[i]; schema.ScalarText(allowed.Value) == text {
			if allowed.Deprecation != "" {
				c.warnf(diag.Deprecated, at.at(e), allowed.Deprecation, "the value %s is deprecated", shown(text))
			}
			return true
		}
	}
	hint := ""
	for i := range to.Values {
		if v := &to.Values[i]; v.Name == text && v.Name != "" {
			hint = fmt.Sprintf("%s is the name of a value; write the value, `%s`", shown(text), schema.ScalarText(v.Value))
		}
	}
	near := diag.Suggest(text, enumTexts(to))
	if hint == "" {
		hint = didYouMean(near)
	}
	d := diag.Diagnostic{Code: diag.NotInEnum, Subject: at.at(e), Detail: hint,
		Summary: fmt.Sprintf("%s must be one of %s", at, listed(enumTexts(to)))}
	if at.use.IsZero() {
		d.Fixes = rename(e.Range(), text, near)
	}
	c.report(d)
	return false
}

func enumTexts(e *schema.Enum) []string {
	texts := make([]string, len(e.Values))
	for i, v := range e.Values {
		texts[i] = schema.ScalarText(v.Value)
	}
	return texts
}

// scalarText is a literal as the provider gets it as text.
func scalarText(v any) string {
	if f, ok := v.(float64); ok {
		return value.FormatNumber(f)
	}
	return schema.ScalarText(v)
}

func (c *checker) fitList(e *ast.List, to schema.Type, at *place) bool {
	switch to := to.(type) {
	case *schema.Array:
		ok := true
		for i, item := range e.Items {
			inner := at.item(i)
			ok = c.fit(item, to.Item, &inner) && (!to.Plain || c.inTime(item, &inner)) && ok
		}
		return ok
	case *schema.Token:
		return c.fitList(e, schema.Required(to.Underlying), at)
	case *schema.Union:
		return c.fitUnion(e, to, at)
	case schema.Primitive:
		if open(to) {
			return true
		}
	}
	code, hint := diag.NotAssignable, ""
	switch to := to.(type) {
	case *schema.Object, *schema.Map:
		hint = mapHint(to)
	case *schema.Enum:
		hint = "write one value, without the list"
	case schema.Primitive:
		hint = "write one value, without the list"
		if to == schema.String && len(e.Items) != 1 {
			hint += "; fn::join makes one text of a list"
		}
	}
	if to == schema.AnyResource || isResource(to) {
		code, hint = diag.NeedsResource, "name one resource, without the list"
	}
	c.errorf(code, at.at(e), hint, "%s: expected %s, got %s", at, schema.TypeName(to), schema.TypeName(c.infer(e)))
	return false
}

// mapHint says what a map looks like, by the first members that it has to have, or may have.
func mapHint(to schema.Type) string {
	o, ok := to.(*schema.Object)
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
	return "write a map with " + listed(names)
}

func (c *checker) fitMap(e *ast.Map, to schema.Type, at *place) bool {
	switch to := to.(type) {
	case *schema.Object:
		return c.fitObject(e, to, at)
	case *schema.Map:
		ok := true
		for _, entry := range e.Entries {
			inner := at.inside("(computed)", entry.Key.Range())
			if key, literal := entry.Key.(*ast.String); literal {
				inner.member = key.Value
			}
			inner.nullable = true // left out (L3.13)
			ok = c.fit(entry.Value, to.Item, &inner) && (!to.Plain || c.inTime(entry.Value, &inner)) && ok
		}
		return ok
	case *schema.Token:
		return c.fitMap(e, schema.Required(to.Underlying), at)
	case *schema.Union:
		return c.fitUnion(e, to, at)
	case schema.Primitive:
		if open(to) {
			return true
		}
		hint := ""
		if to == schema.String {
			hint = "use fn::toJSON to make a text of it"
		}
		if to == schema.Asset || to == schema.Archive {
			hint = assetHint(to)
		}
		c.errorf(diag.NotAssignable, at.at(e), hint, "%s: expected %s, got object", at, schema.TypeName(to))
		return false
	}
	code := diag.NotAssignable
	if isResource(to) {
		code = diag.NeedsResource
	}
	c.errorf(code, at.at(e), "", "%s: expected %s, got object", at, schema.TypeName(to))
	return false
}

// fitObject checks the entries of a map literal against an object's members.
func (c *checker) fitObject(e *ast.Map, to *schema.Object, at *place) bool {
	ok, computed := true, false
	present := make(map[string]bool, len(e.Entries))
	for _, entry := range e.Entries {
		key, literal := entry.Key.(*ast.String)
		if !literal {
			computed = true
			continue
		}
		present[key.Value] = true
		ok = c.fitMember(ast.Literal{Value: key.Value, Range: key.Range()}, entry.Value, to, at) && ok
	}
	if !computed {
		ok = c.requireMembers(to, at, func(name string) bool { return present[name] }, at.keyAt(e.Range())) && ok
	}
	return ok
}

// fitMember checks one named member: that there is such a one, its value, its constant, and whether it is in time.
func (c *checker) fitMember(key ast.Literal, v ast.Expr, to *schema.Object, at *place) bool {
	p := to.Property(key.Value)
	if p == nil {
		if to.Closed {
			c.unknownMember(key, to, at)
			return false
		}
		return true
	}
	inner := at.inside(p.Name, key.Range)
	c.warnDeprecated(p.Deprecation, inner.keyAt(key.Range), "property", p.Name)
	want := p.Type
	if at.optional {
		want = schema.OptionalOf(want)
	}
	if !c.fit(v, want, &inner) {
		return false
	}
	if p.Const != nil && !c.fitConst(v, p, &inner) {
		return false
	}
	return !p.Plain || at.optional || c.inTime(v, &inner)
}

// inTime checks a plain place (L8.18).
func (c *checker) inTime(v ast.Expr, at *place) bool {
	if at.optional || !c.comesFromResource(v) {
		return true
	}
	c.errorf(diag.NotKnownInTime, at.at(v), "use configuration, variables or constants here",
		"%s must be known before anything is created", at)
	return false
}

// fitConst compares a literal with the constant that the schema wants (L3.14, L8.17).
func (c *checker) fitConst(v ast.Expr, p *schema.Property, at *place) bool {
	var text string
	switch literal := c.constant(v).(type) {
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
		c.errorf(diag.NotInEnum, at.at(v), "leave it out: it is filled in", "%s must be %s", at, shown(want))
		return false
	}
	return true
}

func (c *checker) unknownMember(key ast.Literal, to *schema.Object, at *place) {
	names := propertyNames(to)
	noun := at.noun
	if noun == "" || at.outer != nil {
		noun = "member"
	}
	near := diag.Suggest(key.Value, names)
	detail := didYouMean(near)
	switch {
	case at.noun == "input" && at.outer == nil && ast.OptionName(key.Value):
		near, detail = nil, "`"+key.Value+"` is an option: indent it under `options`, beside `properties`"
	case at.noun == "input" && at.outer == nil && ast.FieldName(key.Value):
		near, detail = nil, "`"+key.Value+"` is a field of the resource: indent it as `properties` is"
	case detail != "":
	case len(names) == 0:
		detail = "it takes none"
	default:
		detail = "it has " + listed(names)
	}
	at.mean(near...)
	d := diag.Diagnostic{Code: diag.UnknownProperty, Subject: at.namedAt(key), Detail: detail,
		Summary: fmt.Sprintf("%s has no %s `%s`", at.name(), noun, key.Value)}
	if at.use.IsZero() {
		d.Fixes = rename(key.Range, key.Value, near)
	}
	c.report(d)
}

// mean notes members that are meant by something that has been reported.
func (p *place) mean(names ...string) {
	if p.meant == nil && len(names) > 0 {
		p.meant = make(map[string]bool, len(names))
	}
	for _, name := range names {
		p.meant[name] = true
	}
}

func (p *place) namedAt(key ast.Literal) diag.Range {
	if !p.use.IsZero() {
		return p.use
	}
	return key.Range
}

// requireMembers reports each required member that is missing (L8.12). Constants are filled in, but for those that tell
// the members of a union apart.
func (c *checker) requireMembers(to *schema.Object, at *place, present func(string) bool, where diag.Range) bool {
	if at.optional {
		return true
	}
	ok := true
	for _, p := range to.Properties() {
		if !p.Required || p.Const != nil && !at.inUnion || p.Default != nil ||
			at.meant[p.Name] || slices.Contains(c.file.Lost, p.Name) || present(p.Name) {
			continue
		}
		c.errorf(diag.RequiredMissing, where, "", "%s needs %s (%s)", at.name(), p.Name, schema.TypeName(p.Type))
		ok = false
	}
	return ok
}

// fitUnion checks a literal against alternatives: the one that the discriminator selects (L8.16), else any that takes it.
func (c *checker) fitUnion(e ast.Expr, u *schema.Union, at *place) bool {
	inner := *at
	inner.inUnion = true
	if m, isMap := e.(*ast.Map); isMap && u.Discriminator != "" {
		if decided, ok := c.fitDiscriminated(m, u, &inner); decided {
			return ok
		}
	}
	var nearest schema.Type
	candidates := 0
	for _, member := range u.Members {
		fits := false
		faults := c.attempt(func() { fits = c.fit(e, member, &inner) })
		if fits {
			c.sink.Add(faults...)
			c.warnNearMiss(e, u, at)
			return true
		}
		if sameShape(e, member) {
			nearest = member
			candidates++
		}
	}
	if candidates == 1 {
		return c.fit(e, nearest, &inner)
	}
	var reasons []string
	for _, member := range u.Members {
		if !sameShape(e, member) {
			continue
		}
		if faults := c.attempt(func() { c.fit(e, member, &inner) }); len(faults) > 0 && len(reasons) < 3 {
			reasons = append(reasons, "as "+schema.TypeName(member)+": "+faults[0].Summary)
		}
	}
	c.errorf(diag.NotAssignable, at.at(e), sentences(reasons...), "%s: expected %s, got %s", at, schema.TypeName(u),
		schema.TypeName(c.infer(e)))
	return false
}

// fitDiscriminated answers decided when the discriminator's value is written out.
func (c *checker) fitDiscriminated(e *ast.Map, u *schema.Union, at *place) (decided, ok bool) {
	for _, entry := range e.Entries {
		key, literal := entry.Key.(*ast.String)
		if !literal || key.Value != u.Discriminator {
			continue
		}
		tag, literal := c.constant(entry.Value).(*ast.String)
		if !literal {
			return false, false
		}
		member, tags := u.Select(tag.Value)
		if member != nil {
			return true, c.fit(e, member, at)
		}
		if len(tags) == 0 {
			return false, false
		}
		inner := at.inside(key.Value, key.Range())
		c.errorf(diag.BadDiscriminator, inner.at(entry.Value), didYouMean(diag.Suggest(tag.Value, tags)),
			"%s must be one of %s", &inner, listed(tags))
		return true, false
	}
	_, tags := u.Select("")
	if len(tags) == 0 {
		return false, false
	}
	if slices.Contains(c.file.Lost, u.Discriminator) {
		return true, true
	}
	for _, member := range u.Members {
		if o, isObject := schema.Required(member).(*schema.Object); !isObject || o.Property(u.Discriminator) == nil ||
			!o.Property(u.Discriminator).Required {
			return false, false
		}
	}
	c.errorf(diag.BadDiscriminator, at.keyAt(e.Range()), "it says which kind of object this is", "%s needs %s, one of %s", at,
		u.Discriminator, listed(tags))
	return true, false
}

// sameShape reports whether a literal and a type are both lists or both maps.
func sameShape(e ast.Expr, t schema.Type) bool {
	switch schema.Required(t).(type) {
	case *schema.Array:
		_, ok := e.(*ast.List)
		return ok
	case *schema.Map, *schema.Object:
		_, ok := e.(*ast.Map)
		return ok
	case *schema.Enum:
		switch e.(type) {
		case *ast.String, *ast.Number, *ast.Bool:
			return true
		}
	}
	return false
}

// warnNearMiss finds a text that goes through as a text where it looks like a misspelt value of an enum (L8.15).
func (c *checker) warnNearMiss(e ast.Expr, u *schema.Union, at *place) {
	text, ok := e.(*ast.String)
	if !ok {
		return
	}
	var values []string
	for _, member := range u.Members {
		if enum, isEnum := schema.Required(member).(*schema.Enum); isEnum {
			values = append(values, enumTexts(enum)...)
		}
	}
	for _, v := range values {
		if v == text.Value {
			return
		}
	}
	if near := diag.Suggest(text.Value, values); len(near) > 0 {
		c.warnf(diag.NotInEnum, at.at(e), didYouMean(near), "%s: %s is none of the known values", at, shown(text.Value))
	}
}

// comesFromResource reports whether an expression needs what a resource only has once it exists (L8.18). Reading stacks
// and existing resources needs no creation.
func (c *checker) comesFromResource(e ast.Expr) bool {
	found := false
	ast.Walk(e, func(e ast.Expr) bool {
		if access, ok := e.(*ast.Access); ok && !found {
			switch ref := c.program.refs[access]; ref.Kind {
			case RefNode:
				found = c.nodeComesFromResource(ref.Node, len(access.Steps) > 0)
			case RefEach:
				found = c.comesFromResource(ref.Node.Resource.Decl.ForEach)
			}
		}
		return !found
	})
	return found
}

func (c *checker) nodeComesFromResource(n *Node, member bool) bool {
	switch n.Kind {
	case ResourceNode:
		return member && n.Resource.Token != schema.StackReferenceToken && n.Resource.Decl.Get == nil
	case VariableNode:
		if known, asked := c.fromResource[n]; asked {
			return known
		}
		c.fromResource[n] = false // a cycle is reported elsewhere
		found := c.comesFromResource(n.Variable.Value)
		if access, ok := n.Variable.Value.(*ast.Access); ok && len(access.Steps) == 0 && member {
			if ref := c.program.refs[access]; ref.Kind == RefNode {
				return c.nodeComesFromResource(ref.Node, true)
			}
		}
		c.fromResource[n] = found
		return found
	}
	return false
}
