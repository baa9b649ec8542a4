package editor

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Renamable returns the name at a place that can be renamed: its text and where it stands.
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

// text returns the name itself.
func (n name) text() string {
	switch {
	case n.component != nil:
		return n.component.Decl.Name.Value
	case n.output != nil:
		return n.output.Decl.Name.Value
	}
	return n.node.Name
}

var plainName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + NamePattern + `$`)
})

// Rename gives the name at a place another one, wherever it is used, in all files of the program and its stacks. A
// resource gets an alias of its old name, and one whose component is renamed an alias of its old type, so that the
// stack keeps it. The error says why a name cannot be taken.
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
		return nil, fmt.Errorf("%q is not a name: a name has letters, digits, _ and -, and begins with a letter", dst)
	}
	if dst == n.text() {
		return nil, nil
	}
	if p.taken(n, dst) {
		return nil, fmt.Errorf("%s is declared already", dst)
	}
	if dst == "pulumi" && n.node != nil {
		return nil, fmt.Errorf("`pulumi` is the built-in variable")
	}
	edits := map[string][]diag.Edit{}
	replace := func(r diag.Range, text string) {
		loc := p.location(r)
		edits[loc.Path] = append(edits[loc.Path], diag.Edit{Range: unquoted(loc.At), Text: text})
	}
	replace(n.at(), dst)
	for _, use := range p.places(n) {
		text := dst
		if use.access && strings.HasPrefix(use.at.Text(), "[") {
			text = strings.Replace(use.at.Text(), n.text(), dst, 1) // with its quotes, which may be escaped
		}
		replace(use.at, text)
	}
	for _, kept := range p.renamed(n) {
		if file, edit, ok := p.alias(kept.node, kept.key, kept.was, false); ok {
			edits[file] = append(edits[file], edit)
		}
	}
	return edits, nil
}

// taken reports whether something else has a name that another thing would get.
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

// before is the name of a resource in the stack before a rename.
type before struct {
	node     *check.Node
	key, was string // of its alias
}

// renamed returns the resources that the stack would call something else when a name changes.
func (p *Program) renamed(n *name) (found []before) {
	switch {
	case n.node != nil && n.node.Resource != nil && n.node.Resource.Decl.LogicalName == nil:
		return []before{{n.node, "name", n.node.Name}}
	case n.component == nil || afterColons(n.component.Decl.Name.Range).Text() == "" ||
		!strings.HasSuffix(n.component.Token, ":"+n.component.Decl.Name.Value):
		return nil // its type says something else
	}
	for _, body := range p.bodies() {
		for _, r := range body.Nodes {
			if r.Resource != nil && r.Resource.Component == n.component {
				found = append(found, before{r, "type", n.component.Token})
			}
		}
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

// alias returns the edit that gives a resource an alias with an earlier value of a key, such as its name, and without a
// parent if it had none under it, and the path of the file to edit.
func (p *Program) alias(n *check.Node, key, oldName string, noParent bool) (path string, edit diag.Edit, ok bool) {
	aliasKey, entry := "aliases", "{"+key+": "+flowText(oldName)
	parentless := ", noParent: true"
	if strings.HasPrefix(n.Range.Text(), `"`) { // as in JSON
		aliasKey, entry = `"aliases"`, "{"+jsonText(key)+": "+jsonText(oldName)
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

// option returns the edit that gives a resource an option that it does not have, and the path of the file to edit. In
// JSON the key and the value are written as there.
func (p *Program) option(n *check.Node, key, literal string) (path string, edit diag.Edit, ok bool) {
	decl := n.Resource.Decl
	whole := p.location(decl.Range)
	text := whole.At.Source.Text()
	optionsKey := "options"
	if strings.HasPrefix(n.Range.Text(), `"`) { // as in JSON
		optionsKey = `"options"`
	}
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
	if flow := strings.ContainsAny(string(text[whole.At.Start:typed.Start]), "{"); flow {
		return whole.insert(end, ", "+optionsKey+": {"+key+": "+literal+"}")
	}
	indent := indentOf(text, end)
	return whole.insert(sourceText(text).lineEnd(end), "\n"+indent+optionsKey+":\n"+indent+"  "+key+": "+literal)
}

// insert returns the edit that inserts a text into the file of a location, and the path of that file.
func (l Location) insert(offset int, text string) (path string, edit diag.Edit, ok bool) {
	return l.Path, diag.Edit{Range: diag.NewRange(l.At.Source, offset, offset), Text: text}, true
}

// indentOf returns the blanks that the line of an offset begins with.
func indentOf(text []byte, offset int) string {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	end := start
	for end < len(text) && text[end] == ' ' {
		end++
	}
	return string(text[start:end])
}
