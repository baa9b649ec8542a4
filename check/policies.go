package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Policies are rules about resources (L10.C22), in a policy pack for the resources of other programs, or in a program
// for its own.

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

	matched matched
}

// The types of the members of `args`, except for the properties.
var (
	policyOptions = argsObject(map[string]schema.Type{"protect": schema.Bool, "parent": schema.String,
		"ignoreChanges": texts, "additionalSecretOutputs": texts, "aliases": texts,
		"deleteBeforeReplace": schema.OptionalOf(schema.Bool),
		"customTimeouts": argsObject(map[string]schema.Type{"create": schema.Number, "update": schema.Number,
			"delete": schema.Number})})
	policyProvider = argsObject(map[string]schema.Type{"urn": schema.String, "type": schema.String, "name": schema.String,
		"properties": &schema.Map{Item: schema.Any}})
	texts = &schema.Array{Item: schema.String}

	// packPulumi is the variable pulumi in a pack.
	packPulumi = argsObject(map[string]schema.Type{"project": schema.String, "stack": schema.String,
		"organization": schema.String, "dryRun": schema.Bool, "config": &schema.Map{Item: schema.String},
		"tags": &schema.Map{Item: schema.String}, "cwd": schema.String, "rootDirectory": schema.String})
)

// pulumiVariable returns the type of the variable pulumi.
func (c *scope) pulumiVariable() schema.Type {
	if c.file.Pack {
		return packPulumi
	}
	return pulumiType
}

// MatchesPolicy reports whether a policy applies to a resource. typ is its canonical token.
func MatchesPolicy(p *ast.Policy, typ, name string, custom bool) bool {
	return MatchesResource(&ast.Transform{Match: p.Match}, typ, name, custom)
}

// policyUses returns the uses of packages by the types that the policies of a pack match.
func (c *resolver) policyUses() (uses []use) {
	if !c.file.Pack {
		return nil
	}
	for _, p := range c.file.Policies {
		for i := range p.Match.Types {
			if glob := &p.Match.Types[i]; !strings.Contains(packageOf(glob.Value), "*") && validToken(glob.Value) {
				uses = append(uses, use{token: glob})
			}
		}
	}
	return uses
}

// linkPolicies finds the types that the policies match, and resolves the names in their expressions.
func (c *linker) linkPolicies() {
	if c.component != nil {
		return
	}
	for _, decl := range c.file.Policies {
		p := &Policy{Decl: decl, matched: matched{t: &ast.Transform{Match: decl.Match, Key: decl.Name.Range}, what: "policy"}}
		if c.file.Pack {
			c.matchSchemas(p)
		} else {
			for _, n := range c.all {
				c.eachRegistered(n, p.matched.look)
			}
		}
		p.nameTypes(c.file.Pack)
		c.linkUnit(nil, &p.Needs, decl.Unit, surroundings{names: p.Names})
		c.program.Policies = append(c.program.Policies, p)
	}
}

// matchSchemas finds the types of resources that a policy of a pack matches, in the schemas of their packages.
func (c *linker) matchSchemas(p *Policy) {
	m := &p.matched
	m.open = len(p.Decl.Match.Types) == 0
	for i := range p.Decl.Match.Types {
		glob := &p.Decl.Match.Types[i]
		pkg := packageOf(glob.Value)
		if strings.Contains(pkg, "*") || !strings.Contains(glob.Value, ":") {
			m.open = m.open || strings.Contains(glob.Value, "*")
			if !strings.Contains(glob.Value, "*") {
				reportBadToken(c.loose, glob, "Type")
			}
			continue
		}
		known := false
		for _, key := range c.packages.order {
			loaded := c.packages.loaded[key]
			if loaded.pkg == nil || loaded.descriptor.PackageName() != pkg {
				continue
			}
			known = true
			c.matchToken(m, loaded, glob)
		}
		if !known {
			m.open = true
		}
	}
}

// matchToken records the types of a package that a glob matches.
func (c *linker) matchToken(m *matched, loaded *loadedPackage, glob *ast.Literal) {
	if !strings.Contains(glob.Value, "*") {
		found, err := loaded.resource(glob.Value)
		switch {
		case errors.Is(err, schema.ErrNoSuchToken):
			tokenNotFound(c.loose, glob, loaded.pkg, "resource")
		case err != nil:
			m.open = true
		default:
			m.note(found.r)
		}
		return
	}
	before := len(m.types)
	for _, token := range loaded.pkg.ResourceTokens() {
		if !matchesToken([]ast.Literal{*glob}, token) {
			continue
		}
		if r, err := loaded.pkg.Resource(token); err == nil {
			m.note(r)
		} else {
			m.open = true
		}
	}
	if before == len(m.types) {
		c.loose.Errorf(diag.TokenNotFound, glob.Range, "`*` matches any text; a type is written package:module:Type",
			"no resource type of the package %s matches %s", loaded.descriptor.PackageName(), findings.Shown(glob.Value))
	}
}

// note records the schema of a matching type.
func (m *matched) note(r *schema.Resource) {
	m.found = true
	m.inputs, m.outputs = append(m.inputs, r.Inputs), append(m.outputs, r.Outputs)
	m.types = append(m.types, schema.CollapseToken(r.Token))
}

