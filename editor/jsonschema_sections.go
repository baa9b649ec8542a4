package editor

import (
	"maps"
	"strings"

	"github.com/yamlhost/yamlhost/schema"
)

// mapOf is a section: a map whose entries are alike, or nothing.
func mapOf(entry jsonNode) jsonNode {
	return jsonNode{"type": []string{"object", "null"}, "additionalProperties": entry}
}

func closedMap(properties jsonNode, required ...string) jsonNode {
	node := jsonNode{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		node["required"] = required
	}
	return node
}

func plainText(text string) jsonNode {
	return described(jsonNode{"type": []string{"string", "null"}}, text)
}

// sections returns the keys at the top: the keys of programs, included files and component packages (L1.C), and the
// keys of project files (L1.B), since one file often is both.
func (w *schemaWriter) sections() jsonNode {
	values, resources := mapOf(refTo(anyValue)), mapOf(refTo("resource"))
	texts := jsonNode{"type": []string{"array", "null"}, "items": jsonNode{"type": "string"}}
	textOrTexts := anyOf(jsonNode{"type": []string{"string", "null"}}, texts)
	pulumi := closedMap(jsonNode{
		"requiredVersion": described(w.value(schema.OptionalOf(schema.String)),
			"The versions of Pulumi that the program needs, such as >=3.100.0."),
		"allowEnv": described(textOrTexts, "The environment variables that the program may read; their values are secret."),
		"publicEnv": described(textOrTexts, "The environment variables that the program may read and whose values are "+
			"not secret."),
	})
	component := closedMap(jsonNode{
		"name": plainText(""), "description": plainText("What the component is."),
		"token":  plainText("The type of the component, instead of components:Name."),
		"pulumi": pulumi, "inputs": mapOf(refTo("config")), "variables": values, "resources": resources, "outputs": values,
	})
	hook := closedMap(jsonNode{
		"command":      described(refTo(anyValue), "A program and its arguments; ${args} describes the operation."),
		"onDryRun":     described(jsonNode{"type": "boolean"}, "It runs in previews too."),
		"ignoreErrors": described(jsonNode{"type": "boolean"}, "The operation goes on when the command fails."),
	}, "command")
	sections := jsonNode{
		"name":        described(jsonNode{"type": "string"}, "The name of the project."),
		"description": plainText("What the project is."),
		"version":     plainText("The version of a package of components."),
		"namespace":   plainText("The namespace of a package of components."),
		"pulumi":      described(pulumi, "What the program needs from its environment."),
		"config": described(anyOf(mapOf(refTo("config")), jsonNode{"type": "string"}),
			"Configuration values, which stacks give in Pulumi.<stack>.yaml."),
		"configuration": annotated(mapOf(refTo("config")), jsonNode{"deprecationMessage": "write config"}),
		"variables":     described(values, "Names for values."),
		"resources":     described(resources, "What the stack has."),
		"outputs":       described(values, "Values that the stack shows and others can read."),
		"components":    described(mapOf(component), "Types of resources that are made of others."),
		"hooks":         described(mapOf(hook), "Commands that resources run before or after operations."),
		"dynamic": described(mapOf(dynamicNode(textOrTexts)),
			"Types of resources whose provider is a file beside the program."),
		"transforms": described(w.transforms(true),
			"Changes to many resources or function calls, applied before they reach the engine."),
		"transformations": annotated(w.transforms(true), jsonNode{"deprecationMessage": "write transforms"}),
		"messages": described(jsonNode{"type": []string{"array", "null"}, "items": anyOf(jsonNode{"type": "string"},
			closedMap(jsonNode{
				"level": described(jsonNode{"enum": []string{"debug", "info", "warning", "error"}},
					"Its severity; error makes the run fail."),
				"message":  described(refTo(anyValue), "The text."),
				"resource": described(refTo(anyValue), "The resource that the message is about."),
				"if":       described(refTo(anyValue), "A condition."),
			}, "message"))}, "Texts that a run shows."),
		"policies":    described(mapOf(w.policy()), "Rules about resources, of a policy pack or of this program."),
		"enforcement": described(jsonNode{"enum": enforcementLevels}, "The level of the policies of a pack that have none."),
		"include":     described(textOrTexts, "Further files of the program; * stands for a part of a name."),
	}
	maps.Copy(sections, projectFields())
	return sections
}

