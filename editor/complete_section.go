package editor

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// language proposes the keys and values of the language at a path of a program, or below a part of its schema.
func (q *completer) language(path []string, parts ...string) []Item {
	nodes := []jsonNode{grammar()}
	for _, part := range parts {
		nodes = alternatives(refTo(part))
	}
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
		allowed, _ := node["enum"].([]any)
		for _, text := range allowed {
			items = append(items, values(text.(string))...)
		}
		if node["type"] == "boolean" {
			items = append(items, values(yesNo...)...)
		}
	}
	return items
}

// under returns the child nodes for a key, or for an item of a list.
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

// alternatives returns a node, or the nodes to which it refers or among which it allows a choice.
func alternatives(node jsonNode) (found []jsonNode) {
	if pointer, ok := node["$ref"].(string); ok {
		name, _ := url.PathUnescape(strings.TrimPrefix(pointer, "#/definitions/"))
		if target, ok := grammar()["definitions"].(jsonNode)[name].(jsonNode); ok {
			return alternatives(target)
		}
		return nil
	}
	choice, ok := node["anyOf"].([]any)
	if !ok {
		if choice, ok = node["allOf"].([]any); !ok {
			return []jsonNode{node}
		}
	}
	for _, one := range choice {
		if one, ok := one.(jsonNode); ok {
			found = append(found, alternatives(one)...)
		}
	}
	return found
}

// policy returns the completions in the section policies, which path begins with.
func (q *completer) policy(path []string) []Item {
	if len(path) > 2 {
		switch path[2] {
		case "match":
			if len(path) > 3 && path[3] == "type" {
				return q.types()
			}
		case "when", "violation":
			return q.expression(schema.Any, path[3:])
		case "remedy":
			if t := q.policyNames()["resource"]; t != nil {
				return q.expression(t, path[3:])
			}
		}
	}
	return q.language(path)
}

// policyNames returns the names that exist only in the policy at the cursor, with their types; none for an unchecked
// policy.
func (q *completer) policyNames() map[string]schema.Type {
	if path := q.cursor.Path; len(path) > 1 && path[0] == "policies" {
		i := slices.IndexFunc(q.p.Checked.Policies, func(p *check.Policy) bool { return p.Decl.Name.Value == path[1] })
		if i >= 0 {
			return q.p.Checked.Policies[i].Names
		}
	}
	return nil
}
