package schema

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// Decoding runs under Package.mu, except for propertiesOf inside of lazy objects, which locks it itself. Nothing here
// fills a lazy object, so types may be recursive.

// readers decodes the members of an object by name; other members are skipped.
type readers map[string]func(raw []byte) error

// decoder decodes definitions of a package. The caller holds the lock of the package.
type decoder struct{ *Package }

func (r readers) read(key string, raw []byte) error {
	if read := r[key]; read != nil {
		if err := read(raw); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func decodeFields(raw []byte, fields readers) error { return jsontext.EachMember(raw, fields.read) }

func (p decoder) decodeResource(token string) (*Resource, error) {
	raw, err := p.resources.definition(token)
	if err != nil {
		return nil, err
	}
	return p.resourceOf(token, raw)
}

func (p decoder) resourceOf(token string, raw []byte) (*Resource, error) {
	r := &Resource{Token: token}
	var inputs, outputs, state, list []byte
	var requiredInputs, requiredOutputs, overlayLanguages []string
	err := decodeFields(raw, readers{
		"inputProperties":           rawInto(&inputs),
		"requiredInputs":            stringsInto(&requiredInputs),
		"properties":                rawInto(&outputs),
		"required":                  stringsInto(&requiredOutputs),
		"stateInputs":               rawInto(&state),
		"listInputs":                rawInto(&list),
		"aliases":                   func(raw []byte) (err error) { r.Aliases, err = aliasesOf(raw); return err },
		"methods":                   func(raw []byte) (err error) { r.Methods, err = methodsOf(raw); return err },
		"isComponent":               boolInto(&r.Component),
		"deprecationMessage":        stringInto(&r.Deprecation),
		"description":               stringInto(&r.Description),
		"isOverlay":                 boolInto(&r.Overlay),
		"overlaySupportedLanguages": stringsInto(&overlayLanguages),
	})
	if err == nil {
		r.Overlay = r.Overlay && !slices.Contains(overlayLanguages, "yaml") // F8.17
		r.Inputs, err = p.decodeObject(inputs, requiredInputs)
	}
	if err == nil {
		r.Outputs, err = p.decodeObject(outputs, requiredOutputs)
	}
	if err == nil && state != nil {
		r.StateInputs, err = p.decodeObjectType(state)
	}
	if err == nil && list != nil {
		r.ListInputs, err = p.decodeObjectType(list)
	}
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", token, err)
	}
	return r, nil
}

// decodeObjectType reads an inline object type. It does not read required properties, which the provider checks.
func (p decoder) decodeObjectType(raw []byte) (*Object, error) {
	var properties []byte
	if err := decodeFields(raw, readers{"properties": rawInto(&properties)}); err != nil {
		return nil, err
	}
	return p.decodeObject(properties, nil)
}

// decodeProvider reads the provider. Its outputs are its text properties (F8.13).
func (p decoder) decodeProvider(token string) (*Resource, error) {
	if p.provider == nil {
		inputs, err := p.decodeConfig()
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", p.Name, err)
		}
		return &Resource{Token: token, Inputs: inputs, Outputs: ObjectOf()}, nil
	}
	r, err := p.resourceOf(token, p.provider)
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

func (p decoder) decodeConfig() (*Object, error) {
	var variables []byte
	if p.config != nil {
		if err := decodeFields(p.config, readers{"variables": rawInto(&variables)}); err != nil {
			return nil, err
		}
	}
	return p.decodeObject(variables, nil)
}

func (p decoder) decodeFunction(token string) (*Function, error) {
	raw, err := p.functions.definition(token)
	if err != nil {
		return nil, err
	}
	f := &Function{Token: token, Inputs: ObjectOf()}
	var inputs, outputs []byte
	var overlayLanguages []string
	err = decodeFields(raw, readers{
		"inputs":                    rawInto(&inputs),
		"outputs":                   rawInto(&outputs),
		"multiArgumentInputs":       stringsInto(&f.MultiArg),
		"deprecationMessage":        stringInto(&f.Deprecation),
		"description":               stringInto(&f.Description),
		"isOverlay":                 boolInto(&f.Overlay),
		"overlaySupportedLanguages": stringsInto(&overlayLanguages),
	})
	if err == nil && inputs != nil {
		f.Inputs, err = p.decodeObjectSpec(inputs)
	}
	if err == nil && outputs != nil {
		err = p.decodeResult(f, outputs)
	}
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", token, err)
	}
	f.Overlay = f.Overlay && !slices.Contains(overlayLanguages, "yaml") // F8.17
	return f, nil
}

