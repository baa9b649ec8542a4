package ast

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Options holds a resource's options (L4.A). Every field is nil or empty when absent. The table below describes each
// option.
type Options struct {
	Range diag.Range // the whole block; zero when absent

	AdditionalSecretOutputs *Option
	Aliases                 *Option
	CustomTimeouts          *Timeouts
	DeleteBeforeReplace     *Option
	DependsOn               *Option
	IgnoreChanges           *Option
	Import                  *Option
	Parent                  *Option
	Protect                 *Option
	Provider                *Option
	Providers               *Option
	Version                 *Option
	PluginDownloadURL       *Option
	ReplaceOnChanges        *Option
	RetainOnDelete          *Option
	ReplaceWith             *Option
	DeletedWith             *Option
	HideDiffs               *Option
	ReplacementTrigger      *Option
	EnvVarMappings          *Option
	Hooks                   *Option

	Transforms []*Transform // extension of yamlhost
}

// Option is one option with its key.
type Option struct {
	Key   Literal
	Value Expr
}

// Text returns the option's value if it is a string literal, and an empty string otherwise or for a nil option.
func (o *Option) Text() string {
	if o == nil {
		return ""
	}
	if s, ok := o.Value.(*String); ok {
		return s.Value
	}
	return ""
}

// Timeouts is the option customTimeouts.
type Timeouts struct {
	Key                          Literal
	Create, Update, Delete, Read *Option
}

// OptionShape is the form of an option's literal value (L4.A). Any option may be an expression instead; the checker
// decides whether its value fits (L4.2).
type OptionShape uint8

// The shapes.
const (
	AnyOption OptionShape = iota
	FlagOption
	TextOption
	TextsOption     // a list of strings, or a single one
	PathsOption     // a list of property names or paths, or a single one
	ResourceOption  // a resource
	ResourcesOption // a list or a map of resources, or a single one
)

// OptionSpec describes an option. The parser, the checker, the editor and the JSON Schema use the table of specs; a
// table in package eval maps each option to the registration.
type OptionSpec struct {
	Name  string
	Shape OptionShape
	Early bool   // the value must be known before anything is created
	Doc   string // the option's effect, in one sentence
	field func(*Options) **Option
}

// In returns the field of o that holds the option. It is nil for customTimeouts and transforms, which are not
// expressions.
func (s *OptionSpec) In(o *Options) **Option {
	if s.field == nil {
		return nil
	}
	return s.field(o)
}

var optionSpecs = []OptionSpec{
	{Name: "additionalSecretOutputs", Shape: TextsOption,
		field: func(o *Options) **Option { return &o.AdditionalSecretOutputs },
		Doc:   "Outputs to keep secret, in addition to those of the schema."},
	{Name: "aliases", field: func(o *Options) **Option { return &o.Aliases },
		Doc: "Earlier names of the resource: a resource in the state with such a name is this one, and is not replaced."},
	{Name: "customTimeouts", Doc: "How long the provider may take to create, update, delete or read the resource."},
	{Name: "deleteBeforeReplace", Shape: FlagOption, Early: true,
		field: func(o *Options) **Option { return &o.DeleteBeforeReplace },
		Doc:   "A replacement deletes the old resource before it creates the new one."},
	{Name: "dependsOn", Shape: ResourcesOption, field: func(o *Options) **Option { return &o.DependsOn },
		Doc: "Resources that must exist before this one, although no property refers to them."},
	{Name: "ignoreChanges", Shape: PathsOption, field: func(o *Options) **Option { return &o.IgnoreChanges },
		Doc: "Properties whose changes are not applied."},
	{Name: "import", Shape: TextOption, Early: true, field: func(o *Options) **Option { return &o.Import },
		Doc: "The ID of an existing resource that becomes this one."},
	{Name: "parent", Shape: ResourceOption, field: func(o *Options) **Option { return &o.Parent },
		Doc: "The resource that this one belongs to."},
	{Name: "protect", Shape: FlagOption, field: func(o *Options) **Option { return &o.Protect },
		Doc: "The resource cannot be deleted."},
	{Name: "provider", Shape: ResourceOption, field: func(o *Options) **Option { return &o.Provider },
		Doc: "The provider resource that manages this one."},
	{Name: "providers", Shape: ResourcesOption, field: func(o *Options) **Option { return &o.Providers },
		Doc: "Provider resources for a component and its children."},
	{Name: "version", Shape: TextOption, Early: true, field: func(o *Options) **Option { return &o.Version },
		Doc: "The version of the provider's plugin."},
	{Name: "pluginDownloadURL", Shape: TextOption, Early: true,
		field: func(o *Options) **Option { return &o.PluginDownloadURL },
		Doc:   "Where the provider's plugin can be downloaded."},
	{Name: "replaceOnChanges", Shape: PathsOption, field: func(o *Options) **Option { return &o.ReplaceOnChanges },
		Doc: "Properties whose changes replace the resource."},
	{Name: "retainOnDelete", Shape: FlagOption, Early: true, field: func(o *Options) **Option { return &o.RetainOnDelete },
		Doc: "The resource is forgotten, but not deleted in the cloud."},
	{Name: "replaceWith", Shape: ResourcesOption, field: func(o *Options) **Option { return &o.ReplaceWith },
		Doc: "Resources whose replacement replaces this one."},
	{Name: "deletedWith", Shape: ResourceOption, field: func(o *Options) **Option { return &o.DeletedWith },
		Doc: "A resource whose deletion also deletes this one in the cloud."},
	{Name: "hideDiffs", Shape: PathsOption, field: func(o *Options) **Option { return &o.HideDiffs },
		Doc: "Properties whose changes are not shown."},
	{Name: "replacementTrigger", field: func(o *Options) **Option { return &o.ReplacementTrigger },
		Doc: "A value whose change replaces the resource."},
	{Name: "envVarMappings", field: func(o *Options) **Option { return &o.EnvVarMappings },
		Doc: "Environment variables of the provider, under other names."},
	{Name: "hooks", field: func(o *Options) **Option { return &o.Hooks },
		Doc: "Commands that run before or after operations on the resource."},
	{Name: "transforms", Doc: "Changes to the resource and its children, applied before they reach the engine."},
}

// OptionSpecs returns the specs of all options, in evaluation order. The caller must not modify the slice.
func OptionSpecs() []OptionSpec { return optionSpecs }

// OptionSpecOf returns the spec of the named option, or nil if there is none.
func OptionSpecOf(name string) *OptionSpec {
	i := slices.IndexFunc(optionSpecs, func(s OptionSpec) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &optionSpecs[i]
}

// OptionNames returns the names of all resource options (L4.A), in evaluation order.
func OptionNames() []string {
	names := make([]string, len(optionSpecs))
	for i, s := range optionSpecs {
		names[i] = s.Name
	}
	return names
}

// Each calls fn for every option that is present and is an expression, in the order of the table. The members of
// customTimeouts count as options.
func (o *Options) Each(fn func(*Option)) {
	call := func(option *Option) {
		if option != nil {
			fn(option)
		}
	}
	for i := range optionSpecs {
		if field := optionSpecs[i].In(o); field != nil {
			call(*field)
		} else if t := o.CustomTimeouts; t != nil && optionSpecs[i].Name == "customTimeouts" {
			call(t.Create)
			call(t.Update)
			call(t.Delete)
			call(t.Read)
		}
	}
}

// ResourceFields returns the names of the fields of a resource (L3.B).
func ResourceFields() []string {
	return []string{"type", "name", "properties", "options", "get", "defaultProvider", "forEach", "if"}
}
