package ast

// Unit numbers the expressions of one declaration. Each expression has a slot, counted from 0, so that other packages
// can store facts about expressions in slices. A Unit is immutable once its declaration has been parsed.
type Unit struct {
	Size     int       // number of expressions
	Accesses []*Access // in the order of Walk
	Calls    []*Call   // in the order of Walk
	Typed    bool      // evaluation asks for types of its expressions: there are options or `[*]`
}

// NewUnit returns a unit of the given expressions and everything inside of them. It ignores nil expressions. No
// expression may belong to another unit yet.
func NewUnit(exprs ...Expr) *Unit {
	u := &Unit{}
	for _, e := range exprs {
		u.add(e)
	}
	return u
}

// Number sets r.Unit once the resource has been parsed.
func (r *Resource) Number() {
	r.Unit = unitOf(r.Exprs)
	r.Unit.Typed = r.Unit.Typed || !r.Options.Range.IsZero()
}

// Number sets m.Unit once the message has been parsed.
func (m *Message) Number() { m.Unit = unitOf(m.Exprs) }

// Number sets p.Unit once the policy has been parsed.
func (p *Policy) Number() { p.Unit = unitOf(p.Exprs) }

// Number sets t.Unit once a transform of the section has been parsed.
func (t *Transform) Number() {
	t.Unit = unitOf(t.Exprs)
	t.Unit.Typed = true
}

// unitOf returns the unit of the expressions that exprs enumerates.
func unitOf(exprs func(func(Expr))) *Unit {
	u := &Unit{}
	exprs(u.add)
	return u
}

func (u *Unit) add(e Expr) {
	Walk(e, func(e Expr) bool {
		place := e.place()
		if place.unit == u {
			return false // it occurs twice in the tree
		}
		place.unit, place.slot = u, int32(u.Size)
		u.Size++
		switch e := e.(type) {
		case *Access:
			e.nth = int32(len(u.Accesses))
			u.Accesses = append(u.Accesses, e)
		case *Call:
			e.nth = int32(len(u.Calls))
			u.Calls = append(u.Calls, e)
		case *Splat:
			u.Typed = true
		}
		return true
	})
}

// Slot returns the unit of an expression and the expression's number in it. The unit is nil for an expression outside
// of any declaration.
func Slot(e Expr) (*Unit, int) {
	place := e.place()
	return place.unit, int(place.slot)
}

// Unit returns the access's unit and its index in the unit's Accesses.
func (a *Access) Unit() (*Unit, int) { return a.unit, int(a.nth) }

// Unit returns the call's unit and its index in the unit's Calls.
func (c *Call) Unit() (*Unit, int) { return c.unit, int(c.nth) }
