package operation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// WriteAliasesFlag adds --write-aliases.
func WriteAliasesFlag(cmd *cobra.Command, o *PlanOptions) {
	cmd.Flags().BoolVar(&o.writeAliases, "write-aliases", false,
		"add an alias to the program for each resource that looks renamed or moved, and plan again")
}

// createdDeleted holds the resources that a plan creates and deletes.
type createdDeleted struct{ created, deleted []*state.Resource }

func (x *createdDeleted) note(e *engine.StepStarted) {
	s := e.Step
	switch {
	case e.Internal:
	case s.Op == engine.OpCreate && s.New != nil && s.New.ViewOf == "" && s.Type != urn.RootStackType:
		x.created = append(x.created, s.New)
	case s.Op == engine.OpDelete && s.Old != nil && s.Old.ViewOf == "" && !s.Old.Delete && s.Type != urn.RootStackType:
		x.deleted = append(x.deleted, s.Old)
	}
}

// renamed pairs a resource that would be deleted with a similar one that has another name or parent.
type renamed struct {
	old, new  *state.Resource
	inherited bool // the alias of its parent is enough
}

// mostPairs bounds the comparisons for one plan. A plan above it is another program, in which looking for renames would
// take too long.
const mostPairs = 250_000

// findRenames pairs resources that a plan deletes with those that it creates: of the same type, with the same known
// inputs. moved are the former URNs by the new ones.
func findRenames(created, deleted []*state.Resource) (found []renamed, moved map[urn.URN]urn.URN) {
	type candidate struct {
		renamed
		likeness int
	}
	if len(created)*len(deleted) > mostPairs {
		return nil, nil
	}
	var candidates []candidate
	for _, c := range created {
		for _, d := range deleted {
			if c.Type == d.Type && c.Custom == d.Custom && alikeInputs(d, c) && sameChildren(d, c, created, deleted) {
				candidates = append(candidates, candidate{renamed{old: d, new: c}, likeness(d, c)})
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return b.likeness - a.likeness })
	taken := map[*state.Resource]bool{}
	for _, c := range candidates {
		if !taken[c.old] && !taken[c.new] {
			taken[c.old], taken[c.new] = true, true
			found = append(found, c.renamed)
		}
	}
	moved = map[urn.URN]urn.URN{}
	for _, r := range found {
		moved[r.new.URN] = r.old.URN
	}
	for i, r := range found {
		parent, name := moved[r.new.Parent], r.new.URN.Name()
		if rest, prefixed := strings.CutPrefix(name, r.new.Parent.Name()); prefixed && parent != "" {
			name = parent.Name() + rest
		}
		found[i].inherited = parent != "" && parent == r.old.Parent && (name == r.old.URN.Name() ||
			r.new.URN.Name() == r.old.URN.Name())
	}
	slices.SortStableFunc(found, func(a, b renamed) int {
		return slices.Index(created, a.new) - slices.Index(created, b.new)
	})
	return found, moved
}

// likeness ranks a pair: a resource that keeps its name has moved, one that keeps its parent has another name.
func likeness(old, created *state.Resource) int {
	a, b := old.URN.Name(), created.URN.Name()
	if a == b {
		return 1000
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	end := 0
	for end < min(len(a), len(b))-n && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if old.Parent == created.Parent {
		n += 100
	}
	return n + end
}

// sameChildren reports whether two components have children of the same types.
func sameChildren(old, next *state.Resource, created, deleted []*state.Resource) bool {
	if old.Custom {
		return true
	}
	types := func(parent urn.URN, all []*state.Resource) []string {
		var list []string
		for _, r := range all {
			if r.Parent == parent {
				list = append(list, r.Type)
			}
		}
		slices.Sort(list)
		return list
	}
	return slices.Equal(types(old.URN, deleted), types(next.URN, created))
}

// alikeInputs reports whether two resources have the same inputs. Unknown inputs may be the same, and names from
// providers begin with the names of the resources.
func alikeInputs(old, created *state.Resource) bool {
	own := func(a, b value.Value) bool {
		was, ok1 := a.AsString()
		now, ok2 := b.AsString()
		return ok1 && ok2 && strings.HasPrefix(was, old.URN.Name()+"-") && strings.HasPrefix(now, created.URN.Name()+"-")
	}
	var alike func(a, b value.Value) bool
	alike = func(a, b value.Value) bool {
		if !b.IsKnown() || !a.IsKnown() {
			return true
		}
		if a.Kind() == value.KindMap && b.Kind() == value.KindMap {
			for _, key := range b.Keys() {
				if _, has := a.Lookup(key); !has && !strings.HasPrefix(key, "__") {
					return false
				}
			}
			for i, key := range a.Keys() {
				v, has := b.Lookup(key)
				if !has && !strings.HasPrefix(key, "__") || has && !alike(a.At(i), v) {
					return false
				}
			}
			return true
		}
		x, isList := a.AsList()
		y, both := b.AsList()
		if isList && both {
			return slices.EqualFunc(x, y, alike)
		}
		return value.Equal(a.Bare(), b.Bare()) || own(a, b)
	}
	return alike(old.Inputs, created.Inputs)
}

// renames reports the resources that look renamed or moved. With write it writes their aliases into the program
// instead, as far as possible, and then returns true.
func (x *createdDeleted) renames(a *console.Console, program *check.Program, write bool) (written bool, err error) {
	if program == nil {
		return false, nil
	}
	found, moved := findRenames(x.created, x.deleted)
	if len(found) == 0 {
		return false, nil
	}
	var diags diag.Diagnostics
	for _, d := range declarations(program) {
		var instances []renamed
		for _, r := range found {
			if !r.inherited && d.makes(r.new) {
				instances = append(instances, r)
			}
		}
		if advice := renameAdvice(program, d, instances, moved); advice != nil {
			diags.Add(*advice)
		}
	}
	if len(diags) == 0 {
		return false, nil
	}
	if write {
		n, err := writeAliases(a, diags)
		if err != nil || n > 0 {
			return n > 0, err
		}
	}
	return false, a.Report(diags)
}

// declaration is a declaration of resources in a program.
type declaration struct {
	node  *check.Node
	name  string // of its resource, or the prefix of its instances' names
	inner bool   // it is in a component
}

// declarations lists the declarations of a program and of components that it uses once, so that an alias there concerns
// one resource.
func declarations(program *check.Program) []declaration {
	used := map[*check.Component]int{}
	count := func(p *check.Program) {
		for _, n := range p.Nodes {
			if n.Resource != nil && n.Resource.Component != nil {
				used[n.Resource.Component]++
			}
		}
	}
	count(program)
	for _, c := range program.Components {
		count(c.Body)
	}
	var list []declaration
	var visit func(p *check.Program, prefix string)
	visit = func(p *check.Program, prefix string) {
		for _, n := range p.Nodes {
			if n.Resource == nil {
				continue
			}
			d := declaration{node: n, name: prefix + n.Resource.LogicalName, inner: p != program}
			list = append(list, d)
			if c := n.Resource.Component; c != nil && !c.Packaged && used[c] == 1 && n.Resource.Decl.ForEach == nil {
				visit(c.Body, d.name+"-")
			}
		}
	}
	visit(program, "")
	return list
}

// makes reports whether a resource comes from the declaration.
func (d declaration) makes(r *state.Resource) bool {
	name := r.URN.Name()
	if d.node.Resource.Decl.ForEach != nil {
		return d.node.Resource.Token == r.Type && strings.HasPrefix(name, d.name+"-")
	}
	return d.node.Resource.Token == r.Type && name == d.name
}

// formerName writes the name of an alias for all instances of the declaration; false if their former names do not
// follow from their keys.
func (d declaration) formerName(instances []renamed) (string, bool) {
	first := instances[0].old.URN.Name()
	if d.node.Resource.Decl.ForEach == nil {
		return literal.Flow(literal.Text(first)), true
	}
	key := instances[0].new.URN.Name()[len(d.name)+1:]
	for i := range first {
		rest, has := strings.CutPrefix(first[i:], key)
		if has && !slices.ContainsFunc(instances, func(r renamed) bool {
			return r.old.URN.Name() != first[:i]+r.new.URN.Name()[len(d.name)+1:]+rest
		}) {
			return literal.JSON(literal.Template([]literal.Part{{Text: first[:i]}, {Expression: "each.key"}, {Text: rest}})), true
		}
	}
	return "", false
}

// renameAdvice returns the finding about a declaration whose resources look renamed; nil if there are none, or if one
// alias cannot match all of them.
func renameAdvice(program *check.Program, d declaration, instances []renamed,
	moved map[urn.URN]urn.URN) *diag.Diagnostic {
	if len(instances) == 0 {
		return nil
	}
	name, ok := d.formerName(instances)
	if !ok {
		return nil
	}
	n, r := d.node, instances[0]
	alias := aliasOf(program, d, r, name, moved)
	was := "`" + r.old.URN.Name() + "`"
	if len(instances) > 1 {
		was = name
	}
	if r.old.URN.Name() == r.new.URN.Name() {
		was = "`" + r.old.URN.Name() + "` under another parent"
	}
	advice := &diag.Diagnostic{Severity: diag.Warning, Subject: n.Range,
		Summary: fmt.Sprintf("`%s` looks like a rename of %s: it has the same type and the same inputs", n.Name, was),
		Detail: "to keep the object, add to its options: aliases: [" + alias + "]\n" +
			"or let `yamlhost up --write-aliases` do it"}
	if edit, ok := aliasEdit(n, alias); ok {
		advice.Fixes = []diag.Fix{{Label: "Add the alias", Edits: []diag.Edit{edit}}}
	}
	return advice
}

// aliasOf writes the alias under which the resources of a declaration are found in the state, r among them.
func aliasOf(program *check.Program, d declaration, r renamed, was string, moved map[urn.URN]urn.URN) string {
	var fields []string
	if r.old.URN.Name() != r.new.URN.Name() {
		fields = append(fields, "name: "+was)
	}
	parent := r.new.Parent
	if former := moved[parent]; former != "" {
		parent = former
	}
	switch {
	case parent == r.old.Parent:
	case r.old.Parent == "" || r.old.Parent.Type() == urn.RootStackType:
		fields = append(fields, "noParent: true")
	default:
		name := ""
		for _, n := range program.Nodes {
			if !d.inner && n.Resource != nil && n.Resource.Token == r.old.Parent.Type() &&
				n.Resource.LogicalName == r.old.Parent.Name() {
				name = n.Name
			}
		}
		if name == "" {
			_, rest, _ := strings.Cut(string(r.old.URN)[len("urn:pulumi:"):], "::") // of any stack
			_, rest, _ = strings.Cut(rest, "::")
			return literal.JSON("urn:pulumi:${pulumi.stack}::${pulumi.project}::" + literal.Text(rest))
		}
		fields = append(fields, `parent: "${`+name+`}"`)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// aliasEdit adds an alias to the declaration of a resource; false if that is not simple.
func aliasEdit(n *check.Node, alias string) (diag.Edit, bool) {
	decl := n.Resource.Decl
	src := decl.Range.Source
	if src == nil || decl.Options.Aliases != nil || decl.Type == nil || strings.HasSuffix(src.Name(), ".json") {
		return diag.Edit{}, false
	}
	text := string(src.Text())
	insert := func(i int, added string) (diag.Edit, bool) {
		return diag.Edit{Range: diag.NewRange(src, i, i), Text: added}, true
	}
	inBraces := func(i int, added string) (diag.Edit, bool) { // the index of the opening brace
		if strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t\r\n"), "}") {
			return insert(i+1, added)
		}
		return insert(i+1, added+", ")
	}
	member := "aliases: [" + alias + "]"
	if o := decl.Options.Range; !o.IsZero() {
		start := int(o.Start)
		if rest, keyed := strings.CutPrefix(text[start:int(o.End)], "options:"); keyed {
			start += len("options:") + len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
		}
		if start >= len(text) {
			return diag.Edit{}, false
		}
		if text[start] == '{' {
			return inBraces(start, member)
		}
		line := strings.LastIndexByte(text[:start], '\n') + 1
		indent := text[line:start]
		if strings.TrimLeft(indent, " ") != "" {
			return diag.Edit{}, false
		}
		return insert(start, member+"\n"+indent)
	}
	afterName := text[int(decl.Name.Range.End):]
	body := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(afterName, `"' `), ":"), " ")
	if strings.HasPrefix(body, "{") {
		return inBraces(len(text)-len(body), "options: {"+member+"}")
	}
	line := strings.LastIndexByte(text[:int(decl.Type.Range.Start)], '\n') + 1
	indent := text[line : line+len(text[line:])-len(strings.TrimLeft(text[line:], " "))]
	if !strings.HasPrefix(text[line+len(indent):], "type:") {
		return diag.Edit{}, false
	}
	end := line + strings.IndexByte(text[line:]+"\n", '\n')
	return insert(end, "\n"+indent+"options:\n"+indent+"  "+member)
}

// writeAliases applies the fixes of findings to the files of the program, and returns how many it has applied.
func writeAliases(a *console.Console, diags diag.Diagnostics) (int, error) {
	total, done := 0, map[*diag.Source]bool{}
	for _, d := range diags {
		src := d.Subject.Source
		if src == nil || done[src] {
			continue
		}
		done[src] = true
		text, n := diag.ApplyFixes(src, diags)
		if n == 0 {
			continue
		}
		path := a.Path(src.Name())
		release, err := a.Hold(path)
		if err != nil {
			return total, err
		}
		err = osfile.WriteFile(path, text, 0o644)
		release()
		if err != nil {
			return total, fmt.Errorf("write the aliases: %w", console.PlainError(err))
		}
		fmt.Fprintf(a.Streams.Err, "%s: %s written\n", src.Name(), diag.Count(n, "alias"))
		total += n
	}
	return total, nil
}