// decodeResult distinguishes no result, an object and a single value (F8.15, F8.16).
func (p decoder) decodeResult(f *Function, raw []byte) error {
	count, hasProperties := 0, false
	err := jsontext.EachMember(raw, func(key string, value []byte) error {
		if key != "description" && key != "plain" {
			count++
		}
		hasProperties = hasProperties || key == "properties" && !jsontext.IsNull(value)
		return nil
	})
	switch {
	case err != nil || count == 0:
		return err
	case hasProperties:
		f.Result, err = p.decodeObjectSpec(raw)
	default:
		var spec typeSpec
		if spec, err = readTypeSpec(raw); err != nil {
			return err
		}
		if spec.kind == "object" && spec.additional == nil && spec.ref == "" {
			f.Result, err = p.decodeObjectSpec(raw)
			return err
		}
		f.Scalar = true
		f.Result, err = p.bindType(spec, 0)
	}
	return err
}

func aliasesOf(raw []byte) ([]string, error) {
	var tokens []string
	err := jsontext.EachItem(raw, func(item []byte) error {
		var token string
		var err error
		if len(item) > 0 && item[0] == '{' {
			err = decodeFields(item, readers{"type": stringInto(&token)})
		} else {
			token, err = jsontext.StringOf(item)
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
	err := jsontext.EachMember(raw, func(name string, raw []byte) error {
		token, err := jsontext.StringOf(raw)
		methods[name] = token
		return err
	})
	return methods, err
}

func (p decoder) decodeObjectSpec(raw []byte) (*Object, error) {
	list, err := p.propertiesOf(raw)
	if err != nil {
		return nil, err
	}
	return ObjectOf(list...), nil
}

// decodeObject decodes members immediately, so that their faults are errors.
func (p decoder) decodeObject(properties []byte, required []string) (*Object, error) {
	list, err := p.decodeProperties(properties, required)
	if err != nil {
		return nil, err
	}
	return ObjectOf(list...), nil
}

func (p decoder) propertiesOf(raw []byte) ([]*Property, error) {
	var properties []byte
	var required []string
	err := decodeFields(raw, readers{"properties": rawInto(&properties), "required": stringsInto(&required)})
	if err != nil {
		return nil, err
	}
	return p.decodeProperties(properties, required)
}

func (p decoder) decodeProperties(raw []byte, required []string) ([]*Property, error) {
	if raw == nil {
		return nil, nil
	}
	needed := make(map[string]bool, len(required))
	for _, name := range required {
		needed[name] = true
	}
	var list []*Property
	err := jsontext.EachMember(raw, func(name string, raw []byte) error {
		property, err := p.decodeProperty(name, raw, needed[name])
		if err != nil {
			return fmt.Errorf("property %s: %w", name, err)
		}
		list = append(list, property)
		return nil
	})
	return list, err
}

func (p decoder) decodeProperty(name string, raw []byte, required bool) (*Property, error) {
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

// Config returns the variables that configure the package's default provider.
func (p *Package) Config() (*Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, err := decoder{p}.decodeConfig()
	if err != nil {
		return nil, fmt.Errorf("config of %s: %w", p.Name, err)
	}
	return o, nil
}

// maxTypeDepth bounds how deep type specifications may nest in each other.
const maxTypeDepth = 64

// stringInto, boolInto and stringsInto read a member of a package schema into a field, for decodeFields.
func stringInto(dst *string) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = jsontext.StringOf(raw); return err }
}

func boolInto(dst *bool) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = jsontext.BoolOf(raw); return err }
}

func stringsInto(dst *[]string) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = jsontext.StringsOf(raw); return err }
}

func scalarInto(dst *any) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = jsontext.ScalarOf(raw); return err }
}

func rawInto(dst *[]byte) func([]byte) error {
	return func(raw []byte) error {
		if !jsontext.IsNull(raw) {
			*dst = raw
		}
		return nil
	}
}
