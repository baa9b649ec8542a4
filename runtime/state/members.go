package state

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// resourceMember is a member of a resource in JSON: how to read, write and compare it.
type resourceMember struct {
	name    string
	read    func(d *decoder, r *Resource)
	write   func(e *encoder, r *Resource) // writes nothing if the resource lacks the member
	same    func(a, b *Resource) bool     // reports whether write gives the same text
	feature string                        // the feature that a file with the member needs (F5.2); empty for none
}

// resourceMembers are the known members of a resource, in the order in which they are written (F5.8).
var resourceMembers = [...]resourceMember{
	requiredText("urn", func(r *Resource) *urn.URN { return &r.URN }),
	{name: "custom",
		read: func(d *decoder, r *Resource) { r.Custom = d.Bool() },
		write: func(e *encoder, r *Resource) {
			e.key("custom")
			e.buf = strconv.AppendBool(e.buf, r.Custom)
		},
		same: func(a, b *Resource) bool { return a.Custom == b.Custom }},
	flag("delete", func(r *Resource) *bool { return &r.Delete }),
	optionalText("id", func(r *Resource) *string { return &r.ID }),
	requiredText("type", func(r *Resource) *string { return &r.Type }),
	propertyMap("inputs", func(r *Resource) *value.Value { return &r.Inputs }),
	propertyMap("outputs", func(r *Resource) *value.Value { return &r.Outputs }),
	optionalText("parent", func(r *Resource) *urn.URN { return &r.Parent }),
	flag("protect", func(r *Resource) *bool { return &r.Protect }),
	flag("taint", func(r *Resource) *bool { return &r.Taint }).needs("taint"),
	flag("external", func(r *Resource) *bool { return &r.External }),
	listOfTexts("dependencies", func(r *Resource) *[]urn.URN { return &r.Dependencies }),
	listOfTexts("initErrors", func(r *Resource) *[]string { return &r.InitErrors }),
	optionalText("provider", func(r *Resource) *string { return &r.Provider }),
	{name: "propertyDependencies", read: (*decoder).dependencies, write: (*encoder).dependencies,
		same: func(a, b *Resource) bool {
			return a.PropertyDependencies.Equal(b.PropertyDependencies, slices.Equal[[]urn.URN])
		}},
	flag("pendingReplacement", func(r *Resource) *bool { return &r.PendingReplacement }),
	listOfTexts("additionalSecretOutputs", func(r *Resource) *[]string { return &r.AdditionalSecretOutputs }),
	listOfTexts("aliases", func(r *Resource) *[]urn.URN { return &r.Aliases }),
	{name: "customTimeouts", read: (*decoder).timeouts, write: (*encoder).timeouts,
		same: func(a, b *Resource) bool {
			return a.CustomTimeouts == b.CustomTimeouts && identicalMembers(a.UnknownTimeouts, b.UnknownTimeouts)
		}},
	optionalText("importID", func(r *Resource) *string { return &r.ImportID }),
	flag("retainOnDelete", func(r *Resource) *bool { return &r.RetainOnDelete }),
	optionalText("deletedWith", func(r *Resource) *urn.URN { return &r.DeletedWith }),
	listOfTexts("replaceWith", func(r *Resource) *[]urn.URN { return &r.ReplaceWith }).needs("replaceWith"),
	moment("created", func(r *Resource) **time.Time { return &r.Created }),
	moment("modified", func(r *Resource) **time.Time { return &r.Modified }),
	optionalText("sourcePosition", func(r *Resource) *string { return &r.SourcePosition }),
	{name: "stackTrace",
		read:  func(d *decoder, r *Resource) { r.StackTrace = d.Raw() },
		write: func(e *encoder, r *Resource) { e.raw("stackTrace", r.StackTrace) },
		same:  func(a, b *Resource) bool { return bytes.Equal(a.StackTrace, b.StackTrace) }},
	listOfTexts("ignoreChanges", func(r *Resource) *[]string { return &r.IgnoreChanges }),
	listOfTexts("hideDiff", func(r *Resource) *[]string { return &r.HideDiffs }),
	listOfTexts("replaceOnChanges", func(r *Resource) *[]string { return &r.ReplaceOnChanges }),
	{name: "replacementTrigger",
		read: func(d *decoder, r *Resource) { r.ReplacementTrigger = d.value() },
		write: func(e *encoder, r *Resource) {
			if !r.ReplacementTrigger.IsNull() {
				e.key("replacementTrigger")
				e.value(r.ReplacementTrigger)
			}
		},
		same: func(a, b *Resource) bool { return value.Identical(a.ReplacementTrigger, b.ReplacementTrigger) }},
	flag("refreshBeforeUpdate", func(r *Resource) *bool { return &r.RefreshBeforeUpdate }).needs("refreshBeforeUpdate"),
	optionalText("viewOf", func(r *Resource) *urn.URN { return &r.ViewOf }).needs("views"),
	{name: "resourceHooks", read: (*decoder).hooks, write: (*encoder).hooks, feature: "hooks",
		same: func(a, b *Resource) bool {
			return maps.EqualFunc(a.ResourceHooks, b.ResourceHooks, slices.Equal[[]string])
		}},
	optionalText("extensionRef", func(r *Resource) *string { return &r.ExtensionRef }).needs("extensionParameterization"),
	optionalText("snippetID", func(r *Resource) *string { return &r.SnippetID }).needs("snippets-prototype"),
}

