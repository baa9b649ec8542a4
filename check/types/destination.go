package types

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// destination is what a value is for, such as a property: how messages name it, and the rules there besides the wanted
// type. Nested destinations are linked, so that a path is built only for a message. setMembers and mean change it while
// a literal map is checked. A copy shares the sets of its original; one that is changed gets sets of its own first. It
// is the only description of the way from a declaration to a value: findings print it, and no message is made unless
// there is one.
type destination struct {
	what   string // how messages name it, such as property "size"; empty for one inside outer
	owner  string // the owner of the members, such as zoo:Typed, for messages on names
	noun   string // the word for its members: input, argument, member
	outer  *destination
	member string // in outer
	index  int    // in outer, when member is empty
	key    diag.Range
	// strict forbids conversions between text, numbers and booleans, which only providers' values get.
	strict   bool
	nullable bool // null means absence
	// use is the text that uses a constant, once the check has followed it to its declaration; else zero.
	use diag.Range
	// optional reports whether no member is required, as in the state of a get.
	optional bool
	// inUnion reports whether the type is an alternative of a union, whose discriminator may not be left out.
	inUnion bool
	// computed reports whether the literal has a computed key, which may set any member.
	computed bool
	// meant are members that unknown ones may mean: they are not reported as missing again.
	meant map[string]bool
	// present are the members that the literal sets, valid once setMembers has been called. It is kept, which the pool
	// hands on from the last use, after it has been cleared.
	present, kept map[string]bool
	// outputs are the outputs of the resource, if these are the inputs of a resource; else nil.
	outputs *schema.Object
}

// destinations is a pool of unused ones: every part of a literal takes one while it is checked. It belongs to one
// checker.
type destinations struct{ spare []*destination }

// enter returns a copy of next from the pool. The caller returns it with leave after its last use. The set of members
// goes with the pooled one, so that not every map in a literal makes one.
func (s *destinations) enter(next destination) *destination {
	var p *destination
	if last := len(s.spare) - 1; last >= 0 {
		p, s.spare = s.spare[last], s.spare[:last]
		next.kept = p.kept
	} else {
		p = new(destination)
	}
	*p = next
	return p
}

func (s *destinations) leave(p *destination) { s.spare = append(s.spare, p) }

// setMembers makes present an empty set with the given capacity.
func (p *destination) setMembers(count int) {
	if p.kept == nil {
		p.kept = make(map[string]bool, count)
	}
	clear(p.kept)
	p.present = p.kept
}

// inside returns the destination of a member. What is strict, optional or followed outside is so inside; nullable and
// inUnion are properties of one level.
func (p *destination) inside(member string, key diag.Range) destination {
	inner := p.item(0)
	inner.member, inner.key = member, key
	return inner
}

func (p *destination) item(i int) destination {
	return destination{outer: p, index: i, strict: p.strict, use: p.use, noun: p.noun, optional: p.optional}
}

// String returns the name for a message: property "a.b[0]".
func (p *destination) String() string {
	suffix := ""
	for ; p.outer != nil; p = p.outer {
		switch {
		case p.member == "":
			suffix = fmt.Sprintf("[%d]%s", p.index, suffix)
		// The outermost has no name of its own: the first member begins the path.
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
		return p.what + ", " + findings.Quote(strings.TrimPrefix(suffix, "."))
	case noun == "input":
		noun = "property"
	case noun == "":
		noun = "member"
	}
	return noun + " " + findings.Quote(suffix)
}

// name returns the owner for messages on unknown names.
func (p *destination) name() string {
	if p.owner != "" {
		return p.owner
	}
	return p.String()
}

// at returns the range for a message about the value or the name at a range. A literal of a variable is reported at the
// use of the variable, since it may be right for other uses.
func (p *destination) at(rng diag.Range) diag.Range { return cmp.Or(p.use, rng) }

// keyAt returns the range for a message about the key.
func (p *destination) keyAt(fallback diag.Range) diag.Range { return cmp.Or(p.use, p.key, fallback) }

// mean records members that a reported name may mean. A misspelt required property would otherwise be two findings: one
// unknown and one missing.
func (p *destination) mean(names ...string) {
	if p.meant == nil && len(names) > 0 {
		p.meant = make(map[string]bool, len(names))
	}
	for _, name := range names {
		p.meant[name] = true
	}
}
