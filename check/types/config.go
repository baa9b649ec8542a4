package types

import (
	"errors"
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

// configuration is the type of a configuration value, with its value and text where the stack gives them.
type configuration struct {
	typ   schema.Type
	value *value.Value
	text  *string
}

// checkConfig returns the type of a configuration value and, where the stack has it, its value (L2.30–L2.37). Two
// things are decided in turn: the type, from the declaration, its default, or else the text that the stack sets; and
// the value, where the stack sets one. The evaluator computes a default, for it may be an expression.
func (c *Checker) checkConfig(n *program.Node) configuration {
	config, decl := n.Config, n.Config.Decl
	// In a component Config is nil, so nothing is set there.
	text, set := c.decl.body.Options.Config[config.Key]
	if decl == nil {
		result := guessConfig(text, set)
		c.checkDigits(n, text, result.value)
		return result
	}
	var declared schema.Type
	if decl.Type != nil {
		declared = program.ConfigType(decl.Type)
	}
	var fallback schema.Type
	if decl.Default != nil {
		// Inferred even if the stack sets a value: names in it count as used, and another stack needs it.
		fallback = c.typer.infer(decl.Default)
		if declared != nil {
			c.checkDefault(decl, declared)
		}
	}
	optional := decl.Optional.IsTrue() // L10.C13
	var result configuration
	switch {
	case declared != nil && (fallback == schema.Null || optional && fallback == nil):
		result.typ = schema.OptionalOf(declared)
	case declared != nil:
		result.typ = declared
	case fallback != nil && fallback != schema.Null:
		// The stack may give another value of the kind.
		result.typ = widened(fallback)
	default:
		result.typ = schema.Any
	}
	secret := text.Secret || decl.Secret.IsTrue()
	switch {
	// The value could not be opened, which was reported; its type is known all the same.
	case text.Unread:
	case set && declared == nil && (fallback == nil || fallback == schema.Null):
		result = guessConfig(text, true)
		if secret && result.value != nil {
			v := result.value.Secret()
			result.value = &v
		}
	case set:
		result.value = c.convertConfig(config, result.typ, text, secret)
	case decl.Default != nil:
	// A value that is optional and not set is null, and known to be.
	case optional:
		null := value.Null
		result.value = &null
	case declared == nil: // the parser has asked for a type or a default
	case c.decl.body.Options.ConfigKnown:
		kind := ""
		if secret {
			kind = "--secret "
		}
		// The key that the stack sets is the place of the fault then, and not the declaration.
		if key, wrong := c.decl.body.Scope.Misspelt(config.Key); !key.IsZero() {
			c.decl.report.Add(diag.Diagnostic{Code: diag.ConfigMissing, Subject: key,
				Detail: findings.DidYouMean([]string{config.Key}), Summary: "config " + config.Key + " is required, and the stack sets " + wrong,
				Related: []diag.Related{{Range: decl.Name.Range, Message: "declared here"}}})
			break
		}
		c.decl.report.Errorf(diag.ConfigMissing, decl.Name.Range, "set it with: yamlhost config set "+kind+config.Key+" VALUE",
			"config %s is required", config.Key)
	}
	if set && !(text.Project && decl.Default != nil) { // which reading the program has checked
		c.checkDigits(n, text, result.value)
	}
	return result
}

// checkDigits warns of an integer in the stack's configuration that loses digits in the program (L1.26). A text that
// stays a text loses nothing.
func (c *Checker) checkDigits(n *program.Node, text program.ConfigText, v *value.Value) {
	if v == nil || v.Is(value.KindString) {
		return
	}
	integer := strings.TrimSpace(text.Text)
	if !v.Is(value.KindNumber) {
		// In a list or map the first integer of that kind is reported.
		if _, integer, _ = value.InexactJSON(text.Text); integer == "" {
			return
		}
	}
	if !value.LosesDigits(integer) {
		return
	}
	number, _ := strconv.ParseFloat(integer, 64)
	// The message would have the digits of a secret.
	if v.ContainsSecret() {
		integer = ""
	}
	// A value that does not come from a file of the stack has no place.
	at := text.Value
	if at.IsZero() {
		at = n.Range
	}
	d := diag.LosesDigits(at, integer, number)
	d.Summary = "config " + n.Config.Key + ": " + d.Summary
	if v.Is(value.KindNumber) {
		d.Detail = "numbers have 53 bits; declare it with `type: string` if it may be a string"
	}
	c.decl.report.Add(d)
}

// guessConfig types a value by its text alone, as nothing declares it (L2.30). The text is kept for properties that
// want text (L2.33).
func guessConfig(text program.ConfigText, set bool) configuration {
	if !set || text.Unread {
		return configuration{typ: schema.Any}
	}
	v := guess(text.Text)
	t := typeOfValue(v)
	if text.Secret {
		v = v.Secret()
	}
	return configuration{typ: t, value: &v, text: &text.Text}
}

// convertConfig returns the value of a declared type that the stack gives; nil for a text of another form. The finding
// is where the text can be changed: in the stack's file, if it has a place there.
func (c *Checker) convertConfig(config *program.Config, t schema.Type, text program.ConfigText,
	secret bool) *value.Value {
	want := schema.Required(t)
	v, err := textTo(want, text.Text)
	// A list in a stack's file has a text, too, but nobody who declares a string means it.
	if want == schema.String && text.Structured {
		err = errConversion
	}
	if err != nil && (text.Refused || text.Project && config.Decl.Default != nil) {
		return nil // reported with the project file, or the same text, which reading the program has checked
	}
	if err != nil {
		what := "the value"
		if !secret {
			what = findings.Shown(text.Text)
		}
		where := "in the stack's configuration"
		if text.Project {
			where = "in the project file"
		}
		if !text.Value.IsZero() {
			c.decl.report.Add(diag.Diagnostic{Code: diag.ConfigConversion, Subject: text.Value, Summary: fmt.Sprintf(
				"config %s: %s is not %s", config.Key, what, diag.WithArticle(schema.TypeName(want))),
				Related: []diag.Related{{Range: config.Decl.Name.Range, Message: "declared here"}}})
			return nil
		}
		c.decl.report.Errorf(diag.ConfigConversion, config.Decl.Name.Range, "it is given "+where+" and declared here",
			"config %s: %s is not %s", config.Key, what, diag.WithArticle(schema.TypeName(want)))
		return nil
	}
	if secret {
		v = v.Secret()
	}
	return &v
}

// checkDefault compares a default with the declared type (L2.22). It is fitted as any literal is, and its findings get
// the code of defaults: configuration has no provider that would convert.
func (c *Checker) checkDefault(decl *ast.Config, declared schema.Type) {
	p := &destination{what: "default of " + findings.Quote(decl.Name.Value), strict: true, nullable: true}
	faults := c.decl.report.Attempt(func() { c.fitter.fit(decl.Default, declared, p) })
	for _, d := range faults {
		if d.Severity == diag.Error {
			d.Code = diag.ConfigDefault
		}
		c.decl.report.Add(d)
	}
}

// widened returns the type that a default stands for when the stack may give another value of its kind. A default of
// {a: 1} must not forbid a stack to set {b: 2}.
func widened(t schema.Type) schema.Type {
	switch t := t.(type) {
	case *schema.Object:
		return &schema.Map{Item: schema.Any}
	case *schema.Array:
		if t.Item == schema.Invalid {
			return &schema.Array{Item: schema.Any}
		}
		return &schema.Array{Item: widened(t.Item)}
	case *schema.Optional:
		return schema.OptionalOf(widened(t.Elem))
	case schema.Primitive:
		// A default of 1 must not forbid 1.5.
		if t == schema.Integer {
			return schema.Number
		}
	}
	return t
}

// guess is L2.30. The order is that of Pulumi's host: a text that begins with 0 is an account or a postcode, not a
// number, and digits are numbers before they are booleans, although 1 and 0 could be both.
func guess(text string) value.Value {
	if len(text) > 1 && text[0] == '0' && text[1] != '.' {
		return value.String(text)
	}
	if decimalInteger().MatchString(text) {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return value.Number(f)
		}
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return value.Bool(b)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil || errors.Is(err, strconv.ErrRange) && !math.IsInf(f, 0) {
		return value.Number(f)
	}
	if v, err := value.FromJSON(text); err == nil {
		return v
	}
	return value.String(text)
}

var (
	decimalInteger = lazyregexp.New(`^[+-]?[0-9]+$`)
	booleanTexts   = map[string]bool{"true": true, "1": true, "false": false, "0": false}
)

var errConversion = errors.New("the text does not have the form of its type")

// textTo converts a configuration text to a type (L2.34). A stack's file has texts only, whatever they look like: the
// declaration decides what they are.
func textTo(t schema.Type, text string) (value.Value, error) {
	switch t := t.(type) {
	case schema.Primitive:
		switch t {
		case schema.String:
			return value.String(text), nil
		case schema.Bool:
			if b, ok := booleanTexts[strings.ToLower(text)]; ok {
				return value.Bool(b), nil
			}
			return value.Null, errConversion
		case schema.Number, schema.Integer:
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || t == schema.Integer && f != math.Trunc(f) ||
				strings.ContainsAny(text, "xXpP_") {
				return value.Null, errConversion
			}
			return value.Number(f), nil
		}
		// For the type any the text alone decides, as without a declaration.
		return guess(text), nil
	case *schema.Optional:
		return textTo(t.Elem, text)
	}
	v, err := value.FromJSON(text)
	if err != nil {
		return value.Null, errConversion
	}
	return jsonInto(t, v, false)
}

// jsonInto converts what JSON gave to a type: containers item by item, scalars by the same rules as texts. A null
// inside of a container stays. A scalar in it is converted from its text, so that "5" and 5 mean the same in a list and
// outside.
func jsonInto(t schema.Type, v value.Value, inside bool) (value.Value, error) {
	if inside && v.IsNull() {
		return v, nil
	}
	switch t := t.(type) {
	case *schema.Array:
		items, ok := v.AsList()
		if !ok {
			return value.Null, errConversion
		}
		converted := make([]value.Value, len(items))
		for i, item := range items {
			var err error
			if converted[i], err = jsonInto(t.Item, item, true); err != nil {
				return value.Null, err
			}
		}
		return value.List(converted...), nil
	case *schema.Map:
		if !v.Is(value.KindMap) {
			return value.Null, errConversion
		}
		entries := make([]value.Entry, v.Len())
		for i, key := range v.Keys() {
			item, err := jsonInto(t.Item, v.At(i), true)
			if err != nil {
				return value.Null, err
			}
			entries[i] = value.Entry{Key: key, Value: item}
		}
		return value.MapOf(entries...), nil
	case *schema.Optional:
		return jsonInto(t.Elem, v, true)
	case schema.Primitive:
		if t == schema.Any || t == schema.Invalid {
			return v, nil
		}
		if v.IsNull() || v.Is(value.KindList) || v.Is(value.KindMap) {
			return value.Null, errConversion
		}
		// Scalars take the way through their text, so that there is one rule for each type.
		text, err := value.Text(v)
		if err != nil {
			return value.Null, errConversion
		}
		s, _ := text.AsString()
		return textTo(t, s)
	}
	return v, nil
}

// typeOfValue returns the type of a known value.
func typeOfValue(v value.Value) schema.Type {
	switch v.Kind() {
	case value.KindNull:
		return schema.Null
	case value.KindBool:
		return schema.Bool
	case value.KindString:
		return schema.String
	case value.KindNumber:
		if f, _ := v.AsNumber(); f == math.Trunc(f) {
			return schema.Integer
		}
		return schema.Number
	case value.KindList:
		items, _ := v.AsList()
		var types []schema.Type
		for _, item := range items {
			types = append(types, typeOfValue(item))
		}
		return &schema.Array{Item: program.Unify(types)}
	case value.KindMap:
		return &schema.Map{Item: schema.Any}
	}
	return schema.Any
}
