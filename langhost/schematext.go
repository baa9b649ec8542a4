package langhost

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// The parts of a package schema that component packages have (F8).
type (
	packageText struct {
		Name        string                   `json:"name"`
		Version     string                   `json:"version"`
		Namespace   string                   `json:"namespace,omitempty"`
		Description string                   `json:"description,omitempty"`
		Meta        map[string]any           `json:"meta,omitempty"`
		Resources   map[string]componentText `json:"resources"`
		Language    map[string]any           `json:"language,omitempty"`
	}
	componentText struct {
		Description     string                    `json:"description,omitempty"`
		IsComponent     bool                      `json:"isComponent,omitempty"`
		InputProperties map[string]map[string]any `json:"inputProperties"`
		RequiredInputs  []string                  `json:"requiredInputs,omitempty"`
		Properties      map[string]map[string]any `json:"properties"`
		Required        []string                  `json:"required,omitempty"`
	}
)

// schemaText returns the schema of the plugin's package (L1.33). Outputs have the types that the checker infers, or the
// type any if a schema that they depend on is not available.
func (p *componentPlugin) schemaText(ctx context.Context) ([]byte, error) {
	components, err := p.check(ctx)
	if err != nil {
		program, _ := p.checkWith(ctx, p.schemas)
		components = program.Components
	}
	text := packageText{
		Name: p.name, Version: p.version, Namespace: p.namespace, Description: p.description,
		Meta: map[string]any{"supportPack": true}, Resources: map[string]componentText{},
	}
	for _, c := range components {
		text.Resources[c.Token], err = describeComponent(c)
		if err != nil {
			return nil, err
		}
	}
	for _, d := range p.dynamic(ctx) {
		text.Resources[d.Token] = describeType(d)
	}
	return json.Marshal(text)
}

// describe returns the schema of a resource without its outputs. fallback returns the default of an input, or nil.
func describe(description string, inputs *schema.Object,
	fallback func(*schema.Property) any) componentText {
	text := componentText{Description: description, InputProperties: map[string]map[string]any{},
		Properties: map[string]map[string]any{}}
	for _, prop := range inputs.Properties() {
		text.InputProperties[prop.Name] = propertyOf(prop, fallback(prop))
		if prop.Required {
			text.RequiredInputs = append(text.RequiredInputs, prop.Name)
		}
	}
	return text
}

// describeType returns the schema of a dynamic type.
func describeType(d *check.Dynamic) componentText {
	text := describe(d.Schema.Description, d.Schema.Inputs, func(p *schema.Property) any { return p.Default })
	for _, out := range d.Schema.Outputs.Properties() {
		text.Properties[out.Name] = propertyOf(out, out.Default)
	}
	return text
}

// propertyOf returns the schema of a property. fallback is its default; nil for none.
func propertyOf(p *schema.Property, fallback any) map[string]any {
	property := typeText(schema.Required(p.Type))
	if p.Secret {
		property["secret"] = true
	}
	if fallback != nil {
		property["default"] = fallback
	}
	return property
}

func describeComponent(c *check.Component) (componentText, error) {
	defaults := map[string]ast.Expr{}
	for _, cfg := range c.Decl.Config {
		defaults[cfg.Name.Value] = cfg.Default
	}
	text := describe(c.Decl.Description.Text(), c.Schema.Inputs, func(p *schema.Property) any {
		switch d := defaults[p.Name].(type) { // L1.33
		case *ast.String:
			return d.Value
		case *ast.Number:
			return d.Value
		case *ast.Bool:
			return d.Value
		}
		return nil
	})
	text.IsComponent = true
	for _, out := range c.Schema.Outputs.Properties() {
		if out.Name == "urn" {
			return text, fmt.Errorf("an output of component %s cannot be named urn: every component has one",
				c.Decl.Name.Value)
		}
		text.Properties[out.Name] = typeText(out.Type)
		if _, optional := out.Type.(*schema.Optional); !optional {
			text.Required = append(text.Required, out.Name)
		}
	}
	return text, nil
}

// typeText returns the schema of a type; any if a component schema cannot express the type.
func typeText(t schema.Type) map[string]any {
	anything := map[string]any{"$ref": "pulumi.json#/Any"}
	switch t := t.(type) {
	case schema.Primitive:
		switch t {
		case schema.String, schema.Integer, schema.Number:
			return map[string]any{"type": schema.TypeName(t)}
		case schema.Bool:
			return map[string]any{"type": "boolean"}
		case schema.Asset, schema.Archive:
			return map[string]any{"$ref": "pulumi.json#/Asset"}
		}
	case *schema.Optional:
		return typeText(t.Elem)
	case *schema.Enum:
		return typeText(t.Base)
	case *schema.Token:
		return typeText(t.Underlying)
	case *schema.Array:
		return map[string]any{"type": "array", "items": typeText(t.Item)}
	case *schema.Map:
		return map[string]any{"type": "object", "additionalProperties": typeText(t.Item)}
	}
	return anything
}
