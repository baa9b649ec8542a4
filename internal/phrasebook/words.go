package phrasebook

import "strings"

// kind is the place of a word in a text.
type kind int

const (
	key      kind = iota // of a map whose keys the language defines
	root                 // the first name of a reference
	member               // a later step of a reference, or a method
	function             // the name of a function that is called
)

// word is a word of another tool, with what this language writes instead.
type word struct {
	kind    kind
	foreign string
	// meant is the key of the same meaning. An entry with one applies to maps that have this key.
	meant  string
	advice string
}

// tool is another tool or language. Each has one table of its words.
type tool struct {
	name  string
	words []word
}

var tools = []tool{
	{"Terraform", []word{
		{key, "count", "forEach", "write `forEach: ${range(3)}`; the number of each instance is `${each.value}`"},
		{key, "for_each", "forEach", "write `forEach`"},
		{key, "depends_on", "properties", "write `options: {dependsOn: [\"${name}\"]}`"},
		{key, "lifecycle", "properties", "its settings are options: `protect`, `ignoreChanges`, `deleteBeforeReplace`, `replacementTrigger`"},
		{key, "source", "properties", "a module is a component: declare it under `components`, or its package under `packages`"},
		{key, "provisioner", "properties", "write a hook, or a resource of type command:local:Command"},
		{key, "connection", "properties", "it is an input of command:remote:Command"},
		{key, "prevent_destroy", "protect", "write `protect: true`"},
		{key, "create_before_destroy", "deleteBeforeReplace", "a replacement is created first unless `deleteBeforeReplace: true` says otherwise: remove it"},
		{key, "replace_triggered_by", "replacementTrigger", "write `replacementTrigger: ${name.property}`"},
		{key, "timeouts", "customTimeouts", "write `customTimeouts`"},
		{key, "sensitive", "secret", "write `secret: true`"},
		{key, "sensitive", "properties", "write `options: {additionalSecretOutputs: [NAME]}`, or `secret(value)` for an input"},
		{key, "prevent_destroy", "properties", "write `options: {protect: true}`"},
		{key, "lifecycle", "protect", "its settings are options themselves: `protect`, `ignoreChanges`, `deleteBeforeReplace`, `replacementTrigger`"},
		{key, "count", "protect", "write `forEach: ${range(3)}` beside the options"},
		{key, "for_each", "protect", "write `forEach` beside the options"},
		{key, "validation", "default", "check the value in an expression, or write a policy"},
		{key, "moved", "resources", "write `options: {aliases: [{name: OLD}]}` in the resource"},
		{key, "import", "resources", "write `options: {import: ID}` in the resource"},
		{key, "provisioner", "resources", "write a hook, or a resource of type command:local:Command"},
		{key, "nullable", "optional", "write `optional: true`"},
		{key, "variable", "config", "write `config`, with a map of all of them"},
		{key, "resource", "resources", "write `resources`, with the type in each: `NAME: {type: package:module:Type}`"},
		{key, "output", "outputs", "write `outputs: {NAME: value}`"},
		{key, "locals", "variables", "write `variables`"},
		{key, "module", "components", "a module is a component: write `components`, and a resource with its type"},
		{key, "data", "variables", "a data source is a function: write `variables: {NAME: {fn::invoke: {function: …}}}`"},
		{key, "provider", "resources", "write a resource of type pulumi:providers:NAME, or `config: {NAME:key: value}`"},
		{key, "terraform", "pulumi", "write `pulumi: {requiredVersion: \">=3.0.0\"}`, and packages under `packages`"},
		{root, "var", "", "configuration is written by its name alone: declare it under `config`"},
		{root, "local", "", "a variable is written by its name alone: declare it under `variables`"},
		{root, "module", "", "a component is written by the name of its resource: `${name.output}`"},
		{root, "data", "", "a data source is a function: write `variables: {NAME: {fn::invoke: {function: …}}}`, and then `${NAME}`"},
		{root, "self", "", "write the name of the resource"},
		{root, "count", "", "write `forEach: ${range(3)}`; the number of each instance is `${each.value}`"},
		{root, "path", "", "paths are relative to the program's folder; its absolute path is `${pulumi.cwd}`"},
		{root, "terraform", "", "the workspace is the stack: `${pulumi.stack}`"},
		{function, "toset", "", "write `distinct(list)`, or the list itself: `forEach` takes lists"},
		{function, "tolist", "", "write the list itself, or `values(map)`"},
		{function, "tomap", "", "write the map itself"},
		{function, "tostring", "", "write `toString(value)`"},
		{function, "tonumber", "", "write `toNumber(text)`"},
		{function, "tobool", "", "write `toBool(text)`"},
		{function, "file", "", "write `readFile(\"path\")`"},
		{function, "fileexists", "", "write `can(readFile(\"path\"))`"},
		{function, "fileset", "", "name the files in a list"},
		{function, "jsonencode", "", "write `toJSON(value)`"},
		{function, "jsondecode", "", "write `fromJSON(text)`"},
		{function, "yamlencode", "", "write `toYAML(value)`"},
		{function, "yamldecode", "", "write `fromYAML(text)`"},
		{function, "base64encode", "", "write `toBase64(text)`"},
		{function, "base64decode", "", "write `fromBase64(text)`"},
		{function, "templatefile", "", "read the text with `readFile(\"path\")` and insert values with `replace`, or write the text here with `${name}` in it"},
		{function, "sensitive", "", "write `secret(value)`"},
		{function, "nonsensitive", "", "write `unsecret(value)`"},
		{function, "one", "", "write `singleOrNone(list)`"},
		{function, "formatdate", "", "write `formatDate(format, time)`"},
		{function, "timestamp", "", "a program gives the same values in each run: read the time from configuration or a resource"},
		{function, "uuid", "", "write a resource of type random:RandomUuid"},
		{function, "basename", "", "write the name itself, or `regexReplace(path, \".*/\", \"\")`"},
		{function, "dirname", "", "write the folder itself, or `regexReplace(path, \"/[^/]*$\", \"\")`"},
		{function, "abspath", "", "paths are relative to the program's folder; its absolute path is `${pulumi.cwd}`"},
		{function, "pathexpand", "", "paths are relative to the program's folder; its absolute path is `${pulumi.cwd}`"},
		{function, "filesha256", "", "write `sha256(readFile(\"path\"))`"},
		{function, "filemd5", "", "write `md5(readFile(\"path\"))`"},
		{function, "index", "", "write `indexOf(list, value)`"},
		{function, "matchkeys", "", "write `[for item in list : item if condition]`"},
		{function, "bcrypt", "", "a program gives the same values in each run: write a resource of type random:RandomPassword"},
		{function, "lookup", "", "write `lookup(map, \"key\", default)`"},
	}},
	{"CloudFormation", []word{
		{key, "Parameters", "config", "write `config`; `yamlhost convert --from cloudformation` converts whole templates"},
		{key, "Mappings", "variables", "write `variables`"},
		{key, "Conditions", "variables", "write `variables`, and `if: ${name}` in a resource"},
		{key, "Metadata", "resources", "remove it"},
		{key, "Globals", "resources", "write its values into each resource"},
		{key, "Rules", "resources", "write a policy"},
		{key, "Transform", "resources", "convert the template that it makes: `yamlhost convert --from cloudformation`"},
		{key, "AWSTemplateFormatVersion", "resources", "convert the template: `yamlhost convert --from cloudformation`"},
		{key, "DependsOn", "properties", "write `options: {dependsOn: [\"${name}\"]}`"},
		{key, "DeletionPolicy", "properties", "`Retain` is the option `retainOnDelete: true`"},
		{key, "UpdateReplacePolicy", "properties", "`Retain` is the option `retainOnDelete: true`"},
		{key, "CreationPolicy", "properties", "write the option `customTimeouts`"},
		{key, "UpdatePolicy", "properties", "write the option `customTimeouts`"},
		{key, "NoEcho", "secret", "write `secret: true`"},
		{key, "AllowedValues", "default", "write a policy, or check the value in an expression"},
		{root, "AWS", "", "a pseudo parameter is a function: `fn::aws:getRegion`, `fn::aws:getCallerIdentity`, `fn::aws:getPartition`; the stack's name is `${pulumi.stack}`"},
		{function, "Sub", "", "a string needs no function: write `${name}` in it to insert a value"},
		{function, "Ref", "", "write `${name}` for a value, or `${name.id}` for the ID of a resource"},
		{function, "GetAtt", "", "write `${resource.property}`"},
		{function, "FindInMap", "", "write `${map.key}` for a constant key, or `${map[key]}` for a computed one"},
		{function, "ImportValue", "", "read an output of another stack with a resource of type pulumi:pulumi:StackReference"},
		{function, "Equals", "", "write `${a == b}`"},
		{function, "GetAZs", "", "call a function of the provider, such as fn::aws:getAvailabilityZones"},
		{function, "And", "", "write `${a && b}`"},
		{function, "Or", "", "write `${a || b}`"},
		{function, "Not", "", "write `${!a}`"},
		{function, "Base64", "", "write `toBase64(text)`"},
		{function, "Cidr", "", "write `cidrSubnets(prefix, …)`"},
		{function, "Transform", "", "convert the template that it makes: `yamlhost convert --from cloudformation`"},
	}},
	{"Helm", []word{
		{root, "Values", "", "configuration is written by its name alone: declare it under `config`"},
		{root, "Release", "", "the name of a release is the stack's: `${pulumi.stack}`"},
		{key, "values", "config", "write `config`"},
		{function, "include", "", "write a component, or a variable"},
		{function, "tpl", "", "a string needs no function: write `${name}` in it to insert a value"},
		{function, "toYaml", "", "write `toYAML(value)`"},
		{function, "default", "", "write `coalesce(value, default)`"},
		{function, "quote", "", "write `toJSON(text)`; a YAML text needs no quotes"},
		{function, "b64enc", "", "write `toBase64(text)`"},
		{function, "required", "", "configuration without a default is required: declare it under `config`"},
	}},
	{"GitHub Actions", []word{
		{key, "if", "when", "write `when`"},
		{key, "jobs", "resources", "a program has no jobs; docs/ci.md has workflows that run it"},
		{key, "on", "resources", "a program has no events; docs/ci.md has workflows that run it"},
		{key, "env", "pulumi", "write `env(\"NAME\")`, and list the name under `pulumi: {allowEnv: [NAME]}`"},
		{root, "runner", "", "write `env(\"RUNNER_…\")`, and list the name under `pulumi: {allowEnv: […]}`"},
		{root, "secrets", "", "a secret is configuration: `yamlhost config set --secret NAME`, and `${NAME}` here"},
		{root, "env", "", "write `env(\"NAME\")`, and list the name under `pulumi: {allowEnv: [NAME]}`"},
		{root, "github", "", "write `env(\"GITHUB_…\")`, and list the name under `pulumi: {allowEnv: […]}`"},
		{root, "inputs", "", "configuration is written by its name alone: declare it under `config`"},
		{root, "vars", "", "configuration is written by its name alone: declare it under `config`"},
		{root, "matrix", "", "write `forEach` in a resource, and `${each.value}`"},
		{root, "needs", "", "an output of another project is read with a resource of type pulumi:pulumi:StackReference"},
		{root, "steps", "", "write `${resource.property}`"},
		{function, "fromJson", "", "write `fromJSON(text)`"},
		{function, "hashFiles", "", "write `filebase64sha256(\"path\")`"},
	}},
	{"Ansible", []word{
		{key, "when", "if", "write `if: ${condition}`"},
		{key, "loop", "forEach", "write `forEach`"},
		{key, "with_items", "forEach", "write `forEach`"},
		{key, "vars", "variables", "write `variables`"},
		{key, "hosts", "resources", "a program runs on this machine; commands elsewhere are resources of type command:remote:Command"},
		{key, "tasks", "resources", "write `resources`"},
		{root, "item", "", "write `forEach` in a resource, and `${each.value}`"},
		{root, "ansible_env", "", "write `env(\"NAME\")`, and list the name under `pulumi: {allowEnv: [NAME]}`"},
	}},
	{"JSON Schema", []word{
		{key, "required", "default", "configuration without a default is required: leave it out, or write `optional: true`"},
		{key, "enum", "default", "check the value in an expression, or write a policy"},
		{key, "pattern", "default", "check the value in an expression, or write a policy"},
		{key, "minimum", "default", "check the value in an expression, or write a policy"},
		{key, "maximum", "default", "check the value in an expression, or write a policy"},
	}},
	{"Docker Compose", []word{
		{key, "services", "resources", "write `resources`, with a type in each"},
	}},
	{"Pulumi ESC", []word{
		{key, "imports", "resources", "environments are imported by `environment: [NAME]` in a stack's file; parts of a program by `include`"},
	}},
	{"PCL", []word{
		{root, "range", "", "write `forEach` in the resource; its instance is `${each.key}` and `${each.value}`"},
		{function, "stack", "", "write `${pulumi.stack}`"},
		{function, "project", "", "write `${pulumi.project}`"},
		{function, "organization", "", "write `${pulumi.organization}`"},
		{function, "cwd", "", "write `${pulumi.cwd}`"},
		{function, "rootDirectory", "", "write `${pulumi.rootDirectory}`"},
	}},
	{"Open Policy Agent", []word{
		{key, "message", "violation", "write `violation`"},
		{key, "msg", "violation", "write `violation`"},
		{key, "deny", "violation", "write `violation`"},
		{key, "rule", "violation", "write `when: ${condition}` and `violation: message`"},
		{key, "condition", "when", "write `when: ${condition}`"},
	}},
	{"Java", []word{
		{member, "matches", "", "write `can(regex(\"pattern\", %s))`"},
		{member, "contains", "", "write `contains(%s, value)`"},
		{member, "containsKey", "", "write `contains(%s, \"key\")`"},
		{member, "isEmpty", "", "write `length(%s) == 0`"},
	}},
	{"Go", []word{
		{root, "nil", "", "write `null`"},
		{function, "append", "", "write `concat(list, [value])`"},
		{function, "Sprintf", "", "write `format(text, value)`"},
	}},
	{"policy packs in other languages", []word{
		{key, "enforcementLevel", "enforcement", "write `enforcement`"},
		{key, "validateResource", "violation", "write `when: ${condition}` and `violation: message`"},
		{key, "validateStack", "violation", "write `stack: true`, and `violation`"},
	}},
	{"test frameworks", []word{
		{key, "tests", "cases", "write `cases`"},
		{key, "type", "match", "write `match`"},
		{key, "token", "match", "write `match`"},
		{key, "function", "match", "write `match`"},
		{key, "returns", "outputs", "write `outputs`"},
		{key, "returns", "result", "write `result`"},
		{key, "return", "result", "write `result`"},
		{key, "state", "outputs", "write `outputs`"},
		{key, "properties", "outputs", "write `outputs`: a mock gives them to the program"},
		{key, "assertions", "assert", "write `assert`"},
		{key, "expectations", "expect", "write `expect`"},
	}},
	{"JavaScript", []word{
		{root, "process", "", "write `env(\"NAME\")`, and list the name under `pulumi: {allowEnv: [NAME]}`"},
		{root, "undefined", "", "write `null`"},
		{root, "JSON", "", "write `toJSON(value)` and `fromJSON(text)`"},
		{root, "console", "", "write an output, or an entry under `messages`"},
		{root, "Date", "", "a program gives the same values in each run: read the time from configuration or a resource"},
		{root, "this", "", "write the name of the resource"},
		{root, "Object", "", "write `keys(map)`, `values(map)` or `entries(map)`"},
		{root, "Math", "", "write `min`, `max`, `floor`, `ceil`, `round`, `abs`"},
		{member, "length", "", "write `length(%s)`"},
		{member, "size", "", "write `length(%s)`"},
		{member, "toLowerCase", "", "write `lower(%s)`"},
		{member, "toUpperCase", "", "write `upper(%s)`"},
		{member, "toString", "", "write `toString(%s)`"},
		{member, "trim", "", "write `trim(%s)`"},
		{member, "split", "", "write `split(\",\", %s)`"},
		{member, "join", "", "write `join(\",\", %s)`"},
		{member, "replace", "", "write `replace(%s, \"old\", \"new\")`"},
		{member, "replaceAll", "", "write `replace(%s, \"old\", \"new\")`"},
		{member, "includes", "", "write `contains(%s, value)`"},
		{member, "indexOf", "", "write `indexOf(%s, value)`"},
		{member, "startsWith", "", "write `startsWith(%s, \"prefix\")`"},
		{member, "endsWith", "", "write `endsWith(%s, \"suffix\")`"},
		{member, "slice", "", "write `slice(%s, from, to)`, or `substr` for a text"},
		{member, "substring", "", "write `substr(%s, from, length)`"},
		{member, "concat", "", "write `concat(%s, other)`"},
		{member, "push", "", "write `concat(%s, [value])`"},
		{member, "at", "", "write `element(%s, index)`"},
		{member, "sort", "", "write `sort(%s)`"},
		{member, "reverse", "", "write `reverse(%s)`"},
		{member, "flat", "", "write `flatten(%s)`"},
		{member, "find", "", "write `[for item in %s : item if condition][0]`"},
		{member, "hasOwnProperty", "", "write `contains(%s, \"key\")`"},
		{member, "match", "", "write `regex(\"pattern\", %s)`"},
		{member, "toFixed", "", "write `format(\"%%.2f\", %s)`"},
		{member, "padStart", "", "write `format(\"%%5s\", %s)`"},
		{member, "repeat", "", "write `repeat(text, count)`"},
		{member, "map", "", "write `[for item in %s : item]`"},
		{member, "filter", "", "write `[for item in %s : item if condition]`"},
		{member, "forEach", "", "write `[for item in %s : item]`"},
		{member, "reduce", "", "write `sum(%s)`, `join`, `merge` or `allTrue`"},
		{member, "some", "", "write `anyTrue([for item in %s : condition])`"},
		{member, "every", "", "write `allTrue([for item in %s : condition])`"},
		{member, "apply", "", "an output is used as it is: write `${%s}`"},
		{function, "map", "", "write `[for item in list : value]`"},
		{function, "filter", "", "write `[for item in list : item if condition]`"},
		{function, "String", "", "write `toString(value)`"},
		{function, "Number", "", "write `toNumber(text)`"},
		{function, "parseFloat", "", "write `toNumber(text)`"},
		{function, "Boolean", "", "write `toBool(text)`"},
		{function, "require", "", "a program imports nothing: name a package's types and functions in full"},
	}},
	{"Python", []word{
		{root, "None", "", "write `null`"},
		{root, "True", "", "write `true`"},
		{root, "False", "", "write `false`"},
		{root, "os", "", "write `env(\"NAME\")`, and list the name under `pulumi: {allowEnv: [NAME]}`"},
		{root, "f", "", "a text with values is written `\"hello ${name}\"`"},
		{member, "lower", "", "write `lower(%s)`"},
		{member, "upper", "", "write `upper(%s)`"},
		{member, "strip", "", "write `trim(%s)`"},
		{member, "format", "", "write `format(text, value)`, with a verb for each value"},
		{member, "startswith", "", "write `startsWith(%s, \"prefix\")`"},
		{member, "endswith", "", "write `endsWith(%s, \"suffix\")`"},
		{member, "get", "", "write `lookup(%s, \"key\", default)`"},
		{member, "items", "", "write `entries(%s)`"},
		{member, "keys", "", "write `keys(%s)`"},
		{member, "values", "", "write `values(%s)`"},
		{member, "append", "", "write `concat(%s, [value])`"},
		{function, "len", "", "write `length(value)`"},
		{function, "str", "", "write `toString(value)`"},
		{function, "int", "", "write `toNumber(text)`"},
		{function, "float", "", "write `toNumber(text)`"},
		{function, "bool", "", "write `toBool(text)`"},
		{function, "list", "", "write the list itself, or `values(map)`"},
		{function, "dict", "", "write `{key = value}`"},
		{function, "any", "", "write `anyTrue(list)`"},
		{function, "all", "", "write `allTrue(list)`"},
		{function, "sorted", "", "write `sort(list)`"},
		{function, "enumerate", "", "write `[for index, item in list : item]`"},
		{function, "zip", "", "write `zipmap(keys, values)`"},
		{function, "open", "", "write `readFile(\"path\")`"},
		{function, "f", "", "a text with values is written `\"hello ${name}\"`"},
		{function, "print", "", "write an output, or an entry under `messages`"},
	}},
}

