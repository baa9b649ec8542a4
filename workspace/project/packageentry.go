package project

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2/maybe"
	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// SetPackage returns the text of a project file with an entry in `packages`; everything else in it stays as it is. A
// nil pkg removes the entry. found reports whether there was an entry of that name.
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
	pos, list := -1, &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(root.Content); i += 2 {
		switch root.Content[i].Value {
		case "packages":
			if pos, list = i, follow(root.Content[i+1]); list.Kind != yaml.MappingNode {
				pos, list = i, &yaml.Node{Kind: yaml.MappingNode}
			}
		case "runtime", "name":
			if pos < 0 || root.Content[pos].Value != "packages" {
				pos = i // a new section goes behind these
			}
		}
	}
	list.Style, list.Anchor = 0, ""
	for i := 0; i < len(list.Content); i += 2 {
		if list.Content[i].Value == name {
			found = true
			if pkg == nil {
				list.Content = append(list.Content[:i:i], list.Content[i+2:]...)
			} else {
				list.Content[i+1] = pkg.node()
			}
			break
		}
	}
	if !found && pkg != nil {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, pkg.node())
	}
	if !found && pkg == nil {
		return src, false, nil
	}
	var section bytes.Buffer
	if len(list.Content) > 0 {
		e := yaml.NewEncoder(&section)
		e.SetIndent(2)
		if err := e.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Value: "packages"}, list}}); err != nil {
			return nil, false, fmt.Errorf("write the packages: %w", err)
		}
	}
	replaced := pos >= 0 && root.Content[pos].Value == "packages"
	lines := strings.SplitAfter(string(src), "\n")
	start, end := p.sectionLines(lines, root, pos)
	if !replaced {
		start = end
		if end > 0 && !strings.HasSuffix(lines[end-1], "\n") {
			lines[end-1] += "\n"
		}
	}
	next := strings.Join(lines[:start], "") + section.String() + strings.Join(lines[end:], "")
	if _, diags := Parse(diag.NewSource(p.Source.Name(), []byte(next))); diags.HasErrors() {
		return nil, false, fmt.Errorf("the packages of %s cannot be edited in place; change them by hand", p.Source.Name())
	}
	return []byte(next), found, nil
}

// Save writes a new text of the project file, whole or not at all. The caller holds the file.
func (p *Project) Save(text []byte) error {
	if err := maybe.WriteFile(p.Path, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", p.Source.Name(), err)
	}
	return nil
}

// sectionLines returns the lines of a top-level entry, from its key to the one behind its value; comments above the
// next key belong to that.
func (p *Project) sectionLines(lines []string, root *yaml.Node, i int) (start, end int) {
	if i < 0 {
		return 0, 0
	}
	start, end = root.Content[i].Line-1, len(lines)
	if i+2 < len(root.Content) {
		end = root.Content[i+2].Line - 1
	}
	for end > start+1 {
		line := lines[end-1]
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			break
		}
		end--
	}
	return start, end
}

// node is the entry as the Pulumi CLI writes it: a text where that is enough.
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
