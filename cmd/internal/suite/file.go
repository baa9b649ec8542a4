package suite

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	source "github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/phrasebook"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Suffix is the end of the names of test files. Pulumi.test.yaml is not a test file but the settings file of a stack.
const Suffix = ".test.yaml"

// IsTestFile reports whether a file with that base name is a test file.
func IsTestFile(name string) bool {
	return strings.HasSuffix(name, Suffix) && name != "Pulumi"+Suffix
}

// A File is a parsed test file.
type File struct {
	Source *diag.Source
	Dir    string // absolute path of the file's folder
	Cases  []*Case
	// Diags are the diagnostics of the file itself. If one is an error, no case is run.
	Diags diag.Diagnostics

	mocks   []*mock // all mocks of the file, each once
	schemas string  // folder of schemas; empty if there is none
}

// A Case is one run of a program with its expected results.
type Case struct {
	Name  string
	Place diag.Range
	file  *File
	// layers are the maps that describe the case, innermost first: its row of a table, the case, and the file.
	layers []layer
}

// A layer is one map of a description, by key.
type layer map[string]field

// A field is one member of a map.
type field struct {
	name  string
	at    diag.Range // position of the name
	value ast.Expr
}

// The allowed keys of a description, of its expectations, and of the maps below them.
var (
	givenKeys     = []string{"before", "config", "env", "expect", "mocks", "policies", "program", "providers", "stack", "stacks"}
	expectKeys    = []string{"assert", "changes", "count", "findings", "outputs", "resources", "snapshot", "violations"}
	resourceKeys  = []string{"dependsOn", "id", "outputs", "parent", "properties", "protect", "type"}
	findingKeys   = []string{"code", "line", "message", "resource", "severity"}
	violationKeys = []string{"level", "message", "policy", "resource"}
	packKeys      = []string{"config", "path"}
	mockKeys      = []string{"error", "id", "match", "name", "outputs", "replaceOn"}
	functionKeys  = []string{"error", "match", "result"}
)

// Read parses a test file. It reports all errors in File.Diags.
func Read(src *diag.Source, dir string) *File {
	f := &File{Source: src, Dir: dir}
	root, diags := parser.Data(src)
	f.Diags = diags
	if diags.HasErrors() {
		f.hideLines()
		return f
	}
	f.hideSecrets(root)
	top := f.layer(root, "a test file", append([]string{"cases", "schemas"}, givenKeys...))
	if m := top["schemas"]; m.value != nil {
		f.schemas = f.path(m.value)
	}
	cases := f.members(top["cases"].value, "`cases`")
	if len(cases) == 0 && !f.Diags.HasErrors() {
		f.fault(diag.RequiredMissing, root.Range(), "the file has no cases", "describe at least one under `cases`")
	}
	f.check(top)
	for _, c := range cases {
		own := f.layer(c.value, "a case", append([]string{"table"}, givenKeys...))
		f.check(own)
		table, ok := own["table"].value.(*ast.List)
		if own["table"].value != nil && !ok {
			f.fault(diag.WrongKind, own["table"].value.Range(), "`table` is a list of rows", "")
		}
		if !ok {
			f.Cases = append(f.Cases, &Case{c.name, c.at, f, []layer{own, top}})
			continue
		}
		if len(table.Items) == 0 {
			f.fault(diag.RequiredMissing, table.Range(), "the table has no rows", "a table without rows would test nothing")
		}
		for i, item := range table.Items {
			row := f.layer(item, "a row", append([]string{"name"}, givenKeys...))
			f.check(row)
			label := strconv.Itoa(i + 1)
			if name, ok := row["name"].value.(*ast.String); ok {
				label = name.Value
			}
			f.Cases = append(f.Cases, &Case{c.name + "/" + label, item.Range(), f, []layer{row, own, top}})
		}
	}
	for _, c := range f.Cases {
		if !f.Diags.HasErrors() && len(c.expectations()) == 0 {
			f.fault(diag.RequiredMissing, c.Place, "the case `"+c.Name+"` expects nothing", "say what must hold under `expect`")
		}
	}
	return f
}

func (f *File) fault(code diag.Code, at diag.Range, summary, detail string) {
	f.Diags.Add(diag.Diagnostic{Code: code, Subject: at, Summary: summary, Detail: detail})
}

