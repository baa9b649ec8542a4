package names

import (
	"errors"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// linkPolicies finds the types that the policies match, and resolves the names in their expressions. A pack has no
// resources of its own: what its policies are about are the schemas that they name. In a program, they are about its
// resources.
func (l *linker) linkPolicies() {
	if l.scope.Program.InComponent {
		return
	}
	for _, decl := range l.scope.file.Policies {
		p := &program.Policy{Decl: decl, Matched: &program.Matched{
			Transform: &ast.Transform{Match: decl.Match, Key: decl.Name.Range}, What: "policy"}}
		if l.scope.file.Pack {
			l.matchSchemas(p)
		} else {
			for _, n := range l.scope.all {
				program.EachRegistered(n, false, func(n *program.Node, inside bool) {
					p.Matched.Inspect(n, inside, l.scope.packages)
				})
			}
		}
		p.NameTypes(l.scope.file.Pack)
		l.linkUnit(nil, &p.Needs, decl.Unit, surroundings{names: p.Names})
		l.scope.Program.Policies = append(l.scope.Program.Policies, p)
	}
}

// matchSchemas finds the types of resources that a policy of a pack matches, in the schemas of their packages. Open
// means that members which no schema has are accepted: where one type that may match is unknown, nothing can be said
// about them.
func (l *linker) matchSchemas(p *program.Policy) {
	m := p.Matched
	m.Open = len(p.Decl.Match.Types) == 0
	for i := range p.Decl.Match.Types {
		glob := &p.Decl.Match.Types[i]
		pkg := packages.Of(glob.Value)
		if strings.Contains(pkg, "*") || !strings.Contains(glob.Value, ":") {
			m.Open = m.Open || strings.Contains(glob.Value, "*")
			if !strings.Contains(glob.Value, "*") {
				packages.ReportBadToken(l.scope.report, glob, "Type")
			}
			continue
		}
		// A package may be loaded in several versions, each with types of its own.
		known := false
		for loaded := range l.scope.packages.All() {
			if loaded.Descriptor.PackageName() != pkg {
				continue
			}
			known = true
			l.matchToken(m, loaded, glob)
		}
		if !known {
			m.Open = true
		}
	}
}

// matchToken records the types of a package that a glob matches. A definition that cannot be read makes the policy
// open; the package reports it where a program uses it.
func (l *linker) matchToken(m *program.Matched, loaded *packages.Package, glob *ast.Literal) {
	if !strings.Contains(glob.Value, "*") {
		found, err := loaded.Resource(glob.Value)
		switch {
		case errors.Is(err, schema.ErrNoSuchToken):
			packages.ReportUnknown(l.scope.report, glob, loaded.Schema, "resource")
		case err != nil:
			m.Open = true
		default:
			m.AddSchema(found)
		}
		return
	}
	// A glob that matches nothing is reported, since the policy would guard nothing without a word.
	before := len(m.Types)
	for _, token := range loaded.Schema.ResourceTokens() {
		if !program.MatchesToken([]ast.Literal{*glob}, token) {
			continue
		}
		if r, err := loaded.Schema.Resource(token); err == nil {
			m.AddSchema(r)
		} else {
			m.Open = true
		}
	}
	if before == len(m.Types) {
		l.scope.report.Errorf(diag.TokenNotFound, glob.Range, "`*` matches any text; a type is written package:module:Type",
			"no resource type of the package %s matches %s", loaded.Descriptor.PackageName(), findings.Shown(glob.Value))
	}
}
