package editor

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// draft7 is the dialect of the generated schemas. Red Hat's YAML server, which VS Code, Neovim and Helix run, supports
// draft 7 in all versions. Older versions read a draft 2020-12 schema without its definitions.
const draft7 = "http://json-schema.org/draft-07/schema#"

// JSONSchema returns a JSON Schema, draft 7, of a program's texts, for editors without a language server. It covers
// sections, fields, options, functions, the inputs of types that the program uses, and the names of all other types of
// packages. With all, it includes the inputs of every type of the packages.
//
// The checker rejects everything that the schema rejects, except for spellings that it accepts with a warning, such as
// keys of the language in other case (L1.20). The schema cannot express many findings of the checker. It allows any
// inputs for types that cannot be read. The result consists of maps, slices and scalars, and the caller owns it.
func JSONSchema(ctx context.Context, program *check.Program, packages []*schema.Package, all bool) map[string]any {
	w := newSchemaWriter(ctx, program)
	for _, pkg := range packages {
		w.addPackage(pkg, all)
	}
	// After the packages: what the program uses is described with its inputs, also where they have added the name
	// alone.
	w.addProgram(program)
	// The order of the rest matters little, as definitions refer to each other by name, but language reads them all.
	w.expressions()
	node := w.language()
	node["title"] = "Pulumi program " + program.Name
	return node
}

// grammarText is the schema of the language's keys: those of programs, included files and component packages (L1.C),
// and of project files (L1.B), since one file often is both. It lacks the parts that depend on the program.
//
//go:embed grammar.json
var grammarText []byte

// newSchemaWriter returns a writer without packages. It resolves types of other packages by the program.
func newSchemaWriter(ctx context.Context, program *check.Program) *schemaWriter {
	return &schemaWriter{
		jsonTypes: jsonTypes{ctx: ctx, program: program, definitions: jsonNode{}, names: map[*schema.Object]string{}},
		resources: map[string]*schema.Resource{}, functions: map[string]*schema.Function{},
		resourceNames: map[string]bool{}, functionNames: map[string]bool{}, known: map[string]bool{},
	}
}

// language returns the schema of the language's keys, completed by the types, functions and options of the program. It
// comes last: it reads what the other steps have collected.
func (w *schemaWriter) language() jsonNode {
	var node jsonNode
	if err := json.Unmarshal(grammarText, &node); err != nil {
		panic("editor: grammar.json: " + err.Error())
	}
	// The definitions of the grammar and of the program share one map, which the root holds.
	maps.Copy(w.definitions, node["definitions"].(jsonNode))
	node["definitions"] = w.definitions
	for _, t := range []schema.Type{schema.String, schema.Bool, schema.AnyResource} {
		// The grammar refers to these three by name.
		w.value(t)
		w.value(schema.OptionalOf(t))
	}
	for _, kind := range program.HookKinds() {
		w.fields("hooks option")[kind] = refTo("hookNames")
	}
	maps.Copy(w.definitions["transformOptions"].(jsonNode), w.options("parent", "envVarMappings", "transforms"))
	w.resource()
	w.invoke()
	return node
}

// fields returns the properties of a definition of the language's schema.
func (w *schemaWriter) fields(definition string) jsonNode {
	return w.definitions[definition].(jsonNode)["properties"].(jsonNode)
}

// schemaWriter collects the types and functions that a program can use and writes their schema.
type schemaWriter struct {
	jsonTypes
	resources     map[string]*schema.Resource // resources to describe with their inputs, by token as programs write it
	functions     map[string]*schema.Function // functions to describe with their inputs, by token
	resourceNames map[string]bool             // all valid spellings of types
	functionNames map[string]bool             // all valid spellings of functions
	known         map[string]bool             // packages for which all tokens are known
}

