package editor

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Renamable returns the name at an offset and its range. ok is false if there is none or it cannot be renamed. A name
// with a colon is a key of configuration, whose namespace is no name of the program.
func Renamable(ctx context.Context, s *Snapshot, path string, offset int) (name string, rng diag.Range, ok bool) {
	p, n, err := s.named(ctx, path, offset)
	if err != nil || n == nil || !n.declared() || strings.Contains(n.at().Text(), ":") {
		return "", diag.Range{}, false
	}
	candidates := []diag.Range{n.at()}
	for _, use := range p.places(n) {
		candidates = append(candidates, use.at)
	}
	for _, r := range candidates {
		if l := p.location(r); l.Path == path && l.At.Contains(offset) {
			return n.text(), unquoted(l.At), true
		}
	}
	return "", diag.Range{}, false
}

// text returns the name as a string.
func (n name) text() string {
	switch {
	case n.component != nil:
		return n.component.Decl.Name.Value
	case n.output != nil:
		return n.output.Decl.Name.Value
	}
	return n.node.Name
}

// plainName matches valid names, which need no quotes in an expression.
var plainName = lazyregexp.New(`^` + NamePattern + `$`)

// Rename returns the edits that change the name at an offset to dst in all files of the program and its stacks. A
// renamed resource gets an alias with its old name, and the instances of a renamed component one with their old type,
// so that the stack keeps them. It returns an error if the name cannot be changed to dst. Whatever would change the
// meaning of other text is refused: a name that is taken, or one that hides the built-in variable.
func Rename(ctx context.Context, s *Snapshot, path string, offset int, dst string) (map[string][]diag.Edit, error) {
	if _, _, ok := Renamable(ctx, s, path, offset); !ok {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("there is nothing here that can be renamed")
	}
	p, n, err := s.named(ctx, path, offset)
	if err != nil {
		return nil, err
	}
	if !plainName().MatchString(dst) {
		return nil, fmt.Errorf("%q is not a name: a name has letters, digits, _ and -, and begins with a letter or _",
			dst)
	}
	if dst == n.text() {
		return nil, nil
	}
	// The parser would report the second declaration, after all uses have changed their meaning.
	if p.taken(n, dst) {
		return nil, fmt.Errorf("%s is declared already", dst)
	}
	if dst == "pulumi" && n.node != nil {
		return nil, fmt.Errorf("`pulumi` is the built-in variable")
	}
	if n.node != nil && hides(p, n.node, dst) {
		return nil, fmt.Errorf("%s means something else where %s is used", dst, n.text())
	}
	edits := map[string][]diag.Edit{}
	// r may be of a part of the text, of another file, or of settings; location finds out.
	replace := func(r diag.Range, text string) {
		loc := p.location(r)
		edits[loc.Path] = append(edits[loc.Path], diag.Edit{Range: unquoted(loc.At), Text: text})
	}
	replace(n.at(), dst)
	for _, use := range p.places(n) {
		text := dst
		if use.access && strings.HasPrefix(use.at.Text(), "[") {
			text = strings.Replace(use.at.Text(), n.text(), dst, 1) // keep the quotes, which may be escaped
		}
		replace(use.at, text)
	}
	// An alias that cannot be added is left out, as aliases that are computed are the user's own affair.
	for _, kept := range p.renamed(n) {
		if file, edit, ok := p.alias(kept.node, kept.key, kept.was, false); ok {
			edits[file] = append(edits[file], edit)
		}
	}
	return edits, nil
}

// taken reports whether another declaration already has the name dst.
func (p *Program) taken(n *name, dst string) bool {
	switch {
	case n.component != nil:
		return slices.ContainsFunc(p.Checked.Components, func(c *check.Component) bool {
			return !c.Packaged && c.Decl.Name.Value == dst
		})
	case n.output != nil:
		return outputOf(n.owner, dst) != nil
	}
	return slices.ContainsFunc(p.bodyOf(n.node).Nodes, func(other *check.Node) bool { return other.Name == dst })
}

// hides reports whether a use of n would mean something else under the name dst: a name that a comprehension or recover
// binds around it, or one that resources, transforms, hooks and policies have.
func hides(p *Program, n *check.Node, dst string) (hidden bool) {
	switch dst {
	case "each", "args":
		return true
	case "resource", "resources", "config":
		hidden = len(p.File.Policies) > 0
	}
	p.walk(func(e ast.Expr) {
		bound := false
		switch e := e.(type) {
		case *ast.For:
			bound = e.ValueName.Name == dst || e.KeyName != nil && e.KeyName.Name == dst
		case *ast.Call:
			bound = e.Failure != nil && e.Failure.Name == dst
		}
		if !bound || hidden {
			return
		}
		ast.Walk(e, func(inside ast.Expr) bool {
			a, is := inside.(*ast.Access)
			hidden = hidden || is && p.Checked.Ref(a).Node == n
			return true
		})
	})
	return hidden
}

