package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Decoding runs under Package.mu, save for propertiesOf inside of lazy objects, which takes it anew. Nothing here fills a
// lazy object, so types may refer to themselves.

// readers decodes the members of an object by name; others are passed over.
type readers map[string]func(raw []byte) error

func decodeFields(raw []byte, fields readers) error {
	return eachMember(raw, func(key string, raw []byte) error {
		read := fields[key]
		if read == nil {
			return nil
		}
		if err := read(raw); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
}

func (p *Package) decodeResource(token string, raw []byte) (*Resource, error) {
	r := &Resource{Token: token}
	var inputs, outputs, state []byte
	var requiredInputs, requiredOutputs, overlayLanguages []string
	var overlay bool
	err := decodeFields(raw, readers{
		"inputProperties":           rawInto(&inputs),
		"requiredInputs":            stringsInto(&requiredInputs),
		"properties":                rawInto(&outputs),
		"required":                  stringsInto(&requiredOutputs),
		"stateInputs":               rawInto(&state),
		"aliases":                   func(raw []byte) (err error) { r.Aliases, err = aliasesOf(raw); return err },
		"methods":                   func(raw []byte) (err error) { r.Methods, err = methodsOf(raw); return err },
		"isComponent":               boolInto(&r.Component),
		"deprecationMessage":        stringInto(&r.Deprecation),
		"description":               stringInto(&r.Description),
		"isOverlay":                 boolInto(&overlay),
		"overlaySupportedLanguages": stringsInto(&overlayLanguages),
	})
	if err == nil {
		r.Overlay = isOverlay(overlay, overlayLanguages)
		r.Inputs, err = p.decodeObject("", inputs, requiredInputs)
	}
	if err == nil {
		r.Outputs, err = p.decodeObject("", outputs, requiredOutputs)
	}
	if err == nil && state != nil {
		var properties []byte
		if err = decodeFields(state, readers{"properties": rawInto(&properties)}); err == nil {
			r.StateInputs, err = p.decodeObject("", properties, nil)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", token, err)
	}
	return r, nil
}

// decodeProvider reads the provider. Its outputs are those that are texts (F8.13).
func (p *Package) decodeProvider(token string) (*Resource, error) {
	if p.provider == nil {
		inputs, err := p.decodeConfig()
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", p.Name, err)
		}
		return &Resource{Token: token, Inputs: inputs, Outputs: ObjectOf()}, nil
	}
	r, err := p.decodeResource(token, p.provider)
	if err != nil {
		return nil, err
	}
	all := r.Outputs
	r.Outputs = NewObject("", true, func() []*Property {
		var texts []*Property
		for _, property := range all.Properties() {
			if isText(property.Type) {
				texts = append(texts, property)
			}
		}
		return texts
	})
	return r, nil
}

func isText(t Type) bool {
	switch t := t.(type) {
	case *Optional:
		return isText(t.Elem)
	case *Enum:
		return t.Base == String
	}
	return t == String
}

func (p *Package) decodeConfig() (*Object, error) {
	var variables []byte
	if p.config != nil {
		if err := decodeFields(p.config, readers{"variables": rawInto(&variables)}); err != nil {
			return nil, err
		}
	}
	return p.decodeObject("", variables, nil)
}

func (p *Package) decodeFunction(token string, raw []byte) (*Function, error) {
	f := &Function{Token: token, Inputs: ObjectOf()}
	var inputs, outputs []byte
	var overlay bool
	var overlayLanguages []string
	err := decodeFields(raw, readers{
		"inputs":                    rawInto(&inputs),
		"outputs":                   rawInto(&outputs),
		"multiArgumentInputs":       stringsInto(&f.MultiArg),
		"deprecationMessage":        stringInto(&f.Deprecation),
		"description":               stringInto(&f.Description),
		"isOverlay":                 boolInto(&overlay),
		"overlaySupportedLanguages": stringsInto(&overlayLanguages),
	})
	if err == nil && inputs != nil {
		f.Inputs, err = p.decodeObjectSpec("", inputs)
	}
	if err == nil && outputs != nil {
		err = p.decodeResult(f, outputs)
	}
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", token, err)
	}
	f.Overlay = isOverlay(overlay, overlayLanguages)
	return f, nil
}

// decodeResult tells apart no result, an object and a single value (F8.15, F8.16).
func (p *Package) decodeResult(f *Function, raw []byte) error {
	count, hasProperties := 0, false
	err := eachMember(raw, func(key string, value []byte) error {
		if key != "description" && key != "plain" {
			count++
		}
		hasProperties = hasProperties || key == "properties" && !isNull(value)
		return nil
	})
	switch {
	case err != nil || count == 0:
		return err
	case hasProperties:
		f.Result, err = p.decodeObjectSpec("", raw)
	default:
		var spec typeSpec
		if spec, err = readTypeSpec(raw); err != nil {
			return err
		}
		if spec.kind == "object" && spec.additional == nil && spec.ref == "" {
			f.Result, err = p.decodeObjectSpec("", raw)
			return err
		}
		f.Scalar = true
		f.Result, err = p.bindType(spec, 0)
	}
	return err
}

// isOverlay reports whether a member has no implementation that YAML could use (F8.17).
func isOverlay(overlay bool, languages []string) bool {
	for _, language := range languages {
		if language == "yaml" {
			return false
		}
	}
	return overlay
}

func aliasesOf(raw []byte) ([]string, error) {
	var tokens []string
	err := eachItem(raw, func(item []byte) error {
		var token string
		var err error
		if len(item) > 0 && item[0] == '{' {
			err = decodeFields(item, readers{"type": stringInto(&token)})
		} else {
			token, err = stringOf(item)
		}
		if token != "" {
			tokens = append(tokens, token)
		}
		return err
	})
	return tokens, err
}

func methodsOf(raw []byte) (map[string]string, error) {
	methods := make(map[string]string)
	err := eachMember(raw, func(name string, raw []byte) error {
		token, err := stringOf(raw)
		methods[name] = token
		return err
	})
	return methods, err
}

func (p *Package) decodeObjectSpec(token string, raw []byte) (*Object, error) {
	var properties []byte
	var required []string
	err := decodeFields(raw, readers{"properties": rawInto(&properties), "required": stringsInto(&required)})
	if err != nil {
		return nil, err
	}
	return p.decodeObject(token, properties, required)
}

// decodeObject decodes members at once, so that their faults are errors.
func (p *Package) decodeObject(token string, properties []byte, required []string) (*Object, error) {
	list, err := p.decodeProperties(properties, required)
	if err != nil {
		return nil, err
	}
	return NewObject(token, true, func() []*Property { return list }), nil
}

func (p *Package) propertiesOf(token string, raw []byte) ([]*Property, error) {
	var properties []byte
	var required []string
	err := decodeFields(raw, readers{"properties": rawInto(&properties), "required": stringsInto(&required)})
	if err != nil {
		return nil, fmt.Errorf("type %s: %w", token, err)
	}
	list, err := p.decodeProperties(properties, required)
	if err != nil {
		return nil, fmt.Errorf("type %s: %w", token, err)
	}
	return list, nil
}

func (p *Package) decodeProperties(raw []byte, required []string) ([]*Property, error) {
	if raw == nil {
		return nil, nil
	}
	needed := make(map[string]bool, len(required))
	for _, name := range required {
		needed[name] = true
	}
	var list []*Property
	err := eachMember(raw, func(name string, raw []byte) error {
		property, err := p.decodeProperty(name, raw, needed[name])
		if err != nil {
			return fmt.Errorf("property %s: %w", name, err)
		}
		list = append(list, property)
		return nil
	})
	return list, err
}

func (p *Package) decodeProperty(name string, raw []byte, required bool) (*Property, error) {
	property := &Property{Name: name, Required: required}
	spec := typeSpec{}
	fields := spec.readers()
	fields["const"] = scalarInto(&property.Const)
	fields["default"] = scalarInto(&property.Default)
	fields["secret"] = boolInto(&property.Secret)
	fields["replaceOnChanges"] = boolInto(&property.ReplaceOn)
	fields["deprecationMessage"] = stringInto(&property.Deprecation)
	fields["description"] = stringInto(&property.Description)
	fields["defaultInfo"] = func(raw []byte) error {
		return decodeFields(raw, readers{"environment": stringsInto(&property.DefaultEnv)})
	}
	if err := decodeFields(raw, fields); err != nil {
		return nil, err
	}
	t, err := p.bindType(spec, 0)
	if err != nil {
		return nil, err
	}
	property.Plain = spec.plain
	property.Type = t
	if !required {
		property.Type = OptionalOf(t)
	}
	return property, nil
}

// typeSpec is a type as the schema words it (F8.5).
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

func (p *Package) decodeType(raw []byte, depth int) (Type, error) {
	if depth > maxTypeDepth {
		return nil, errors.New("types are nested too deeply")
	}
	spec, err := readTypeSpec(raw)
	if err != nil {
		return nil, err
	}
	return p.bindType(spec, depth)
}

func (p *Package) decodeItem(raw []byte, depth int) (t Type, plain bool, err error) {
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

func (p *Package) bindType(spec typeSpec, depth int) (Type, error) {
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

func (p *Package) bindUnion(spec typeSpec, depth int) (Type, error) {
	union := &Union{}
	err := eachItem(spec.oneOf, func(item []byte) error {
		member, err := p.decodeType(item, depth+1)
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
				return eachMember(raw, func(value string, raw []byte) error {
					ref, err := stringOf(raw)
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

// bindRef finds what a reference points at (F8.6). What is not of this package is known by its name only (F8.7).
func (p *Package) bindRef(ref, underlying string) (Type, error) {
	path, fragment, ok := strings.Cut(ref, "#/")
	if !ok {
		return nil, fmt.Errorf("%q is not a reference", ref)
	}
	if strings.TrimPrefix(path, "/") == "pulumi.json" {
		switch fragment {
		case "Any":
			return Any, nil
		case "Archive":
			return Archive, nil
		case "Asset":
			return Asset, nil
		case "Json":
			return JSON, nil
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
			if p.types.has(token) {
				return p.namedType(token)
			}
			return opaque(token, underlying), nil
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

// foreignPackage is the package that the path of a reference names: /name/v1.2.3/schema.json.
func foreignPackage(path string) Descriptor {
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	version, _, _ := strings.Cut(rest, "/")
	return Descriptor{Name: name, Version: strings.TrimPrefix(version, "v")}
}

func opaque(token, underlying string) Type {
	return &Token{Token: token, Underlying: primitiveNamed(underlying)}
}

// primitiveNamed is the primitive that a schema calls so; Any for every other name.
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

// resourceType is a reference to a resource of this package. A dangling one is known by its name only.
func (p *Package) resourceType(token string) *ResourceType {
	t := &ResourceType{Token: token}
	switch raw, known, err := p.resources.get(token); {
	case known && err == nil:
		// The definition's own fault is reported to whoever asks for the resource.
		_ = decodeFields(raw, readers{"isComponent": boolInto(&t.Component)})
		t.Outputs = func() *Object {
			r, err := p.Resource(token)
			if err != nil {
				return nil
			}
			return r.Outputs
		}
	case token == providerPrefix+p.Name:
		t.Outputs = func() *Object {
			r, err := p.Provider()
			if err != nil {
				return nil
			}
			return r.Outputs
		}
	}
	return t
}

// namedType is a type of this package by its token. Members of objects are decoded when they are first asked for; one
// that is malformed is of type any there, so that one bad member does not cost the rest; Verify finds it.
func (p *Package) namedType(token string) (Type, error) {
	if entry, ok := p.typeMemo[token]; ok {
		return entry.t, entry.err
	}
	var entry typeEntry
	raw, err := definition(p.types, token)
	if err != nil {
		entry.err = err
	} else if entry.t, entry.err = p.decodeNamedType(token, raw); entry.err != nil {
		entry.err = fmt.Errorf("type %s: %w", token, entry.err)
	}
	p.typeMemo[token] = entry
	return entry.t, entry.err
}

func (p *Package) decodeNamedType(token string, raw []byte) (Type, error) {
	var kind string
	var values []byte
	if err := decodeFields(raw, readers{"type": stringInto(&kind), "enum": rawInto(&values)}); err != nil {
		return nil, err
	}
	if values != nil {
		return decodeEnum(token, kind, values)
	}
	if kind != "object" && kind != "" {
		return primitiveNamed(kind), nil
	}
	return NewObject(token, true, func() []*Property {
		p.mu.Lock()
		defer p.mu.Unlock()
		list, err := p.propertiesOf(token, raw)
		if err != nil {
			return p.propertiesAsFarAsReadable(raw)
		}
		return list
	}), nil
}

func (p *Package) propertiesAsFarAsReadable(raw []byte) []*Property {
	var properties []byte
	_ = decodeFields(raw, readers{"properties": rawInto(&properties)})
	var list []*Property
	_ = eachMember(properties, func(name string, raw []byte) error {
		property, err := p.decodeProperty(name, raw, false)
		if err != nil {
			property = &Property{Name: name, Type: OptionalOf(Any)}
		}
		list = append(list, property)
		return nil
	})
	return list
}

func decodeEnum(token, kind string, raw []byte) (Type, error) {
	enum := &Enum{Token: token, Base: primitiveNamed(kind)}
	if enum.Base == Any {
		return nil, fmt.Errorf("an enum cannot be of type %q", kind)
	}
	err := eachItem(raw, func(item []byte) error {
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

// Config are the variables that configure the package's default provider.
func (p *Package) Config() (*Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, err := p.decodeConfig()
	if err != nil {
		return nil, fmt.Errorf("config of %s: %w", p.Name, err)
	}
	return o, nil
}
