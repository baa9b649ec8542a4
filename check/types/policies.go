package types

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Policies are rules about resources (L10.C22), in a policy pack for the resources of other programs, or in a program
// for its own.

// checkPolicy checks a policy. There is no warning about a policy of a pack that matches nothing: the programs that it
// is for are not known.
func (c *Checker) checkPolicy(p *program.Policy) {
	decl := p.Decl
	decl.Exprs(func(e ast.Expr) { c.typer.infer(e) })
	if decl.When != nil {
		c.typer.operand(decl.When, schema.Bool, "`when`")
	}
	if decl.Violation != nil {
		c.checkViolation(decl.Violation)
	}
	c.checkMergedMap(decl.Remedy, p.Matched, "the properties of a remedy")
	for _, config := range decl.Config {
		if config.Default != nil && config.Type != nil {
			c.typer.infer(config.Default)
		}
	}
	c.noEffects(decl.Unit)
	if !c.decl.file.Pack && !decl.OfStack() {
		c.warnUnmatched(p.Matched, "resource")
	}
}

// checkViolation checks that an expression can give messages. A boolean is refused on purpose: which of its values is
// the violation would be a guess.
func (c *Checker) checkViolation(e ast.Expr) {
	switch got := schema.Required(c.typer.infer(e)); {
	case got == schema.Null:
		if _, literal := e.(*ast.Null); !literal {
			c.decl.report.Warnf(diag.Ignored, e.Range(), "give a text where something is wrong", "this policy never finds anything")
		}
	case !messageLike(got):
		c.decl.report.Errorf(diag.NotAssignable, e.Range(),
			"give the message where something is wrong, and null elsewhere: '${… ? \"message\" : null}', or write the "+
				"condition into `when`",
			"a violation must be a text, a list of texts or null, not %s", typeWithArticle(got))
	}
}

// messageLike reports whether values of a type can be messages: texts, maps with a message, and lists of them. A map is
// accepted where its members are unknown.
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

// noEffects reports calls in a declaration that a pack cannot make: its result may depend only on the resource, the
// configuration and the stack. A program may make them. A pack runs in an analyzer, which has no providers, and may be
// asked about the same resource many times.
func (c *Checker) noEffects(unit *ast.Unit) {
	if !c.decl.file.Pack {
		return
	}
	for _, call := range unit.Calls {
		name := call.Name.Value
		if strings.Contains(name, ":") || packages.Called(call) != nil || name == "stackReference" || name == "call" {
			c.decl.report.Errorf(diag.FunctionFailed, call.Name.Range, "use what `resource`, `args`, `config` and `pulumi` have",
				"a policy pack cannot call %s", findings.Shown(fmt.Sprintf("fn::%s", strings.TrimPrefix(name, "fn::"))))
		}
	}
}
