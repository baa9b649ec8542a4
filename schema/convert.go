package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
)

// ConvertError describes why a value does not fit a type, and where inside it. It never shows the value.
type ConvertError struct {
	Path   value.Path // inside the value; empty for the value itself
	Reason string
}

// Error returns the path and the reason.
func (e *ConvertError) Error() string {
	if len(e.Path) == 0 {
		return e.Reason
	}
	return e.Path.String() + ": " + e.Reason
}

// Convert converts v to the form that a provider expects for the type t, at any depth (L8.40): for a string, numbers
// and booleans become text, a resource its ID, and a component its URN (L8.11); numeric text becomes a number, "true"
// and "false" become booleans. Unknown values, secrecy and dependencies are kept. Any other value is unchanged, even if
// it does not have the type, since the provider checks it. The error is a *ConvertError.
func Convert(t Type, v value.Value) (value.Value, error) { return Converter{}.Convert(t, v) }

// Converter has Convert and Complete for types of several packages, and with an environment. It is safe for concurrent
// use if its functions are.
type Converter struct {
	// Known returns the definition of a type of another package (F8.7), or the type itself if that is unknown. Nil for
	// a single package.
	Known func(Type) Type
	// Getenv looks up environment variables; nil means an empty environment.
	Getenv func(name string) (string, bool)
	// Filled is called for each input that Complete fills in with a default, but not for constants. It may be nil.
	Filled func(value.Path)
}

// Convert is the function Convert with the settings of c.
func (c Converter) Convert(t Type, v value.Value) (value.Value, error) {
	v, _, err := (&converter{Converter: c}).convert(t, v)
	return v, err
}

// Complete turns a program's inputs into the inputs that a provider expects, at any depth. It converts as Convert
// does, adds constants (L3.14), fills in omitted properties that have a default in the schema or in an environment
// variable (L3.15), and marks secret the properties that the schema marks so (L3.16). If inputs is an unknown map,
// every input is unknown (L3.12). The error is a *ConvertError.
func (c Converter) Complete(o *Object, inputs value.Value) (value.Value, error) {
	if !inputs.IsKnown() {
		entries := make([]value.Entry, 0, len(o.Properties()))
		for _, p := range o.Properties() {
			entries = append(entries, value.Entry{Key: p.Name, Value: sealed(p, inputs)})
		}
		return value.MapOf(entries...).WithMarksOf(inputs), nil
	}
	if inputs.IsNull() {
		inputs = value.EmptyMap().WithMarksOf(inputs)
	}
	inputs, _, err := (&converter{Converter: c, complete: true}).convert(o, inputs)
	if err != nil {
		return value.Null, err
	}
	return inputs, nil
}

// fallback returns the default of an omitted input.
func fallback(p *Property, getenv func(string) (string, bool)) (value.Value, bool, error) {
	if p.Const != nil {
		return ScalarValue(p.Const), true, nil
	}
	if p.Default != nil {
		return ScalarValue(p.Default), true, nil
	}
	if getenv == nil {
		return value.Null, false, nil
	}
	for _, name := range p.DefaultEnv {
		text, set := getenv(name)
		if !set {
			continue
		}
		v, err := Convert(p.Type, value.String(text))
		if err != nil {
			return value.Null, false, &ConvertError{
				Path:   value.PathOf(p.Name), // of the member; the caller prepends the path of the object
				Reason: fmt.Sprintf("the environment variable %s is %s", name, strings.TrimPrefix(err.Error(), "this is ")),
			}
		}
		return v, true, nil
	}
	return value.Null, false, nil
}

// sealed returns v with the secrecy of its property. A value that is secret as a whole has no secrets inside:
// providers expect one layer.
func sealed(p *Property, v value.Value) value.Value {
	if p.Secret {
		return v.DeepPublic().Secret()
	}
	return v
}

// ScalarValue returns a constant, a default or an enum's value as a program value; null for nil.
func ScalarValue(v any) value.Value {
	switch v := v.(type) {
	case string:
		return value.String(v)
	case float64:
		return value.Number(v)
	case bool:
		return value.Bool(v)
	}
	return value.Null
}

