//go:build !lean

package environments

import (
	"fmt"

	"github.com/pulumi/esc"
	"github.com/pulumi/esc/ast"
	"github.com/pulumi/esc/eval"
)

// The budget of an environment with all that it imports is that of an untrusted program. The evaluator of Pulumi ESC
// has none, and a text of a kilobyte can make it build values without end. So an upper bound of what it will build is
// computed before, from the documents alone.
const (
	mostSteps   = 2_000_000
	largest     = 64 << 20 // bytes of one value
	deepest     = 100      // levels of imports
	nodeSteps   = 4        // a list, a map or a scalar, with its copies and its schema
	textPerStep = 32       // bytes
	escaping    = 6        // the bytes that one byte of a text can take in JSON
)

// errSpent is the error of an environment that exceeds the budget.
type errSpent struct{ summary, detail string }

func (e *errSpent) Error() string { return e.summary + "\n" + e.detail }

// size is an upper bound of a value's size. The numbers can be larger than any integer.
type size struct {
	nodes float64
	bytes float64 // of texts
	opens float64 // how often results of fn::open are in it
}

func (s size) plus(o size) size {
	return size{s.nodes + o.nodes, s.bytes + o.bytes, s.opens + o.opens}
}

func (s size) steps() float64 { return s.nodes*nodeSteps + s.bytes/textPerStep }

// text is the size of a value as JSON.
func (s size) text() size {
	return size{nodes: 1, bytes: escaping * (s.bytes + 8*s.nodes), opens: s.opens * escaping}
}

// meter computes sizes of environments before they are evaluated.
type meter struct {
	load  func(name string) ([]byte, error)
	known map[string]*measured // by name; nil while it is being measured, and for one that cannot be read
	steps float64              // of all evaluations
	opens float64
}

// measured is the size of an environment.
type measured struct {
	whole size
	keys  map[string]size // of its values, by the name at the top, with what imports add to them
}

// within returns an *errSpent if evaluating a document takes more than the budget.
func (m *meter) within(document *ast.EnvironmentDecl) error {
	if m.known == nil {
		m.known = map[string]*measured{}
	}
	root, err := m.measure(document, 0)
	if err != nil {
		return err
	}
	return m.spend(root.whole)
}

func (m *meter) spend(s size) error {
	if s.bytes > largest {
		return &errSpent{fmt.Sprintf("a value of the environment could be larger than %d MiB", largest>>20),
			"refer to large values less often"}
	}
	if m.steps += s.steps(); m.steps > mostSteps {
		return &errSpent{fmt.Sprintf("evaluating the environment takes more than %d steps", mostSteps),
			"import fewer environments, or refer to large values less often"}
	}
	m.opens = max(m.opens, s.opens)
	return nil
}

// documentMeter measures what one document makes.
type documentMeter struct {
	*meter
	depth  int
	values map[string]ast.Expr
	base   *measured // the imports that are merged
	sizes  map[ast.Expr]*size
	err    error
}

func (m *meter) measure(document *ast.EnvironmentDecl, depth int) (*measured, error) {
	d := &documentMeter{meter: m, depth: depth, values: map[string]ast.Expr{}, sizes: map[ast.Expr]*size{},
		base: &measured{keys: map[string]size{}}}
	for _, entry := range document.Imports.GetElements() {
		if entry.Environment == nil {
			continue
		}
		imported := d.imported(entry.Environment.Value)
		if d.err == nil { // it is copied
			d.err = m.spend(imported.whole)
		}
		if d.err != nil {
			return nil, d.err
		}
		if entry.Meta == nil || entry.Meta.Merge == nil || entry.Meta.Merge.Value {
			d.base.whole = d.base.whole.plus(imported.whole)
			for key, s := range imported.keys {
				d.base.keys[key] = d.base.keys[key].plus(s)
			}
		}
	}
	for _, entry := range document.Values.GetEntries() {
		if entry.Key != nil {
			d.values[entry.Key.Value] = entry.Value
		}
	}
	out := &measured{whole: d.base.whole.plus(size{nodes: 1}), keys: d.base.keys}
	own := make(map[string]size, len(d.values))
	for key, x := range d.values {
		own[key] = d.of(x).plus(size{bytes: float64(len(key))})
	}
	for key, s := range own { // afterwards: references see what imports have
		out.keys[key] = out.keys[key].plus(s)
		out.whole = out.whole.plus(s)
	}
	return out, d.err
}

