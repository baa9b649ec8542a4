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
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Location is a stretch of a file.
type Location struct {
	Path string     // absolute
	At   diag.Range // in the whole text
}

func (p *Program) location(r diag.Range) Location {
	whole := p.File.Origins.Place(r)
	return Location{Path: p.PathOf(whole), At: whole}
}

// Definition is where the name at a place is declared; for a step of an access, the resource's property or the entry of
// a literal that it leads to is not looked for. Nothing is found for what no text declares.
func Definition(ctx context.Context, s *Snapshot, path string, offset int) ([]Location, error) {
	p, err := s.Program(ctx, path)
	if err == nil && p.SettingsOf != "" {
		return s.definitionOfSetting(ctx, p, path, offset), ctx.Err()
	}
	if err != nil || p.Checked == nil {
		return nil, err
	}
	n := p.at(path, offset).node
	if n == nil || n.Config != nil && n.Config.Decl == nil {
		return nil, nil
	}
	return []Location{p.location(n.Range)}, nil
}

// References are the places at which the name at a place is used, in the order of the text.
func References(ctx context.Context, s *Snapshot, path string, offset int, declaration bool) ([]Location, error) {
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return nil, err
	}
	n := p.at(path, offset).node
	if n == nil {
		return nil, nil
	}
	var found []Location
	if declaration && (n.Config == nil || n.Config.Decl != nil) {
		found = append(found, p.location(n.Range))
	}
	for _, use := range p.uses(n) {
		found = append(found, p.location(use.Root.Range))
	}
	slices.SortStableFunc(found, func(a, b Location) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return int(a.At.Start - b.At.Start)
	})
	return found, nil
}

// uses are the accesses that begin with a name.
func (p *Program) uses(n *check.Node) []*ast.Access {
	var uses []*ast.Access
	for _, body := range p.bodies() {
		exprs(body, func(e ast.Expr) {
			ast.Walk(e, func(e ast.Expr) bool {
				if a, ok := e.(*ast.Access); ok {
					if ref := p.Checked.Ref(a); ref.Kind == check.RefNode && ref.Node == n {
						uses = append(uses, a)
					}
				}
				return true
			})
		})
	}
	return uses
}

// Renamable is the name at a place that can be renamed: its text and where it stands.
func Renamable(ctx context.Context, s *Snapshot, path string, offset int) (name string, at diag.Range, ok bool) {
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return "", diag.Range{}, false
	}
	found := p.at(path, offset)
	// settings of stacks name configuration
	if found.node == nil || found.node.Config != nil || found.access != nil && found.step >= 0 {
		return "", diag.Range{}, false
	}
	return found.node.Name, unquoted(p.File.Origins.Place(found.at)), true
}

var plainName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + NamePattern + `$`)
})

