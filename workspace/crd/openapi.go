package crd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Package is the package of all kinds.
const Package = "kubernetes"

const metadataType = "kubernetes:meta/v1:ObjectMeta"

// spec is a part of a package's schema.
type spec = map[string]any

// maxNodes bounds how much of a file is looked at, in nodes of its tree with aliases followed.
const maxNodes = 1 << 20

// converter makes a package's schema of the OpenAPI schemas of definitions.
type converter struct {
	types, resources spec
	nodes            int
}

// kind adds a version of a kind, whose schema is nil if the definition leaves it open.
func (c *converter) kind(group, version, kind, deprecation string, schema *yamlnode.Node) error {
	apiVersion := group + "/" + version
	token := Package + ":" + apiVersion + ":" + kind
	apiVersionOf := spec{"type": "string", "const": apiVersion, "description": "The API group and version of the object."}
	kindOf := spec{"type": "string", "const": kind, "description": "The kind of the object."}
	meta := spec{"$ref": reference(metadataType), "description": "Name, namespace, labels and annotations of the object."}
	inputs := spec{"apiVersion": apiVersionOf, "kind": kindOf, "metadata": meta}
	outputs := spec{"apiVersion": apiVersionOf, "kind": kindOf, "metadata": meta}
	needed := []string{"apiVersion", "kind"}
	properties := yamlnode.Member(schema, "properties")
	for key, node := range yamlnode.Entries(properties) {
		if inputs[key.Value] != nil {
			continue
		}
		property, err := c.property(node, token+"."+key.Value, 0)
		if err != nil {
			return err
		}
		outputs[key.Value] = property
		if key.Value != "status" { // the cluster writes it
			inputs[key.Value] = property
		}
	}
	if properties == nil || truth(schema, "x-kubernetes-preserve-unknown-fields") {
		for _, name := range []string{"spec", "status"} {
			if outputs[name] == nil {
				outputs[name] = anyType()
			}
		}
		if inputs["spec"] == nil {
			inputs["spec"] = anyType()
		}
	}
	for _, name := range required(schema) {
		if inputs[name] != nil && name != "metadata" && !slices.Contains(needed, name) {
			needed = append(needed, name)
		}
	}
	resource := spec{"inputProperties": inputs, "requiredInputs": needed, "properties": outputs,
		"required": append(slices.Clone(needed), "metadata"), "description": yamlnode.TextAt(schema, "description")}
	if deprecation != "" {
		resource["deprecationMessage"] = deprecation
	}
	c.resources[token] = resource
	return nil
}

// property returns a type with its description. The default is a part of that: the cluster fills it in, not the
// program.
func (c *converter) property(n *yamlnode.Node, token string, depth int) (spec, error) {
	t, err := c.typeOf(n, token, depth)
	if err != nil {
		return nil, err
	}
	description := yamlnode.TextAt(n, "description")
	if fallback := yamlnode.Member(n, "default"); fallback != nil && fallback.Kind == yamlnode.Scalar {
		description = strings.TrimSpace(description + "\n\nDefault: `" + fallback.Value + "`")
	}
	if description != "" {
		t["description"] = description
	}
	return t, nil
}