// members returns the entries of the map e in their order, or none if e is missing. It reports other kinds of
// expressions, calling them what, and repeated keys.
func (f *File) members(e ast.Expr, what string) []field {
	switch e := e.(type) {
	case nil, *ast.Null:
		return nil
	case *ast.Map:
		list, names := make([]field, 0, len(e.Entries)), make(map[string]bool, len(e.Entries))
		for _, entry := range e.Entries {
			name := keyText(entry.Key)
			if names[name] {
				f.fault(diag.Duplicate, entry.Key.Range(), "`"+name+"` is there twice", "")
			}
			names[name] = true
			list = append(list, field{name, entry.Key.Range(), entry.Value})
		}
		return list
	default:
		f.fault(diag.WrongKind, e.Range(), what+" must be a map", "")
		return nil
	}
}

func keyText(e ast.Expr) string {
	v := dataOf(e)
	if text, ok := v.AsString(); ok {
		return text
	}
	return v.String()
}

// layer reads a map and reports keys that are not in keys.
func (f *File) layer(e ast.Expr, what string, keys []string) layer {
	l := layer{}
	meant := layer{} // by the key that was probably meant
	for _, m := range f.members(e, what) {
		if slices.Contains(keys, m.name) {
			l[m.name] = m
		} else if name := f.unknown(m, what, keys); name != "" {
			meant[name] = m
		}
	}
	for name, m := range meant {
		if _, given := l[name]; !given {
			l[name] = m
		}
	}
	return l
}

// unknown reports a key that a map cannot have, and returns the key that was probably meant; empty if none was.
func (f *File) unknown(m field, what string, keys []string) string {
	near := diag.Suggest(m.name, keys)
	meant, detail := phrasebook.Key(m.name, keys)
	switch {
	case detail != "":
	case len(near) > 0:
		meant, detail = near[0], "did you mean `"+near[0]+"`?"
	default:
		detail = "it may have " + strings.Join(slices.Sorted(slices.Values(keys)), ", ")
	}
	f.fault(diag.UnknownKey, m.at, fmt.Sprintf("%s has no `%s`", what, m.name), detail)
	return meant
}

// check reports errors in the description of cases before any case is run.
func (f *File) check(l layer) {
	for _, name := range []string{"config", "env", "stacks"} {
		f.members(l[name].value, "`"+name+"`")
	}
	if b := l["before"]; b.value != nil {
		before := f.layer(b.value, "`before`", []string{"config", "env", "program", "stacks"})
		f.members(before["config"].value, "`config`")
		f.path(before["program"].value)
	}
	if p := l["providers"]; p.value != nil {
		if text := keyText(p.value); text != "mock" && text != "embedded" {
			f.fault(diag.NotInEnum, p.value.Range(), "`providers` is mock or embedded, not "+text, "")
		}
	}
	f.checkMocks(l["mocks"])
	expect := f.layer(l["expect"].value, "`expect`", expectKeys)
	for _, name := range []string{"changes", "outputs"} {
		f.members(expect[name].value, "`"+name+"`")
	}
	for _, m := range f.members(expect["resources"].value, "`resources`") {
		if _, absent := m.value.(*ast.Null); !absent {
			want := f.layer(m.value, "an expected resource", resourceKeys)
			f.members(want["properties"].value, "`properties`")
		}
	}
	f.list(expect["assert"].value, "`assert`")
	for _, item := range f.list(expect["findings"].value, "`findings`") {
		f.layer(item, "an expected finding", findingKeys)
	}
	for _, item := range f.list(expect["violations"].value, "`violations`") {
		f.layer(item, "an expected violation", violationKeys)
	}
	if m := expect["snapshot"]; m.value != nil && !value.SameContent(dataOf(m.value), value.Bool(true)) {
		f.fault(diag.WrongKind, m.value.Range(), "`snapshot` must be true", "leave it out where no snapshot is compared")
	}
	for _, item := range f.list(l["policies"].value, "`policies`") {
		if _, path := item.(*ast.String); !path {
			item = f.layer(item, "a policy pack", packKeys)["path"].value
		}
		f.path(item)
	}
	f.path(l["program"].value)
}

// path returns a path with slashes, and warns of others. It is empty for anything but a text.
func (f *File) path(e ast.Expr) string {
	text, ok := e.(*ast.String)
	if !ok {
		return ""
	}
	path, found := diag.Slashed(text.Range(), text.Value)
	if found != nil {
		f.Diags.Add(*found)
	}
	return path
}

