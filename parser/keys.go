package parser

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/parser/ast"
)

// This file lists the keys that the language defines. They are matched ignoring case (L1.20).

// canonical returns the known key that equals key except for case; false if there is none.
func canonical(key string, known []string) (string, bool) {
	if slices.Contains(known, key) {
		return key, true
	}
	for _, name := range known {
		if len(name) == len(key) && strings.EqualFold(name, key) {
			return name, true
		}
	}
	return "", false
}

// The sections of a program (L1.C), and the keys that only matter to the reader of project files (L1.B).
var (
	sectionKeys = []string{"name", "description", "version", "namespace", "pulumi", "config", "configuration", "variables",
		"resources", "outputs", "components", "hooks", "dynamic", "transforms", "transformations", "messages", "policies",
		"enforcement", "include"}
	projectKeys = []string{"runtime", "main", "author", "website", "license", "template", "backend", "options", "packages",
		"plugins", "policyPacks", "crds", "stackConfigDir", "requiredPulumiVersion"}
	topKeys = slices.Concat(sectionKeys, projectKeys)
)

// cuttable lists the sections whose entries are parsed separately.
var cuttable = []string{"config", "configuration", "variables", "resources", "outputs", "components", "hooks",
	"dynamic"}

var configKeys = []string{"type", "items", "default", "value", "secret", "optional", "name", "description"}

// The fields of a resource (L3.B). The reserved ones are those that the stock host accepts without any effect (L1.23).
var (
	resourceKeys = ast.ResourceFields()
	reservedKeys = []string{"condition", "metadata"}
	allFields    = append(resourceKeys[:len(resourceKeys):len(resourceKeys)], reservedKeys...)
	getKeys      = []string{"id", "state"}
	// elsewhere holds keys that have a meaning one level down.
	elsewhere = slices.Concat(optionKeys, getKeys)
)

// optionKeys holds the names of all options. readOptionKeys adds the deprecated one.
var (
	optionKeys     = ast.OptionNames()
	readOptionKeys = append(slices.Clip(optionKeys), transformationsName)
)

// transformsName is the name of the section and option for transforms; transformationsName is the former one.
const (
	transformsName      = "transforms"
	transformationsName = "transformations"
)

var componentKeys = []string{"name", "description", "token", "pulumi", "inputs", "variables", "resources", "outputs"}

var hookKeys = []string{"command", "onDryRun", "ignoreErrors"}

var (
	dynamicKeys       = []string{"provider", "description", "inputs", "outputs", "onCodeChange", "env"}
	dynamicInputKeys  = []string{"type", "items", "default", "secret", "optional", "replace", "description"}
	dynamicOutputKeys = []string{"type", "items", "secret", "stable", "description"}
	codeChanges       = []string{"ignore", "update", "replace"}
)

// isField reports whether a key is a field of the entries of a section, rather than the name of an entry.
func isField(section, key string) bool {
	_, field := canonical(key, entryKeys[section])
	return field || section == "variables" && strings.HasPrefix(strings.ToLower(key), "fn::")
}

// entryKeys maps sections to the fields of their entries.
var entryKeys = map[string][]string{"config": configKeys, "configuration": configKeys, "resources": allFields,
	"components": componentKeys, "hooks": hookKeys, "dynamic": dynamicKeys}

// valueRules holds the JSON Schema keywords for the configuration of a policy.
var valueRules = []string{"enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems"}

const callPrefix = "fn::"

// isCall reports whether a key is a function call: it begins with "fn::", ignoring case (L6.1, L6.4).
func isCall(key string) bool {
	return len(key) >= len(callPrefix) && strings.EqualFold(key[:len(callPrefix)], callPrefix)
}
