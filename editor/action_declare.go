package editor

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// declareMissing offers to declare an unknown name: as a configuration value, or input of the component, of the first
// type that causes no finding, and as a variable. Types are tried by checking the program with the edit, since the use
// of the name decides.
func declareMissing(a *actor) (offered []Action) {
	missing, i := a.unknown()
	if missing == "" || !plainName().MatchString(missing) {
		return nil
	}
	// A name in a component can only be declared there: its body sees nothing else.
	component, _, _, _ := scope(names(a.trail(i, i)))
	section, kind := "config", "configuration value"
	if component != "" {
		section, kind = "inputs", "input"
	}
	for _, t := range []string{"string", "integer", "boolean", "list<string>", "object"} {
		edit, ok := a.declare(component, section, missing+":\n  type: "+t, a.flowKey(missing)+": {"+a.flowKey("type")+": "+a.flowValue(t)+"}", i)
		if !ok {
			break
		}
		if fits := a.action(DeclareAction, "Declare the "+kind+" "+missing+" of type "+t, edit); a.sound(fits[0]) {
			offered = append(offered, fits...)
			break
		}
	}
	// Without a check: its value is empty and has to be written anyway.
	if edit, ok := a.declare(component, "variables", missing+`: ""`, a.flowKey(missing)+`: ""`, i); ok {
		offered = append(offered, a.action(DeclareAction, "Declare the variable "+missing, edit)...)
	}
	return offered
}

// unknown returns the undeclared name around the selection and its offset; "" if there is none.
func (a *actor) unknown() (missing string, i int) {
	a.each(func(e ast.Expr, _, _ int) {
		access, ok := e.(*ast.Access)
		if !ok || a.p.Checked.Ref(access).Kind != check.RefBad {
			return
		}
		if start, end, ok := a.place(access.Root.Range); ok && start <= a.start && a.end <= end {
			// The last one wins, which is the innermost: each walks over an expression before its parts.
			missing, i = access.Root.Value, start
		}
	})
	return missing, i
}

// pin offers to set a resource's version option to the package version that the checker uses. Without the option the
// version may be another one on the next machine.
func pin(a *actor) []Action {
	n := a.resource()
	if n == nil || n.Resource.Schema == nil || n.Resource.Component != nil || n.Resource.Decl.Options.Version != nil ||
		n.Resource.Decl.Type == nil {
		return nil
	}
	start, end, ok := a.place(n.Resource.Decl.Type.Range)
	if !ok || a.start < start || a.end > end {
		return nil // offered on the type only
	}
	pkg := a.p.load(a.ctx, n.Resource.Token)
	if pkg == nil || pkg.Version == "" {
		return nil
	}
	path, edit, ok := a.p.option(n, a.flowKey("version"), a.flowValue(pkg.Version))
	// The option would be in another file, where an action of this one has no edit.
	if !ok || path != a.path {
		return nil
	}
	return a.action(RewriteAction, "Pin version "+pkg.Version+" of the package "+pkg.Name, edit)
}

// quote offers to quote a number, boolean or null that YAML reads differently from its spelling.
func quote(a *actor) []Action {
	trail := a.trail(a.start, a.end)
	if len(trail) == 0 || a.text.json() {
		return nil
	}
	last := trail[len(trail)-1]
	start, end := int(last.Value.Start), int(last.Value.End)
	if last.Kind != parser.ScalarSpan || last.Value.IsZero() || a.start < start || a.end > end {
		return nil
	}
	var offered []Action
	a.each(func(e ast.Expr, from, to int) {
		switch e.(type) {
		case *ast.Number, *ast.Bool, *ast.Null:
			written := string(a.text[start:end])
			// An alias gives several expressions the same place; one offer is enough.
			if from == start && to == end && start < end && offered == nil && misread(e, written) {
				offered = a.action(QuoteAction, "Write "+written+" as a text", a.replace(start, end, strconv.Quote(written)))
			}
		}
	})
	return offered
}

