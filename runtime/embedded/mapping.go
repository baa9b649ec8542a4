package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/yamlhost/yamlhost/schema"
)

// The mapping of a package lets converters translate Terraform names. Its format is that of Pulumi's bridge for
// Terraform providers (MarshallableProvider). It is computed from the schema, because the bridge made these packages.

// fromTerraform are the packages with a Terraform provider of the same name.
var fromTerraform = []string{"random", "time", "tls"}

// singular maps plural property names to Terraform's singular names, by resource.
var singular = map[string]map[string]string{"random_shuffle": {"inputs": "input", "results": "result"}}

// The bridge's numbers for Terraform types.
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

// Mapping implements provider.Mapper.
func (s *shell) Mapping(_ context.Context, key, name string) (from string, data []byte, err error) {
	if key != "terraform" || name != "" && name != s.name || !slices.Contains(fromTerraform, s.name) {
		return "", nil, nil
	}
	p := terraformProvider{Name: s.name, Version: s.schema.Version, Resources: map[string]terraformToken{},
		DataSources: map[string]terraformToken{}}
	p.Provider.Resources, p.Provider.DataSources = map[string]terraformFields{}, map[string]terraformFields{}
	for _, token := range s.schema.ResourceTokens() {
		resource, err := s.schema.Resource(token)
		if err != nil {
			return "", nil, err
		}
		tool := s.name + "_" + snake(token[strings.LastIndex(token, ":")+1:])
		tool = strings.Replace(tool, s.name+"_"+s.name+"_", s.name+"_", 1) // RandomPet is random_pet
		p.Resources[tool] = terraformToken{Token: token}
		p.Provider.Resources[tool] = fieldsOf(tool, resource.Inputs, resource.Outputs)
	}
	for _, token := range s.schema.FunctionTokens() {
		called, isSource := strings.CutPrefix(token[strings.LastIndex(token, ":")+1:], "get")
		if !isSource {
			continue
		}
		function, err := s.schema.Function(token)
		if err != nil {
			return "", nil, err
		}
		tool := s.name + "_" + snake(called)
		outputs, _ := function.Result.(*schema.Object)
		p.DataSources[tool] = terraformToken{Token: token}
		p.Provider.DataSources[tool] = fieldsOf(tool, function.Inputs, outputs)
	}
	data, err = json.Marshal(p)
	return s.name, data, err
}

// fieldsOf returns the fields of the Terraform resource or data source named tool. outputs may be nil.
func fieldsOf(tool string, inputs, outputs *schema.Object) terraformFields {
	all := terraformFields{}
	for _, property := range slices.Concat(outputs.Properties(), inputs.Properties()) {
		f := fieldOf(property.Type)
		input := inputs.Property(property.Name)
		f.Required = input != nil && input.Required
		f.Optional, f.Computed = input != nil && !f.Required, input == nil
		all[snake(cmp.Or(singular[tool][property.Name], property.Name))] = f
	}
	return all
}

// fieldOf converts a type to a Terraform field. An object becomes a block that occurs once.
func fieldOf(t schema.Type) *terraformField {
	switch t := schema.Required(t).(type) {
	case *schema.Object:
		return &terraformField{Type: terraformList, MaxItems: 1, Element: &terraformElement{Resource: fieldsOf("", t, nil)}}
	case *schema.Array:
		element := fieldOf(t.Item)
		if element.MaxItems == 1 {
			return &terraformField{Type: terraformList, Element: element.Element}
		}
		return &terraformField{Type: terraformList, Element: &terraformElement{Schema: element}}
	case *schema.Map:
		return &terraformField{Type: terraformMap, Element: &terraformElement{Schema: fieldOf(t.Item)}}
	case schema.Primitive:
		scalars := map[schema.Primitive]int{schema.Bool: terraformBool, schema.Integer: terraformInt,
			schema.Number: terraformFloat}
		return &terraformField{Type: cmp.Or(scalars[t], terraformString)}
	}
	return &terraformField{Type: terraformString}
}

// snake converts camel case to snake case: privateKeyPem becomes private_key_pem.
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