// Rename gives the name at a place another one, wherever it is used, in all files. A resource gets an alias of its old
// name, so that the stack keeps it. The error says why a name cannot be taken.
func Rename(ctx context.Context, s *Snapshot, path string, offset int, name string) (map[string][]diag.Edit, error) {
	p, err := s.Program(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, _, ok := Renamable(ctx, s, path, offset); !ok {
		return nil, fmt.Errorf("nothing that has a name of its own stands here")
	}
	n := p.at(path, offset).node
	if !plainName().MatchString(name) {
		return nil, fmt.Errorf("%q is no name: letters, digits, _ and - make one, and it begins with a letter", name)
	}
	if name == n.Name {
		return nil, nil
	}
	body := p.bodyOf(n)
	for _, other := range body.Nodes {
		if other.Name == name {
			return nil, fmt.Errorf("%s is declared already", name)
		}
	}
	if name == "pulumi" {
		return nil, fmt.Errorf("`pulumi` is the built-in variable")
	}
	edits := map[string][]diag.Edit{}
	replace := func(r diag.Range, text string) {
		at := p.location(r)
		edits[at.Path] = append(edits[at.Path], diag.Edit{Range: unquoted(at.At), Text: text})
	}
	replace(n.Range, name)
	for _, use := range p.uses(n) {
		text := name
		if strings.HasPrefix(use.Root.Range.Text(), "[") {
			text = strings.Replace(use.Root.Range.Text(), n.Name, name, 1) // with its quotes, which may be escaped
		}
		replace(use.Root.Range, text)
	}
	if n.Resource != nil && n.Resource.Decl.LogicalName == nil {
		if at, text, ok := p.alias(n, n.Name, false); ok {
			edits[at.Path] = append(edits[at.Path], diag.Edit{Range: at.At, Text: text})
		}
	}
	return edits, nil
}

// bodyOf is the body that declares a node.
func (p *Program) bodyOf(n *check.Node) *check.Program {
	for _, body := range p.bodies() {
		if slices.Contains(body.Nodes, n) {
			return body
		}
	}
	return p.Checked
}

// alias is the text that gives a resource an alias of a name, without a parent if it had none under it, and where it
// goes.
func (p *Program) alias(n *check.Node, name string, noParent bool) (Location, string, bool) {
	decl := n.Resource.Decl
	whole := p.location(decl.Range)
	src := whole.At.Source
	text := src.Text()
	point := func(offset int) Location {
		return Location{Path: whole.Path, At: diag.NewRange(src, offset, offset)}
	}
	aliasKey, optionsKey, entry := "aliases", "options", "{name: "+flowText(name)
	parentless := ", noParent: true"
	if strings.HasPrefix(n.Range.Text(), `"`) { // as in JSON
		aliasKey, optionsKey, entry = `"aliases"`, `"options"`, `{"name": `+jsonText(name)
		parentless = `, "noParent": true`
	}
	if noParent {
		entry += parentless
	}
	entry += "}"
	indentOf := func(offset int) string {
		start := offset
		for start > 0 && text[start-1] != '\n' {
			start--
		}
		end := start
		for end < len(text) && text[end] == ' ' {
			end++
		}
		return string(text[start:end])
	}
	if aliases := decl.Options.Aliases; aliases != nil {
		list, ok := aliases.Value.(*ast.List)
		if !ok {
			return Location{}, "", false
		}
		at := p.File.Origins.Place(list.Range())
		switch {
		case text[at.Start] == '[' && len(list.Items) == 0:
			return point(int(at.Start) + 1), entry, true
		case text[at.Start] == '[':
			return point(int(at.Start) + 1), entry + ", ", true
		case text[at.Start] == '-':
			return point(int(at.Start)), "- " + entry + "\n" + indentOf(int(at.Start)), true
		}
		return Location{}, "", false
	}
	if options := decl.Options.Range; !options.IsZero() {
		at := p.File.Origins.Place(options)
		if text[at.Start] == '{' {
			comma := ", "
			if rest := bytes.TrimLeft(text[at.Start+1:], " \t\r\n"); bytes.HasPrefix(rest, []byte("}")) {
				comma = ""
			}
			return point(int(at.Start) + 1), aliasKey + ": [" + entry + "]" + comma, true
		}
		return point(int(at.Start)), aliasKey + ": [" + entry + "]\n" + indentOf(int(at.Start)), true
	}
	if decl.Type == nil {
		return Location{}, "", false
	}
	typed := p.File.Origins.Place(decl.Type.Range)
	end := int(typed.End)
	if flow := strings.ContainsAny(string(text[whole.At.Start:typed.Start]), "{"); flow {
		return point(end), ", " + optionsKey + ": {" + aliasKey + ": [" + entry + "]}", true
	}
	lineEnd := end
	for lineEnd < len(text) && text[lineEnd] != '\n' && text[lineEnd] != '\r' {
		lineEnd++
	}
	return point(lineEnd), "\n" + indentOf(end) + optionsKey + ":\n" + indentOf(end) + "  " + aliasKey + ": [" + entry +
		"]", true
}
