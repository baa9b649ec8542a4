package project

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2/maybe"
	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamltree"
)

// SetPackage returns the text of a project file with an entry in `packages` set, otherwise unchanged. A nil pkg removes
// the entry. found reports whether there was an entry of that name.
func (p *Project) SetPackage(name string, pkg *Package) (text []byte, found bool, err error) {
	if filepath.Ext(p.Path) == ".json" {
		return nil, false, errors.New("Pulumi.json is not edited by programs; change its member `packages` by hand")
	}
	src := p.Source.Text()
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, false, fmt.Errorf("%s is not a map", p.Source.Name())
	}
	root := doc.Content[0]
	pos, list := keyAt(root, "packages"), valueOf(root, "packages")
	replaced := pos >= 0
	if !replaced { // a new section follows these
		pos = max(keyAt(root, "runtime"), keyAt(root, "name"))
	}
	if list == nil || list.Kind != yaml.MappingNode {
		list = &yaml.Node{Kind: yaml.MappingNode}
	}
	list.Style, list.Anchor = 0, ""
	switch i := keyAt(list, name); {
	case i < 0 && pkg == nil:
		return src, false, nil
	case i < 0:
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, pkg.node())
	case pkg == nil:
		list.Content, found = append(list.Content[:i:i], list.Content[i+2:]...), true
	default:
		list.Content[i+1], found = pkg.node(), true
	}
	var section []byte
	if len(list.Content) > 0 {
		section, err = yamltree.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Value: "packages"}, list}})
		if err != nil {
			return nil, false, fmt.Errorf("write the packages: %w", err)
		}
	}
	lines := strings.SplitAfter(string(src), "\n")
	start, end := entryLines(lines, root, pos)
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
	return []byte(next), found, nil
}

// Save writes a new text of the project file atomically. The caller has locked the file.
func (p *Project) Save(text []byte) error {
	if err := maybe.WriteFile(p.Path, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", p.Source.Name(), err)
	}
	return nil
}

// entryLines returns the range of lines of a top-level entry, from its key to the line after its value; comments above
// the next key belong to that key.
func entryLines(lines []string, root *yaml.Node, i int) (start, end int) {
	if i < 0 {
		return 0, 0
	}
	start, end = root.Content[i].Line-1, len(lines)
	if i+2 < len(root.Content) {
		end = root.Content[i+2].Line - 1
	}
	for end > start+1 && isNote(lines[end-1]) {
		end--
	}
	return start, end
}

// node returns the entry in the form of the Pulumi CLI: a text if that is sufficient.
func (p *Package) node() *yaml.Node {
	scalar := func(text string) *yaml.Node {
		n := &yaml.Node{}
		n.SetString(text)
		return n
	}
	if len(p.Parameters) == 0 && p.PluginDownloadURL == "" {
		if p.Version != "" {
			return scalar(p.Source + "@" + p.Version)
		}
		return scalar(p.Source)
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	put := func(key string, value *yaml.Node) {
		m.Content = append(m.Content, scalar(key), value)
	}
	put("source", scalar(p.Source))
	if p.Version != "" {
		put("version", scalar(p.Version))
	}
	if len(p.Parameters) > 0 {
		items := &yaml.Node{Kind: yaml.SequenceNode}
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
