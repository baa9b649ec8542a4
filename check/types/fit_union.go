package types

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// fitUnion checks a literal against alternatives: the one that the discriminator selects (L8.16), else any that accepts
// it. If none does, the finding is about the only alternative that has the literal's shape, which is what was meant, or
// else about all of them. Nested unions are the most expensive literals, since each level attempts each alternative.
func (c *fitter) fitUnion(e ast.Expr, u *schema.Union, p *destination) bool {
	inner := *p
	inner.inUnion = true
	if m, isMap := e.(*ast.Map); isMap && u.Discriminator != "" {
		if decided, ok := c.fitDiscriminated(m, u, &inner); decided {
			return ok
		}
	}
	var nearest schema.Type
	candidates := 0
	for _, member := range u.Members {
		fits := false
		faults := c.decl.report.Attempt(func() { fits = c.fit(e, member, &inner) })
		if fits {
			// Warnings of the alternative that fits; errors there are none.
			c.decl.report.Add(faults...)
			c.warnNearMiss(e, u, p)
			return true
		}
		if sameShape(e, member) {
			nearest = member
			candidates++
		}
	}
	if candidates == 1 {
		// Again without an attempt, which reports its findings at the places inside of the literal.
		return c.fit(e, nearest, &inner)
	}
	var reasons []string
	for _, member := range u.Members {
		if !sameShape(e, member) {
			continue
		}
		if faults := c.decl.report.Attempt(func() { c.fit(e, member, &inner) }); len(faults) > 0 && len(reasons) < 3 {
			reasons = append(reasons, "as "+schema.TypeName(member)+": "+faults[0].Summary)
		}
	}
	return c.misfit(diag.NotAssignable, e, findings.Sentences(reasons...), u, schema.TypeName(c.decl.typeOf(e)), p)
}

// fitDiscriminated checks the alternative of a literal discriminator. decided is false if there is no such literal. The
// tag decides even if another alternative would accept the rest: the provider decodes by it. Without a tag nothing is
// decided, unless all alternatives require one.
func (c *fitter) fitDiscriminated(e *ast.Map, u *schema.Union, p *destination) (decided, ok bool) {
	for _, entry := range e.Entries {
		key, literal := entry.Key.(*ast.String)
		if !literal || key.Value != u.Discriminator {
			continue
		}
		tag, literal := c.constants.constant(entry.Value).(*ast.String)
		if !literal {
			return false, false
		}
		member, tags := u.Select(tag.Value)
		if member != nil {
			// The alternative has the tag as a constant, which is then required: see inUnion.
			return true, c.fit(e, member, p)
		}
		if len(tags) == 0 {
			return false, false
		}
		inner := p.inside(key.Value, key.Range())
		c.decl.report.Errorf(diag.BadDiscriminator, inner.at(entry.Value.Range()),
			findings.DidYouMean(diag.Suggest(tag.Value, tags)),
			"%s must be one of %s", &inner, findings.Listed(tags))
		return true, false
	}
	_, tags := u.Select("")
	if len(tags) == 0 {
		return false, false
	}
	// It stood in a line that cannot be read, and has a finding there.
	if c.decl.hasLost(u.Discriminator) {
		return true, true
	}
	for _, member := range u.Members {
		if o, isObject := schema.Required(member).(*schema.Object); !isObject || o.Property(u.Discriminator) == nil ||
			!o.Property(u.Discriminator).Required {
			return false, false
		}
	}
	c.decl.report.Errorf(diag.BadDiscriminator, p.keyAt(e.Range()), "it says which kind of object this is", "%s needs %s, one of %s",
		p, u.Discriminator, findings.Listed(tags))
	return true, false
}

// sameShape reports whether a literal and a type are both lists or both maps. A map that does not fit an object was
// probably meant as one, while a text never was; only enums are compared with scalars, since other scalars have no
// parts to be explained.
func sameShape(e ast.Expr, t schema.Type) bool {
	switch schema.Required(t).(type) {
	case *schema.Array:
		_, ok := e.(*ast.List)
		return ok
	case *schema.Map, *schema.Object:
		_, ok := e.(*ast.Map)
		return ok
	case *schema.Enum:
		switch e.(type) {
		case *ast.String, *ast.Number, *ast.Bool:
			return true
		}
	}
	return false
}

// warnNearMiss warns of an accepted text that is a known value in other capitals (L8.15). Any other text may be a value
// that is newer than the schema.
func (c *fitter) warnNearMiss(e ast.Expr, u *schema.Union, p *destination) {
	text, ok := e.(*ast.String)
	if !ok {
		return
	}
	var values []string
	for _, member := range u.Members {
		if enum, isEnum := schema.Required(member).(*schema.Enum); isEnum {
			values = append(values, enumTexts(enum)...)
		}
	}
	if slices.Contains(values, text.Value) {
		return
	}
	for _, value := range values {
		if strings.EqualFold(value, text.Value) {
			c.decl.report.Warnf(diag.NotInEnum, p.at(e.Range()), findings.DidYouMean([]string{value}),
				"%s: %s is not one of the known values", p, findings.Shown(text.Value))
			return
		}
	}
}
