package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// typeSpec is a type in the form of the schema (F8.5).
type typeSpec struct {
	kind          string
	ref           string
	items         []byte
	additional    []byte
	oneOf         []byte
	discriminator []byte
	plain         bool
}

func (s *typeSpec) readers() readers {
	return readers{
		"type":                 stringInto(&s.kind),
		"$ref":                 stringInto(&s.ref),
		"items":                rawInto(&s.items),
		"additionalProperties": rawInto(&s.additional),
		"oneOf":                rawInto(&s.oneOf),
		"discriminator":        rawInto(&s.discriminator),
		"plain":                boolInto(&s.plain),
	}
}

func readTypeSpec(raw []byte) (typeSpec, error) {
	var s typeSpec
	err := decodeFields(raw, s.readers())
	return s, err
}

func (p decoder) decodeItem(raw []byte, depth int) (t Type, plain bool, err error) {
	if depth > maxTypeDepth {
		return nil, false, errors.New("types are nested too deeply")
	}
	spec, err := readTypeSpec(raw)
	if err != nil {
		return nil, false, err
	}
	t, err = p.bindType(spec, depth)
	return t, spec.plain, err
}

func (p decoder) bindType(spec typeSpec, depth int) (Type, error) {
	switch {
	case spec.ref != "":
		return p.bindRef(spec.ref, spec.kind)
	case spec.oneOf != nil:
		return p.bindUnion(spec, depth)
	}
	switch spec.kind {
	case "boolean", "integer", "number", "string":
		return primitiveNamed(spec.kind), nil
	case "array":
		if spec.items == nil {
			return nil, errors.New("an array needs items")
		}
		item, plain, err := p.decodeItem(spec.items, depth+1)
		if err != nil {
			return nil, err
		}
		return &Array{Item: item, Plain: plain}, nil
	case "object":
		if spec.additional == nil {
			return &Map{Item: String}, nil
		}
		item, plain, err := p.decodeItem(spec.additional, depth+1)
		if err != nil {
			return nil, err
		}
		return &Map{Item: item, Plain: plain}, nil
	case "":
		return nil, errors.New("there is neither a type nor a reference to one")
	}
	return nil, fmt.Errorf("there is no type %q", spec.kind)
}

