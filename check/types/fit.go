package types

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// fitter checks that an expression is assignable to a destination. An expression is inferred before it is fitted: the
// type is asked for, never computed here.
type fitter struct {
	decl      *declaration
	constants *constants
	accessor  *accessor
}

// fit checks that an expression with an inferred type is assignable to a type (L8.C). It reports a mismatch at the
// innermost faulty expression. Literals are compared entry by entry, also those that a variable stands for: their
// types alone would say too little, since a literal 5 fits an enum that a number does not. A finding about a literal
// of another declaration is at the use, for the literal may be right elsewhere.
func (c *fitter) fit(e ast.Expr, want schema.Type, p *destination) bool {
	// The first use counts: of a variable that is a variable, the reader sees the use in this declaration.
	if literal := c.constants.constant(e); literal != e {
		inner := *p
		if inner.use.IsZero() {
			inner.use = e.Range()
		}
		return c.fit(literal, want, &inner)
	}
	// want keeps its optional mark for null, target is what a value has to be.
	target := c.decl.known(schema.Required(want))
	if target == schema.Any || target == schema.Invalid || target == schema.JSON {
		return true
	}
	switch e := e.(type) {
	case *ast.Null:
		if _, optional := want.(*schema.Optional); optional || p.nullable || target == schema.Null {
			return true
		}
		return c.misfit(diag.NotAssignable, e, "give a value", want, "null", p)
	case *ast.Bool, *ast.Number, *ast.String, *ast.Map, *ast.List:
		switch target := target.(type) {
		case *schema.Token:
			// A named type of a schema is its underlying one for a value; the name is for messages.
			return c.fit(e, target.Underlying, p)
		case *schema.Union:
			return c.fitUnion(e, target, p)
		}
	}
	switch e := e.(type) {
	case *ast.Bool:
		return c.fitScalar(e, e.Value, target, p)
	case *ast.Number:
		return c.fitScalar(e, e.Value, target, p)
	case *ast.String:
		return c.fitScalar(e, e.Value, target, p)
	case *ast.Map:
		return c.fitMap(e, target, p)
	case *ast.List:
		return c.fitList(e, target, p)
	case *ast.Bad:
		return true
	}
	if n, ok := secretOf(e).(*ast.Number); ok {
		return c.fit(n, want, p)
	}
	got := c.decl.typeOf(e)
	// An option or argument that is null counts as left out.
	if p.nullable && got == schema.Null {
		return true
	}
	// Anything that is no literal is compared by types alone from here on.
	a := assigner{strict: p.strict, known: c.decl.known}
	if m := a.assign(want, got); m != nil {
		// If all items fit by themselves, the mismatch is about the call as a whole.
		if list, ok := secretOf(e).(*ast.List); ok && !c.fit(list, target, p) {
			return false
		}
		c.reportMismatch(e, m, want, got, p)
		return false
	}
	return true
}

// secretOf returns the value given to fn::secret; nil for anything else. A literal number and the items of a literal
// list can be compared, which says more than that a type does not fit.
func secretOf(e ast.Expr) ast.Expr {
	if call, ok := e.(*ast.Call); ok && call.Name.Value == "secret" {
		return call.Argument
	}
	return nil
}

// reportMismatch reports a mismatch: first the deepest cause, then the enclosing values. The deepest cause is what has
// to be changed; the types of the whole would be printed as maps that differ somewhere.
func (c *fitter) reportMismatch(e ast.Expr, m *mismatch, want, got schema.Type, p *destination) {
	path, reason := m.deepest()
	target := schema.Required(want)
	code, hint := diag.NotAssignable, ""
	switch {
	case target == schema.AnyResource || isResource(target):
		code = diag.NeedsResource
		hint = c.resourceWanted(e)
	case target == schema.Asset || target == schema.Archive:
		hint = assetHint(target)
	}
	if path == "" {
		c.decl.report.Errorf(code, p.at(e.Range()), hint, "%s: %s", p, reason)
		return
	}
	c.decl.report.Errorf(code, p.at(e.Range()), findings.Sentences(hint, fmt.Sprintf("this is in the value of type %s, where %s is wanted",
		schema.TypeName(got), schema.TypeName(want))), "%s: its member `%s`: %s", p, strings.TrimPrefix(path, "."), reason)
}

func isResource(t schema.Type) bool { _, ok := t.(*schema.ResourceType); return ok }

// resourceWanted suggests how to refer to a resource where one of its members was given (L4.4). A text that is the name
// of a resource is the most frequent mistake here: other tools write it so.
func (c *fitter) resourceWanted(e ast.Expr) string {
	if hint := c.eachHint(e); hint != "" {
		return hint
	}
	if a, ok := e.(*ast.Access); ok {
		ref := c.decl.program.Ref(a)
		if ref.Kind == program.RefNode && len(a.Steps) > 0 && isResource(ref.Node.Type) {
			return "use `${" + a.Root.Value + "}`, not `${" + describeExpr(a) + "}`"
		}
	}
	if s, ok := e.(*ast.String); ok {
		c.decl.volatile = true // the names are not references
		if n := c.decl.body.Scope.Lookup(s.Value); n != nil && n.Kind == program.ResourceNode {
			return "write `${" + s.Value + "}`"
		}
	}
	return "write `${name}` with the name of a resource"
}

