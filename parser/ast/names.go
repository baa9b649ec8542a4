package ast

import "slices"

// ResourceFields are the names of the fields of a resource (L3.B).
func ResourceFields() []string {
	return []string{"type", "name", "properties", "options", "get", "defaultProvider", "forEach", "if"}
}

// OptionNames are the names of the options of a resource (L4.A).
func OptionNames() []string {
	return []string{"additionalSecretOutputs", "aliases", "customTimeouts", "deleteBeforeReplace", "dependsOn",
		"ignoreChanges", "import", "parent", "protect", "provider", "providers", "version", "pluginDownloadURL",
		"replaceOnChanges", "retainOnDelete", "replaceWith", "deletedWith", "hideDiffs", "replacementTrigger", "envVarMappings",
		"hooks", "transforms"}
}

// OptionName reports whether name is that of an option of a resource.
func OptionName(name string) bool { return slices.Contains(OptionNames(), name) }

// FieldName reports whether name is that of a field of a resource.
func FieldName(name string) bool { return slices.Contains(ResourceFields(), name) }