// typeOf returns the type that an OpenAPI schema describes. Objects and enums in it get names, which are the path that
// leads to them.
func (c *converter) typeOf(n *yamlnode.Node, token string, depth int) (spec, error) {
	if c.nodes++; c.nodes > maxNodes || depth > 64 {
		return nil, fmt.Errorf("the schema of %s is too large or too deep", strings.TrimPrefix(token, Package+":"))
	}
	kind := yamlnode.TextAt(n, "type")
	switch {
	case truth(n, "x-kubernetes-int-or-string"), kind == "" && integerOrString(n):
		return spec{"oneOf": []spec{{"type": "integer"}, {"type": "string"}}}, nil
	case kind == "string", kind == "integer", kind == "number":
		if values := enum(n); len(values) > 0 {
			c.types[token] = spec{"type": kind, "enum": values}
			return spec{"$ref": reference(token)}, nil
		}
		return spec{"type": kind}, nil
	case kind == "boolean":
		return spec{"type": kind}, nil
	case kind == "array":
		items, err := c.typeOf(yamlnode.Member(n, "items"), token, depth+1)
		if err != nil {
			return nil, err
		}
		return spec{"type": "array", "items": items}, nil
	case kind != "object", truth(n, "x-kubernetes-embedded-resource"):
		return anyType(), nil
	}
	open := truth(n, "x-kubernetes-preserve-unknown-fields")
	if properties := yamlnode.Member(n, "properties"); properties != nil && properties.Kind == yamlnode.Map &&
		len(properties.Content) > 0 {
		return c.object(n, open, token, depth)
	}
	if additional := yamlnode.Member(n, "additionalProperties"); additional != nil && additional.Kind == yamlnode.Map {
		items, err := c.typeOf(additional, token, depth+1)
		if err != nil {
			return nil, err
		}
		return spec{"type": "object", "additionalProperties": items}, nil
	}
	if open {
		return anyType(), nil
	}
	return spec{"type": "object", "additionalProperties": anyType()}, nil
}

// object adds a type with named members.
func (c *converter) object(n *yamlnode.Node, open bool, token string, depth int) (spec, error) {
	members := spec{}
	for key, node := range yamlnode.Entries(yamlnode.Member(n, "properties")) {
		property, err := c.property(node, token+"."+key.Value, depth+1)
		if err != nil {
			return nil, err
		}
		members[key.Value] = property
	}
	object := spec{"type": "object", "properties": members}
	if needed := required(n); len(needed) > 0 {
		object["required"] = needed
	}
	if open {
		object["additionalProperties"] = anyType()
	}
	c.types[token] = object
	return spec{"$ref": reference(token)}, nil
}

// required returns the members that a program has to write: the cluster fills in those that have a default.
func required(n *yamlnode.Node) (names []string) {
	for _, item := range items(n, "required") {
		property := yamlnode.Member(n, "properties", item.Value)
		if property != nil && yamlnode.Member(property, "default") == nil {
			names = append(names, item.Value)
		}
	}
	return names
}

// enum returns the values of an enum.
func enum(n *yamlnode.Node) (values []spec) {
	for _, item := range items(n, "enum") {
		if v, err := item.Target().Data(); err == nil && v != nil {
			values = append(values, spec{"value": v})
		}
	}
	return values
}

// integerOrString reports whether the alternatives of a schema without a type are an integer and a text.
func integerOrString(n *yamlnode.Node) bool {
	var kinds []string
	for _, item := range items(n, "anyOf") {
		kinds = append(kinds, yamlnode.TextAt(item, "type"))
	}
	slices.Sort(kinds)
	return slices.Equal(kinds, []string{"integer", "string"})
}

func anyType() spec { return spec{"$ref": "pulumi.json#/Any"} }

func reference(token string) string { return "#/types/" + token }

// metadata returns the metadata of objects where the schema of the package kubernetes is not there.
func metadata() spec {
	text, texts := spec{"type": "string"}, spec{"type": "object", "additionalProperties": spec{"type": "string"}}
	integer := spec{"type": "integer"}
	return spec{"type": "object", "properties": spec{
		"name": text, "namespace": text, "generateName": text, "labels": texts, "annotations": texts,
		"finalizers":      spec{"type": "array", "items": text},
		"ownerReferences": spec{"type": "array", "items": anyType()}, "managedFields": spec{"type": "array", "items": anyType()},
		"uid": text, "resourceVersion": text, "creationTimestamp": text, "deletionTimestamp": text, "selfLink": text,
		"generation": integer, "deletionGracePeriodSeconds": integer,
	}}
}

// items returns the items of the list at a key.
func items(n *yamlnode.Node, key string) []*yamlnode.Node {
	if list := yamlnode.Member(n, key); list != nil {
		return list.Content
	}
	return nil
}

func truth(n *yamlnode.Node, key string) bool { return yamlnode.TextAt(n, key) == "true" }