// assetHint names the functions that make a file of a path: a path alone is a text for the provider.
func assetHint(t schema.Type) string {
	if t == schema.Archive {
		return "use fn::fileArchive, fn::assetArchive or fn::remoteArchive"
	}
	return "use fn::stringAsset, fn::fileAsset or fn::remoteAsset"
}

// comparison matches a text that compares values or joins conditions.
var comparison = lazyregexp.New(`\w[\w."\]) ]*(==|!=|<|>|&&|\|\|)|^\s*!\s*\w`)

// fitScalar checks a literal text, number or boolean.
func (c *fitter) fitScalar(e ast.Expr, v any, want schema.Type, p *destination) bool {
	code, hint := diag.NotAssignable, ""
	switch want := want.(type) {
	case schema.Primitive:
		if fitsPrimitive(v, want, p.strict) {
			c.checkNumber(e, v, want, p)
			return true
		}
		text, isText := v.(string)
		switch {
		case want == schema.Asset || want == schema.Archive:
			hint = assetHint(want)
		case want == schema.AnyResource:
			code, hint = diag.NeedsResource, c.resourceWanted(e)
		case isText && (want == schema.Number || want == schema.Integer):
			hint = findings.Shown(text) + " is not a number"
			if _, err := strconv.ParseFloat(text, 64); err == nil {
				hint = "write it without quotes"
			}
		case isText && want == schema.Bool && comparison().MatchString(text):
			hint = "an expression is written in `${…}`: `${" + strings.TrimSpace(text) + "}`"
		case want == schema.Bool && isText:
			hint = "write true or false, without quotes"
			if meant, ok := oldBooleans[strings.ToLower(text)]; ok {
				hint = "write " + meant + ": `" + text + "` is a text"
			}
		case want == schema.Bool:
			hint = "write true or false"
		}
	case *schema.Object, *schema.Map:
		hint = mapHint(want)
	case *schema.Enum:
		return c.fitEnum(e, v, want, p)
	case *schema.ResourceType:
		code, hint = diag.NeedsResource, c.resourceWanted(e)
	case *schema.Array:
		hint = "write a list with one item"
	}
	return c.misfit(code, e, hint, want, literalType(v), p)
}

// oldBooleans are the words that were booleans in YAML 1.1.
var oldBooleans = map[string]string{"yes": "true", "on": "true", "y": "true",
	"no": "false", "off": "false", "n": "false"}

// checkNumber warns of a number, or a text that becomes one, that fits its destination but is sent differently: a
// fraction for an integer, which other hosts send too, an integer in a text that loses digits, and a number for a text
// that is not what is written, as the version 1.30, which becomes "1.3". These are warnings because the provider
// accepts them.
func (c *fitter) checkNumber(e ast.Expr, v any, want schema.Primitive, p *destination) {
	text, isText := v.(string)
	f, isNumber := v.(float64)
	if isText && (want == schema.Number || want == schema.Integer) {
		f, _ = strconv.ParseFloat(strings.TrimSpace(text), 64)
		isNumber = true
		if value.LosesDigits(strings.TrimSpace(text)) {
			c.decl.report.Add(diag.LosesDigits(p.at(e.Range()), strings.TrimSpace(text), f))
		}
	}
	if isNumber && want == schema.Integer && f != math.Trunc(f) {
		c.decl.report.Warnf(diag.NotAssignable, p.at(e.Range()), "write a whole number", "%s: expected integer, got %s", p,
			value.FormatNumber(f))
	}
	if number, ok := e.(*ast.Number); ok && want == schema.String {
		c.checkSpelling(number, p.at(number.At), p.String()+": ")
	}
}

// checkSpelling warns of a number in a program that becomes a text with other characters. at is where it becomes one,
// and what is the beginning of the message.
func (c *fitter) checkSpelling(n *ast.Number, at diag.Range, what string) {
	written, sent := n.At.Text(), value.FormatNumber(n.Value)
	hint := "if the text matters, put the number in quotes"
	switch {
	case written == sent || !numeral().MatchString(written):
	case n.At.Hidden():
		c.decl.report.Warnf(diag.NotAssignable, at, hint, "%sthe number becomes another text than the one that is written", what)
	default:
		c.decl.report.Warnf(diag.NotAssignable, at, hint+": \""+written+"\"", "%sthe number `%s` becomes the text `%s`", what,
			written, sent)
	}
}

// numeral matches a number in its usual form. One with an exponent or in another base is meant as a number, and what
// stands behind an alias or is an expression has other characters.
var numeral = lazyregexp.New(`^[-+]?[\d_.]+$`)