// transforms are a list of transforms: of the stack, which may be about function calls, or of a resource.
func (w *schemaWriter) transforms(stack bool) jsonNode {
	globs := anyOf(jsonNode{"type": "string"}, jsonNode{"type": "array", "items": jsonNode{"type": "string"}})
	match := jsonNode{
		"type":   described(globs, "The types, such as aws:s3:Bucket or aws:*; * matches any text."),
		"name":   described(globs, "The names; * matches any text."),
		"custom": described(jsonNode{"type": "boolean"}, "Resources that a provider manages, or else components."),
	}
	item := jsonNode{
		"when":       described(refTo(anyValue), "A condition; args is what the transform changes."),
		"properties": described(refTo(anyValue), "Merged into the properties; null takes one away."),
		"replace":    described(jsonNode{"type": "boolean"}, "The properties replace the existing ones."),
		"options":    described(refTo("transformOptions"), "Merged into the options."),
	}
	if stack {
		match["function"] = described(globs, "The functions of providers; * matches any text.")
		item["arguments"] = described(refTo(anyValue), "Merged into the arguments of a function call; null takes one away.")
	}
	item["match"] = described(closedMap(match), "What the transform changes; everything when it is left out.")
	return jsonNode{"type": []string{"array", "null"}, "items": closedMap(item)}
}

var enforcementLevels = []string{"advisory", "mandatory", "remediate", "disabled"}

// policy is a rule about resources (L10.C22).
func (w *schemaWriter) policy() jsonNode {
	globs := anyOf(jsonNode{"type": "string"}, jsonNode{"type": "array", "items": jsonNode{"type": "string"}})
	flag := jsonNode{"type": "boolean"}
	return closedMap(jsonNode{
		"description": plainText("What the policy asks for; violations show it."),
		"match": described(closedMap(jsonNode{
			"type":   described(globs, "The types, such as aws:s3:Bucket or aws:*; * matches any text."),
			"name":   described(globs, "The names; * matches any text."),
			"custom": described(flag, "Resources that a provider manages, or else components."),
		}), "The resources that the policy is about; all when it is left out."),
		"stack":       described(flag, "It is about all resources together, which are called resources."),
		"after":       described(flag, "It is about the outputs of a resource."),
		"destroy":     described(flag, "It is about resources that an operation deletes or replaces, in a pack."),
		"enforcement": described(jsonNode{"enum": enforcementLevels}, "What a violation does."),
		"config":      described(jsonNode{"type": []string{"object", "null"}}, "The configuration of the policy, in a pack."),
		"when":        described(refTo(anyValue), "A condition; resource has the properties."),
		"violation":   described(refTo(anyValue), "The message, a list of them, or null where nothing is wrong."),
		"remedy":      described(refTo(anyValue), "Merged into the properties at the level remediate; null takes one away."),
	})
}

func dynamicNode(texts jsonNode) jsonNode {
	flag := jsonNode{"type": "boolean"}
	property := func(more jsonNode) jsonNode {
		fields := jsonNode{"type": configTypeNode(), "items": itemsNode(), "secret": flag, "description": plainText("")}
		maps.Copy(fields, more)
		return mapOf(anyOf(configTypeNode(), closedMap(fields)))
	}
	return closedMap(jsonNode{
		"provider":    described(jsonNode{"type": "string"}, "The file of the provider, such as ./file.ts."),
		"description": plainText("What the type is."),
		"inputs": property(jsonNode{"default": refTo(anyValue), "optional": flag,
			"replace": described(flag, "A change replaces the resource.")}),
		"outputs": property(jsonNode{"stable": described(flag, "An update does not change it.")}),
		"onCodeChange": described(jsonNode{"enum": []string{"ignore", "update", "replace"}},
			"What a change of the file does to the resources."),
		"env": texts,
	}, "provider")
}

// driftNode is options.drift: the differences that do not count.
func driftNode() jsonNode {
	glob := described(jsonNode{"type": "string"},
		"A glob: * stands for anything without a colon or a dot, ** for anything.")
	rule := closedMap(jsonNode{"type": glob, "urn": glob, "property": glob,
		"reason": described(jsonNode{"type": "string"}, "Why the difference does not matter; reports show it.")}, "reason")
	return closedMap(jsonNode{"ignore": jsonNode{"type": []string{"array", "null"}, "items": rule}})
}