// resourceMembersByName is an index of resourceMembers.
var resourceMembersByName = func() map[string]*resourceMember {
	index := make(map[string]*resourceMember, len(resourceMembers))
	for i := range resourceMembers {
		index[resourceMembers[i].name] = &resourceMembers[i]
	}
	return index
}()

// needs returns m with the feature that a file with the member needs.
func (m resourceMember) needs(feature string) resourceMember {
	m.feature = feature
	return m
}

// optionalText returns a member for a string that is written unless it is empty.
func optionalText[T ~string](name string, field func(*Resource) *T) resourceMember {
	return resourceMember{name: name,
		read:  func(d *decoder, r *Resource) { *field(r) = T(d.Optional()) },
		write: func(e *encoder, r *Resource) { e.optional(name, string(*field(r))) },
		same:  func(a, b *Resource) bool { return *field(a) == *field(b) }}
}

// requiredText returns a member for a string that is always written.
func requiredText[T ~string](name string, field func(*Resource) *T) resourceMember {
	m := optionalText(name, field)
	m.write = func(e *encoder, r *Resource) { e.field(name, string(*field(r))) }
	return m
}

// flag returns a member for a boolean that is written if it is set.
func flag(name string, field func(*Resource) *bool) resourceMember {
	return resourceMember{name: name,
		read:  func(d *decoder, r *Resource) { *field(r) = d.Bool() },
		write: func(e *encoder, r *Resource) { e.flag(name, *field(r)) },
		same:  func(a, b *Resource) bool { return *field(a) == *field(b) }}
}

// listOfTexts returns a member for a list of strings that is written unless it is empty.
func listOfTexts[T ~string](name string, field func(*Resource) *[]T) resourceMember {
	return resourceMember{name: name,
		read:  func(d *decoder, r *Resource) { *field(r) = texts[T](d) },
		write: func(e *encoder, r *Resource) { optionalTexts(&e.jsonWriter, name, *field(r)) },
		same:  func(a, b *Resource) bool { return slices.Equal(*field(a), *field(b)) }}
}

// propertyMap returns a member for inputs or outputs. Differences that a state file does not record are ignored.
func propertyMap(name string, field func(*Resource) *value.Value) resourceMember {
	return resourceMember{name: name,
		read:  func(d *decoder, r *Resource) { *field(r) = d.properties(name) },
		write: func(e *encoder, r *Resource) { e.properties(name, *field(r)) },
		same: func(a, b *Resource) bool {
			x, y := *field(a), *field(b)
			return value.Identical(x, y) || x.IsKnown() && y.IsKnown() && x.Len()+y.Len() == 0
		}}
}

// moment returns a member for a time that is written if it is known.
func moment(name string, field func(*Resource) **time.Time) resourceMember {
	return resourceMember{name: name,
		read:  func(d *decoder, r *Resource) { *field(r) = d.momentPointer() },
		write: func(e *encoder, r *Resource) { e.moment(name, *field(r)) },
		same:  func(a, b *Resource) bool { return identicalTimes(*field(a), *field(b)) }}
}