type converter struct {
	Converter
	complete bool       // add constants, defaults and secrecy
	at       value.Path // of the value under conversion; its memory is reused
}

// below converts a part of the value under conversion.
func (c *converter) below(step value.PathStep, t Type, v value.Value) (value.Value, bool, error) {
	c.at = append(c.at, step)
	v, changed, err := c.convert(t, v)
	c.at = c.at[:len(c.at)-1]
	return v, changed, err
}

// wrong returns the error for a value that does not fit.
func (c *converter) wrong(reason string) *ConvertError {
	return &ConvertError{Path: slices.Clone(c.at), Reason: reason}
}

// known returns the definition of a type of any package.
func (c *converter) known(t Type) Type {
	if optional, ok := t.(*Optional); ok {
		if elem := c.known(optional.Elem); elem != optional.Elem {
			return &Optional{Elem: elem}
		}
		return t
	}
	if _, foreign := t.(*Token); foreign && c.Known != nil {
		return c.Known(t)
	}
	return t
}

// convert reports whether it changed anything, so that unchanged values stay shared.
func (c *converter) convert(t Type, v value.Value) (value.Value, bool, error) {
	if !v.IsKnown() {
		return v, false, nil
	}
	switch t := t.(type) {
	case Primitive:
		return c.convertPrimitive(t, v)
	case *Optional:
		if v.IsNull() {
			return v, false, nil
		}
		return c.convert(t.Elem, v)
	case *Enum:
		return c.convertPrimitive(t.Base, v)
	case *Token:
		if known := c.known(t); known != Type(t) {
			return c.convert(known, v)
		}
		return c.convert(t.Underlying, v)
	case *Array:
		return c.convertList(t, v)
	case *Map:
		return c.convertMap(v, t)
	case *Object:
		return c.convertObject(v, t)
	case *Union:
		return c.convertUnion(t, v)
	case *ResourceType:
	}
	return v, false, nil
}

