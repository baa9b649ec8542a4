package rpc

import (
	"net/url"
	"strconv"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/internal/fileurl"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// pluginMessage is a message that selects a plugin.
type pluginMessage interface {
	GetProvider() string
	GetPackageRef() string
	GetVersion() string
	GetPluginDownloadURL() string
	GetPluginChecksums() map[string][]byte
}

func pluginOf(m pluginMessage) monitor.Plugin {
	return monitor.Plugin{Provider: m.GetProvider(), PackageRef: m.GetPackageRef(), Version: m.GetVersion(),
		PluginDownloadURL: m.GetPluginDownloadURL(), PluginChecksums: orNone(m.GetPluginChecksums())}
}

// positionOf decodes a position file:///path with line and column, which may also be in the fragment #line,column. It
// returns nil for everything but an absolute file (E2.82).
func positionOf(p *pulumirpc.SourcePosition) *monitor.Position {
	if p == nil {
		return nil
	}
	u, err := url.Parse(p.GetUri())
	if err != nil {
		return nil
	}
	fragment := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	path, err := fileurl.PathOf(u)
	if err != nil {
		return nil
	}
	pos := &monitor.Position{Path: path, Line: int(p.GetLine()), Column: int(p.GetColumn())}
	if fragment != "" && pos.Line == 0 {
		line, column, _ := strings.Cut(fragment, ",")
		pos.Line, _ = strconv.Atoi(line)
		pos.Column, _ = strconv.Atoi(column)
	}
	return pos
}

func positionMessage(p *monitor.Position) *pulumirpc.SourcePosition {
	if p == nil {
		return nil
	}
	return &pulumirpc.SourcePosition{Uri: fileurl.Of(p.Path), Line: int32(p.Line), Column: int32(p.Column)}
}

// aliasesOf decodes aliases, URNs first (E2.13). swapped corrects the meaning of a missing parent in old Node.js
// programs, where "no parent" and "the current parent" are exchanged.
func aliasesOf(old []string, aliases []*pulumirpc.Alias, swapped bool) []monitor.Alias {
	if len(old)+len(aliases) == 0 {
		return nil
	}
	list := make([]monitor.Alias, 0, len(old)+len(aliases))
	for _, u := range old {
		list = append(list, monitor.Alias{URN: urn.URN(u)})
	}
	for _, alias := range aliases {
		if spec := alias.GetSpec(); spec != nil {
			a := monitor.Alias{
				Name: spec.GetName(), Type: spec.GetType(), Stack: spec.GetStack(), Project: spec.GetProject(),
				Parent: urn.URN(spec.GetParentUrn()), NoParent: spec.GetNoParent(),
			}
			if swapped && a.Parent == "" {
				a.NoParent = !a.NoParent
			}
			list = append(list, a)
			continue
		}
		list = append(list, monitor.Alias{URN: urn.URN(alias.GetUrn())})
	}
	return list
}

func aliasMessages(aliases []monitor.Alias) []*pulumirpc.Alias {
	return wire.List(aliases, func(a monitor.Alias) *pulumirpc.Alias {
		if a.URN != "" {
			return &pulumirpc.Alias{Alias: &pulumirpc.Alias_Urn{Urn: string(a.URN)}}
		}
		spec := &pulumirpc.Alias_Spec{Name: a.Name, Type: a.Type, Stack: a.Stack, Project: a.Project}
		switch {
		case a.NoParent:
			spec.Parent = &pulumirpc.Alias_Spec_NoParent{NoParent: true}
		case a.Parent != "":
			spec.Parent = &pulumirpc.Alias_Spec_ParentUrn{ParentUrn: string(a.Parent)}
		}
		return &pulumirpc.Alias{Alias: &pulumirpc.Alias_Spec_{Spec: spec}}
	})
}

// hook maps a kind of hook to its field in the message (E2.75).
type hook struct {
	name  string
	names func(*pulumirpc.RegisterResourceRequest_ResourceHooksBinding) *[]string
}

func hooks() []hook {
	type binding = pulumirpc.RegisterResourceRequest_ResourceHooksBinding
	return []hook{
		{"BeforeCreate", func(b *binding) *[]string { return &b.BeforeCreate }},
		{"AfterCreate", func(b *binding) *[]string { return &b.AfterCreate }},
		{"BeforeUpdate", func(b *binding) *[]string { return &b.BeforeUpdate }},
		{"AfterUpdate", func(b *binding) *[]string { return &b.AfterUpdate }},
		{"BeforeDelete", func(b *binding) *[]string { return &b.BeforeDelete }},
		{"AfterDelete", func(b *binding) *[]string { return &b.AfterDelete }},
		{"OnError", func(b *binding) *[]string { return &b.OnError }},
	}
}

func hooksOf(b *pulumirpc.RegisterResourceRequest_ResourceHooksBinding) map[string][]string {
	if b == nil {
		return nil
	}
	bound := map[string][]string{}
	for _, h := range hooks() {
		if names := *h.names(b); len(names) > 0 {
			bound[h.name] = names
		}
	}
	return orNone(bound)
}

func hooksMessage(bound map[string][]string) *pulumirpc.RegisterResourceRequest_ResourceHooksBinding {
	if len(bound) == 0 {
		return nil
	}
	b := &pulumirpc.RegisterResourceRequest_ResourceHooksBinding{}
	for _, h := range hooks() {
		*h.names(b) = bound[h.name]
	}
	return b
}

func failuresOf(fs []*pulumirpc.CheckFailure) []monitor.Failure {
	return wire.List(fs, func(f *pulumirpc.CheckFailure) monitor.Failure {
		return monitor.Failure{Property: f.GetProperty(), Reason: f.GetReason()}
	})
}

func failureMessages(fs []monitor.Failure) []*pulumirpc.CheckFailure {
	return wire.List(fs, func(f monitor.Failure) *pulumirpc.CheckFailure {
		return &pulumirpc.CheckFailure{Property: f.Property, Reason: f.Reason}
	})
}

// features returns the features of SupportsFeature with their numbers (E2.4, E2.5).
func features() []feature {
	return []feature{
		{"secrets", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_SECRETS},
		{"resourceReferences", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES},
		{"outputValues", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_OUTPUT_VALUES},
		{"aliasSpecs", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_ALIAS_SPECS},
		{"replacementTrigger", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_REPLACEMENT_TRIGGER},
		{"deletedWith", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_DELETED_WITH},
		{"replaceWith", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_REPLACE_WITH},
		{"transforms", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_TRANSFORMS},
		{"invokeTransforms", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_TRANSFORMS},
		{"parameterization", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_PARAMETERIZATION},
		{"resourceHooks", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS},
		{"errorHooks", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_ERROR_HOOKS},
		{"sendsOptionsToHooks", pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_SENDS_OPTIONS_TO_HOOKS},
	}
}

type feature struct {
	name   string
	number pulumirpc.ResourceMonitorFeature
}

// orNone returns nil for an empty map, because protobuf does not distinguish the two.
func orNone[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	return m
}
