package editor

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/parser"
)

// sectionItems are the fields and the few values that the schema of programs and projects has under some keys.
func (q *completer) sectionItems(path []string) []Item {
	return q.nodeItems(grammar(), path)
}

func (q *completer) nodeItems(root jsonNode, path []string) []Item {
	nodes := []jsonNode{root}
	for _, step := range path {
		nodes = under(nodes, step)
	}
	var items []Item
	for _, node := range nodes {
		if q.cursor.Kind == parser.KeyCursor {
			properties, _ := node["properties"].(jsonNode)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				item := fields(name)[0]
				field, _ := properties[name].(jsonNode)
				item.Docs, _ = field["description"].(string)
				_, item.Deprecated = field["deprecationMessage"]
				items = append(items, item)
			}
			continue
		}
		if allowed, ok := node["enum"].([]string); ok {
			items = append(items, values(allowed...)...)
		}
		if node["type"] == "boolean" {
			items = append(items, values(yesNo...)...)
		}
	}
	return items
}

// under returns the nodes below some nodes under a key, or in an item of a list.
func under(nodes []jsonNode, step string) (found []jsonNode) {
	for _, node := range nodes {
		if step == "[]" {
			if items, ok := node["items"].(jsonNode); ok {
				found = append(found, alternatives(items)...)
			}
			continue
		}
		properties, _ := node["properties"].(jsonNode)
		if member, ok := properties[step].(jsonNode); ok {
			found = append(found, alternatives(member)...)
		} else if entry, ok := node["additionalProperties"].(jsonNode); ok {
			found = append(found, alternatives(entry)...)
		}
	}
	return found
}

// alternatives are a node, or those that it leaves the choice of.
func alternatives(node jsonNode) (found []jsonNode) {
	choice, ok := node["anyOf"].([]any)
	if !ok {
		return []jsonNode{node}
	}
	for _, one := range choice {
		if one, ok := one.(jsonNode); ok {
			found = append(found, alternatives(one)...)
		}
	}
	return found
}