func (c *converter) convertPrimitive(t Primitive, v value.Value) (value.Value, bool, error) {
	switch t {
	case String:
		if ref, ok := v.AsResource(); ok {
			id := ref.ID
			if id.IsNull() {
				id = value.String(string(ref.URN))
			}
			return id.WithMarksOf(v), true, nil
		}
		if v.Is(value.KindNumber) || v.Is(value.KindBool) {
			text, err := value.Text(v)
			return text, err == nil, err
		}
	case Number, Integer:
		text, ok := v.AsString()
		if !ok {
			break
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(text, "xXpP_") {
			return v, false, c.wrong("this is text that is not a number")
		}
		return value.Number(f).WithMarksOf(v), true, nil
	case Bool:
		text, ok := v.AsString()
		if !ok {
			break
		}
		if text != "true" && text != "false" {
			return v, false, c.wrong(`this is text that is neither "true" nor "false"`)
		}
		return value.Bool(text == "true").WithMarksOf(v), true, nil
	}
	return v, false, nil
}

func (c *converter) convertList(t *Array, v value.Value) (value.Value, bool, error) {
	items, ok := v.AsList()
	if !ok {
		return v, false, nil
	}
	var converted []value.Value // nil until the first change
	for i, item := range items {
		next, changed, err := c.below(value.IndexStep(i), t.Item, item)
		if err != nil {
			return v, false, err
		}
		if changed && converted == nil {
			converted = append(make([]value.Value, 0, len(items)), items[:i]...)
		}
		if converted != nil {
			converted = append(converted, next)
		}
	}
	if converted == nil {
		return v, false, nil
	}
	return value.List(converted...).WithMarksOf(v), true, nil
}

func (c *converter) convertMap(v value.Value, t *Map) (value.Value, bool, error) {
	if !v.Is(value.KindMap) {
		return v, false, nil
	}
	var converted []value.Value // nil until the first change
	for i, key := range v.Keys() {
		next, changed, err := c.below(value.KeyStep(key), t.Item, v.At(i))
		if err != nil {
			return v, false, err
		}
		if changed {
			converted = changeAt(converted, v, i, next)
		}
	}
	return withMembers(v, converted, nil), converted != nil, nil
}

// changeAt sets the value at index i in members, a copy of the map's values, which it makes if there is none yet.
func changeAt(members []value.Value, inner value.Value, i int, v value.Value) []value.Value {
	if members == nil {
		members = make([]value.Value, inner.Len())
		for i := range members {
			members[i] = inner.At(i)
		}
	}
	members[i] = v
	return members
}

// withMembers returns a map with its members replaced, unless members is nil, and with more entries.
func withMembers(v value.Value, members []value.Value, more []value.Entry) value.Value {
	if members == nil && len(more) == 0 {
		return v
	}
	entries := make([]value.Entry, 0, v.Len()+len(more))
	for i, key := range v.Keys() {
		member := v.At(i)
		if members != nil {
			member = members[i]
		}
		entries = append(entries, value.Entry{Key: key, Value: member})
	}
	return value.MapOf(append(entries, more...)...).WithMarksOf(v)
}

func (c *converter) convertObject(v value.Value, o *Object) (value.Value, bool, error) {
	if !v.Is(value.KindMap) {
		return v, false, nil
	}
	var members []value.Value // nil until the first change
	for i, key := range v.Keys() {
		p := o.Property(key)
		if p == nil {
			continue
		}
		next, changed, err := c.below(value.KeyStep(key), p.Type, v.At(i))
		if err != nil {
			return v, false, err
		}
		if c.complete && !next.IsNull() {
			if p.Const != nil && next.IsKnown() && !value.SameContent(next, ScalarValue(p.Const)) {
				err := c.wrong(fmt.Sprintf("this must be %q", ScalarText(p.Const)))
				err.Path = append(err.Path, value.KeyStep(key))
				return v, false, err
			}
			if p.Secret {
				next, changed = sealed(p, next), true
			}
		}
		if changed {
			members = changeAt(members, v, i, next)
		}
	}
	var filled []value.Entry
	if c.complete {
		var err error
		if filled, err = c.fill(o, v); err != nil {
			return v, false, err
		}
	}
	// The last of equal keys wins: a filled-in value replaces a null.
	return withMembers(v, members, filled), members != nil || len(filled) > 0, nil
}

// fill returns values for the members of an object that are omitted or null and have a constant or a default. Constants
// of optional members are filled in at the top level only: deeper down they distinguish the kinds of a union.
func (c *converter) fill(o *Object, v value.Value) (filled []value.Entry, _ error) {
	for _, p := range o.Properties() {
		old, given := v.Lookup(p.Name)
		if given && !old.IsNull() || p.Const != nil && !p.Required && len(c.at) > 0 {
			continue
		}
		fallback, ok, err := fallback(p, c.Getenv)
		if err != nil {
			if inside, located := errors.AsType[*ConvertError](err); located {
				inside.Path = append(slices.Clone(c.at), inside.Path...)
			}
			return nil, err
		}
		if !ok {
			continue
		}
		if c.Filled != nil && p.Const == nil {
			c.Filled(c.at.Then(value.KeyStep(p.Name)))
		}
		filled = append(filled, value.Entry{Key: p.Name, Value: sealed(p, fallback)})
	}
	return filled, nil
}

// convertUnion converts only if the value fits no member unchanged (L8.40).
func (c *converter) convertUnion(u *Union, v value.Value) (value.Value, bool, error) {
	if v.IsNull() {
		return v, false, nil
	}
	u = c.knownMembers(u)
	if member := u.selected(v); member != nil {
		return c.convert(member, v)
	}
	for _, member := range u.Members {
		if Fits(member, v) {
			return c.convert(member, v)
		}
	}
	for _, member := range u.Members {
		next, changed, err := c.convert(member, v)
		if err == nil && changed && Fits(member, next) {
			return next, true, nil
		}
	}
	return v, false, nil
}

// knownMembers returns a union with the definitions of its members.
func (c *converter) knownMembers(u *Union) *Union {
	if c.Known == nil {
		return u
	}
	for i, m := range u.Members {
		if known := c.known(m); known != m {
			whole := *u
			whole.Members = slices.Clone(u.Members[:i])
			for _, m := range u.Members[i:] {
				whole.Members = append(whole.Members, c.known(m))
			}
			return &whole
		}
	}
	return u
}

// selected returns the member that the discriminator's value names; nil if undecided.
func (u *Union) selected(v value.Value) Type {
	if u.Discriminator == "" {
		return nil
	}
	tag, ok := v.Lookup(u.Discriminator)
	if !ok {
		return nil
	}
	text, ok := tag.AsString()
	if !ok {
		return nil
	}
	member, _ := u.Select(text)
	return member
}

// Select returns the member that a discriminator's value names, or nil, and the values that name members, in the order
// of the members (L8.16).
func (u *Union) Select(tag string) (member Type, tags []string) {
	for _, m := range u.Members {
		o, ok := Required(m).(*Object)
		if !ok {
			continue
		}
		for _, t := range u.tagsOf(o) {
			tags = append(tags, t)
			if t == tag && member == nil {
				member = m
			}
		}
	}
	return member, tags
}

func (u *Union) tagsOf(o *Object) []string {
	var tags []string
	for tag, token := range u.Mapping {
		if token == o.Token && token != "" {
			tags = append(tags, tag)
		}
	}
	if len(tags) > 0 {
		slices.Sort(tags)
		return tags
	}
	p := o.Property(u.Discriminator)
	if p == nil {
		return nil
	}
	if p.Const != nil {
		return []string{ScalarText(p.Const)}
	}
	if t, ok := Required(p.Type).(*Enum); ok {
		for _, v := range t.Values {
			tags = append(tags, ScalarText(v.Value))
		}
	}
	return tags
}

// Fits reports whether v is of type t without any conversion. An unknown value fits every type.
func Fits(t Type, v value.Value) bool {
	if !v.IsKnown() {
		return true
	}
	switch t := t.(type) {
	case Primitive:
		switch t {
		case Invalid, Any, JSON:
			return true
		case Null:
			return v.IsNull()
		case Bool:
			return v.Is(value.KindBool)
		case Integer:
			f, ok := v.AsNumber()
			return ok && f == math.Trunc(f)
		case Number:
			return v.Is(value.KindNumber)
		case String:
			return v.Is(value.KindString)
		case Asset:
			return v.Is(value.KindAsset) || v.Is(value.KindArchive)
		case Archive:
			return v.Is(value.KindArchive)
		case AnyResource:
			return v.Is(value.KindResource)
		}
	case *Optional:
		return v.IsNull() || Fits(t.Elem, v)
	case *Token:
		return Fits(t.Underlying, v)
	case *Enum:
		return slices.ContainsFunc(t.Values, func(allowed EnumValue) bool {
			return value.SameContent(v, ScalarValue(allowed.Value))
		})
	case *Array:
		items, ok := v.AsList()
		for _, item := range items {
			ok = ok && Fits(t.Item, item)
		}
		return ok
	case *Map:
		ok := v.Is(value.KindMap)
		for i := 0; ok && i < v.Len(); i++ {
			ok = Fits(t.Item, v.At(i))
		}
		return ok
	case *Object:
		return fitsObject(t, v)
	case *Union:
		return slices.ContainsFunc(t.Members, func(member Type) bool { return Fits(member, v) })
	case *ResourceType:
		ref, ok := v.AsResource()
		return ok && ref.URN.Type() == t.Token
	}
	return false
}

func fitsObject(o *Object, v value.Value) bool {
	if !v.Is(value.KindMap) {
		return false
	}
	for i, key := range v.Keys() {
		p := o.Property(key)
		if p == nil {
			if o.Closed {
				return false
			}
			continue
		}
		item := v.At(i)
		if !Fits(p.Type, item) || p.Const != nil && item.IsKnown() && !value.SameContent(item, ScalarValue(p.Const)) {
			return false
		}
	}
	return !slices.ContainsFunc(o.Properties(), func(p *Property) bool {
		return p.Required && p.Const == nil && p.Default == nil && !v.Has(p.Name)
	})
}