func (p decoder) bindUnion(spec typeSpec, depth int) (Type, error) {
	union := &Union{}
	err := jsontext.EachItem(spec.oneOf, func(item []byte) error {
		member, _, err := p.decodeItem(item, depth+1)
		union.Members = append(union.Members, member)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("oneOf: %w", err)
	}
	if len(union.Members) == 0 {
		return nil, errors.New("oneOf has no members")
	}
	if spec.discriminator != nil {
		err := decodeFields(spec.discriminator, readers{
			"propertyName": stringInto(&union.Discriminator),
			"mapping": func(raw []byte) error {
				union.Mapping = make(map[string]string)
				return jsontext.EachMember(raw, func(value string, raw []byte) error {
					ref, err := jsontext.StringOf(raw)
					if _, fragment, ok := strings.Cut(ref, "#/types/"); ok {
						ref = unescape(fragment)
					}
					union.Mapping[value] = ref
					return err
				})
			},
		})
		if err != nil {
			return nil, fmt.Errorf("discriminator: %w", err)
		}
	}
	if len(union.Members) == 1 {
		return union.Members[0], nil
	}
	return union, nil
}

// bindRef returns the type that a reference points to (F8.6). A type of another package has only a name (F8.7).
func (p decoder) bindRef(ref, underlying string) (Type, error) {
	path, fragment, ok := strings.Cut(ref, "#/")
	if !ok {
		return nil, fmt.Errorf("%q is not a reference", ref)
	}
	if strings.TrimPrefix(path, "/") == "pulumi.json" {
		if t, ok := map[string]Primitive{"Any": Any, "Archive": Archive, "Asset": Asset, "Json": JSON}[fragment]; ok {
			return t, nil
		}
		return nil, fmt.Errorf("there is no built-in type %q", fragment)
	}
	section, rest, _ := strings.Cut(fragment, "/")
	token := unescape(rest)
	if path == "" {
		switch section {
		case "provider":
			return p.resourceType(providerPrefix + p.Name), nil
		case "resources":
			return p.resourceType(token), nil
		case "types":
			if _, known := p.typeMemo[token]; known || p.types.has(token) {
				return p.namedType(token)
			}
			return &Token{Token: token, Underlying: primitiveNamed(underlying)}, nil
		}
		return nil, fmt.Errorf("%q refers to neither a type nor a resource", ref)
	}
	other := foreignPackage(path)
	switch section {
	case "provider":
		return &ResourceType{Token: providerPrefix + other.Name, Package: other}, nil
	case "resources":
		return &ResourceType{Token: token, Package: other}, nil
	case "types":
		return &Token{Token: token, Underlying: primitiveNamed(underlying), Package: other}, nil
	}
	return nil, fmt.Errorf("%q refers to neither a type nor a resource", ref)
}

// foreignPackage returns the package in the path of a reference: /name/v1.2.3/schema.json.
func foreignPackage(path string) Descriptor {
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	version, _, _ := strings.Cut(rest, "/")
	return Descriptor{Name: name, Version: strings.TrimPrefix(version, "v")}
}

// primitiveNamed returns the primitive with a name in schemas; Any for every other name.
func primitiveNamed(name string) Primitive {
	switch name {
	case "boolean":
		return Bool
	case "integer":
		return Integer
	case "number":
		return Number
	case "string":
		return String
	}
	return Any
}

func unescape(fragment string) string {
	if s, err := url.PathUnescape(fragment); err == nil {
		return s
	}
	return fragment
}

// resourceType returns the type of a resource of this package. A dangling reference has only a name.
func (p decoder) resourceType(token string) *ResourceType {
	t := &ResourceType{Token: token}
	find := func() (*Resource, error) { return p.Resource(token) }
	if raw, err := p.resources.definition(token); err == nil {
		// A fault of the definition is reported when the resource is requested.
		_ = decodeFields(raw, readers{"isComponent": boolInto(&t.Component)})
	} else if find = p.Provider; token != providerPrefix+p.Name {
		return t
	}
	t.Outputs = func() *Object {
		r, err := find()
		if err != nil {
			return nil
		}
		return r.Outputs
	}
	return t
}

// namedType returns a type of this package by its token. Members of objects are decoded on first use; a malformed
// member gets the type any, so that the others remain usable; Verify reports it.
func (p decoder) namedType(token string) (Type, error) {
	return p.typeMemo.get(token, p.decodeNamedType)
}

func (p decoder) decodeNamedType(token string) (Type, error) {
	raw, err := p.types.definition(token)
	if err != nil {
		return nil, err
	}
	var kind string
	var values, additional []byte
	err = decodeFields(raw, readers{"type": stringInto(&kind), "enum": rawInto(&values),
		"additionalProperties": rawInto(&additional)})
	var enum *Enum
	if err == nil && values != nil {
		enum, err = decodeEnum(token, kind, values)
	}
	if err != nil {
		return nil, fmt.Errorf("type %s: %w", token, err)
	}
	if enum != nil {
		return enum, nil
	}
	if kind != "object" && kind != "" {
		return primitiveNamed(kind), nil
	}
	// an object with named and additional members, as in the schemas of some Kubernetes kinds
	return NewObject(token, additional == nil, func() []*Property {
		p.mu.Lock()
		defer p.mu.Unlock()
		list, err := p.propertiesOf(raw)
		if err != nil {
			return p.propertiesAsFarAsReadable(raw)
		}
		return list
	}), nil
}

func (p decoder) propertiesAsFarAsReadable(raw []byte) []*Property {
	var properties []byte
	_ = decodeFields(raw, readers{"properties": rawInto(&properties)})
	var list []*Property
	_ = jsontext.EachMember(properties, func(name string, raw []byte) error {
		property, err := p.decodeProperty(name, raw, false)
		if err != nil {
			property = &Property{Name: name, Type: OptionalOf(Any)}
		}
		list = append(list, property)
		return nil
	})
	return list
}

func decodeEnum(token, kind string, raw []byte) (*Enum, error) {
	enum := &Enum{Token: token, Base: primitiveNamed(kind)}
	if enum.Base == Any {
		return nil, fmt.Errorf("an enum cannot be of type %q", kind)
	}
	err := jsontext.EachItem(raw, func(item []byte) error {
		var v EnumValue
		err := decodeFields(item, readers{
			"value":              scalarInto(&v.Value),
			"name":               stringInto(&v.Name),
			"description":        stringInto(&v.Description),
			"deprecationMessage": stringInto(&v.Deprecation),
		})
		if v.Value == nil {
			v.Value = v.Name
		}
		enum.Values = append(enum.Values, v)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("enum: %w", err)
	}
	return enum, nil
}