// misfit reports a literal that is not assignable to its destination, and returns false.
func (c *fitter) misfit(code diag.Code, e ast.Expr, hint string, want schema.Type, got string, p *destination,
	fixes ...diag.Fix) bool {
	c.decl.report.Add(diag.Diagnostic{Code: code, Subject: p.at(e.Range()), Detail: hint, Fixes: fixes,
		Summary: fmt.Sprintf("%s: expected %s, got %s", p, schema.TypeName(want), got)})
	return false
}

// literalType returns the word for the type of a literal in messages, where a whole number is a number like any other.
func literalType(v any) string {
	switch v.(type) {
	case bool:
		return "bool"
	case float64:
		return "number"
	}
	return "string"
}

// fitsPrimitive applies L8.C with the conversions of literals in L8.41. A literal is judged by its value, which the
// type does not tell: "5" is a number for a provider, and "five" is none.
func fitsPrimitive(v any, want schema.Primitive, strict bool) bool {
	if want == schema.Any || want == schema.JSON || want == schema.Invalid {
		return true
	}
	switch v := v.(type) {
	case string:
		switch want {
		case schema.String:
			return true
		case schema.Number, schema.Integer:
			// The letters are those of notations that Go reads and providers do not.
			f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			return !strict && err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) && !strings.ContainsAny(v, "xXpP_")
		case schema.Bool:
			return !strict && (v == "true" || v == "false")
		}
	case float64:
		return want == schema.Number || want == schema.Integer && (!strict || v == math.Trunc(v)) ||
			want == schema.String && !strict
	case bool:
		return want == schema.Bool || want == schema.String && !strict
	}
	return false
}

// fitEnum checks a literal against an enum. The texts are compared as a provider gets them, so that 1 is found in an
// enum of "1". A fix exists only at the literal itself: at the use of a variable it would replace a reference.
func (c *fitter) fitEnum(e ast.Expr, v any, want *schema.Enum, p *destination) bool {
	if !fitsPrimitive(v, want.Base, p.strict) {
		return c.misfit(diag.NotAssignable, e, "it must be "+findings.OrList(enumTexts(want)), want, literalType(v), p)
	}
	text := scalarText(v)
	for i := range want.Values {
		if allowed := &want.Values[i]; schema.ScalarText(allowed.Value) == text {
			if allowed.Deprecation != "" {
				c.decl.report.Warnf(diag.Deprecated, p.at(e.Range()), schema.Plain(allowed.Deprecation), "the value %s is deprecated",
					findings.Shown(text))
			}
			return true
		}
	}
	// Schemas of some packages name their values, and SDKs in other languages use these names.
	hint := ""
	for i := range want.Values {
		// Names of values count only here: as a value, the name would reach the provider as it is.
		if v := &want.Values[i]; v.Name == text && v.Name != "" {
			hint = fmt.Sprintf("%s is the name of a value; write the value, `%s`", findings.Shown(text), schema.ScalarText(v.Value))
		}
	}
	near := diag.Suggest(text, enumTexts(want))
	if hint == "" {
		hint = findings.DidYouMean(near)
	}
	d := diag.Diagnostic{Code: diag.NotInEnum, Subject: p.at(e.Range()), Detail: hint,
		Summary: fmt.Sprintf("%s must be one of %s", p, findings.Listed(enumTexts(want)))}
	if p.use.IsZero() {
		d.Fixes = findings.Rename(e.Range(), text, near)
	}
	c.decl.report.Add(d)
	return false
}

// enumTexts returns the allowed values as a provider gets them, in the order of the schema.
func enumTexts(e *schema.Enum) []string {
	texts := make([]string, len(e.Values))
	for i, v := range e.Values {
		texts[i] = schema.ScalarText(v.Value)
	}
	return texts
}

// scalarText returns the text that a provider gets for a literal.
func scalarText(v any) string {
	if f, ok := v.(float64); ok {
		return value.FormatNumber(f)
	}
	return schema.ScalarText(v)
}

// fitList checks a literal list. All items are looked at, even after a fault: each may have one of its own.
func (c *fitter) fitList(e *ast.List, want schema.Type, p *destination) bool {
	code, hint := diag.NotAssignable, ""
	switch want := want.(type) {
	case *schema.Array:
		ok := true
		for i, item := range e.Items {
			inner := c.decl.destinations.enter(p.item(i))
			ok = c.fit(item, want.Item, inner) && (!want.Plain || c.inTime(item, want.Item, inner)) && ok
			c.decl.destinations.leave(inner)
		}
		return ok
	case *schema.Object, *schema.Map:
		hint = mapHint(want)
	case *schema.Enum:
		hint = "write one value, without the list"
	case schema.Primitive:
		hint = "write one value, without the list"
		if want == schema.String && len(e.Items) != 1 {
			// Not for one item, where the dash alone is too much.
			hint += "; fn::join makes one string of a list"
		}
	}
	if want == schema.AnyResource || isResource(want) {
		code, hint = diag.NeedsResource, "name one resource, without the list"
	}
	return c.misfit(code, e, hint, want, schema.TypeName(c.decl.typeOf(e)), p)
}
