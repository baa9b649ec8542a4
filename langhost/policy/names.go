package policy

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/schema"
)

// names returns the variables of rules about one resource.
func names(about *analyzer.Resource) map[string]value.Value {
	properties := plain(about.Properties)
	return map[string]value.Value{"resource": properties, "args": value.MapOf(argsEntries(about, properties)...)}
}

// stackArgs returns the description of one resource for rules about all resources.
func stackArgs(about *analyzer.Resource) value.Value {
	deps := make(map[string]value.Value, about.PropertyDependencies.Len())
	for key, urns := range about.PropertyDependencies.All() {
		deps[key] = value.Strings(urns)
	}
	return value.MapOf(append(argsEntries(about, plain(about.Properties)),
		value.Entry{Key: "dependencies", Value: value.Strings(about.Dependencies)},
		value.Entry{Key: "propertyDependencies", Value: value.Map(deps)})...)
}

// argsEntries returns the members of `args`. All maps are written in key order, so that value.MapOf need not sort.
func argsEntries(about *analyzer.Resource, properties value.Value) []value.Entry {
	o := &about.Options
	parent := o.Parent
	if about.Parent != "" {
		parent = about.Parent
	}
	first := value.Null
	if o.DeleteBeforeReplace != nil {
		first = value.Bool(*o.DeleteBeforeReplace)
	}
	seconds := value.MapOf(value.Entry{Key: "create", Value: value.Number(o.Create.Seconds())},
		value.Entry{Key: "delete", Value: value.Number(o.Delete.Seconds())},
		value.Entry{Key: "update", Value: value.Number(o.Update.Seconds())})
	options := value.MapOf(
		value.Entry{Key: "additionalSecretOutputs", Value: value.Strings(o.AdditionalSecretOutputs)},
		value.Entry{Key: "aliases", Value: value.Strings(o.Aliases)},
		value.Entry{Key: "customTimeouts", Value: seconds},
		value.Entry{Key: "deleteBeforeReplace", Value: first},
		value.Entry{Key: "ignoreChanges", Value: value.Strings(o.IgnoreChanges)},
		value.Entry{Key: "parent", Value: value.String(string(parent))},
		value.Entry{Key: "protect", Value: value.Bool(o.Protect)},
	)
	provider := value.Null
	if p := about.Provider; p != nil {
		provider = value.MapOf(value.Entry{Key: "urn", Value: value.String(string(p.URN))},
			value.Entry{Key: "type", Value: value.String(p.Type)}, value.Entry{Key: "name", Value: value.String(p.Name)},
			value.Entry{Key: "properties", Value: plain(p.Properties)})
	}
	return []value.Entry{
		{Key: "name", Value: value.String(about.Name)}, {Key: "options", Value: options},
		{Key: "parent", Value: value.String(string(parent))}, {Key: "properties", Value: properties},
		{Key: "provider", Value: provider}, {Key: "type", Value: value.String(about.Type)},
		{Key: "urn", Value: value.String(string(about.URN))},
	}
}

// awaited returns the outputs of a resource in a preview; missing ones are unknown.
func (r *rule) awaited(about *analyzer.Resource) value.Value {
	outputs := about.Properties.MapOrEmpty()
	known := r.OutputsOf(about.Type)
	if known == nil {
		return value.Unknown(value.KindMap)
	}
	for _, p := range known.Properties() {
		if !outputs.Has(p.Name) {
			outputs = outputs.With(p.Name, value.Unknown(schema.ExpectedKind(p.Type)))
		}
	}
	return outputs
}

// plain returns v with maps instead of resource references, since a policy cannot read other resources.
func plain(v value.Value) value.Value {
	isReference := func(x value.Value) bool { return x.Is(value.KindResource) }
	if !v.Any(isReference) {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		ref, ok := x.AsResource()
		if !ok {
			return x
		}
		return value.MapOf(value.Entry{Key: "urn", Value: value.String(string(ref.URN))},
			value.Entry{Key: "id", Value: ref.ID}).WithMarksOf(x)
	})
}
