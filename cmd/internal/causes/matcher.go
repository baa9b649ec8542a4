package causes

import (
	"regexp"
	"strconv"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// matcher finds out whether an expression could have given a value while only some atoms had another value.
type matcher struct {
	*walker
	vary map[any]bool
	deep int
}

// mostMatched is the length of the longest text that is matched.
const mostMatched = 64 << 10

// anything matches every text.
const anything = `[\s\S]*`

// fits reports whether the value at a path in an expression could have been v. It returns true where that is not known.
func (m *matcher) fits(f frame, e ast.Expr, rest value.Path, v value.Value) bool {
	if m.deep++; m.deep > mostDepth {
		return true
	}
	defer func() { m.deep-- }()
	e, rest, missing := deepest(e, rest)
	v = v.Public()
	if missing {
		return m.vary[e] || v.IsNull()
	}
	if m.vary[e] || !v.IsKnown() {
		return true
	}
	switch e := e.(type) {
	case *ast.Map:
		if !v.Is(value.KindMap) {
			return false
		}
		for _, entry := range e.Entries {
			key, literal := entry.Key.(*ast.String)
			if literal && !m.fits(f, entry.Value, nil, v.Get(key.Value)) {
				return false
			}
		}
		return true
	case *ast.List:
		if !v.Is(value.KindList) || v.Len() != len(e.Items) {
			return false
		}
		for i, item := range e.Items {
			if !m.fits(f, item, nil, v.At(i)) {
				return false
			}
		}
		return true
	case *ast.Access:
		if in, inner, path, ok := m.follow(f, e, rest); ok {
			return m.fits(in, inner, path, v)
		}
	case *ast.Null:
		return v.IsNull()
	}
	text, scalar := textOf(v)
	if v.IsNull() {
		scalar, text = true, ""
	}
	if !scalar || len(text) > mostMatched {
		return true
	}
	pattern, err := regexp.Compile(`^(?:` + m.pattern(f, e, rest) + `)$`)
	return err != nil || pattern.MatchString(text)
}

// textOf returns a scalar as text.
func textOf(v value.Value) (string, bool) {
	if text, ok := v.AsString(); ok {
		return text, true
	}
	if n, ok := v.AsNumber(); ok {
		return strconv.FormatFloat(n, 'f', -1, 64), true
	}
	if b, ok := v.AsBool(); ok {
		return strconv.FormatBool(b), true
	}
	return "", false
}

// pattern returns a regular expression for the texts that an expression could have given.
func (m *matcher) pattern(f frame, e ast.Expr, rest value.Path) string {
	if m.deep++; m.deep > mostDepth {
		return anything
	}
	defer func() { m.deep-- }()
	e, rest, missing := deepest(e, rest)
	if missing || m.vary[e] {
		return anything
	}
	switch e := e.(type) {
	case *ast.String:
		return regexp.QuoteMeta(e.Value)
	case *ast.Number:
		return regexp.QuoteMeta(strconv.FormatFloat(e.Value, 'f', -1, 64))
	case *ast.Bool:
		return strconv.FormatBool(e.Value)
	case *ast.Template:
		all := ""
		for _, part := range e.Parts {
			all += m.pattern(f, part, nil)
		}
		return all
	case *ast.Conditional:
		return "(?:" + m.pattern(f, e.Then, nil) + "|" + m.pattern(f, e.Else, nil) + ")"
	case *ast.Call:
		return m.joined(f, e)
	case *ast.Access:
		if in, inner, path, ok := m.follow(f, e, rest); ok {
			return m.pattern(in, inner, path)
		}
		ref := f.body.Ref(e)
		if ref.Kind != check.RefNode || ref.Node == nil || ref.Node.Kind != check.ConfigNode || m.vary[ref.Node] {
			return anything
		}
		if c := ref.Node.Config; c.Value != nil {
			v, _ := append(pathOf(e.Steps), rest...).Get(*c.Value)
			if text, scalar := textOf(v.Public()); scalar {
				if c.Text != nil && *c.Text != text && len(e.Steps)+len(rest) == 0 {
					return "(?:" + regexp.QuoteMeta(text) + "|" + regexp.QuoteMeta(*c.Text) + ")"
				}
				return regexp.QuoteMeta(text)
			}
		} else if c.Decl != nil && c.Decl.Default != nil && !f.body.InComponent {
			return m.pattern(f, c.Decl.Default, append(pathOf(e.Steps), rest...))
		}
	}
	return anything
}

// joined returns the pattern of a call of fn::join with a literal list.
func (m *matcher) joined(f frame, e *ast.Call) string {
	target := f.body.Call(e)
	if target == nil || target.Func == nil || target.Func.Name != "join" || len(target.Args) != 2 {
		return anything
	}
	list, literal := target.Args[1].(*ast.List)
	if !literal {
		return anything
	}
	between, all := m.pattern(f, target.Args[0], nil), ""
	for i, item := range list.Items {
		if i > 0 {
			all += between
		}
		all += m.pattern(f, item, nil)
	}
	return all
}

// follow returns the expression behind a name: that of a variable, of an input of a component, or an item of a literal
// forEach.
func (m *matcher) follow(f frame, e *ast.Access, rest value.Path) (_ frame, _ ast.Expr, path value.Path, ok bool) {
	ref := f.body.Ref(e)
	path = append(pathOf(e.Steps), rest...)
	switch {
	case ref.Node == nil:
	case ref.Kind == check.RefEach && ref.Node.Resource != nil:
		if item := itemFor(ref.Node.Resource.Decl.ForEach, f.step, ref.Node); item != nil && len(path) > 0 &&
			path[0].Key == "value" {
			return f, item, path[1:], true
		}
	case ref.Kind != check.RefNode:
	case ref.Node.Kind == check.VariableNode:
		return f, ref.Node.Variable.Value, path, true
	case ref.Node.Kind == check.ConfigNode && f.body.InComponent && ref.Node.Config.Decl != nil:
		owner := m.owner(f)
		if owner.node == nil {
			return f, nil, nil, false
		}
		if inner := owner.node.Resource.Decl.Property(ref.Node.Config.Decl.Name.Value); inner != nil {
			return owner, inner, path, true
		}
		if inner := ref.Node.Config.Decl.Default; inner != nil {
			return f, inner, path, true
		}
	}
	return f, nil, nil, false
}