// imported measures an import. One that cannot be read or is being measured has no size: the evaluator reports it.
func (d *documentMeter) imported(name string) *measured {
	if found, seen := d.known[name]; seen {
		if found == nil {
			return &measured{}
		}
		return found
	}
	d.known[name] = nil
	if d.depth == deepest {
		d.err = &errSpent{fmt.Sprintf("environments import each other more than %d levels deep", deepest),
			"import those that are far down directly"}
		return &measured{}
	}
	text, err := d.load(name)
	if err != nil {
		return &measured{}
	}
	document, found, err := eval.LoadYAMLBytes(name, text)
	if err != nil || found.HasErrors() || document == nil {
		return &measured{}
	}
	out, err := d.measure(document, d.depth+1)
	if err != nil {
		d.err = err
		return &measured{}
	}
	d.known[name] = out
	return out
}

// of returns the size of an expression's value; nothing for one that refers to itself, which the evaluator reports.
func (d *documentMeter) of(x ast.Expr) size {
	if known := d.sizes[x]; known != nil || d.err != nil {
		if known == nil {
			return size{}
		}
		return *known
	}
	out := new(size)
	d.sizes[x] = out
	s, made := d.compute(x)
	if made && d.err == nil {
		d.err = d.spend(s)
	}
	*out = s
	return s
}

// compute returns the size of an expression's value, and whether it is made anew, rather than put together of others.
func (d *documentMeter) compute(x ast.Expr) (s size, made bool) {
	one := size{nodes: 1}
	switch x := x.(type) {
	case *ast.StringExpr:
		return size{nodes: 1, bytes: float64(len(x.Value))}, false
	case *ast.NumberExpr:
		return size{nodes: 1, bytes: float64(len(x.Value))}, false
	case *ast.InterpolateExpr:
		s = one
		for _, part := range x.Parts {
			s.bytes += float64(len(part.Text))
			if part.Value != nil {
				s = s.plus(d.interpolated(part.Value))
			}
		}
		s.nodes = 1
		return s, true
	case *ast.SymbolExpr:
		return d.referred(x.Property), true
	case *ast.ArrayExpr:
		s = one
		for _, item := range x.Elements {
			s = s.plus(d.of(item))
		}
		return s, false
	case *ast.ObjectExpr:
		s = one
		for _, entry := range x.Entries {
			if entry.Key != nil {
				s = s.plus(d.of(entry.Value)).plus(size{bytes: float64(len(entry.Key.Value))})
			}
		}
		return s, false
	case *ast.ConcatExpr:
		return d.of(x.Arrays), true
	case *ast.FromBase64Expr:
		return d.of(x.String), true
	case *ast.FromJSONExpr:
		s = d.of(x.String)
		s.nodes += s.bytes / 2
		return s, true
	case *ast.SplitExpr:
		s = d.of(x.String).plus(d.of(x.Delimiter))
		s.nodes += s.bytes
		return s, true
	case *ast.JoinExpr:
		delimiter, values := d.of(x.Delimiter), d.of(x.Values)
		return size{nodes: 1, bytes: values.bytes + values.nodes*(delimiter.bytes+8),
			opens: values.opens + values.nodes*delimiter.opens}, true
	case *ast.ToBase64Expr:
		s = d.of(x.Value)
		s.bytes += s.bytes/3 + 4
		return s, true
	case *ast.ToJSONExpr:
		return d.of(x.Value).text(), true
	case *ast.ToYAMLExpr:
		return d.of(x.Value).text(), true
	case *ast.ToStringExpr:
		return d.of(x.Value).text(), true
	case *ast.SecretExpr:
		if x.Plaintext != nil {
			return size{nodes: 1, bytes: float64(len(x.Plaintext.Value))}, false
		}
		return one, false
	case *ast.ValidateExpr:
		return d.of(x.Value).plus(d.of(x.Schema)), true
	case *ast.FinalExpr:
		return d.of(x.Value), false
	case *ast.OpenExpr:
		d.of(x.Inputs)
		return size{nodes: 1, opens: 1}, true
	}
	return one, false
}

