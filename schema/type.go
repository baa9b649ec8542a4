package schema

import (
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Type is the type of a schema member or of an expression. The set of implementations is closed: the types of this
// file. Types are immutable and safe for concurrent use. Compare with Identical, not ==, save for primitives.
type Type interface{ isType() }

// Primitive is a type without parts.
type Primitive uint8

// The primitive types. Invalid is the type of a faulty expression, whose fault has been reported. It is assignable to
// and from every type, so that one fault gives one diagnostic. Null is the type of a literal null. AnyResource is a
// resource of any type.
const (
	Invalid Primitive = iota
	Null
	Bool
	Integer
	Number
	String
	Asset   // asset, which an archive satisfies too
	Archive // archive only
	Any
	JSON // a text that holds JSON; what any value may be given for
	AnyResource
)

type (
	// Array is a list of items of one type. With Plain no item may be unknown, even where the list may be (F8.5).
	Array struct {
		Item  Type
		Plain bool
	}

	// Map is a map from strings to values of one type. Plain is as in Array.
	Map struct {
		Item  Type
		Plain bool
	}

	// Object is a set of named members. Token is empty for a literal's or a function's own type.
	Object struct {
		Token  string
		Closed bool // no members beyond those listed: schema types are closed, literals are too
		lazy   lazyProperties
	}

	// Enum is a set of values of a primitive type.
	Enum struct {
		Token  string
		Base   Primitive
		Values []EnumValue
	}

	// Union is a value of one of several types.
	Union struct {
		Members       []Type
		Discriminator string            // property that selects the member; empty if there is none
		Mapping       map[string]string // discriminator value to type token; may be nil
	}

	// Optional is a value that may be absent or null.
	Optional struct{ Elem Type }

	// ResourceType is a reference to a resource of one type. Component tells whether it has no id.
	ResourceType struct {
		Token     string
		Component bool
		Outputs   func() *Object // what its members are, besides urn and id; may be nil when not known
		Package   Descriptor     // where it is defined, when that is another package; else zero
	}

	// Token is a type whose name alone is known; values of Underlying are accepted.
	Token struct {
		Token      string
		Underlying Type
		Package    Descriptor // where it is defined, when that is another package; else zero
	}
)

func (Primitive) isType()     {}
func (*Array) isType()        {}
func (*Map) isType()          {}
func (*Object) isType()       {}
func (*Enum) isType()         {}
func (*Union) isType()        {}
func (*Optional) isType()     {}
func (*ResourceType) isType() {}
func (*Token) isType()        {}

// EnumValue is one value of an Enum.
type EnumValue struct {
	Value       any // string, float64 or bool
	Name        string
	Description string
	Deprecation string
}

// Property is a member of an object, an input or an output.
type Property struct {
	Name        string
	Type        Type // wrapped in Optional unless Required
	Required    bool
	Plain       bool // no unknown values here
	Secret      bool
	Const       any // string, float64 or bool; nil when open
	Default     any // string, float64 or bool; nil when there is none
	DefaultEnv  []string
	ReplaceOn   bool // schema replaceOnChanges
	Deprecation string
	Description string
}

type lazyProperties struct {
	once  sync.Once
	load  func() []*Property
	list  []*Property
	index map[string]*Property // nil for a few properties
}

// fewProperties is the largest number of properties that are found without an index. Each literal map of a program has
// a type of its own.
const fewProperties = 8

// NewObject makes an object type. properties is called at most once, when the members are first asked for, which lets
// types refer to themselves.
func NewObject(token string, closed bool, properties func() []*Property) *Object {
	return &Object{Token: token, Closed: closed, lazy: lazyProperties{load: properties}}
}

// ObjectOf makes an object type of known members.
func ObjectOf(properties ...*Property) *Object {
	return NewObject("", true, func() []*Property { return properties })
}

func (o *Object) fill() {
	o.lazy.once.Do(func() {
		if o.lazy.load != nil {
			o.lazy.list = o.lazy.load()
		}
		if len(o.lazy.list) > fewProperties {
			o.lazy.index = make(map[string]*Property, len(o.lazy.list))
			for _, p := range o.lazy.list {
				o.lazy.index[p.Name] = p
			}
		}
	})
}

// Properties returns the members in the schema's order, which the caller must not modify.
func (o *Object) Properties() []*Property {
	if o == nil {
		return nil
	}
	o.fill()
	return o.lazy.list
}

// Property returns the member of that name, or nil.
func (o *Object) Property(name string) *Property {
	if o == nil {
		return nil
	}
	o.fill()
	if o.lazy.index != nil {
		return o.lazy.index[name]
	}
	for _, p := range slices.Backward(o.lazy.list) { // the last of equal names, as in an index
		if p.Name == name {
			return p
		}
	}
	return nil
}

// ExpectedKind returns the kind of value that a type promises, for values that are not known yet: KindAny where it
// promises none. An optional type promises the kind that it has when the value is present.
func ExpectedKind(t Type) value.Kind {
	switch t := t.(type) {
	case Primitive:
		switch t {
		case Bool:
			return value.KindBool
		case Integer, Number:
			return value.KindNumber
		case String:
			return value.KindString
		case Asset:
			return value.KindAsset
		case Archive:
			return value.KindArchive
		case AnyResource:
			return value.KindResource
		}
	case *Optional:
		return ExpectedKind(t.Elem)
	case *Enum:
		return ExpectedKind(t.Base)
	case *Token:
		return ExpectedKind(t.Underlying)
	case *Array:
		return value.KindList
	case *Map, *Object:
		return value.KindMap
	}
	return value.KindAny
}
