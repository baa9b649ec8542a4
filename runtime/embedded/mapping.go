package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The mapping of a package lets converters translate names of Terraform. Its form is that of Pulumi's bridge for
// providers of Terraform (MarshallableProvider). It follows from the schema, because the packages were made by that
// bridge.

// fromTerraform are the packages that Terraform has under the same name.
var fromTerraform = []string{"random", "time", "tls"}

// singular are lists whose names Terraform has in the singular.
var singular = map[string]map[string]string{"random_shuffle": {"inputs": "input", "results": "result"}}

// Types of Terraform, as the bridge counts them.
const (
	terraformBool = iota + 1
	terraformInt
	terraformFloat
	terraformString
	terraformList
	terraformMap
)

type (
	terraformProvider struct {
		Provider struct {
			Resources   map[string]terraformFields `json:"resources"`
			DataSources map[string]terraformFields `json:"dataSources"`
		} `json:"provider"`
		Name        string                    `json:"name"`
		Version     string                    `json:"version"`
		Resources   map[string]terraformToken `json:"resources"`
		DataSources map[string]terraformToken `json:"dataSources"`
	}

	terraformToken struct {
		Token  string `json:"tok"`
		Fields any    `json:"fields"` // null: the names follow from the schema
	}

	terraformFields map[string]*terraformField

	terraformField struct {
		Type     int               `json:"type"`
		Optional bool              `json:"optional,omitempty"`
		Required bool              `json:"required,omitempty"`
		Computed bool              `json:"computed,omitempty"`
		Element  *terraformElement `json:"element,omitempty"`
		MaxItems int               `json:"maxItems,omitempty"`
	}

	terraformElement struct {
		Schema   *terraformField `json:"schema,omitempty"`
		Resource terraformFields `json:"resource,omitempty"`
	}
)

// packageText is what of a schema matters here.
type packageText struct {
	Version   string
	Types     map[string]objectText
	Resources map[string]struct {
		objectText
		InputProperties map[string]*propertyText
		RequiredInputs  []string
	}
	Functions map[string]struct{ Inputs, Outputs objectText }
}

type objectText struct {
	Properties map[string]*propertyText
	Required   []string
}

type propertyText struct {
	Type                 string
	Ref                  string `json:"$ref"`
	Items                *propertyText
	AdditionalProperties *propertyText
}

// Mapping implements provider.Mapper.
func (s *shell) Mapping(_ context.Context, key, name string) (from string, data []byte, err error) {
	if key != "terraform" || name != "" && name != s.name || !slices.Contains(fromTerraform, s.name) {
		return "", nil, nil
	}
	var text packageText
	if err := json.Unmarshal(s.text, &text); err != nil {
		return "", nil, fmt.Errorf("read the schema of %s: %w", s.name, err)
	}
	p := terraformProvider{Name: s.name, Version: text.Version, Resources: map[string]terraformToken{},
		DataSources: map[string]terraformToken{}}
	p.Provider.Resources, p.Provider.DataSources = map[string]terraformFields{}, map[string]terraformFields{}
	for token, resource := range text.Resources {
		tool := s.name + "_" + snake(token[strings.LastIndex(token, ":")+1:])
		tool = strings.Replace(tool, s.name+"_"+s.name+"_", s.name+"_", 1) // RandomPet is random_pet
		p.Resources[tool] = terraformToken{Token: token}
		p.Provider.Resources[tool] = text.fields(tool, resource.InputProperties, resource.RequiredInputs, resource.Properties)
	}
	for token, function := range text.Functions {
		called, isSource := strings.CutPrefix(token[strings.LastIndex(token, ":")+1:], "get")
		if !isSource {
			continue
		}
		tool := s.name + "_" + snake(called)
		p.DataSources[tool] = terraformToken{Token: token}
		p.Provider.DataSources[tool] = text.fields(tool, function.Inputs.Properties, function.Inputs.Required,
			function.Outputs.Properties)
	}
	data, err = json.Marshal(p)
	return s.name, data, err
}

// fields are the inputs and outputs of a resource or data source of Terraform.
func (p *packageText) fields(tool string, inputs map[string]*propertyText, required []string,
	outputs map[string]*propertyText) terraformFields {
	all := terraformFields{}
	names := maps.Clone(outputs)
	if names == nil {
		names = map[string]*propertyText{}
	}
	maps.Copy(names, inputs)
	for name, property := range names {
		f := p.field(property)
		_, isInput := inputs[name]
		f.Required = slices.Contains(required, name)
		f.Optional, f.Computed = isInput && !f.Required, !isInput
		if other := singular[tool][name]; other != "" {
			name = other
		}
		all[snake(name)] = f
	}
	return all
}

// field is a property as Terraform declares it: an object is a block that stands once.
func (p *packageText) field(property *propertyText) *terraformField {
	switch {
	case property.Ref != "":
		object := p.Types[strings.TrimPrefix(property.Ref, "#/types/")]
		return &terraformField{Type: terraformList, MaxItems: 1,
			Element: &terraformElement{Resource: p.fields("", object.Properties, object.Required, nil)}}
	case property.Items != nil:
		element := p.field(property.Items)
		if element.MaxItems == 1 {
			return &terraformField{Type: terraformList, Element: element.Element}
		}
		return &terraformField{Type: terraformList, Element: &terraformElement{Schema: element}}
	case property.AdditionalProperties != nil:
		return &terraformField{Type: terraformMap, Element: &terraformElement{Schema: p.field(property.AdditionalProperties)}}
	case property.Type == "object":
		return &terraformField{Type: terraformMap}
	}
	scalars := map[string]int{"boolean": terraformBool, "integer": terraformInt, "number": terraformFloat}
	if number := scalars[property.Type]; number != 0 {
		return &terraformField{Type: number}
	}
	return &terraformField{Type: terraformString}
}

// snake is a name of ours as Terraform spells it: privateKeyPem is private_key_pem.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
