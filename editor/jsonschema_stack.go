package editor

import (
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/schema"
)

// StackJSONSchema returns a JSON Schema, draft 7, of the files Pulumi.<stack>.yaml of a program, with the declared
// configuration and its types. It allows undeclared keys, since other namespaces configure providers. The caller owns
// the result.
func StackJSONSchema(program *check.Program) map[string]any {
	config := jsonNode{}
	for _, n := range program.Nodes {
		if n.Kind != check.ConfigNode || n.Config.Decl == nil {
			continue
		}
		node := stackValue(n.Type)
		text := schema.FirstParagraph(n.Config.Decl.Description.Text())
		if secret := n.Config.Decl.Secret; secret.IsTrue() {
			text = strings.TrimSpace(text + "\n\nSecret: `yamlhost config set --secret` encrypts it.")
		}
		node = described(node, text)
		// The key with its namespace, which is how the CLI writes it.
		config[n.Config.Key] = node
		if namespace, name, ok := strings.Cut(n.Config.Key, ":"); ok {
			config[namespace+":config:"+name] = node // an old spelling (L2.1)
			// The project's own keys need no namespace.
			if namespace == program.Name {
				config[name] = node
			}
		}
	}
	text := jsonNode{"type": []string{"string", "null"}}
	return jsonNode{
		"$schema": draft7, "title": "Stack of " + program.Name, "type": []string{"object", "null"},
		"properties": jsonNode{
			"config": jsonNode{"type": []string{"object", "null"}, "properties": config,
				"description": "Configuration values of the stack."},
			"environment":     jsonNode{"description": "Environments that the stack imports."},
			"secretsprovider": described(text, "Who encrypts secrets."),
			"encryptedkey":    described(text, "The key of the stack's secrets, encrypted."),
			"encryptionsalt":  described(text, "What the passphrase is checked with."),
		},
		"definitions": jsonNode{"secure": jsonNode{
			"type": "object", "required": []string{"secure"}, "additionalProperties": false,
			"properties": jsonNode{"secure": jsonNode{"type": "string", "description": "A secret, encrypted."}}}},
	}
}

// stackValue returns the schema of a configuration value of type t in a stack's settings (L2.15). A string may hold a
// value of another type, and a secret may occur at any depth.
func stackValue(t schema.Type) jsonNode {
	secret := refTo("secure")
	t, optional := schema.Required(t), t != schema.Required(t)
	var node jsonNode
	switch t := t.(type) {
	case schema.Primitive:
		branches, closed := primitiveBranches[t]
		// Of such a type any value is valid, also a secret.
		if !closed || len(branches) == 0 {
			return jsonNode{}
		}
		node = anyOf(append(append([]any{}, branches...), secret)...)
	case *schema.Array:
		node = anyOf(jsonNode{"type": "array", "items": stackValue(t.Item)},
			jsonNode{"type": "string", "pattern": `^\s*\[`}, secret)
	case *schema.Map, *schema.Object:
		// The schema need not distinguish {secure: …} from a map with that key.
		node = anyOf(jsonNode{"type": "object"}, jsonNode{"type": "string", "pattern": `^\s*\{`})
	default:
		return jsonNode{}
	}
	if optional {
		// anyOf has made it, in every case above.
		node["anyOf"] = append(node["anyOf"].([]any), jsonNode{"type": "null"})
	}
	return node
}
