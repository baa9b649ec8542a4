package project

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// SetPackage returns the text of a project file with an entry in `packages` set, otherwise unchanged. A nil pkg removes
// the entry. found reports whether there was an entry of that name.
func (p *Project) SetPackage(name string, pkg *Package) (text []byte, found bool, err error) {
	if filepath.Ext(p.Path) == ".json" {
		return nil, false, errors.New("Pulumi.json is not edited by programs; change its member `packages` by hand")
	}
	src := p.Source.Text()
	tree := yamlnode.NewTree(p.Source)
	if tree.Screen() == nil {
		_, err = tree.Commented()
	}
	root := tree.Root
	if err != nil || root == nil || root.Kind != yamlnode.Map {
		return nil, false, fmt.Errorf("%s is not a map", p.Source.Name())
	}
	pos, list := root.Index("packages"), valueOf(root, "packages")
	replaced := pos >= 0
	if !replaced { // a new section follows these
		pos = max(root.Index("runtime"), root.Index("name"))
	}
	if list == nil || list.Kind != yamlnode.Map {
		list = &yamlnode.Node{Kind: yamlnode.Map}
	}
	list.Style = 0
	list.DropAnchor()
	switch i := list.Index(name); {
	case i < 0 && pkg == nil:
		return src, false, nil
	case i < 0:
		list.Content = append(list.Content, &yamlnode.Node{Kind: yamlnode.Scalar, Value: name}, pkg.node())
	case pkg == nil:
		list.Content, found = append(list.Content[:i:i], list.Content[i+2:]...), true
	default:
		list.Content[i+1], found = pkg.node(), true
	}
	var section []byte
	if len(list.Content) > 0 {
		section, err = yamlnode.Encode(&yamlnode.Node{Kind: yamlnode.Map, Content: []*yamlnode.Node{
			{Kind: yamlnode.Scalar, Value: "packages"}, list}})
		if err != nil {
			return nil, false, fmt.Errorf("write the packages: %w", err)
		}
	}
	lines := strings.SplitAfter(string(src), "\n")
	start, end := entryLines(src, lines, root, pos)
	if !replaced {
		start = end
		if end > 0 && !strings.HasSuffix(lines[end-1], "\n") {
			lines[end-1] += "\n"
		}
	}
	next := strings.Join(lines[:start], "") + string(section) + strings.Join(lines[end:], "")
	if _, diags := Parse(diag.NewSource(p.Source.Name(), []byte(next))); diags.HasErrors() {
		return nil, false, fmt.Errorf("the packages of %s cannot be edited in place; change them by hand", p.Source.Name())
	}
	return diag.KeepBreaks(src, []byte(next)), found, nil
}

// Save writes a new text of the project file atomically. The caller has locked the file.
func (p *Project) Save(text []byte) error {
	if err := osfile.WriteFile(p.Path, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", p.Source.Name(), err)
	}
	return nil
}

// entryLines returns the range of lines of a top-level entry, from its key to the line after its value; comments above
// the next key belong to that key.
func entryLines(text []byte, lines []string, root *yamlnode.Node, i int) (start, end int) {
	if i < 0 {
		return 0, 0
	}
	start, end = yamlnode.LineOf(text, root.Content[i].Start)-1, len(lines)
	if i+2 < len(root.Content) {
		end = yamlnode.LineOf(text, root.Content[i+2].Start) - 1
	}
	for end > start+1 && isNote(lines[end-1]) {
		end--
	}
	return start, end
}

// node returns the entry in the form of the Pulumi CLI: a text if that is sufficient.
func (p *Package) node() *yamlnode.Node {
	scalar := yamlnode.OfText
	if len(p.Parameters) == 0 && p.PluginDownloadURL == "" {
		if p.Version != "" {
			return scalar(p.Source + "@" + p.Version)
		}
		return scalar(p.Source)
	}
	m := &yamlnode.Node{Kind: yamlnode.Map}
	put := func(key string, value *yamlnode.Node) {
		m.Content = append(m.Content, scalar(key), value)
	}
	put("source", scalar(p.Source))
	if p.Version != "" {
		put("version", scalar(p.Version))
	}
	if len(p.Parameters) > 0 {
		items := &yamlnode.Node{Kind: yamlnode.List}
		for _, text := range p.Parameters {
			items.Content = append(items.Content, scalar(text))
		}
		put("parameters", items)
	}
	if p.PluginDownloadURL != "" {
		put("pluginDownloadURL", scalar(p.PluginDownloadURL))
	}
	return m
}