// OutputsOf returns the outputs of a type that a policy of a pack matches; nil if unknown.
func (p *Policy) OutputsOf(token string) *schema.Object {
	if i := slices.Index(p.matched.types, schema.CollapseToken(token)); i >= 0 && i < len(p.matched.outputs) {
		return p.matched.outputs[i]
	}
	return nil
}

// nameTypes determines the types of the names that exist only in the policy.
func (p *Policy) nameTypes(pack bool) {
	decl := p.Decl
	objects := p.matched.inputs
	if decl.OfStack() || decl.OfOutputs() {
		objects = p.matched.outputs
	}
	properties := schema.Type(anything)
	if !p.matched.open && len(objects) > 0 {
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
		p.Names["resources"] = &schema.Array{Item: argsObject(args)}
	} else {
		p.Names["resource"], p.Names["args"] = properties, argsObject(args)
	}
	if pack {
		p.Config = schema.ObjectOf(configProperties(decl.Config)...)
		p.Names["config"] = p.Config
	}
}

// configProperties returns the members of the variable `config` of a policy.
func configProperties(declared []*ast.DynamicProperty) (list []*schema.Property) {
	for _, decl := range declared {
		p := &schema.Property{Name: decl.Name.Value, Type: configType(decl.Type), Description: decl.Description.Text()}
		p.Required = decl.Optional == nil || !decl.Optional.Value
		if !p.Required && decl.Default == nil {
			p.Type = schema.OptionalOf(p.Type)
		}
		list = append(list, p)
	}
	return list
}

// common returns an object with the members of all objects. A member that only some have is optional, and one with
// different types has their union.
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

// linkGuarded adds the dependencies of a policy to every node that it matches, except for those that depend on the
// node.
func (c *linker) linkGuarded() {
	if c.file.Pack {
		return
	}
	for _, p := range c.program.Policies {
		if p.Decl.OfStack() || len(p.Needs) == 0 {
			continue
		}
		t := &Transform{Decl: p.matched.t, Needs: p.Needs}
		for _, n := range c.all {
			if c.chance(t.Decl, n) != never {
				n.needTransform(t)
			}
		}
	}
}

// checkPolicies checks the policies, after everything else.
func (c *body) checkPolicies() {
	for _, p := range c.program.Policies {
		c.checkUnit(p.Decl.Unit, func(j *declChecker) { j.checkPolicy(p) })
	}
}

func (c *declChecker) checkPolicy(p *Policy) {
	decl := p.Decl
	decl.Exprs(func(e ast.Expr) { c.infer(e) })
	if decl.When != nil {
		c.operand(decl.When, schema.Bool, "`when`")
	}
	if decl.Violation != nil {
		c.checkViolation(decl.Violation)
	}
	c.checkMergedMap(decl.Remedy, &p.matched, "the properties of a remedy")
	for _, config := range decl.Config {
		if config.Default != nil && config.Type != nil {
			c.infer(config.Default)
		}
	}
	if c.file.Pack {
		c.noEffects(decl)
		return
	}
	if !decl.OfStack() {
		c.warnUnmatched(&p.matched, "resource")
	}
}

// checkViolation checks that an expression can give messages.
func (c *declChecker) checkViolation(e ast.Expr) {
	switch got := schema.Required(c.infer(e)); {
	case got == schema.Null:
		if _, literal := e.(*ast.Null); !literal {
			c.report.Warnf(diag.Ignored, e.Range(), "give a text where something is wrong", "this policy never finds anything")
		}
	case !messageLike(got):
		c.report.Errorf(diag.NotAssignable, e.Range(),
			"give the message where something is wrong, and null elsewhere: '${… ? \"message\" : null}', or write the "+
				"condition into `when`",
			"a violation must be a text, a list of texts or null, not %s", typeWithArticle(got))
	}
}

// messageLike reports whether values of a type can be messages: texts, maps with a message, and lists of them.
func messageLike(t schema.Type) bool {
	switch t := schema.Required(t).(type) {
	case schema.Primitive:
		return open(t) || t == schema.String || t == schema.Null
	case *schema.Enum:
		return t.Base == schema.String
	case *schema.Array:
		return messageLike(t.Item)
	case *schema.Map:
		return true
	case *schema.Object:
		return t.Property("message") != nil
	case *schema.Union:
		return slices.ContainsFunc(t.Members, messageLike)
	case *schema.Token:
		return messageLike(t.Underlying)
	}
	return false
}

// noEffects reports calls that a pack cannot make: its result may depend only on the resource, the configuration and
// the stack.
func (c *declChecker) noEffects(decl *ast.Policy) {
	for _, call := range decl.Unit.Calls {
		name := call.Name.Value
		if strings.Contains(name, ":") || invokedToken(call) != nil || name == "stackReference" || name == "call" {
			c.report.Errorf(diag.FunctionFailed, call.Name.Range, "use what `resource`, `args`, `config` and `pulumi` have",
				"a policy pack cannot call %s", findings.Shown(fmt.Sprintf("fn::%s", strings.TrimPrefix(name, "fn::"))))
		}
	}
}