// before is an alias that a resource needs after a rename.
type before struct {
	node     *check.Node
	key, was string // key and value of the alias
}

// renamed returns the aliases for the resources that get a new URN if n is renamed. A resource with a name of its own
// in the stack keeps it, and needs no alias.
func (p *Program) renamed(n *name) (found []before) {
	switch {
	case n.node != nil && n.node.Resource != nil && n.node.Resource.Decl.LogicalName == nil:
		// The name in the stack follows from the name in the program.
		return []before{{n.node, "name", n.node.Name}}
	case n.component == nil || afterColons(n.component.Decl.Name.Range).Text() == "" ||
		!strings.HasSuffix(n.component.Token, ":"+n.component.Decl.Name.Value):
		return nil // the component's type does not depend on its name
	}
	for _, r := range instances(p.bodies(), n.component) {
		found = append(found, before{r, "type", n.component.Token})
	}
	return found
}

// bodyOf returns the body that declares a node.
func (p *Program) bodyOf(n *check.Node) *check.Program {
	for _, body := range p.bodies() {
		if slices.Contains(body.Nodes, n) {
			return body
		}
	}
	return p.Checked
}

// alias returns the edit that adds an alias to a resource, and the path of the file to edit. key and oldName are an
// entry of the alias, such as the old name; noParent adds noParent: true. ok is false if the aliases are computed. The
// new alias comes first in the list, where it can be added without reading the others.
func (p *Program) alias(n *check.Node, key, oldName string, noParent bool) (path string, edit diag.Edit, ok bool) {
	aliasKey, entry := "aliases", "{"+key+": "+literal.Flow(literal.Text(oldName))
	parentless := ", noParent: true"
	if strings.HasPrefix(n.Range.Text(), `"`) { // JSON
		aliasKey, entry = `"aliases"`, "{"+literal.JSON(key)+": "+literal.JSON(literal.Text(oldName))
		parentless = `, "noParent": true`
	}
	if noParent {
		entry += parentless
	}
	entry += "}"
	aliases := n.Resource.Decl.Options.Aliases
	if aliases == nil {
		return p.option(n, aliasKey, "["+entry+"]")
	}
	list, ok := aliases.Value.(*ast.List)
	if !ok {
		return "", diag.Edit{}, false
	}
	whole := p.location(n.Resource.Decl.Range)
	// The first byte of the list decides how an item is added: a bracket or a dash.
	start, text := int(p.File.Origins.Place(list.Range()).Start), whole.At.Source.Text()
	switch {
	case text[start] == '[' && len(list.Items) == 0:
		return whole.insert(start+1, entry)
	case text[start] == '[':
		return whole.insert(start+1, entry+", ")
	case text[start] == '-':
		return whole.insert(start, "- "+entry+"\n"+indentOf(text, start))
	}
	return "", diag.Edit{}, false
}

// option returns the edit that adds an option to a resource without that option, and the path of the file to edit. The
// caller quotes key and literal for JSON. ok is false if the resource has no type.
func (p *Program) option(n *check.Node, key, literal string) (path string, edit diag.Edit, ok bool) {
	decl := n.Resource.Decl
	whole := p.location(decl.Range)
	text := whole.At.Source.Text()
	optionsKey := "options"
	if strings.HasPrefix(n.Range.Text(), `"`) { // JSON
		optionsKey = `"options"`
	}
	// The new option comes first, where the layout of the others does not matter.
	if options := decl.Options.Range; !options.IsZero() {
		start := int(p.File.Origins.Place(options).Start)
		if text[start] == '{' {
			comma := ", "
			if rest := bytes.TrimLeft(text[start+1:], " \t\r\n"); bytes.HasPrefix(rest, []byte("}")) {
				comma = ""
			}
			return whole.insert(start+1, key+": "+literal+comma)
		}
		return whole.insert(start, key+": "+literal+"\n"+indentOf(text, start))
	}
	if decl.Type == nil {
		return "", diag.Edit{}, false
	}
	typed := p.File.Origins.Place(decl.Type.Range)
	end := int(typed.End)
	// A brace between the name and the type: the resource is in flow style.
	if flow := strings.ContainsAny(string(text[whole.At.Start:typed.Start]), "{"); flow {
		return whole.insert(end, ", "+optionsKey+": {"+key+": "+literal+"}")
	}
	indent := indentOf(text, end)
	return whole.insert(sourceText(text).lineEnd(end), "\n"+indent+optionsKey+":\n"+indent+"  "+key+": "+literal)
}

// insert returns the edit that inserts a text into the file of a location, and the path of that file. ok is true.
func (l Location) insert(offset int, text string) (path string, edit diag.Edit, ok bool) {
	return l.Path, diag.Edit{Range: diag.NewRange(l.At.Source, offset, offset), Text: text}, true
}

// indentOf returns the leading blanks of the line at an offset.
func indentOf(text []byte, offset int) string {
	line := text[sourceText(text).lineStart(offset):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " "))])
}