// pathOf returns the path that File.path has looked at.
func pathOf(text string) string { return strings.ReplaceAll(text, `\`, "/") }

func (f *File) list(e ast.Expr, what string) []ast.Expr {
	switch e := e.(type) {
	case nil, *ast.Null:
		return nil
	case *ast.List:
		return e.Items
	default:
		f.fault(diag.WrongKind, e.Range(), what+" must be a list", "")
		return nil
	}
}

func (f *File) checkMocks(m field) {
	if m.value == nil {
		return
	}
	sections := f.layer(m.value, "`mocks`", []string{"functions", "resources"})
	for name, keys := range map[string][]string{"resources": mockKeys, "functions": functionKeys} {
		for _, item := range f.list(sections[name].value, "`"+name+"`") {
			l := f.layer(item, "a mock", keys)
			if l["match"].value == nil {
				f.fault(diag.RequiredMissing, item.Range(), "the mock matches nothing", "name the types or functions that it stands for: `match: TOKEN`")
			}
			f.literal(item)
			f.mocks = append(f.mocks, newMock(item, l, name == "functions"))
		}
	}
}

// literal reports expressions where only plain data is allowed.
func (f *File) literal(e ast.Expr) {
	ast.Walk(e, func(x ast.Expr) bool {
		if text, ok := x.(*ast.String); ok && strings.Contains(text.Value, "${") {
			f.fault(diag.NotLiteral, x.Range(), "a mock has no expressions", "write the value; expressions are for what is expected")
		}
		return true
	})
}

// given returns the innermost field called name, for keys whose layers are not merged.
func (c *Case) given(name string) field {
	return innermost(c.layers, name)
}

// innermost returns the field called name from the first layer that has it, or a zero field.
func innermost(layers []layer, name string) field {
	for _, l := range layers {
		if m, ok := l[name]; ok {
			return m
		}
	}
	return field{}
}

// mergedOf returns the members of the map called name from all layers. A member of an inner layer replaces one of the
// same name in outer layers.
func (c *Case) mergedOf(name string, layers []layer) []field {
	var list []field
	for _, l := range slices.Backward(layers) {
		for _, m := range c.file.members(l[name].value, name) {
			if i := slices.IndexFunc(list, func(known field) bool { return known.name == m.name }); i >= 0 {
				list[i] = m
			} else {
				list = append(list, m)
			}
		}
	}
	return list
}

// expectations returns the layers of `expect` that are not empty, innermost first.
func (c *Case) expectations() []layer {
	var list []layer
	for _, l := range c.layers {
		if members := c.file.members(l["expect"].value, "expect"); len(members) > 0 {
			nonEmpty := layer{}
			for _, m := range members {
				nonEmpty[m.name] = m
			}
			list = append(list, nonEmpty)
		}
	}
	return list
}

// mocks returns the mocks of the case, innermost first.
func (c *Case) mocks() []*mock {
	var list []*mock
	for _, l := range c.layers {
		section := l["mocks"].value
		if section == nil {
			continue
		}
		for _, m := range c.file.mocks {
			if i := m.place; i.Start >= section.Range().Start && i.End <= section.Range().End {
				list = append(list, m)
			}
		}
	}
	return list
}

// hideSecrets hides the texts of secrets, {secret: TEXT}, in everything that is rendered.
func (f *File) hideSecrets(root ast.Expr) {
	ast.Walk(root, func(e ast.Expr) bool {
		if m, ok := e.(*ast.Map); ok {
			for _, entry := range m.Entries {
				if key, ok := entry.Key.(*ast.String); ok && key.Value == "secret" {
					ast.HideTexts(entry.Value)
				}
			}
		}
		return true
	})
}

// hideLines does what hideSecrets does for a file that is not read: it hides the rest of each line with a secret.
func (f *File) hideLines() {
	start := 0
	for line := range bytes.Lines(f.Source.Text()) {
		if i := bytes.Index(line, []byte("secret:")); i >= 0 {
			f.Source.Hide(diag.NewRange(f.Source, start+i+len("secret:"), start+len(line)))
		}
		start += len(line)
	}
}

// dataOf converts an expression of a test file to a value, null for a missing one. Without errors in the file, all
// expressions are literals.
func dataOf(e ast.Expr) value.Value {
	v, _ := source.Literal(e)
	return v
}
