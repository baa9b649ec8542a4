package projects

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// stackReferenceToken is the type of the resource that reads another stack (L7.11).
const stackReferenceToken = "pulumi:pulumi:StackReference"

// organization is the only organization outside of Pulumi Cloud (F6.14).
const organization = "organization"

// reader finds stack references in a program. It evaluates constant expressions: literals, configuration, variables,
// names of the run, and templates and joins of those.
type reader struct {
	member *Member
	file   *ast.File
	config map[string]check.ConfigText
	busy   map[string]bool // variables under evaluation, to stop at cycles, which the checker reports
}

// values finds the stack references in calls within variables and outputs.
func (r *reader) values(variables []*ast.Variable, outputs []*ast.Output) {
	for _, v := range variables {
		r.calls(v.Value)
	}
	for _, out := range outputs {
		r.calls(out.Value)
	}
}

// resources finds the stack references among resources and in calls within their properties. inside reports whether the
// resources belong to a component; then a stack's name may depend on inputs, which are unknown here.
func (r *reader) resources(list []*ast.Resource, inside bool) {
	for _, res := range list {
		res.Exprs(r.calls)
		if res.Type.Text() != stackReferenceToken {
			continue
		}
		named := r.stackName(res)
		if named == nil {
			name := res.Name
			if res.LogicalName != nil {
				name = *res.LogicalName
			}
			r.member.refer(name.Value, name.Range)
			continue
		}
		r.refer(named, inside && usesInputs(named))
	}
}

// refer records the stack named by an expression. If unknown is true or the expression is not constant, the reference
// is recorded as unread.
func (r *reader) refer(named ast.Expr, unknown bool) {
	if text, known := r.text(named); known && !unknown {
		r.member.refer(text, named.Range())
	} else {
		r.member.Unread = append(r.member.Unread, named.Range())
	}
}

// stackName returns the expression that names the referenced stack, or nil if the resource's own name is the stack's
// name.
func (r *reader) stackName(res *ast.Resource) ast.Expr {
	if res.Get != nil && res.Get.ID != nil {
		return res.Get.ID
	}
	for _, p := range res.Properties {
		if p.Name.Value == "name" {
			return p.Value
		}
	}
	return res.PropertiesExpr
}

// usesInputs reports whether e, an expression of a component, refers to anything but `pulumi`.
func usesInputs(e ast.Expr) bool {
	uses := false
	ast.Walk(e, func(e ast.Expr) bool {
		if a, ok := e.(*ast.Access); ok && a.Root.Value != "pulumi" {
			uses = true
		}
		return true
	})
	return uses
}

// calls finds the calls within e that read a stack.
func (r *reader) calls(e ast.Expr) {
	ast.Walk(e, func(e ast.Expr) bool {
		call, ok := e.(*ast.Call)
		if !ok {
			return true
		}
		var named ast.Expr
		switch call.Name.Value {
		case "stackReference":
			named = argument(call, 0)
		case "invoke":
			m, _ := call.Argument.(*ast.Map)
			token, _ := r.text(entryOf(m, "function"))
			if token == "pulumi:pulumi:readStackOutputs" || token == "pulumi:pulumi:readStackResourceOutputs" {
				arguments, _ := entryOf(m, "arguments").(*ast.Map)
				named = cmp.Or(entryOf(arguments, "name"), entryOf(arguments, "stackName"))
			}
		}
		if named != nil {
			r.refer(named, false)
		}
		return true
	})
}

// argument returns the i-th argument of a call in either form, or nil if there is none.
func argument(call *ast.Call, i int) ast.Expr {
	if list, ok := call.Argument.(*ast.List); ok && i < len(list.Items) {
		return list.Items[i]
	}
	if i < len(call.Args) {
		return call.Args[i]
	}
	return nil
}

// entryOf returns the value of a key of a map, or nil if there is none. m may be nil.
func entryOf(m *ast.Map, key string) ast.Expr {
	if m == nil {
		return nil
	}
	for _, entry := range m.Entries {
		if k, ok := entry.Key.(*ast.String); ok && k.Value == key {
			return entry.Value
		}
	}
	return nil
}

