package packages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// ReportBadToken reports a token that has not two or three parts.
func ReportBadToken(report *findings.Reporter, token *ast.Literal, what string) {
	report.Errorf(diag.BadTypeToken, token.Range,
		"it has two or three parts, separated by colons: package:module:"+what+" or package:"+what,
		"%s is not the token of a %s", findings.Shown(token.Value), strings.ToLower(what))
}

// ReportUnknown reports a token that a package does not have. what is resource or function. A token of the other kind,
// or of a provider in the form of schemas, is no misspelling: near tokens would lead away from it.
func ReportUnknown(report *findings.Reporter, token *ast.Literal, pkg *schema.Package, what string) {
	near := nearIn(report, pkg, token.Value, what)
	hint := findings.DidYouMean(near)
	if what == "function" {
		if _, err := pkg.ResolveResource(token.Value); err == nil {
			near, hint = nil, "it is the type of a resource: declare one under `resources`, and read its outputs"
		}
	} else if _, err := pkg.ResolveFunction(token.Value); err == nil {
		near, hint = nil, "it is a function: call it with `fn::"+token.Value+"`"
	}
	if what == "resource" && token.Value == pkg.Name+":Provider" {
		near, hint = nil, "a provider is written `pulumi:providers:"+pkg.Name+"`"
	}
	if hint == "" {
		hint = "list what the package has with: yamlhost schema " + pkg.Name
	}
	report.Add(diag.Diagnostic{Code: diag.TokenNotFound, Subject: token.Range, Detail: hint,
		Summary: fmt.Sprintf("package %s has no %s %s", pkg.Name, what, token.Value),
		Fixes:   findings.Rename(token.Range, token.Value, near)})
}

// nearIn returns the tokens of functions or resources of a package that a misspelt one may mean.
func nearIn(report *findings.Reporter, pkg *schema.Package, token, what string) []string {
	return report.Near(findings.Question{Name: token, Space: what, Of: pkg}, func() []string {
		if what == "function" {
			return nearTokens(token, pkg.FunctionTokens())
		}
		return nearTokens(token, pkg.ResourceTokens())
	})
}

// nearTokens returns the tokens that a misspelt one may mean (L7.6), in their shortest form: tokens that are similar in
// the short or the long form, else tokens of other modules with the same name. Both forms are compared because both are
// written; the answer has the short one.
func nearTokens(written string, tokens []string) []string {
	candidates := make([]string, 0, 2*len(tokens))
	for _, t := range tokens {
		collapsed := schema.CollapseToken(t)
		candidates = append(candidates, collapsed)
		if collapsed != t {
			candidates = append(candidates, t)
		}
	}
	near := diag.Suggest(written, candidates)
	if len(near) == 0 {
		name := strings.ToLower(written[strings.LastIndexByte(written, ':')+1:])
		for _, t := range tokens {
			if other := strings.ToLower(t[strings.LastIndexByte(t, ':')+1:]); other == name && len(near) < 5 {
				near = append(near, t)
			}
		}
	}
	var short []string
	for _, t := range near {
		if t = schema.CollapseToken(t); !slices.Contains(short, t) {
			short = append(short, t)
		}
	}
	return short
}
