package editor

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/parser"
)

// grammar is the schema of the keys of the language, whatever the program is. Its definitions have those of
// environments, too.
var grammar = sync.OnceValue(func() jsonNode {
	node := newSchemaWriter(context.Background(), nil).language()
	definitions := node["definitions"].(jsonNode)
	if err := json.Unmarshal(environmentText, &definitions); err != nil {
		panic("editor: environment.json: " + err.Error())
	}
	return node
})

// environmentText are the definitions of the keys of environments, the documents of Pulumi ESC.
//
//go:embed environment.json
var environmentText []byte

// listed reports whether a key is one of some names, which the language does not tell apart by case.
func listed(names []string, key string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, key) })
}

// keys adds the keys of the language that a program holds, by where they stand.
func (c *colors) keys(spans []parser.Span) {
	c.known(spans, []jsonNode{grammar()})
	for _, section := range spans {
		if !strings.EqualFold(section.Name, "dynamic") {
			continue
		}
		for _, entry := range section.Children {
			for _, part := range entry.Children {
				if listed([]string{"inputs", "outputs"}, part.Name) {
					for _, property := range part.Children {
						c.add(PropertyToken, true, property.Key)
					}
				}
			}
		}
	}
}

// known adds those keys of some entries that the schema of them names, and what is below.
func (c *colors) known(entries []parser.Span, nodes []jsonNode) {
	for _, entry := range entries {
		step := stepOf(entry)
		named := false
		for _, node := range nodes {
			properties, _ := node["properties"].(jsonNode)
			if _, exact := properties[step]; exact {
				named = true
				break
			}
			for name := range properties {
				if strings.EqualFold(name, step) {
					step, named = name, true
				}
			}
		}
		if named {
			c.add(KeywordToken, false, entry.Key)
		}
		if next := under(nodes, step); len(next) > 0 && len(entry.Children) > 0 {
			c.known(entry.Children, next)
		}
	}
}
