package ast

import (
	"iter"

	"path"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// File is a program: one text, or several that were merged.
type File struct {
	Source *diag.Source // the main text

	// Origins describes where the blocks of the main text stand in it, for a text that was read by blocks of their own.
	Origins *Origins

	// Lost are the keys of lines that the parser left out, and reported, to read a text with YAML faults. A reference
	// to such a key is no further fault.
	Lost []string
	// Faults are the places of errors by which a declaration is another than the text meant, and Nameless how many of them
	// are entries without a name (Y117). The parser has reported them; what only follows from them is no further fault.
	Faults   []diag.Range
	Nameless int

	Name        *Literal // program name, when the text gives one
	Description *Literal

	// Version and Namespace describe a component plugin (L1.32); nil in a program.
	Version   *Literal
	Namespace *Literal

	// Pack: the text is a policy pack, and Enforcement is the level of those of its policies that have none.
	Pack        bool
	Enforcement *Literal

	// Slips are sections that are not read, since their keys are surely misspelt. The checker reports them.
	Slips []Slip

	RequiredVersion Expr  // pulumi.requiredVersion (L3.60); nil when absent
	Unit            *Unit // of RequiredVersion

	// AllowEnv are the environment variables that the program may read; PublicEnv are the ones among them whose
	// values are not secret (L10.C9). Both are an extension of yamlhost.
	AllowEnv, PublicEnv []Literal

	Config     []*Config
	Variables  []*Variable
	Resources  []*Resource
	Outputs    []*Output
	Components []*Component
	Hooks      []*Hook      // extension of yamlhost
	Dynamic    []*Dynamic   // extension of yamlhost
	Transforms []*Transform // extension of yamlhost
	Messages   []*Message   // extension of yamlhost
	Policies   []*Policy    // extension of yamlhost
}

// Declaration is the common part of the named entries of all sections: the name, and the range of the whole entry.
type Declaration struct {
	Name  Literal
	Range diag.Range
}

// Declarations goes over the named entries of the text, section by section, each with its kind in words.
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

// Units goes over what the declarations of the text say, section by section.
func (f *File) Units() iter.Seq[*Unit] {
	return func(yield func(*Unit) bool) {
		unit := func(_ string, u *Unit) bool { return yield(u) }
		_ = each(f.Config, "", func(d *Config) *Unit { return d.Unit }, unit) &&
			each(f.Resources, "", func(d *Resource) *Unit { return d.Unit }, unit) &&
			each(f.Variables, "", func(d *Variable) *Unit { return d.Unit }, unit) &&
			each(f.Outputs, "", func(d *Output) *Unit { return d.Unit }, unit) &&
			each(f.Hooks, "", func(d *Hook) *Unit { return d.Unit }, unit) &&
			each(f.Transforms, "", func(d *Transform) *Unit { return d.Unit }, unit) &&
			each(f.Messages, "", func(d *Message) *Unit { return d.Unit }, unit) &&
			each(f.Policies, "", func(d *Policy) *Unit { return d.Unit }, unit)
	}
}

// each yields what the entries of one section have; false when the loop was left.
func each[D, P any](section []D, kind string, of func(D) P, yield func(string, P) bool) bool {
	for _, d := range section {
		if !yield(kind, of(d)) {
			return false
		}
	}
	return true
}

// Slip is a section with a misspelt key.
type Slip struct {
	Key   Literal
	Meant string
	Names []string // of its entries
}

// Literal is a text that stands as it is, never interpolated, with its place.
type Literal struct {
	Value string
	Range diag.Range
}

// Text is the literal's value; empty for a nil literal.
func (l *Literal) Text() string {
	if l == nil {
		return ""
	}
	return l.Value
}

// Config declares a configuration value (L2.C).
type Config struct {
	Name  Literal
	Range diag.Range // the whole entry, key included
	Type  *ConfigType
	// Default is nil when absent; a Null says that the value is optional (L2.23). The text of the field value, which
	// project files know, stands here too where there is no default; it is never interpolated (L2.17).
	Default  Expr
	Optional *BoolLiteral // extension of yamlhost: null when the value is missing
	Secret   *BoolLiteral
	Key      *Literal // the field `name`: the key looked up in the stack's configuration

	Description *Literal
	Unit        *Unit // of the default
}

// ConfigType is a declared type of a configuration value (L2.20, L2.11).
type ConfigType struct {
	Name     string      // string, number, integer, boolean, object, list or any
	Item     *ConfigType // of a list, or of an object whose members all have one type; nil when open
	Optional bool        // written with a final "?": null is a value too
	Range    diag.Range
}

// BoolLiteral is a boolean that stands as it is.
type BoolLiteral struct {
	Value bool
	Range diag.Range
}

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
	Range           diag.Range   // the whole entry, key included
	Type            *Literal     // nil when missing or malformed, which the parser has reported (L3.10)
	LogicalName     *Literal     // the field `name`; last part of the URN when given
	DefaultProvider *BoolLiteral // the field `defaultProvider`

	Properties      []Property // when the properties are written as a map
	PropertiesRange diag.Range // the whole block; zero when absent
	PropertiesExpr  Expr       // when they are one expression (L3.11)

	Get     *Get
	Options Options

	// Misplaced are keys that are no fields of a resource, which the parser has reported. They may have been meant as
	// properties.
	Misplaced []string

	// Extensions of yamlhost (decision D6); nil when absent.
	ForEach Expr
	If      Expr

	Unit *Unit // of all of its expressions
}

