package program

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Policy is a checked policy.
type Policy struct {
	Decl *ast.Policy
	// Needs are the nodes that its expressions refer to. In a program, every node that the policy can match depends on
	// them too.
	Needs []Edge
	// Names are the types of the names that exist only in the policy, such as `resource`.
	Names map[string]schema.Type
	// Config is the type of `config`.
	Config *schema.Object
	// Matched describes the resources that the policy applies to.
	Matched *Matched
}

// The types of the members of `args`, except for the properties.
var (
	policyOptions = ObjectOf(map[string]schema.Type{"protect": schema.Bool, "parent": schema.String,
		"ignoreChanges": texts, "additionalSecretOutputs": texts, "aliases": texts,
		"deleteBeforeReplace": schema.OptionalOf(schema.Bool),
		"customTimeouts": ObjectOf(map[string]schema.Type{"create": schema.Number, "update": schema.Number,
			"delete": schema.Number})})
	policyProvider = ObjectOf(map[string]schema.Type{"urn": schema.String, "type": schema.String, "name": schema.String,
		"properties": &schema.Map{Item: schema.Any}})
	texts = &schema.Array{Item: schema.String}
)

// MatchesPolicy reports whether a policy applies to a resource. typ is its canonical token.
func MatchesPolicy(p *ast.Policy, typ, name string, custom bool) bool {
	return MatchesResource(&ast.Transform{Match: p.Match}, typ, name, custom)
}

// OutputsOf returns the outputs of a type that a policy of a pack matches; nil if unknown.
func (p *Policy) OutputsOf(token string) *schema.Object {
	if i := slices.Index(p.Matched.Types, schema.CollapseToken(token)); i >= 0 && i < len(p.Matched.Outputs) {
		return p.Matched.Outputs[i]
	}
	return nil
}

// NameTypes determines the types of the names that exist only in the policy. It needs Matched, and is needed before the
// expressions are linked, since the names hide those of the program.
func (p *Policy) NameTypes(pack bool) {
	decl := p.Decl
	objects := p.Matched.Inputs
	if decl.OfStack() || decl.OfOutputs() {
		objects = p.Matched.Outputs
	}
	properties := schema.Type(Anything)
	if !p.Matched.Open && len(objects) > 0 {
		properties = common(objects)
	}
	args := map[string]schema.Type{"urn": schema.String, "type": schema.String, "name": schema.String,
		"properties": properties, "options": policyOptions, "parent": schema.String,
		"provider": schema.OptionalOf(policyProvider)}
	if decl.OfDestroyed() {
		args["operation"] = schema.String
	}
	p.Names = map[string]schema.Type{}
	if decl.OfStack() {
		args["dependencies"], args["propertyDependencies"] = texts, &schema.Map{Item: texts}
		p.Names["resources"] = &schema.Array{Item: ObjectOf(args)}
	} else {
		p.Names["resource"], p.Names["args"] = properties, ObjectOf(args)
	}
	if pack {
		p.Config = schema.ObjectOf(configProperties(decl.Config)...)
		p.Names["config"] = p.Config
	}
}

// configProperties returns the members of the variable `config` of a policy.
func configProperties(declared []*ast.DynamicProperty) (list []*schema.Property) {
	for _, decl := range declared {
		p := &schema.Property{Name: decl.Name.Value, Type: ConfigType(decl.Type), Description: decl.Description.Text()}
		p.Required = !decl.Optional.IsTrue()
		if !p.Required && decl.Default == nil {
			p.Type = schema.OptionalOf(p.Type)
		}
		list = append(list, p)
	}
	return list
}

// common returns an object with the members of all objects. A member that only some have is optional, and one with
// different types has their union. It is computed when it is asked for: a policy for all types of a cloud matches
// thousands of schemas, and names a few members.
func common(objects []*schema.Object) schema.Type {
	if len(objects) == 1 {
		return objects[0]
	}
	return schema.NewObject("", !slices.ContainsFunc(objects, func(o *schema.Object) bool { return o != nil && !o.Closed }),
		func() []*schema.Property {
			byName := map[string]*schema.Property{}
			count := map[string]int{}
			for _, o := range objects {
				for _, p := range o.Properties() {
					count[p.Name]++
					known := byName[p.Name]
					switch {
					case known == nil:
						merged := *p
						merged.Deprecation = ""
						byName[p.Name] = &merged
					case !schema.Identical(known.Type, p.Type):
						known.Type = schema.Any
					}
				}
			}
			list := make([]*schema.Property, 0, len(byName))
			for _, name := range slices.Sorted(maps.Keys(byName)) {
				p := byName[name]
				if p.Required = p.Required && count[name] == len(objects); !p.Required {
					p.Type = schema.OptionalOf(p.Type)
				}
				list = append(list, p)
			}
			return list
		})
}
