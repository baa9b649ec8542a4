package rpc

// This file translates a registration to and from the two messages that carry it: the registration of a resource, and
// the request and response of a transform. The table options has what is the same in both directions.

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

// own, sent and asked are a registration, the message that registers it, and the options in a transform's messages.
type (
	own   = monitor.RegisterRequest
	sent  = pulumirpc.RegisterResourceRequest
	asked = pulumirpc.TransformResourceOptions
)

// option translates one field of a registration to and from the messages.
type option struct {
	send, read  func(*own, *sent)
	ask, answer func(*own, *asked)
}

// between returns the option that stands in the given fields, encoded in the messages. transform is nil for an option
// that transforms do not have.
func between[A, B any](of func(*own) *A, message func(*sent) *B, transform func(*asked) *B, encode func(A) B,
	decode func(B) A) option {
	o := option{
		send: func(r *own, m *sent) { *message(m) = encode(*of(r)) },
		read: func(r *own, m *sent) { *of(r) = decode(*message(m)) },
		ask:  func(*own, *asked) {}, answer: func(*own, *asked) {},
	}
	if transform != nil {
		o.ask = func(r *own, m *asked) { *transform(m) = encode(*of(r)) }
		o.answer = func(r *own, m *asked) { *of(r) = decode(*transform(m)) }
	}
	return o
}

// same returns an option that is the same in the messages.
func same[T any](of func(*own) *T, message func(*sent) *T, transform func(*asked) *T) option {
	itself := func(v T) T { return v }
	return between(of, message, transform, itself, itself)
}

// mapping returns an option that is a map, and absent if it is empty.
func mapping[V any](of func(*own) *map[string]V, message func(*sent) *map[string]V,
	transform func(*asked) *map[string]V) option {
	return between(of, message, transform, func(m map[string]V) map[string]V { return m }, orNone[V])
}

// options are all fields of a registration but the inputs, the replacement trigger, whose encoding can fail, the
// transforms, which are callbacks, and the defaults, which are sent in headers.
var options = []option{
	same(func(r *own) *string { return &r.Type }, func(m *sent) *string { return &m.Type }, nil),
	same(func(r *own) *string { return &r.Name }, func(m *sent) *string { return &m.Name }, nil),
	same(func(r *own) *bool { return &r.Custom }, func(m *sent) *bool { return &m.Custom }, nil),
	same(func(r *own) *bool { return &r.Remote }, func(m *sent) *bool { return &m.Remote }, nil),
	between(func(r *own) *urn.URN { return &r.Parent }, func(m *sent) *string { return &m.Parent }, nil, textOf, urnOf),
	between(func(r *own) *urn.Dependencies { return &r.PropertyDependencies },
		func(m *sent) *map[string]*dependencies { return &m.PropertyDependencies }, nil,
		func(of urn.Dependencies) map[string]*dependencies {
			return wire.DependencyMessages(of.Map(), func(us []string) *dependencies { return &dependencies{Urns: us} })
		},
		func(of map[string]*dependencies) urn.Dependencies { return urn.DependenciesOf(wire.Dependencies(of)) }),
	between(func(r *own) *[]urn.URN { return &r.Dependencies }, func(m *sent) *[]string { return &m.Dependencies },
		func(o *asked) *[]string { return &o.DependsOn }, wire.Texts, wire.URNs),

	same(func(r *own) *string { return &r.Provider }, func(m *sent) *string { return &m.Provider },
		func(o *asked) *string { return &o.Provider }),
	mapping(func(r *own) *map[string]string { return &r.Providers },
		func(m *sent) *map[string]string { return &m.Providers },
		func(o *asked) *map[string]string { return &o.Providers }),
	same(func(r *own) *string { return &r.PackageRef }, func(m *sent) *string { return &m.PackageRef }, nil),
	same(func(r *own) *string { return &r.Version }, func(m *sent) *string { return &m.Version },
		func(o *asked) *string { return &o.Version }),
	same(func(r *own) *string { return &r.PluginDownloadURL }, func(m *sent) *string { return &m.PluginDownloadURL },
		func(o *asked) *string { return &o.PluginDownloadUrl }),
	mapping(func(r *own) *map[string][]byte { return &r.PluginChecksums },
		func(m *sent) *map[string][]byte { return &m.PluginChecksums },
		func(o *asked) *map[string][]byte { return &o.PluginChecksums }),

	same(func(r *own) **bool { return &r.Protect }, func(m *sent) **bool { return &m.Protect },
		func(o *asked) **bool { return &o.Protect }),
	same(func(r *own) **bool { return &r.RetainOnDelete }, func(m *sent) **bool { return &m.RetainOnDelete },
		func(o *asked) **bool { return &o.RetainOnDelete }),
	same(func(r *own) *[]string { return &r.IgnoreChanges }, func(m *sent) *[]string { return &m.IgnoreChanges },
		func(o *asked) *[]string { return &o.IgnoreChanges }),
	same(func(r *own) *[]string { return &r.ReplaceOnChanges }, func(m *sent) *[]string { return &m.ReplaceOnChanges },
		func(o *asked) *[]string { return &o.ReplaceOnChanges }),
	same(func(r *own) *[]string { return &r.HideDiffs }, func(m *sent) *[]string { return &m.HideDiffs },
		func(o *asked) *[]string { return &o.HideDiff }),
	same(func(r *own) *[]string { return &r.AdditionalSecretOutputs },
		func(m *sent) *[]string { return &m.AdditionalSecretOutputs },
		func(o *asked) *[]string { return &o.AdditionalSecretOutputs }),
	{ // registerRequest reads aliases: a registration has some by URN besides, and their form depends on who sends it
		send:   func(r *own, m *sent) { m.Aliases = aliasMessages(r.Aliases) },
		read:   func(*own, *sent) {},
		ask:    func(r *own, o *asked) { o.Aliases = aliasMessages(r.Aliases) },
		answer: func(r *own, o *asked) { r.Aliases = aliasesOf(nil, o.Aliases, false) },
	},
	same(func(r *own) *string { return &r.ImportID }, func(m *sent) *string { return &m.ImportId },
		func(o *asked) *string { return &o.Import }),
	between(func(r *own) *urn.URN { return &r.DeletedWith }, func(m *sent) *string { return &m.DeletedWith },
		func(o *asked) *string { return &o.DeletedWith }, textOf, urnOf),
	between(func(r *own) *[]urn.URN { return &r.ReplaceWith }, func(m *sent) *[]string { return &m.ReplaceWith },
		func(o *asked) *[]string { return &o.ReplaceWith }, wire.Texts, wire.URNs),
	mapping(func(r *own) *map[string]string { return &r.EnvVarMappings },
		func(m *sent) *map[string]string { return &m.EnvVarMappings }, nil),
	between(func(r *own) *map[string][]string { return &r.Hooks }, func(m *sent) **bindings { return &m.Hooks },
		func(o *asked) **bindings { return &o.Hooks }, hooksMessage, hooksOf),
	between(func(r *own) **monitor.Position { return &r.SourcePosition },
		func(m *sent) **pulumirpc.SourcePosition { return &m.SourcePosition }, nil, positionMessage, positionOf),
	{ // a registration always has timeouts, as with Pulumi's own hosts; a transform has them only if one is set
		send: func(r *own, m *sent) { m.CustomTimeouts = timeoutsMessage(r.CustomTimeouts) },
		read: func(r *own, m *sent) { r.CustomTimeouts = timeoutsOf(m.CustomTimeouts) },
		ask: func(r *own, o *asked) {
			if r.CustomTimeouts != (monitor.Timeouts{}) {
				o.CustomTimeouts = timeoutsMessage(r.CustomTimeouts)
			}
		},
		answer: func(r *own, o *asked) { r.CustomTimeouts = timeoutsOf(o.CustomTimeouts) },
	},
	{ // E2.14
		send: func(r *own, m *sent) {
			if r.DeleteBeforeReplace != nil {
				m.DeleteBeforeReplaceDefined, m.DeleteBeforeReplace = true, *r.DeleteBeforeReplace
			}
		},
		read: func(r *own, m *sent) {
			if m.DeleteBeforeReplaceDefined || m.DeleteBeforeReplace {
				r.DeleteBeforeReplace = &m.DeleteBeforeReplace
			}
		},
		ask:    func(r *own, o *asked) { o.DeleteBeforeReplace = r.DeleteBeforeReplace },
		answer: func(r *own, o *asked) { r.DeleteBeforeReplace = o.DeleteBeforeReplace },
	},
}