// misread reports whether the YAML value of a word differs from its spelling, as 1.1 does from 1.10. These are the
// values that surprise: versions that lose a zero, and words of YAML 1.1.
func misread(e ast.Expr, written string) bool {
	switch e := e.(type) {
	case *ast.Number:
		return value.FormatNumber(e.Value) != written
	case *ast.Bool:
		return written != "true" && written != "false"
	case *ast.Null:
		return written != "null"
	}
	return false
}

// refer offers to replace a resource's name by a reference to it in an option that takes resources. Other tools name
// resources by a plain text in such options.
func refer(a *actor) []Action {
	trail := a.trail(a.start, a.end)
	n := a.resource()
	i := keyed(trail, "options")
	if n == nil || i < 0 || i+1 >= len(trail) {
		return nil
	}
	spec := ast.OptionSpecOf(trail[i+1].Name)
	last := trail[len(trail)-1]
	if spec == nil || spec.Shape != ast.ResourceOption && spec.Shape != ast.ResourcesOption ||
		last.Kind != parser.ScalarSpan || !last.Value.Contains(a.start) {
		return nil
	}
	// The quotes stay around the reference, where they do no harm.
	value := unquoted(last.Value)
	for _, other := range a.p.bodyOf(n).Nodes {
		if other.Resource == nil || other == n || other.Name != value.Text() {
			continue
		}
		text := "${" + other.Name + "}"
		// The braces of a reference would be those of a flow map.
		if a.text.inFlow(trail) && value == last.Value {
			text = strconv.Quote(text)
		}
		return a.action(DeclareAction, "Write `${"+other.Name+"}`", diag.Edit{Range: value, Text: text})
	}
	return nil
}

// moveOut offers to move a resource into another file of the program. The comments above the resource go with it. A
// section that becomes empty is removed, since an empty one would be null.
func moveOut(a *actor) (offered []Action) {
	n := a.resource()
	if n == nil || a.p.bodyOf(n) != a.p.Checked {
		return nil
	}
	trail := a.trail(a.start, a.end)
	if len(trail) < 2 || !strings.EqualFold(trail[0].Name, "resources") || trail[1].Name != n.Name ||
		a.text.inFlow(trail[:2]) || !trail[1].Key.Contains(a.start) {
		return nil
	}
	entry := trail[1].Range()
	start, end := a.text.aboveComments(int(entry.Start)), a.text.lineEnd(int(entry.End))
	column := a.text.column(int(entry.Start))
	// aboveComments starts at the line's start; the resource and its comments are moved from their column to the first.
	text, ok := a.moved(min(start+column, int(entry.Start)), end, 0)
	if !ok {
		return nil // a line is indented less than the resource
	}
	cut := a.cut(start, end)
	// The entry is the only one, and so the section goes with it.
	if len(trail[0].Children) == 1 {
		cut = a.cut(int(trail[0].Key.Start), end)
	}
	for _, target := range a.p.parts() {
		if target.Source.Name() == a.src.Name() {
			continue
		}
		path := a.p.PathOf(target)
		document := a.s.Text(path)
		if document == nil {
			document = parser.NewDocument(target.Source)
		}
		// The file need not be open: its text is then that of the check.
		dst := newActor(a.ctx, a.s, a.p, path, document)
		if dst.text.json() || len(dst.spans) == 0 {
			continue
		}
		// Without a flow form: a resource in lines does not fit into brackets.
		edit, ok := dst.declare("", "resources", text, "", int(dst.spans[0].Key.Start))
		if i := keyed(dst.spans, "resources"); !ok || i >= 0 && dst.spans[i].Flow {
			continue
		}
		offered = append(offered, Action{Kind: MoveAction, Title: "Move " + n.Name + " to " + filepath.Base(path),
			Edits: map[string][]diag.Edit{a.path: {cut}, path: {edit}}})
	}
	return offered
}

// parts returns the range of one declaration in each file of the program that has any.
func (p *Program) parts() (found []diag.Range) {
	seen := map[string]bool{}
	p.eachDeclaration(func(r diag.Range) {
		if whole := p.location(r); !whole.At.IsZero() && !seen[whole.Path] {
			seen[whole.Path] = true
			found = append(found, whole.At)
		}
	})
	return found
}