// Property is one entry of a block whose keys are plain text.
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

// Component declares a component (L3.E): a program of its own with inputs in place of configuration.
type Component struct {
	Name            Literal
	Range           diag.Range
	Description     *Literal
	Token           *Literal // extension of yamlhost: the component's type where it is not the usual one
	RequiredVersion Expr     // nil when absent
	Unit            *Unit    // of RequiredVersion
	Inputs          []*Config
	Variables       []*Variable
	Resources       []*Resource
	Outputs         []*Output
}

// Hook is a command that runs beside an operation on a resource; an extension of yamlhost.
type Hook struct {
	Name         Literal
	Range        diag.Range
	Command      Expr // a list of texts; may use `args`
	OnDryRun     *BoolLiteral
	IgnoreErrors *BoolLiteral
	Unit         *Unit // of the command
}

// Dynamic declares a resource type whose provider is a source file beside the program; an extension of yamlhost.
type Dynamic struct {
	Name         Literal
	Range        diag.Range
	Description  *Literal
	Provider     *Literal           // a path relative to the text's folder, and behind a colon what the file exports
	Inputs       *DynamicProperties // nil when any input is allowed
	Outputs      *DynamicProperties // nil when outputs are not declared
	OnCodeChange *Literal           // ignore, update or replace
	Env          []Literal          // environment variables that the code may read
}

// DynamicProperties are declared inputs or outputs of a dynamic type.
type DynamicProperties struct {
	Range diag.Range // of the key
	List  []*DynamicProperty
}

// DynamicProperty declares an input or an output of a dynamic type.
type DynamicProperty struct {
	Name        Literal
	Type        *ConfigType // nil for any
	Default     Expr        // of an input; a literal, nil when absent
	Secret      *BoolLiteral
	Optional    *BoolLiteral // of an input
	Replace     *BoolLiteral // of an input: its change replaces where the code has no diff
	Stable      *BoolLiteral // of an output: updates leave it as it is
	Description *Literal
	Rules       []Property // of JSON Schema, with literals, in the configuration of a policy
}

// Path is the source file that the type's provider is in, with slashes and relative to the text's folder.
func (d *Dynamic) Path() string {
	file, _ := d.split()
	return file
}

// Export is the name of an export of the source file; empty for its only provider.
func (d *Dynamic) Export() string {
	_, export := d.split()
	return export
}

func (d *Dynamic) split() (file, export string) {
	file = strings.ReplaceAll(d.Provider.Text(), "\\", "/")
	if i := strings.LastIndexByte(file, ':'); i > 1 { // C:\ is no file with an export
		file, export = file[:i], file[i+1:]
	}
	return path.Clean(file), export
}

// String is the type as users write it.
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