type (
	// dependencies are those of one property in a message.
	dependencies = pulumirpc.RegisterResourceRequest_PropertyDependencies
	bindings     = pulumirpc.RegisterResourceRequest_ResourceHooksBinding
)

func textOf(u urn.URN) string { return string(u) }

func urnOf(text string) urn.URN { return urn.URN(text) }

// registerMessage returns the message that registers a resource. It leaves out the transforms, which are callbacks of
// the client, and the defaults, which are sent in headers.
func registerMessage(encoding wire.Options, r monitor.RegisterRequest) (*pulumirpc.RegisterResourceRequest, error) {
	inputs, err := send(encoding, "the inputs of "+r.Name, r.Inputs)
	if err != nil {
		return nil, err
	}
	request := &sent{Object: inputs,
		AliasSpecs: true, AcceptSecrets: true, AcceptResources: true, AcceptsByteString: true,
		SupportsPartialValues: true, SupportsResultReporting: true}
	for _, o := range options {
		o.send(&r, request)
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
	request := own{Inputs: inputs, Defaults: defaults, ReplacementTrigger: trigger}
	for _, o := range options {
		o.read(&request, r)
	}
	request.Aliases = aliasesOf(r.GetAliasURNs(), r.GetAliases(), fromOldNode(ctx, r))
	return request, nil
}

// transformRequest returns the message that asks a transform of the program to change a registration.
func transformRequest(r monitor.RegisterRequest, byteStrings bool) (*pulumirpc.TransformRequest, error) {
	encoding := transformEncoding(byteStrings)
	properties, err := encode(encoding, r.Inputs)
	if err != nil {
		return nil, err
	}
	carried := &asked{}
	for _, o := range options {
		o.ask(&r, carried)
	}
	if !r.ReplacementTrigger.IsNull() {
		if carried.ReplacementTrigger, err = encoding.EncodeValue(r.ReplacementTrigger); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.TransformRequest{Type: r.Type, Name: r.Name, Custom: r.Custom, Parent: string(r.Parent),
		Properties: properties, Options: carried}, nil
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
	for _, option := range options {
		option.answer(&r, o)
	}
	return r, nil
}

func timeoutsMessage(t monitor.Timeouts) *pulumirpc.RegisterResourceRequest_CustomTimeouts {
	return &pulumirpc.RegisterResourceRequest_CustomTimeouts{Create: t.Create, Update: t.Update, Delete: t.Delete,
		Read: t.Read}
}

func timeoutsOf(m *pulumirpc.RegisterResourceRequest_CustomTimeouts) monitor.Timeouts {
	return monitor.Timeouts{Create: m.GetCreate(), Update: m.GetUpdate(), Delete: m.GetDelete(), Read: m.GetRead()}
}
