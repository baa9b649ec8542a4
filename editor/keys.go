package editor

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// topKeys are the keys at the top of a program that completion does not offer.
var topKeys = []string{"version", "namespace", "configuration", "dynamic", "transformations", "main", "author",
	"website", "license", "stackConfigDir", "requiredPulumiVersion"}

var (
	hookKeys      = []string{"command", "onDryRun", "ignoreErrors"}
	getKeys       = []string{"id", "state"}
	transformKeys = []string{"match", "when", "properties", "replace", "arguments", "options"}
	messageKeys   = []string{"level", "message", "resource", "if"}
	matchKeys     = []string{"type", "name", "custom", "function"}
	dynamicKeys   = []string{"provider", "description", "inputs", "outputs", "onCodeChange", "env"}
	declaredKeys  = []string{"type", "items", "default", "secret", "optional", "replace", "stable", "description"}
	namedSections = []string{"config", "configuration", "inputs", "resources", "components", "hooks", "dynamic"}
)

// listed reports whether a key is one of some names, which the language does not tell apart by case.
func listed(names []string, key string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, key) })
}

// keys adds the keys of the language that a program holds, by where they stand.
func (c *colors) keys(spans []parser.Span) {
	for _, section := range spans {
		if listed(sections, section.Name) || listed(topKeys, section.Name) {
			c.add(KeywordToken, false, section.Key)
			c.section(section)
			if strings.EqualFold(section.Name, "messages") {
				for _, item := range section.Children {
					c.known(item, messageKeys)
				}
			}
			if listed([]string{"transforms", "transformations"}, section.Name) {
				c.transforms(section)
			}
		}
	}
}

func (c *colors) section(section parser.Span) {
	if !listed(namedSections, section.Name) {
		return
	}
	for _, entry := range section.Children {
		switch strings.ToLower(section.Name) {
		case "config", "configuration", "inputs":
			c.known(entry, configKeys)
		case "resources":
			c.known(entry, ast.ResourceFields())
			for _, field := range entry.Children {
				switch strings.ToLower(field.Name) {
				case "options":
					c.known(field, ast.OptionNames())
					for _, option := range field.Children {
						if strings.EqualFold(option.Name, "transforms") {
							c.transforms(option)
						}
					}
					for _, option := range field.Children {
						if strings.EqualFold(option.Name, "customTimeouts") {
							c.known(option, append(slices.Clip(timeoutKeys), "read"))
						}
					}
				case "get":
					c.known(field, getKeys)
				}
			}
		case "components":
			c.known(entry, componentKeys)
			for _, part := range entry.Children {
				c.section(part)
			}
		case "hooks":
			c.known(entry, hookKeys)
		case "dynamic":
			c.known(entry, dynamicKeys)
			for _, part := range entry.Children {
				if listed([]string{"inputs", "outputs"}, part.Name) {
					for _, property := range part.Children {
						c.add(PropertyToken, true, property.Key)
						c.known(property, declaredKeys)
					}
				}
			}
		}
	}
}

// transforms adds the keys of a list of transforms.
func (c *colors) transforms(list parser.Span) {
	for _, item := range list.Children {
		c.known(item, transformKeys)
		for _, field := range item.Children {
			switch strings.ToLower(field.Name) {
			case "match":
				c.known(field, matchKeys)
			case "options":
				c.known(field, ast.OptionNames())
			}
		}
	}
}

func (c *colors) known(entry parser.Span, names []string) {
	for _, field := range entry.Children {
		if listed(names, field.Name) {
			c.add(KeywordToken, false, field.Key)
		}
	}
}
