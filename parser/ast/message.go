package ast

import "github.com/yamlhost/yamlhost/internal/diag"

// Message is a text that a run shows; an extension of yamlhost.
type Message struct {
	Range    diag.Range // the whole item
	Level    *Literal   // debug, info, warning or error; nil for info
	Text     Expr       // nil when it is missing, which the parser has reported
	Resource Expr       // what it is about; nil when absent
	If       Expr       // nil when absent
	Unit     *Unit      // of all of its expressions
}

// Exprs calls fn for every expression at the top of something in the message.
func (m *Message) Exprs(fn func(Expr)) {
	for _, e := range []Expr{m.If, m.Text, m.Resource} {
		if e != nil {
			fn(e)
		}
	}
}

// Number makes the unit of a message that has been read.
func (m *Message) Number() {
	m.Unit = &Unit{}
	m.Exprs(m.Unit.add)
}
