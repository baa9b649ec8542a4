package editor

import (
	"context"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/schema"
)

// jsonNode is a part of a JSON Schema.
type jsonNode = map[string]any

// Names of definitions in every schema of a program. Tokens contain a colon, so none equals one of these names.
const (
	anyValue   = "any"        // any value; the calls in it are checked
	expression = "expression" // a text with ${…}, or a call of a function
	absent     = "absent"     // null, or an expression that may evaluate to it
)

// jsonTypes writes the types of packages as definitions, each once. A definition accepts what the checker accepts:
// literals that convert without loss (L8.41), and an expression in place of any value. Types may be recursive, and
// large packages repeat theirs thousands of times, so that each is written once and referred to.
type jsonTypes struct {
	ctx         context.Context
	program     *check.Program
	definitions jsonNode
	names       map[*schema.Object]string // names of written definitions
}

// refTo returns a reference to a definition, escaped first as a JSON pointer and then as a URL.
func refTo(name string) jsonNode {
	pointer := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	return jsonNode{"$ref": "#/definitions/" + url.PathEscape(pointer)}
}

// anyOf returns a schema that accepts what one of the branches accepts.
func anyOf(branches ...any) jsonNode { return jsonNode{"anyOf": branches} }

// orExpression returns the schema of a value with the given branches, or of an expression that computes it. An
// expression has no type here: what it computes is for the checker to say.
func orExpression(optional bool, branches ...any) jsonNode {
	other := expression
	if optional {
		other = absent
	}
	return anyOf(append(branches, refTo(other))...)
}

// value returns the schema of the values of a type.
func (j *jsonTypes) value(t schema.Type) jsonNode {
	_, optional := t.(*schema.Optional)
	t = j.program.Known(j.ctx, schema.Required(t))
	if p, ok := t.(schema.Primitive); ok {
		return j.primitive(p, optional)
	}
	branches, open := j.branches(t)
	if open {
		return refTo(anyValue)
	}
	return orExpression(optional, branches...)
}

// primitiveBranches holds the literals of each primitive type. A type that is not in it accepts any value.
var primitiveBranches = map[schema.Primitive][]any{
	schema.Null: {jsonNode{"type": "null"}},
	schema.Bool: {jsonNode{"type": "boolean"}, jsonNode{"type": "string", "pattern": "^(true|false)$"}},
	schema.Integer: {jsonNode{"type": "integer"},
		jsonNode{"type": "string", "pattern": `^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$`}},
	schema.Number: {jsonNode{"type": "number"},
		jsonNode{"type": "string", "pattern": `^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$`}},
	schema.String: {jsonNode{"type": []string{"string", "number", "boolean"}}},
	// Assets, archives and resources have no literals, only expressions.
	schema.Asset: {}, schema.Archive: {}, schema.AnyResource: {},
}

// primitive returns a reference to a definition, since nearly all properties have one of these few types.
func (j *jsonTypes) primitive(p schema.Primitive, optional bool) jsonNode {
	branches, closed := primitiveBranches[p]
	if !closed {
		return refTo(anyValue)
	}
	name := "required " + schema.TypeName(p)
	if optional {
		name = "optional " + schema.TypeName(p)
	}
	// Made on first use, so that a schema has the definitions that it refers to and no others.
	if j.definitions[name] == nil {
		j.definitions[name] = orExpression(optional, branches...)
	}
	return refTo(name)
}

// branches returns the schemas of a type's literals. open reports that they are unknown or unlimited. An open
// alternative makes the whole union open: JSON Schema would else reject what that alternative accepts.
func (j *jsonTypes) branches(t schema.Type) (branches []any, open bool) {
	switch t := j.program.Known(j.ctx, schema.Required(t)).(type) {
	case schema.Primitive:
		branches, closed := primitiveBranches[t]
		return branches, !closed
	case *schema.Array:
		return []any{jsonNode{"type": "array", "items": j.value(t.Item)}}, false
	case *schema.Map:
		item := j.value(schema.OptionalOf(t.Item)) // null entries are dropped (L3.13)
		return []any{jsonNode{"type": "object", "additionalProperties": item}}, false
	case *schema.Enum:
		return []any{enumNode(t)}, false
	case *schema.Object:
		return []any{j.object(t)}, false
	case *schema.Union:
		for _, member := range t.Members {
			more, open := j.branches(member)
			if open {
				return nil, true
			}
			branches = append(branches, more...)
		}
		return branches, false
	case *schema.ResourceType:
		return nil, false
	case *schema.Token:
		return j.branches(t.Underlying)
	}
	return nil, true
}

