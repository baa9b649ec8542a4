package editor

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// firstKey is the key of the instance that replaces a resource without forEach.
const firstKey = "main"

// repeat offers to add forEach to a resource. The resource becomes the only instance, an alias keeps its state, and its
// uses refer to the instance. The one instance must be the resource of before: its alias names that, and only for its
// key, for further instances are new.
func repeat(a *actor) []Action {
	n := a.resource()
	if n == nil || n.Resource.Decl.ForEach != nil || n.Resource.Decl.If != nil || n.Resource.Decl.Get != nil ||
		n.Resource.Decl.Options.Aliases != nil || n.Resource.Component != nil {
		return nil
	}
	decl := n.Resource.Decl
	trail := a.trail(a.start, a.end)
	depth := slices.IndexFunc(trail, func(s parser.Span) bool { return s.Key.Start == a.p.location(n.Range).At.Start })
	if depth < 0 || a.start != a.end && depth < len(trail)-1 || depth+1 < len(trail) &&
		!strings.EqualFold(trail[depth+1].Name, "type") {
		return nil // offered on the resource's name and type only
	}
	span := trail[depth]
	typed := keyed(span.Children, "type")
	if typed < 0 || a.text.inFlow(trail[:depth+1]) || span.Flow {
		return nil
	}
	end := a.text.lineEnd(int(span.Children[typed].Value.End))
	pad := strings.Repeat(" ", a.text.column(int(span.Children[typed].Key.Start)))
	edits := []diag.Edit{a.replace(end, end, "\n"+pad+"forEach: {"+firstKey+": "+firstKey+"}")}
	// Instances are named after the resource and their key, even if its logical name was derived from something else.
	old := n.Resource.LogicalName
	if decl.LogicalName == nil {
		old = n.Name
	}
	alias := "aliases: " + literal.Scalar(`${each.key == "`+firstKey+`" ? [{name = `+literal.Quoted(old)+"}] : []}")
	if options := keyed(span.Children, "options"); options >= 0 {
		edit, ok := a.add(span.Children[options], false, alias, "")
		if !ok || span.Children[options].Flow {
			return nil
		}
		edits = append(edits, edit)
	} else {
		edits[0].Text += "\n" + pad + "options:\n" + pad + "  " + alias
	}
	// A use that cannot be edited would be one of all instances, which is another value.
	for _, use := range a.p.uses(n) {
		edit, ok := a.instance(use)
		if !ok {
			return nil
		}
		edits = append(edits, edit...)
	}
	return a.action(RewriteAction, "Wrap "+n.Name+" in forEach", edits...)
}

// instance returns the edits that make a use of a resource refer to its only instance. dependsOn may refer to all
// instances and needs no edit. In a text in double quotes the quotes of the key are escaped.
func (a *actor) instance(use *ast.Access) ([]diag.Edit, bool) {
	_, end, ok := a.place(use.Root.Range)
	if !ok {
		return nil, false
	}
	trail := a.trail(end, end)
	if len(trail) == 0 || trail[len(trail)-1].Kind != parser.ScalarSpan {
		return nil, false
	}
	if keyed(trail, "dependsOn") >= 0 && len(use.Steps) == 0 {
		return nil, true
	}
	key := `["` + firstKey + `"]`
	if trail[len(trail)-1].Value.Text()[0] == '"' {
		key = `[\"` + firstKey + `\"]`
	}
	return []diag.Edit{a.replace(end, end, key)}, true
}
