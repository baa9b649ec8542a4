package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Identical reports whether two resources give the same state file, with secrets compared by plain text. It may return
// false if only marks that a state file does not record differ.
func Identical(a, b *Resource) bool {
	return a == b || a.URN == b.URN && a.Type == b.Type && a.Custom == b.Custom && a.ID == b.ID &&
		identicalProperties(a.Inputs, b.Inputs) && identicalProperties(a.Outputs, b.Outputs) &&
		identicalRelations(a, b) && identicalOptions(a, b) && identicalOrigin(a, b) &&
		a.Delete == b.Delete && a.PendingReplacement == b.PendingReplacement && a.External == b.External &&
		a.Taint == b.Taint && slices.Equal(a.InitErrors, b.InitErrors) && identicalMembers(a.Unknown, b.Unknown)
}

// identicalProperties ignores differences that a state file does not record.
func identicalProperties(a, b value.Value) bool {
	return value.Identical(a, b) || a.IsKnown() && b.IsKnown() && a.Len()+b.Len() == 0
}

func identicalRelations(a, b *Resource) bool {
	return a.Parent == b.Parent && a.Provider == b.Provider && slices.Equal(a.Dependencies, b.Dependencies) &&
		maps.EqualFunc(a.PropertyDependencies, b.PropertyDependencies, slices.Equal[[]urn.URN]) &&
		slices.Equal(a.Aliases, b.Aliases) && a.DeletedWith == b.DeletedWith &&
		slices.Equal(a.ReplaceWith, b.ReplaceWith) && a.ViewOf == b.ViewOf
}

func identicalOptions(a, b *Resource) bool {
	return a.Protect == b.Protect && a.RetainOnDelete == b.RetainOnDelete && a.CustomTimeouts == b.CustomTimeouts &&
		identicalMembers(a.UnknownTimeouts, b.UnknownTimeouts) &&
		slices.Equal(a.AdditionalSecretOutputs, b.AdditionalSecretOutputs) &&
		slices.Equal(a.IgnoreChanges, b.IgnoreChanges) && slices.Equal(a.ReplaceOnChanges, b.ReplaceOnChanges) &&
		slices.Equal(a.HideDiffs, b.HideDiffs) && value.Identical(a.ReplacementTrigger, b.ReplacementTrigger) &&
		a.RefreshBeforeUpdate == b.RefreshBeforeUpdate &&
		maps.EqualFunc(a.ResourceHooks, b.ResourceHooks, slices.Equal[[]string])
}

func identicalOrigin(a, b *Resource) bool {
	return a.ImportID == b.ImportID && identicalTimes(a.Created, b.Created) && identicalTimes(a.Modified, b.Modified) &&
		a.SourcePosition == b.SourcePosition && bytes.Equal(a.StackTrace, b.StackTrace) &&
		a.ExtensionRef == b.ExtensionRef && a.SnippetID == b.SnippetID
}

func identicalTimes(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	_, x := a.Zone()
	_, y := b.Zone()
	return a.Equal(*b) && x == y
}

func identicalMembers(a, b map[string]json.RawMessage) bool {
	return maps.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}
