package parser

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var (
	policyKeys = []string{"description", "match", "stack", "after", "destroy", "enforcement", "config", "when", "violation",
		"remedy"}
	// policyMatchKeys holds the fields of `match` in a policy.
	policyMatchKeys  = []string{"type", "name", "custom"}
	policyConfigKeys = append([]string{"type", "items", "default", "optional", "description"}, valueRules...)

	enforcementLevels = []string{"advisory", "mandatory", "remediate", "disabled"}
)

// policySection reads the policies of a pack or a program, an extension of yamlhost.
func (b *bodyReader) policySection(section *section, pack bool) []*ast.Policy {
	return declarationsOf[*ast.Policy](b, section, func(b *bodyReader, e entry, name ast.Literal) item {
		r := policyReader{exprs: b.exprs, nodes: b.nodes, report: b.report, pack: pack,
			policy: &ast.Policy{Name: name, Range: b.nodes.whole(e)}}
		r.read(e)
		r.policy.Number()
		return item{declaration: r.policy}
	})
}

// policyReader reads one policy.
type policyReader struct {
	exprs  *exprReader
	nodes  *nodeReader
	report *findings
	policy *ast.Policy
	pack   bool // the policy belongs to a pack
}

func (r policyReader) read(e entry) {
	p := r.policy
	var found map[string]*entry
	r.nodes.section(e, "the policy `"+diag.Excerpt(e.name)+"`", func(n *yamlnode.Node, _ diag.Range) {
		found = r.nodes.gather(r.nodes.described(n), "a policy", policyKeys)
	})
	readers := fieldReaders{
		"description": func(e entry) { p.Description = r.nodes.plainText(e, "`description`") },
		"match":       func(e entry) { p.Match = r.nodes.matchBlock(e, policyMatchKeys) },
		"stack":       func(e entry) { p.Stack = r.nodes.literalBool(e, "`stack`") },
		"after":       func(e entry) { p.After = r.nodes.literalBool(e, "`after`") },
		"destroy":     func(e entry) { p.Destroy = r.nodes.literalBool(e, "`destroy`") },
		"enforcement": func(e entry) { p.Enforcement = enforcementLevel(r.nodes, e) },
		"config":      r.config,
	}
	for _, key := range policyKeys { // the text may have them in another order
		if e, ok := found[key]; ok && readers[key] != nil {
			readers[key](*e)
		}
	}
	r.exprs.texts.scope.also(func() {
		for _, field := range []struct {
			key string
			dst *ast.Expr
		}{{"when", &p.When}, {"violation", &p.Violation}, {"remedy", &p.Remedy}} {
			if e, ok := found[field.key]; ok {
				*field.dst = present(r.exprs.expression(*e))
			}
		}
	}, r.names()...)
	r.complete(found)
}

// config reads the configuration that a policy of a pack declares.
func (r policyReader) config(e entry) {
	if !r.pack {
		r.report.fail(diag.UnknownKey, e.at, "declare it in the section `config` of the program",
			"a policy of a program has no `config`")
		return
	}
	r.policy.Config = dynamicReader{r.exprs, r.nodes, r.report}.properties(e, "a configuration value", policyConfigKeys).List
}

// names returns the additional names that the expressions of the policy may use.
func (r policyReader) names() []string {
	names := []string{"resources"}
	if !r.policy.OfStack() {
		names = []string{"resource", "args"}
	}
	if r.pack {
		names = append(names, "config")
	}
	return names
}

// complete reports missing fields of the policy, and fields that exclude each other.
func (r policyReader) complete(found map[string]*entry) {
	p := r.policy
	if p.Violation == nil && p.Remedy == nil {
		r.report.fail(diag.RequiredMissing, p.Name.Range,
			"add `violation`: an expression that gives the message, or null where the resource is in order",
			"the policy `%s` has no message", diag.Excerpt(p.Name.Value))
	}
	if text, ok := p.Violation.(*ast.String); ok && text.Value == "" {
		r.report.fail(diag.RequiredMissing, found["violation"].at, "write what is wrong with the resource and what to do",
			"the message of the policy `%s` is empty", diag.Excerpt(p.Name.Value))
	}
	if kind := exprKind(p.Violation); kind != "" && !slices.Contains([]string{"a string", "a list", "a map"}, kind) {
		r.report.fail(diag.WrongKind, p.Violation.Range(), "write the message, and the condition into `when`",
			"`violation` must be a text, found %s", kind)
		p.Violation = bad(p.Violation.Range())
	}
	if kind := exprKind(p.Remedy); kind != "" && kind != "a map" {
		r.report.fail(diag.WrongKind, p.Remedy.Range(), "", "`remedy` must be a map, found %s", kind)
		p.Remedy = bad(p.Remedy.Range())
	}
	exclude := func(key, other, why string) {
		if e, ok := found[key]; ok {
			r.report.fail(diag.UnknownKey, e.at, why, "a policy with `%s` has no `%s`", other, key)
		}
	}
	if p.OfStack() {
		exclude("remedy", "stack", "it is asked when the resources are there already")
		exclude("after", "stack", "a policy of the stack sees the outputs anyway")
	}
	if p.OfOutputs() {
		exclude("remedy", "after", "it is asked when the resource is there already")
	}
	if p.OfDestroyed() {
		for _, key := range []string{"stack", "after"} {
			exclude(key, "destroy", "it is asked about the inputs of one resource, before that is deleted or replaced")
		}
		exclude("remedy", "destroy", "there is nothing to set in what goes")
		if !r.pack {
			r.report.fail(diag.UnknownKey, found["destroy"].at, "write a policy pack, or set the option protect of the resource",
				"a policy of a program has no `destroy`")
		}
	}
	switch level := p.Enforcement.Text(); {
	case level == "remediate" && p.Remedy == nil:
		r.report.fail(diag.RequiredMissing, p.Enforcement.Range, "add `remedy: {…}` with the properties to set",
			"the policy `%s` has no remedy", diag.Excerpt(p.Name.Value))
	case !r.pack && (level == "remediate" || p.Remedy != nil):
		rng := p.Name.Range
		if e, ok := found["remedy"]; ok {
			rng = e.at
		}
		r.report.fail(diag.UnknownKey, rng, "change the property itself, or write a transform",
			"a policy of a program cannot have a remedy")
	}
	if r.pack && p.Name.Value == "all" {
		r.report.fail(diag.DeclaredTwice, p.Name.Range, "in configurations, `all` is the level of all policies; choose another name",
			"a policy cannot be called `all`")
	}
}

// enforcementLevel reads an enforcement level.
func enforcementLevel(r *nodeReader, e entry) *ast.Literal {
	return r.choice(e, "`enforcement`", enforcementLevels, "it is "+listing(enforcementLevels, " or "),
		"there is no enforcement level `%s`")
}