// text returns the text of a constant expression. The second result is false if e is not constant.
func (r *reader) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.String:
		return e.Value, true
	case *ast.Template:
		var b strings.Builder
		for _, part := range e.Parts {
			text, known := r.text(part)
			if !known {
				return "", false
			}
			b.WriteString(text)
		}
		return b.String(), true
	case *ast.Access:
		return r.access(e)
	case *ast.Call:
		if e.Name.Value == "join" {
			return r.join(e)
		}
	}
	return "", false
}

// join evaluates a call of fn::join.
func (r *reader) join(call *ast.Call) (string, bool) {
	sep, known := r.text(argument(call, 0))
	list, isList := argument(call, 1).(*ast.List)
	if !known || !isList {
		return "", false
	}
	parts := make([]string, len(list.Items))
	for i, item := range list.Items {
		if parts[i], known = r.text(item); !known {
			return "", false
		}
	}
	return strings.Join(parts, sep), true
}

// access evaluates a reference with its steps.
func (r *reader) access(a *ast.Access) (string, bool) {
	root := a.Root.Value
	if root == "pulumi" && len(a.Steps) == 1 {
		switch a.Steps[0].Name {
		case "project":
			return r.member.Project.Name.Text, true
		case "stack":
			return r.member.Stack, true
		case "organization":
			return organization, true
		}
		return "", false
	}
	for _, v := range r.file.Variables {
		if v.Name.Value == root {
			if r.busy[root] {
				return "", false
			}
			r.busy[root] = true
			defer delete(r.busy, root)
			return r.text(into(v.Value, a.Steps))
		}
	}
	return r.configured(root, a.Steps)
}

// into follows steps into a literal expression. It returns nil if the steps do not lead to a literal part.
func into(e ast.Expr, steps []ast.Step) ast.Expr {
	for _, step := range steps {
		switch node := e.(type) {
		case *ast.Map:
			e = entryOf(node, step.Name)
		case *ast.List:
			if !step.IsIndex || step.Index < 0 || step.Index >= len(node.Items) {
				return nil
			}
			e = node.Items[step.Index]
		default:
			return nil
		}
	}
	return e
}

// configured evaluates a reference to configuration: the value of the stack or the project file, or else the program's
// default.
func (r *reader) configured(root string, steps []ast.Step) (string, bool) {
	name := root
	var fallback ast.Expr
	for _, c := range r.file.Config {
		if c.Name.Value == root {
			if fallback = c.Default; c.Key != nil {
				name = c.Key.Value
			}
		}
	}
	key, err := project.ParseKey(name, r.member.Project.Name.Text)
	if err != nil {
		return "", false
	}
	text, set := r.config[key.String()]
	switch {
	case text.Secret:
		return "", false
	case set && len(steps) == 0 && !text.Structured:
		return text.Text, true
	case set && text.Structured:
		var data any
		if err := json.Unmarshal([]byte(text.Text), &data); err != nil {
			return "", false
		}
		return dataText(data, steps)
	case set:
		return "", false
	}
	return r.text(into(fallback, steps))
}

// dataText follows steps into a structured value and returns the text found there.
func dataText(data any, steps []ast.Step) (string, bool) {
	path := make(value.Path, len(steps))
	for i, step := range steps {
		path[i] = value.PathStep{Key: step.Name, Index: step.Index, IsIndex: step.IsIndex}
	}
	part, _ := project.PartOf(data, path)
	text, ok := part.(string)
	return text, ok
}

// tagsOf returns the tags that a stack's configuration sets.
func tagsOf(config map[project.Key]project.Text) map[string]string {
	text, set := config[project.Key{Namespace: "pulumi", Name: "tags"}]
	if !set || text.Secret {
		return nil
	}
	tags := map[string]string{}
	if err := json.Unmarshal([]byte(text.Text), &tags); err != nil {
		return nil
	}
	return tags
}