// enumNode returns the schema of an enum. A number or boolean may be written as a string, and the other way round
// (L8.41).
func enumNode(t *schema.Enum) jsonNode {
	var values []any
	for _, v := range t.Values {
		values = append(values, v.Value)
		text, isText := v.Value.(string)
		if !isText {
			values = append(values, schema.ScalarText(v.Value))
		} else if f, err := strconv.ParseFloat(text, 64); err == nil && schema.ScalarText(f) == text {
			values = append(values, f)
		} else if text == "true" || text == "false" {
			values = append(values, text == "true")
		}
	}
	node := jsonNode{"enum": distinct(values)}
	// An enum in JSON Schema needs a value; nothing fits one without.
	if len(values) == 0 {
		return jsonNode{"not": jsonNode{}}
	}
	var notes []string
	for _, v := range t.Values {
		if text := schema.FirstParagraph(v.Description); text != "" {
			notes = append(notes, schema.ScalarText(v.Value)+": "+text)
		}
	}
	if len(notes) > 0 {
		node["description"] = strings.Join(notes, "\n\n")
	}
	return node
}

// distinct returns values without repetitions, as an enum should be.
func distinct(values []any) []any {
	seen := make(map[any]bool, len(values))
	var kept []any
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			kept = append(kept, v)
		}
	}
	return kept
}

// object returns a reference to the definition of a named type, or the schema of an unnamed one.
func (j *jsonTypes) object(o *schema.Object) jsonNode {
	if o.Token == "" {
		return j.members(o)
	}
	if name, known := j.names[o]; known {
		return refTo(name)
	}
	name := o.Token
	for i := 2; j.definitions[name] != nil; i++ { // the same type in another version of the package
		name = o.Token + " " + strconv.Itoa(i)
	}
	j.names[o] = name
	j.definitions[name] = jsonNode{} // reserves the name, since types may be recursive
	j.definitions[name] = j.members(o)
	return refTo(name)
}

// members returns the schema of an object type with all its properties. A required member with a constant may be left
// out, as in the checker.
func (j *jsonTypes) members(o *schema.Object) jsonNode {
	properties := jsonNode{}
	var required []string
	for _, p := range o.Properties() {
		properties[p.Name] = j.property(p)
		if p.Required && p.Const == nil { // constants may be omitted
			required = append(required, p.Name)
		}
	}
	node := jsonNode{"type": "object", "properties": properties}
	if o.Closed {
		node["additionalProperties"] = false
	}
	if len(required) > 0 {
		node["required"] = required
	}
	return node
}

// property returns the schema of a property with what its schema says about it, for hovers of YAML servers.
func (j *jsonTypes) property(p *schema.Property) jsonNode {
	node := j.value(p.Type)
	if p.Const != nil {
		node = orExpression(!p.Required, jsonNode{"const": p.Const})
	}
	notes := jsonNode{}
	if p.Default != nil {
		notes["default"] = p.Default
	}
	text := []string{}
	if first := schema.FirstParagraph(p.Description); first != "" {
		text = append(text, first)
	}
	if p.Secret {
		text = append(text, "Secret: it is encrypted in the state.")
	}
	if p.ReplaceOn {
		text = append(text, "A change replaces the resource.")
	}
	if p.Deprecation != "" {
		text = append(text, "Deprecated: "+schema.FirstParagraph(p.Deprecation))
		notes["deprecationMessage"] = schema.FirstParagraph(p.Deprecation)
	}
	if len(text) > 0 {
		notes["description"] = strings.Join(text, "\n\n")
	}
	return annotated(node, notes)
}

// annotated adds notes to a node. Draft 7 ignores keys beside a reference, so the reference moves into an allOf.
func annotated(node, notes jsonNode) jsonNode {
	if len(notes) == 0 {
		return node
	}
	if node["$ref"] != nil {
		node = jsonNode{"allOf": []any{node}}
	}
	maps.Copy(node, notes)
	return node
}

// described adds a description, if there is one.
func described(node jsonNode, text string) jsonNode {
	if text == "" {
		return node
	}
	return annotated(node, jsonNode{"description": text})
}