// spellings returns the ways to write a token (L7.1): short, with the module index, and canonical.
func spellings(token string) []string {
	short := schema.CollapseToken(token)
	names := []string{short, token}
	if pkg, name, ok := strings.Cut(short, ":"); ok && !strings.Contains(name, ":") {
		names = append(names, pkg+":index:"+name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// addPackage adds the tokens of a package; with all, also the inputs of its types and functions.
func (w *schemaWriter) addPackage(pkg *schema.Package, all bool) {
	w.known[pkg.Name] = true
	for _, token := range pkg.ResourceTokens() {
		var r *schema.Resource
		if all {
			r, _ = pkg.Resource(token) // the checker reports a bad definition where it is used
		}
		w.addResource(token, r)
	}
	for _, token := range pkg.FunctionTokens() {
		var f *schema.Function
		if all {
			f, _ = pkg.Function(token)
		}
		w.addFunction(token, f)
	}
	// Every package has a provider but pulumi itself, which has stack references instead.
	if pkg.Name != "pulumi" {
		var provider *schema.Resource
		if all {
			provider, _ = pkg.Provider()
		}
		w.addResource("pulumi:providers:"+pkg.Name, provider)
	} else {
		w.resourceNames["pulumi:StackReference"] = true // L7.12
	}
}

// addResource adds the spellings of a resource type. A nil r adds the names alone, and so does an overlay, whose inputs
// only the languages' own libraries know.
func (w *schemaWriter) addResource(token string, r *schema.Resource) {
	for _, name := range spellings(token) {
		w.resourceNames[name] = true
	}
	if r != nil && !r.Overlay {
		w.resources[schema.CollapseToken(token)] = r
	}
}

// addFunction adds the spellings of a function; a nil f adds the names alone.
func (w *schemaWriter) addFunction(token string, f *schema.Function) {
	for _, name := range spellings(token) {
		w.functionNames[name] = true
	}
	if f != nil && !f.Overlay {
		w.functions[schema.CollapseToken(token)] = f
	}
}

// addProgram adds the types and functions that the program declares or uses, in the program's spelling.
func (w *schemaWriter) addProgram(program *check.Program) {
	bodies := []*check.Program{program}
	for _, c := range program.Components {
		if name, _, _ := strings.Cut(c.Token, ":"); name == "components" {
			w.known[name] = true
		}
		w.addResource(c.Token, c.Schema)
		bodies = append(bodies, c.Body)
	}
	for _, d := range program.Dynamic {
		w.known["dynamic"] = true
		w.addResource(d.Token, d.Schema)
	}
	for _, body := range bodies {
		for _, n := range body.Nodes {
			if n.Resource == nil || n.Resource.Schema == nil {
				continue
			}
			w.addResource(n.Resource.Token, n.Resource.Schema)
			// The program may use a spelling that spellings does not have, such as one in other capitals (L7.1).
			if written := n.Resource.Decl.Type; written != nil {
				w.resourceNames[written.Value] = true
				w.resources[written.Value] = n.Resource.Schema
			}
		}
	}
	for _, inv := range program.Invokes() {
		if inv.Schema != nil {
			w.addFunction(inv.Token, inv.Schema)
		}
	}
}

// token returns the schema of a resource or function token: one of names, or a token of an unknown package.
func (w *schemaWriter) token(names map[string]bool) jsonNode {
	var known []string
	for _, name := range slices.Sorted(maps.Keys(w.known)) {
		known = append(known, regexp.QuoteMeta(name))
	}
	other := jsonNode{"type": "string", "pattern": `^[^:$\s]+:[^$\s]+$`}
	if len(known) > 0 {
		// A token of a known package must be one of its own; Draft 7 has no other way to say so.
		other["not"] = jsonNode{"pattern": "^(" + strings.Join(known, "|") + "):"}
	}
	// the provider of another package
	provider := jsonNode{"type": "string", "pattern": `^pulumi:providers:[^:$\s]+$`}
	allowed := []any{other, provider}
	if len(names) > 0 { // an enum has values
		allowed = append([]any{jsonNode{"enum": slices.Sorted(maps.Keys(names))}}, allowed...)
	}
	return anyOf(allowed...)
}

// cases returns, for each token in known, a condition on the value of key and the schema that then applies.
func cases[T any](key string, known map[string]T, names map[string]bool, then func(T) jsonNode) []any {
	var list []any
	for _, token := range slices.Sorted(maps.Keys(known)) {
		node := then(known[token])
		if node == nil {
			continue
		}
		written := []string{token}
		for name := range names {
			if name != token && schema.CollapseToken(name) == token {
				written = append(written, name)
			}
		}
		slices.Sort(written)
		list = append(list, jsonNode{"if": jsonNode{"required": []string{key},
			"properties": jsonNode{key: jsonNode{"enum": written}}}, "then": node})
	}
	return list
}

// resource completes the definition of a resource.
func (w *schemaWriter) resource() {
	fields := w.fields("resource")
	maps.Copy(fields["type"].(jsonNode), w.token(w.resourceNames))
	maps.Copy(fields["options"].(jsonNode), w.options())
	if list := cases("type", w.resources, w.resourceNames, w.inputs); len(list) > 0 {
		w.definitions["resource"].(jsonNode)["allOf"] = list
	}
}

// inputs returns a reference to the schema of a resource type's inputs.
func (w *schemaWriter) inputs(r *schema.Resource) jsonNode {
	name := "inputs " + r.Token
	if w.definitions[name] == nil {
		// The empty node reserves the name while members writes the types of properties, which may refer to resources.
		w.definitions[name] = jsonNode{}
		members := w.members(r.Inputs)
		// The state of a resource that is read may have properties of both, and none of them is required.
		state := jsonNode{}
		for _, o := range []*schema.Object{r.Outputs, r.StateInputs} {
			for _, p := range o.Properties() {
				state[p.Name] = refTo(anyValue)
			}
		}
		properties := orExpression(members["required"] == nil, members)
		then := jsonNode{"properties": jsonNode{"properties": properties, "get": jsonNode{"properties": jsonNode{
			"state": jsonNode{"properties": state, "additionalProperties": false}}}}}
		if members["required"] != nil {
			// A resource that is read needs no properties, even if its type requires some.
			then["anyOf"] = []any{jsonNode{"required": []string{"properties"}}, jsonNode{"required": []string{"get"}}}
		}
		text := schema.FirstParagraph(r.Description)
		if r.Deprecation != "" {
			text = strings.TrimSpace("Deprecated: " + schema.FirstParagraph(r.Deprecation) + "\n\n" + text)
		}
		w.definitions[name] = described(then, text)
	}
	return refTo(name)
}

// invoke completes the definition of a call of a provider function.
func (w *schemaWriter) invoke() {
	maps.Copy(w.fields("invoke")["function"].(jsonNode), w.token(w.functionNames))
	list := cases("function", w.functions, w.functionNames, func(f *schema.Function) jsonNode {
		// What the schema cannot describe it accepts.
		if f.Inputs == nil || f.Inputs.Property("__self__") != nil || len(f.MultiArg) > 0 {
			return nil // methods, and functions that also take a list of arguments
		}
		members := w.members(f.Inputs)
		then := jsonNode{"properties": jsonNode{"arguments": orExpression(members["required"] == nil, members)}}
		if members["required"] != nil {
			then["required"] = []string{"arguments"}
		}
		return described(then, schema.FirstParagraph(f.Description))
	})
	if len(list) > 0 {
		w.definitions["invoke"].(jsonNode)["allOf"] = list
	}
}

// expressions adds the definitions of any value, of expressions, and of expressions or null.
func (w *schemaWriter) expressions() {
	calls := jsonNode{}
	names := []string{}
	for _, f := range builtins.Table() {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			argument := refTo(anyValue)
			if name == "invoke" {
				argument = refTo("invoke")
			}
			calls["fn::"+name] = described(argument, f.Summary)
			names = append(names, "fn::"+name)
		}
	}
	slices.Sort(names)
	w.definitions[anyValue] = jsonNode{
		"properties": calls, "additionalProperties": refTo(anyValue), "items": refTo(anyValue),
		// A call of a provider function has its token behind fn::, with a colon in it.
		"propertyNames": anyOf(jsonNode{"enum": names}, jsonNode{"not": jsonNode{"pattern": "^fn::[^:]*$"}}),
	}
	w.definitions[expression] = anyOf(jsonNode{"type": "string", "pattern": `\$\{`},
		jsonNode{"allOf": []any{refTo(anyValue)}, "type": "object", "minProperties": 1, "maxProperties": 1,
			"propertyNames": jsonNode{"pattern": "^[fF][nN]::"}})
	// Properties without a value may be null.
	w.definitions[absent] = anyOf(jsonNode{"type": "null"}, refTo(expression))
}

// optionShapes holds the definition for each shape of a resource option (L4.A).
var optionShapes = map[ast.OptionShape]string{ast.AnyOption: anyValue, ast.FlagOption: "optional bool",
	ast.TextOption: "optional string", ast.TextsOption: "texts option", ast.PathsOption: "texts option",
	ast.ResourceOption: "optional resource", ast.ResourcesOption: "resources option"}

// options returns the schema of a resource's options without the excluded ones.
func (w *schemaWriter) options(excluded ...string) jsonNode {
	options := jsonNode{}
	for _, spec := range ast.OptionSpecs() {
		name := spec.Name + " option"
		if w.definitions[name] == nil {
			name = optionShapes[spec.Shape]
		}
		if !slices.Contains(excluded, spec.Name) {
			options[spec.Name] = described(refTo(name), spec.Doc)
		}
	}
	return jsonNode{"type": []string{"object", "null"}, "properties": options, "additionalProperties": false}
}
