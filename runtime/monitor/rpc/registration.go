package rpc

// This file translates a registration to and from the two messages that carry its options: the registration of a
// resource, and the request and response of a transform. A new option must be added here in four places.

import (
	"context"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// registerMessage returns the message that registers a resource. It leaves out the transforms, which are callbacks of
// the client, and the defaults, which are sent in headers.
func registerMessage(encoding wire.Options, r monitor.RegisterRequest) (*pulumirpc.RegisterResourceRequest, error) {
	inputs, err := send(encoding, "the inputs of "+r.Name, r.Inputs)
	if err != nil {
		return nil, err
	}
	request := &pulumirpc.RegisterResourceRequest{
		Type: r.Type, Name: r.Name, Parent: string(r.Parent), Custom: r.Custom, Remote: r.Remote, Object: inputs,
		PropertyDependencies: wire.DependencyMessages(r.PropertyDependencies,
			func(us []string) *pulumirpc.RegisterResourceRequest_PropertyDependencies {
				return &pulumirpc.RegisterResourceRequest_PropertyDependencies{Urns: us}
			}),
		Dependencies: wire.Texts(r.Dependencies), Provider: r.Provider, Providers: r.Providers, PackageRef: r.PackageRef,
		Version: r.Version, PluginDownloadURL: r.PluginDownloadURL, PluginChecksums: r.PluginChecksums,
		Protect: r.Protect, RetainOnDelete: r.RetainOnDelete, IgnoreChanges: r.IgnoreChanges,
		ReplaceOnChanges: r.ReplaceOnChanges, HideDiffs: r.HideDiffs, AdditionalSecretOutputs: r.AdditionalSecretOutputs,
		Aliases: aliasMessages(r.Aliases), AliasSpecs: true, ImportId: r.ImportID,
		CustomTimeouts: timeoutsMessage(r.CustomTimeouts), DeletedWith: string(r.DeletedWith),
		ReplaceWith: wire.Texts(r.ReplaceWith), EnvVarMappings: r.EnvVarMappings, Hooks: hooksMessage(r.Hooks),
		SourcePosition: positionMessage(r.SourcePosition), AcceptSecrets: true, AcceptResources: true,
		AcceptsByteString: true, SupportsPartialValues: true, SupportsResultReporting: true,
	}
	if r.DeleteBeforeReplace != nil {
		request.DeleteBeforeReplaceDefined, request.DeleteBeforeReplace = true, *r.DeleteBeforeReplace
	}
	if !r.ReplacementTrigger.IsNull() {
		if request.ReplacementTrigger, err = encoding.EncodeValue(r.ReplacementTrigger); err != nil {
			return nil, fmt.Errorf("send the replacement trigger of %s: %w", r.Name, err)
		}
	}
	return request, nil
}

// fromOldNode reports whether the caller sends aliases in the old format of Node.js (E2.13).
func fromOldNode(ctx context.Context, r *pulumirpc.RegisterResourceRequest) bool {
	md, _ := metadata.FromIncomingContext(ctx)
	runtime := md.Get("pulumi-runtime")
	return !r.GetAliasSpecs() && len(runtime) > 0 && runtime[0] == "nodejs"
}

// registration decodes and validates a request (E2.9–E2.16).
func registration(ctx context.Context, r *pulumirpc.RegisterResourceRequest) (monitor.RegisterRequest, error) {
	var none monitor.RegisterRequest
	if len(r.GetStateMigrations()) > 0 { // E2.5
		return none, status.Error(codes.FailedPrecondition,
			"yamlhost does not support state migrations: leave the option out")
	}
	lists := []urns{{"parent", []string{r.GetParent()}}, {"dependency", r.GetDependencies()}, {"alias", r.GetAliasURNs()},
		{"deletedWith", []string{r.GetDeletedWith()}}, {"replaceWith", r.GetReplaceWith()}}
	for _, deps := range r.GetPropertyDependencies() {
		lists = append(lists, urns{"property dependency", deps.GetUrns()})
	}
	if err := checkURNs(lists...); err != nil {
		return none, err
	}
	inputs, err := known("object", r.GetObject())
	if err != nil {
		return none, err
	}
	trigger, err := wire.KeepAll().DecodeValue(r.GetReplacementTrigger())
	if err != nil {
		return none, status.Errorf(codes.InvalidArgument, "replacement trigger: %s", err)
	}
	defaults, err := unpackDefaults(ctx)
	if err != nil {
		return none, status.Errorf(codes.InvalidArgument, "defaults: %s", err)
	}
	request := monitor.RegisterRequest{
		Type: r.GetType(), Name: r.GetName(), Parent: urn.URN(r.GetParent()), Custom: r.GetCustom(),
		Remote: r.GetRemote(), Inputs: inputs, Defaults: defaults,
		PropertyDependencies: wire.Dependencies(r.GetPropertyDependencies()),
		Dependencies:         wire.URNs(r.GetDependencies()),
		Plugin:               pluginOf(r), Providers: orNone(r.GetProviders()),
		Protect: r.Protect, RetainOnDelete: r.RetainOnDelete,
		IgnoreChanges: r.GetIgnoreChanges(), ReplaceOnChanges: r.GetReplaceOnChanges(), HideDiffs: r.GetHideDiffs(),
		AdditionalSecretOutputs: r.GetAdditionalSecretOutputs(),
		Aliases:                 aliasesOf(r.GetAliasURNs(), r.GetAliases(), fromOldNode(ctx, r)), ImportID: r.GetImportId(),
		CustomTimeouts: timeoutsOf(r.GetCustomTimeouts()), DeletedWith: urn.URN(r.GetDeletedWith()),
		ReplaceWith: wire.URNs(r.GetReplaceWith()), ReplacementTrigger: trigger,
		EnvVarMappings: orNone(r.GetEnvVarMappings()), Hooks: hooksOf(r.GetHooks()),
		SourcePosition: positionOf(r.GetSourcePosition()),
	}
	if r.GetDeleteBeforeReplaceDefined() || r.GetDeleteBeforeReplace() { // E2.14
		request.DeleteBeforeReplace = &r.DeleteBeforeReplace
	}
	return request, nil
}

// transformRequest returns the message that asks a transform of the program to change a registration.
func transformRequest(r monitor.RegisterRequest, byteStrings bool) (*pulumirpc.TransformRequest, error) {
	encoding := transformEncoding(byteStrings)
	properties, err := encode(encoding, r.Inputs)
	if err != nil {
		return nil, err
	}
	options := &pulumirpc.TransformResourceOptions{
		DependsOn: wire.Texts(r.Dependencies), Protect: r.Protect, IgnoreChanges: r.IgnoreChanges,
		ReplaceOnChanges: r.ReplaceOnChanges, Version: r.Version, Aliases: aliasMessages(r.Aliases),
		Provider: r.Provider, Providers: r.Providers,
		PluginDownloadUrl: r.PluginDownloadURL, PluginChecksums: r.PluginChecksums, RetainOnDelete: r.RetainOnDelete,
		DeletedWith: string(r.DeletedWith), DeleteBeforeReplace: r.DeleteBeforeReplace,
		AdditionalSecretOutputs: r.AdditionalSecretOutputs, Hooks: hooksMessage(r.Hooks), Import: r.ImportID,
		HideDiff: r.HideDiffs, ReplaceWith: wire.Texts(r.ReplaceWith),
	}
	if r.CustomTimeouts != (monitor.Timeouts{}) {
		options.CustomTimeouts = timeoutsMessage(r.CustomTimeouts)
	}
	if !r.ReplacementTrigger.IsNull() {
		if options.ReplacementTrigger, err = encoding.EncodeValue(r.ReplacementTrigger); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.TransformRequest{Type: r.Type, Name: r.Name, Custom: r.Custom, Parent: string(r.Parent),
		Properties: properties, Options: options}, nil
}

// withTransformResponse applies a transform's answer to a registration: absent properties or options stay unchanged,
// and present ones replace all of the former ones.
func withTransformResponse(r monitor.RegisterRequest, answer *pulumirpc.TransformResponse) (monitor.RegisterRequest,
	error) {
	var err error
	if answer.GetProperties() != nil {
		if r.Inputs, err = known("properties of a transform", answer.GetProperties()); err != nil {
			return r, err
		}
	}
	o := answer.GetOptions()
	if o == nil {
		return r, nil
	}
	if err = checkURNs(urns{"dependency", o.GetDependsOn()}, urns{"deletedWith", []string{o.GetDeletedWith()}},
		urns{"replaceWith", o.GetReplaceWith()}); err != nil {
		return r, err
	}
	if r.ReplacementTrigger, err = wire.KeepAll().DecodeValue(o.GetReplacementTrigger()); err != nil {
		return r, fmt.Errorf("replacement trigger: %w", err)
	}
	r.Dependencies, r.Protect, r.RetainOnDelete = wire.URNs(o.GetDependsOn()), o.Protect, o.RetainOnDelete
	r.IgnoreChanges, r.ReplaceOnChanges, r.HideDiffs = o.GetIgnoreChanges(), o.GetReplaceOnChanges(), o.GetHideDiff()
	r.Version, r.PluginDownloadURL = o.GetVersion(), o.GetPluginDownloadUrl()
	r.PluginChecksums = orNone(o.GetPluginChecksums())
	r.Provider, r.Providers = o.GetProvider(), orNone(o.GetProviders())
	r.Aliases, r.ImportID = aliasesOf(nil, o.GetAliases(), false), o.GetImport()
	r.CustomTimeouts, r.Hooks = timeoutsOf(o.GetCustomTimeouts()), hooksOf(o.GetHooks())
	r.DeletedWith, r.ReplaceWith = urn.URN(o.GetDeletedWith()), wire.URNs(o.GetReplaceWith())
	r.DeleteBeforeReplace, r.AdditionalSecretOutputs = o.DeleteBeforeReplace, o.GetAdditionalSecretOutputs()
	return r, nil
}

// timeoutsMessage encodes timeouts. A registration always has them, as with Pulumi's own hosts; the options of a
// transform have them only if one is set.
func timeoutsMessage(t monitor.Timeouts) *pulumirpc.RegisterResourceRequest_CustomTimeouts {
	return &pulumirpc.RegisterResourceRequest_CustomTimeouts{Create: t.Create, Update: t.Update, Delete: t.Delete,
		Read: t.Read}
}

func timeoutsOf(m *pulumirpc.RegisterResourceRequest_CustomTimeouts) monitor.Timeouts {
	return monitor.Timeouts{Create: m.GetCreate(), Update: m.GetUpdate(), Delete: m.GetDelete(), Read: m.GetRead()}
}