// Key returns the advice on a key of another tool in a map with the known keys, and the key of the same meaning; both
// are empty if no tool has it.
func Key(foreign string, known []string) (meant, advice string) {
	w, of := find(key, foreign, func(w word) bool {
		for _, name := range known {
			if name == w.meant {
				return true
			}
		}
		return false
	})
	if of == "" {
		return "", ""
	}
	if !strings.HasPrefix(w.advice, "write `"+w.meant+"`") {
		w.meant = "" // more than the name differs
	}
	return w.meant, said(of, foreign, w.advice)
}

// Root returns the advice on the first name of a reference, such as Terraform's `var`; empty if no tool has it.
func Root(name string) string { return advice(root, name) }

// Function returns the advice on a function of another tool; empty if no tool has it.
func Function(name string) string { return advice(function, name) }

// Member returns the advice on a member or method of what the text owner names; empty if no language has it.
func Member(name, owner string) string {
	return strings.NewReplacer("%s", owner, "%%", "%").Replace(advice(member, name))
}

func advice(k kind, name string) string {
	w, of := find(k, name, func(word) bool { return true })
	if of == "" {
		return ""
	}
	return said(of, name, w.advice)
}

// said returns an advice behind the name of the tool.
func said(of, name, advice string) string { return "`" + name + "` is of " + of + ": " + advice }

// find returns the first word that suits; the name of its tool is empty if there is none. Capitals are ignored where
// nothing has exactly that spelling.
func find(k kind, foreign string, suits func(word) bool) (word, string) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, t := range tools {
			for _, w := range t.words {
				if w.kind == k && same(w.foreign, foreign) && suits(w) {
					return w, t.name
				}
			}
		}
	}
	return word{}, ""
}
