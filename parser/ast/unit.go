package ast

// Unit is the expressions of one declaration. Each has a slot, a number from 0, so that what somebody knows of them can
// be kept in slices. It is immutable once its declaration is read.
type Unit struct {
	Size     int       // how many expressions there are
	Accesses []*Access // in the order of Walk
	Calls    []*Call   // in the order of Walk
}

// NewUnit numbers expressions and everything inside of them; a nil one is no expression. None may belong to a unit yet.
func NewUnit(exprs ...Expr) *Unit {
	u := &Unit{}
	for _, e := range exprs {
		u.add(e)
	}
	return u
}

// Number makes the unit of a resource that has been read.
func (r *Resource) Number() { r.Unit = unitOf(r.Exprs) }

// Number makes the unit of a message that has been read.
func (m *Message) Number() { m.Unit = unitOf(m.Exprs) }

// Number makes the unit of a policy that has been read.
func (p *Policy) Number() { p.Unit = unitOf(p.Exprs) }

// Number makes the unit of a transform of the stack that has been read.
func (t *Transform) Number() { t.Unit = unitOf(t.Exprs) }

// unitOf numbers the expressions for which exprs calls its argument.
func unitOf(exprs func(func(Expr))) *Unit {
	u := &Unit{}
	exprs(u.add)
	return u
}

func (u *Unit) add(e Expr) {
	Walk(e, func(e Expr) bool {
		place := e.place()
		if place.unit == u {
			return false // it stands in two places of the tree
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
		}
		return true
	})
}

// Slot is the unit that an expression belongs to, and its number in it. The unit is nil for an expression that belongs
// to none.
func Slot(e Expr) (*Unit, int) {
	place := e.place()
	return place.unit, int(place.slot)
}

// Unit is the unit that the access belongs to, and its place among the accesses of it.
func (a *Access) Unit() (*Unit, int) { return a.unit, int(a.nth) }

// Unit is the unit that the call belongs to, and its place among the calls of it.
func (c *Call) Unit() (*Unit, int) { return c.unit, int(c.nth) }
