package check

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// place is where a value is wanted. Places inside others are linked, so that a path is only written when a message
// needs it.
type place struct {
	what   string // how messages name the place, such as property "size"; empty for one inside outer
	owner  string // what the members belong to, such as zoo:Typed, for messages on names
	noun   string // what a member of it is called: input, argument, member
	outer  *place
	member string // in outer
	index  int    // in outer, when member is empty
	key    diag.Range
	// strict refuses conversions between text, numbers and booleans: what does not go to a provider is not converted.
	strict   bool
	nullable bool // null is the same as leaving it out
	// use is where a constant is used that was followed to its declaration; zero while the present text is the place.
	use diag.Range
	// optional reports whether no member is required, as in the state of a get.
	optional bool
	inUnion  bool
	// meant are members that unknown ones may have been meant to be: that they are missing is said already.
	meant map[string]bool
	// present are the members that are set: kept, once setMembers has been called.
	present, kept map[string]bool
	// outputs are the outputs of the resource, if these are the inputs of a resource; else nil.
	outputs *schema.Object
}

// places is a pool of unused places: every part of a literal has one while it is checked.
type places struct{ spare []*place }

// enter returns a place that is as told. The caller gives it back with leave, behind its last use.
func (s *places) enter(next place) *place {
	p := new(place)
	if last := len(s.spare) - 1; last >= 0 {
		p, s.spare = s.spare[last], s.spare[:last]
		next.kept = p.kept
	}
	*p = next
	return p
}

func (s *places) leave(p *place) { s.spare = append(s.spare, p) }

// setMembers makes present an empty set, with room for so many.
func (p *place) setMembers(count int) {
	if p.kept == nil {
		p.kept = make(map[string]bool, count)
	}
	clear(p.kept)
	p.present = p.kept
}

func (p *place) inside(member string, key diag.Range) place {
	return place{outer: p, member: member, key: key, strict: p.strict, use: p.use, noun: p.noun, optional: p.optional}
}

func (p *place) item(i int) place {
	return place{outer: p, index: i, strict: p.strict, use: p.use, noun: p.noun, optional: p.optional}
}

// path is how a member is written in a message: property "a.b[0]".
func (p *place) String() string {
	suffix := ""
	for ; p.outer != nil; p = p.outer {
		switch {
		case p.member == "":
			suffix = fmt.Sprintf("[%d]%s", p.index, suffix)
		case p.outer.outer == nil && p.outer.what == "":
			suffix = p.member + suffix
		default:
			suffix = "." + p.member + suffix
		}
	}
	noun := p.noun
	switch {
	case p.what != "" && suffix == "":
		return p.what
	case p.what != "":
		return p.what + ", " + quote(strings.TrimPrefix(suffix, "."))
	case noun == "input":
		noun = "property"
	case noun == "":
		noun = "member"
	}
	return noun + " " + quote(suffix)
}

// name is the owner that messages on unknown names speak of.
func (p *place) name() string {
	if p.owner != "" {
		return p.owner
	}
	return p.String()
}

// at returns the range that a message about the value points at.
func (p *place) at(e ast.Expr) diag.Range {
	if !p.use.IsZero() {
		return p.use
	}
	return e.Range()
}

// keyAt returns the range that a message about the key points at.
func (p *place) keyAt(fallback diag.Range) diag.Range {
	switch {
	case !p.use.IsZero():
		return p.use
	case !p.key.IsZero():
		return p.key
	}
	return fallback
}

// mean notes members that are meant by something that has been reported.
func (p *place) mean(names ...string) {
	if p.meant == nil && len(names) > 0 {
		p.meant = make(map[string]bool, len(names))
	}
	for _, name := range names {
		p.meant[name] = true
	}
}

func (p *place) namedAt(key ast.Literal) diag.Range {
	if !p.use.IsZero() {
		return p.use
	}
	return key.Range
}
