package ast

import (
	"iter"
	"path"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// File is a program, read from one text or merged from several.
type File struct {
	Source *diag.Source // the main text

	// Origins maps the blocks of the main text to their positions in it. It is nil unless the text was read block by
	// block.
	Origins *Origins

	// Lost holds the keys of lines that the parser left out, and reported, in order to read a text with YAML syntax
	// errors. A reference to such a key is not reported again.
	Lost []string
	// Faults holds the ranges of errors that make a declaration differ from what its author meant. Nameless is the
	// number of entries without a name (Y117) among them. The parser has reported them all; errors that merely follow
	// from them are not reported.
	Faults   []diag.Range
	Nameless int

	Name        *Literal // program name; nil when absent
	Description *Literal

	// Version and Namespace describe a component plugin (L1.32); nil in a program.
	Version   *Literal
	Namespace *Literal

	// Pack reports whether the text is a policy pack. Enforcement is the default level of its policies.
	Pack        bool
	Enforcement *Literal

	// Slips holds the sections that were not read because their keys are almost certainly misspelt. The checker reports
	// them.
	Slips []Slip

	RequiredVersion Expr  // pulumi.requiredVersion (L3.60); nil when absent
	Unit            *Unit // of RequiredVersion

	// AllowEnv lists the environment variables that the program may read. PublicEnv lists those among them whose values
	// are not secret (L10.C9). Both are extensions of yamlhost.
	AllowEnv, PublicEnv []Literal

	Body
	Components []*Component
	Hooks      []*Hook      // extension of yamlhost
	Dynamic    []*Dynamic   // extension of yamlhost
	Transforms []*Transform // extension of yamlhost
	Messages   []*Message   // extension of yamlhost
	Policies   []*Policy    // extension of yamlhost
}

// Body holds the sections that a program and a component have in common.
type Body struct {
	Config    []*Config // the inputs of a component
	Variables []*Variable
	Resources []*Resource
	Outputs   []*Output
}

// Declaration is the part that the named entries of all sections have in common: the name, and the range of the whole
// entry.
type Declaration struct {
	Name  Literal
	Range diag.Range
}

// Declarations iterates over the named entries of the file, section by section. Each comes with its kind, such as
// "resource".
func (f *File) Declarations() iter.Seq2[string, Declaration] {
	return func(yield func(string, Declaration) bool) {
		_ = each(f.Config, "configuration value", func(d *Config) Declaration { return Declaration{d.Name, d.Range} }, yield) &&
			each(f.Variables, "variable", func(d *Variable) Declaration { return Declaration{d.Name, d.Range} }, yield) &&
			each(f.Resources, "resource", func(d *Resource) Declaration { return Declaration{d.Name, d.Range} }, yield) &&
			each(f.Outputs, "output", func(d *Output) Declaration { return Declaration{d.Name, d.Range} }, yield) &&
			each(f.Components, "component", func(d *Component) Declaration { return Declaration{d.Name, d.Range} }, yield) &&
			each(f.Hooks, "hook", func(d *Hook) Declaration { return Declaration{d.Name, d.Range} }, yield) &&
			each(f.Dynamic, "dynamic type", func(d *Dynamic) Declaration { return Declaration{d.Name, d.Range} }, yield) &&
			each(f.Policies, "policy", func(d *Policy) Declaration { return Declaration{d.Name, d.Range} }, yield)
	}
}

// units calls yield for the units of the body's declarations, section by section. It returns false if yield does.
func (b *Body) units(yield func(string, *Unit) bool) bool {
	return each(b.Config, "", func(d *Config) *Unit { return d.Unit }, yield) &&
		each(b.Resources, "", func(d *Resource) *Unit { return d.Unit }, yield) &&
		each(b.Variables, "", func(d *Variable) *Unit { return d.Unit }, yield) &&
		each(b.Outputs, "", func(d *Output) *Unit { return d.Unit }, yield)
}

// Units iterates over the units of the body's declarations, section by section.
func (b *Body) Units() iter.Seq[*Unit] {
	return func(yield func(*Unit) bool) {
		b.units(func(_ string, u *Unit) bool { return yield(u) })
	}
}

// Units iterates over the units of the file's declarations, section by section.
func (f *File) Units() iter.Seq[*Unit] {
	return func(yield func(*Unit) bool) {
		unit := func(_ string, u *Unit) bool { return yield(u) }
		_ = f.units(unit) &&
			each(f.Hooks, "", func(d *Hook) *Unit { return d.Unit }, unit) &&
			each(f.Transforms, "", func(d *Transform) *Unit { return d.Unit }, unit) &&
			each(f.Messages, "", func(d *Message) *Unit { return d.Unit }, unit) &&
			each(f.Policies, "", func(d *Policy) *Unit { return d.Unit }, unit)
	}
}

// each yields the result of get for every entry of one section. It returns false if the loop was left.
func each[D, P any](section []D, kind string, get func(D) P, yield func(string, P) bool) bool {
	for _, d := range section {
		if !yield(kind, get(d)) {
			return false
		}
	}
	return true
}

// Slip is a section with a misspelt key. Meant is the correct key.
type Slip struct {
	Key   Literal
	Meant string
	Names []string // names of its entries
}

// Literal is a string that is never interpolated, with its range.
type Literal struct {
	Value string
	Range diag.Range
}

// Text returns the literal's value; empty for a nil literal.
func (l *Literal) Text() string {
	if l == nil {
		return ""
	}
	return l.Value
}

// Config declares a configuration value (L2.C).
type Config struct {
	Name  Literal
	Range diag.Range // the whole entry, including the key
	Type  *ConfigType
	// Default is nil when absent. A Null makes the value optional (L2.23). Without a default, the field `value` of
	// project files is stored here; it is never interpolated (L2.17).
	Default  Expr
	Optional *BoolLiteral // extension of yamlhost: a missing value is null
	Secret   *BoolLiteral
	Key      *Literal // the field `name`: the key looked up in the stack's configuration

	Description *Literal
	Unit        *Unit // of the default
}

// NamingKey is the key of the configuration that makes names of resources: the engine replaces the placeholders in its
// texts, and in those of no other.
const NamingKey = "pulumi:autonaming"

// ConfigType is the declared type of a configuration value (L2.20, L2.11).
type ConfigType struct {
	Name     string      // string, number, integer, boolean, object, list or any
	Item     *ConfigType // item type of a list or member type of an object; nil for any type
	Optional bool        // written with a final "?": the value may be null
	Range    diag.Range
}

// BoolLiteral is a boolean literal with its range.
type BoolLiteral struct {
	Value bool
	Range diag.Range
}

// IsTrue reports whether the literal is there and true.
func (l *BoolLiteral) IsTrue() bool { return l != nil && l.Value }

// Variable names an expression (L3.A).
type Variable struct {
	Name  Literal
	Range diag.Range
	Value Expr
	Unit  *Unit // of the value
}

// Output is an output of the program (L3.D).
type Output struct {
	Name  Literal
	Range diag.Range
	Value Expr
	Unit  *Unit // of the value
}

// Resource declares a resource (L3.B).
type Resource struct {
	Name            Literal      // the key in the program
	Range           diag.Range   // the whole entry, including the key
	Type            *Literal     // nil when missing or malformed (L3.10), which the parser has reported
	LogicalName     *Literal     // the field `name`; last part of the URN when given
	DefaultProvider *BoolLiteral // the field `defaultProvider`

	Properties      []Property // set if the properties are written as a map
	PropertiesRange diag.Range // the whole block; zero when absent
	PropertiesExpr  Expr       // set if the properties are one expression (L3.11)

	Get     *Get
	Options Options

	// Misplaced lists keys that are not fields of a resource. The parser has reported them; they may have been meant as
	// properties.
	Misplaced []string

	// Extensions of yamlhost (decision D6); nil when absent.
	ForEach Expr
	If      Expr

	Unit *Unit // of all of its expressions
}

// Property is one entry of a map whose keys are literal strings.
type Property struct {
	Name  Literal
	Value Expr
}

// Get reads an existing resource (L3.C).
type Get struct {
	Range diag.Range
	ID    Expr // nil when missing, which the parser has reported (L3.34)
	State []Property
}

// Component declares a component (L3.E): a nested program that has inputs instead of configuration.
type Component struct {
	Name            Literal
	Range           diag.Range
	Description     *Literal
	Token           *Literal // extension of yamlhost: the component's type token; nil for the default one
	RequiredVersion Expr     // nil when absent
	Unit            *Unit    // of RequiredVersion
	Body
}

// Hook is a command that runs before or after an operation on a resource; an extension of yamlhost.
type Hook struct {
	Name         Literal
	Range        diag.Range
	Command      Expr // a list of strings; may refer to `args`
	OnDryRun     *BoolLiteral
	IgnoreErrors *BoolLiteral
	Unit         *Unit // of the command
}

// Dynamic declares a resource type whose provider is a source file in the program's folder; an extension of yamlhost.
type Dynamic struct {
	Name         Literal
	Range        diag.Range
	Description  *Literal
	Provider     *Literal           // path relative to the text's folder, optionally followed by a colon and an export
	Inputs       *DynamicProperties // nil when any input is allowed
	Outputs      *DynamicProperties // nil when outputs are not declared
	OnCodeChange *Literal           // ignore, update or replace
	Env          []Literal          // environment variables that the code may read
}

// DynamicProperties is the declared inputs or outputs of a dynamic type.
type DynamicProperties struct {
	Range diag.Range // of the key
	List  []*DynamicProperty
}

// DynamicProperty declares an input or an output of a dynamic type.
type DynamicProperty struct {
	Name        Literal
	Type        *ConfigType // nil for any
	Default     Expr        // of an input: a literal; nil when absent
	Secret      *BoolLiteral
	Optional    *BoolLiteral // of an input
	Replace     *BoolLiteral // of an input: a change replaces the resource if the code has no diff function
	Stable      *BoolLiteral // of an output: updates never change it
	Description *Literal
	Rules       []Property // JSON Schema keywords with literal values, in the configuration of a policy
}

// Path returns the path of the provider's source file, with slashes and relative to the text's folder.
func (d *Dynamic) Path() string {
	file, _ := d.split()
	return file
}

// Export returns the name of the export that is the provider; it is empty if the file has a single provider.
func (d *Dynamic) Export() string {
	_, export := d.split()
	return export
}

func (d *Dynamic) split() (file, export string) {
	file = strings.ReplaceAll(d.Provider.Text(), "\\", "/")
	if i := strings.LastIndexByte(file, ':'); i > 1 { // the colon of C:\ does not separate an export
		file, export = file[:i], file[i+1:]
	}
	return path.Clean(file), export
}

// String returns the type in the notation of the configuration section, such as list<string>.
func (t *ConfigType) String() string {
	text := t.Name
	if t.Item != nil {
		text += "<" + t.Item.String() + ">"
	}
	if t.Optional {
		text += "?"
	}
	return text
}
