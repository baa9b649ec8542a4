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

// language returns the keys and values that the language defines below path. The path starts at the root of a program,
// or at a definition of the language's schema, given by parts. The JSON Schema of the language is the one description
// of its keys that has their nesting, and the same that editors without this server use.
func (q *completer) language(path []string, parts ...string) []Item {
	nodes := []jsonNode{grammar()}
	for _, part := range parts {
		// The last part counts: callers pass one, or none for the root.
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
				// fields knows whether a value or a nested map follows the key.
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

// under returns the schemas of a key, or of a list item for "[]", in any of nodes. A key may have several schemas, for
// a value with several forms.
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
			// The key is a name that the program chooses, as in the section resources.
		} else if entry, ok := node["additionalProperties"].(jsonNode); ok {
			found = append(found, alternatives(entry)...)
		}
	}
	return found
}

// alternatives returns a node, or the nodes it refers to or combines by anyOf or allOf.
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

// policy returns the completions in the policies section. path starts with that key.
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
			// A remedy has the properties of the resources that the policy matches.
			if t := q.policyNames()["resource"]; t != nil {
				return q.expression(t, path[3:])
			}
		}
	}
	return q.language(path)
}

// policyNames returns the names that only expressions of the policy at the cursor can use, with their types; none if
// the policy has not been checked yet.
func (q *completer) policyNames() map[string]schema.Type {
	if path := q.cursor.Path; len(path) > 1 && path[0] == "policies" {
		// By name, since an edit above the policy has moved it.
		i := slices.IndexFunc(q.p.Checked.Policies, func(p *check.Policy) bool { return p.Decl.Name.Value == path[1] })
		if i >= 0 {
			return q.p.Checked.Policies[i].Names
		}
	}
	return nil
}
