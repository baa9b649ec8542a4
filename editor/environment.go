package editor

import (
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/parser"
)

// environmentPath is a path in a settings file or an environment as one in the document of an environment, if it is in
// one.
func (p *Project) environmentPath(path []string) ([]string, bool) {
	if p.IsEnvironment {
		return path, true
	}
	if len(path) == 0 || path[0] != "environment" {
		return nil, false
	}
	if path = path[1:]; len(path) == 1 && path[0] == "[]" { // a list of names stands for imports
		return []string{"imports", "[]"}, true
	}
	return path, true
}

// completeEnvironment proposes keys and names under a path of an environment. nodes are the configuration that the
// program declares.
func (p *Project) completeEnvironment(c parser.Context, path []string, nodes []*check.Node, program *Program) []Item {
	if slices.Equal(path, []string{"imports", "[]"}) && p.Environments != nil {
		return values(p.Environments()...)
	}
	items := (&completer{cursor: c}).language(path, "environment")
	if slices.Equal(path, []string{"values", "pulumiConfig"}) && program != nil && c.Kind == parser.KeyCursor {
		items = append(configItems(nodes, program.Checked.Name+":"), items...)
	}
	return items
}

// hoverEnvironment explains a key of an environment. path leads to the entries.
func (p *Project) hoverEnvironment(entries []parser.Span, offset int, path []string) *Hover {
	for _, entry := range entries {
		step := stepOf(entry)
		below := append(slices.Clip(path), step)
		if !entry.Key.Contains(offset) {
			if found := p.hoverEnvironment(entry.Children, offset, below); found != nil {
				return found
			}
			continue
		}
		inside, ok := p.environmentPath(below)
		if !ok || len(inside) == 0 {
			continue
		}
		nodes := alternatives(refTo("environment"))
		for _, above := range inside[:len(inside)-1] {
			nodes = under(nodes, above)
		}
		for _, node := range nodes {
			properties, _ := node["properties"].(jsonNode)
			member, _ := properties[step].(jsonNode)
			if text, _ := member["description"].(string); text != "" {
				return &Hover{Text: page(step, "", text), At: entry.Key}
			}
		}
	}
	return nil
}