// projectFields are the fields of a project file (L1.B).
func projectFields() jsonNode {
	open := jsonNode{"type": []string{"object", "null"}}
	text := jsonNode{"type": []string{"string", "null"}}
	plugins := jsonNode{"type": []string{"array", "null"},
		"items": closedOpen(jsonNode{"name": text, "path": plainText("The folder of the plugin."), "version": text})}
	return jsonNode{
		"runtime": described(anyOf(jsonNode{"type": "string"}, closedMap(jsonNode{
			"name": jsonNode{"type": "string"}, "options": closedOpen(jsonNode{"compiler": text})}, "name")),
			"The language: yaml."),
		"main": plainText("The folder or file of the program."), "author": text, "website": text, "license": text,
		"stackConfigDir":        plainText("The folder of Pulumi.<stack>.yaml."),
		"requiredPulumiVersion": plainText("The versions of Pulumi that the project needs."),
		"backend":               described(closedMap(jsonNode{"url": text}), "Where the state is kept."),
		"options":               closedMap(jsonNode{"refresh": jsonNode{"enum": []string{"always"}}, "drift": driftNode()}),
		"template": described(closedOpen(jsonNode{"displayName": text, "description": text, "quickstart": text,
			"config": open, "metadata": open}), "The questions that `yamlhost new` asks."),
		"packages": described(jsonNode{"type": []string{"object", "null"}, "additionalProperties": jsonNode{
			"properties": jsonNode{"source": plainText("Its name, a folder, or a repository."), "version": text,
				"parameters": jsonNode{}}}}, "Packages by name, each with its source."),
		"crds": described(anyOf(text, jsonNode{"type": []string{"array", "null"}, "items": text}),
			"Files with CustomResourceDefinitions of Kubernetes, whose kinds are types."),
		"plugins": described(closedOpen(jsonNode{"providers": plugins, "languages": plugins, "analyzers": plugins}),
			"Plugins by path."),
		"policyPacks": described(jsonNode{"type": []string{"array", "null"}, "items": anyOf(jsonNode{"type": "string"},
			closedMap(jsonNode{"path": text, "config": text}, "path"))}, "Policy packs that check previews and updates."),
	}
}

func closedOpen(properties jsonNode) jsonNode {
	return jsonNode{"type": []string{"object", "null"}, "properties": properties}
}

// configTypeNode are the spellings of the types of configuration values (L2.20); letters may be capitals.
func configTypeNode() jsonNode {
	const plain, generic = "string|number|int|integer|bool|boolean|any|object|map|list|array", "object|map|list|array"
	item := "(" + plain + "|(" + generic + ")<.+>)"
	return anyOf(jsonNode{"enum": configTypes},
		jsonNode{"type": "string", "pattern": `^\s*` + anyCase(item) + `\s*\??\s*$`})
}

// anyCase is a pattern that takes letters in both cases. JSON Schema has no flag for it.
func anyCase(pattern string) string {
	var b strings.Builder
	for _, r := range pattern {
		if r >= 'a' && r <= 'z' {
			b.WriteString("[" + string(r) + strings.ToUpper(string(r)) + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func itemsNode() jsonNode {
	return closedMap(jsonNode{"type": configTypeNode(), "items": jsonNode{"type": "object"}})
}

// configNode is a declaration of a configuration value (L2.C).
func configNode() jsonNode {
	flag := jsonNode{"type": "boolean"}
	return anyOf(jsonNode{"type": []string{"string", "number", "boolean", "array", "null"}}, jsonNode{
		"type": "object", "additionalProperties": false, "properties": jsonNode{
			"type":        described(configTypeNode(), "The type of the value."),
			"items":       described(itemsNode(), "The type of the items of an array."),
			"default":     described(refTo(anyValue), "The value for stacks that have none."),
			"value":       jsonNode{},
			"secret":      described(flag, "The value is a secret."),
			"optional":    described(flag, "The value is null for stacks that have none."),
			"name":        plainText("The key in the stack's configuration, if not this one."),
			"description": plainText("What the value is for."),
		}})
}