// interpolated is the size of a value within a text; anything but text becomes JSON.
func (d *documentMeter) interpolated(access *ast.PropertyAccess) size {
	s := d.referred(access)
	if s.nodes <= 1 {
		return size{bytes: s.bytes + 8, opens: s.opens}
	}
	return s.text()
}

// referred is the size of what a reference leads to, or of something that contains it.
func (d *documentMeter) referred(access *ast.PropertyAccess) size {
	path := make([]any, len(access.Accessors))
	for i, accessor := range access.Accessors {
		switch a := accessor.(type) {
		case *ast.PropertyName:
			path[i] = a.Name
		case *ast.PropertySubscript:
			path[i] = a.Index
		}
	}
	key, _ := path[0].(string)
	switch key {
	case "context":
		return size{nodes: 10, bytes: 1000}
	case "imports":
		if len(path) > 1 {
			name, _ := path[1].(string)
			return d.imported(name).at(path[2:])
		}
		return d.base.whole
	case "environments":
		if len(path) > 2 {
			return d.imported(fmt.Sprint(path[1], "/", path[2])).at(path[3:])
		}
		return d.base.whole
	}
	x, own := d.values[key]
	if !own {
		return d.base.keys[key]
	}
	for _, step := range path[1:] {
		next := member(x, step)
		if next == nil { // in what imports add, or in what the expression makes
			return d.of(x).plus(d.base.keys[key])
		}
		x = next
	}
	s := d.of(x)
	if _, isMap := x.(*ast.ObjectExpr); isMap { // imports are merged into it
		s = s.plus(d.base.keys[key])
	}
	return s
}

// at returns the size of a part of an environment.
func (m *measured) at(path []any) size {
	if len(path) > 0 {
		if key, ok := path[0].(string); ok {
			return m.keys[key]
		}
	}
	return m.whole
}

// member returns the expression of a member of a list or a map that is written out; nil for others.
func member(x ast.Expr, step any) ast.Expr {
	switch x := x.(type) {
	case *ast.ObjectExpr:
		for _, entry := range x.Entries {
			if entry.Key != nil && entry.Key.Value == step {
				return entry.Value
			}
		}
	case *ast.ArrayExpr:
		if i, ok := step.(int); ok && i >= 0 && i < len(x.Elements) {
			return x.Elements[i]
		}
	}
	return nil
}

// opened charges the result of a call of fn::open, as often as it can be in values.
func (m *meter) opened(v esc.Value) error {
	if s := sizeOf(v); s.bytes*m.opens > largest || s.steps()*m.opens > mostSteps {
		return &errSpent{fmt.Sprintf("a value of the environment could be larger than %d MiB with its result", largest>>20),
			"refer to it less often"}
	}
	return nil
}

func sizeOf(v esc.Value) size {
	s := size{nodes: 1}
	switch value := v.Value.(type) {
	case string:
		s.bytes = float64(len(value))
	case []esc.Value:
		for _, item := range value {
			s = s.plus(sizeOf(item))
		}
	case map[string]esc.Value:
		for key, item := range value {
			s = s.plus(sizeOf(item)).plus(size{bytes: float64(len(key))})
		}
	}
	return s
}
