package rpc

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Serve serves a monitor on a port of 127.0.0.1. Calls in flight end when ctx ends or stop is called. stop returns
// after all goroutines of the server have ended, and may be called twice.
func Serve(ctx context.Context, m monitor.Monitor) (address string, stop func(), err error) {
	monitor := &server{monitor: m}
	address, end, err := transport.Serve("the resource monitor", func(s *grpc.Server) {
		pulumirpc.RegisterResourceMonitorServer(s, monitor)
	}, grpc.UnaryInterceptor(encodeError))
	if err != nil {
		return "", nil, err
	}
	unwatch := context.AfterFunc(ctx, end)
	return address, func() {
		unwatch()
		end()
		monitor.programs.close()
	}, nil
}

// encodeError handles a call, and encodes its error with statusOf.
func encodeError(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	answer, err := handle(ctx, request)
	return answer, statusOf(err)
}

// server offers a monitor to programs in other processes. It is safe for concurrent use, as the monitor must be.
type server struct {
	pulumirpc.UnimplementedResourceMonitorServer
	monitor  monitor.Monitor
	programs programs // with hooks and transforms
}

// answer returns the encoding for a caller: the options in its request, or lossless for yamlhost's client (E2.36).
func answer(exact, secrets, resources, byteStrings bool) wire.Options {
	if exact {
		return wire.KeepAll()
	}
	return wire.Options{KeepUnknowns: true, KeepSecrets: secrets, KeepResources: resources,
		KeepByteStrings: byteStrings}
}

// known decodes a map in a request, with all kinds of values (E2.15). name describes it in errors.
func known(name string, s *structpb.Struct) (value.Value, error) {
	v, err := wire.KeepAll().Decode(s)
	if err != nil {
		return value.Null, status.Errorf(codes.InvalidArgument, "%s: %s", name, err)
	}
	if v.IsNull() {
		v = value.EmptyMap()
	}
	return v, nil
}

// urns are strings of a request that must be URNs, with their name for errors.
type urns struct {
	name string
	list []string
}

// checkURNs returns an error for an invalid URN (E2.9, E2.16); an empty string is valid.
func checkURNs(lists ...urns) error {
	for _, texts := range lists {
		for _, text := range texts.list {
			if _, err := urn.Parse(text); err != nil && text != "" {
				return status.Errorf(codes.InvalidArgument, "invalid %s: %s", texts.name, err)
			}
		}
	}
	return nil
}

func encode(o wire.Options, v value.Value) (*structpb.Struct, error) {
	s, err := o.Encode(v)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	if s == nil {
		s = &structpb.Struct{}
	}
	return s, nil
}

// sendTrailer adds the trailer for yamlhost's client: whether the resource is known, and an ID that is no plain string.
func sendTrailer(ctx context.Context, known bool, id value.Value) error {
	md := metadata.Pairs(knownHeader, "0")
	if known {
		md.Set(knownHeader, "1")
	}
	if _, fits := plainID(id); !fits {
		packed, err := packID(id)
		if err != nil {
			return status.Error(codes.Internal, err.Error())
		}
		md.Set(idHeader, packed)
	}
	return grpc.SetTrailer(ctx, md)
}

// GetDeploymentInfo identifies the deployment (E2.3).
func (s *server) GetDeploymentInfo(ctx context.Context, _ *emptypb.Empty) (*pulumirpc.DeploymentInfo, error) {
	info, err := s.monitor.Info(ctx)
	if err != nil {
		return nil, err
	}
	if isExact(ctx) {
		if err := grpc.SetHeader(ctx, metadata.Pairs(exactHeader, "1")); err != nil {
			return nil, err
		}
	}
	got := &pulumirpc.DeploymentInfo{
		Project: info.Project, Stack: info.Stack, Organization: info.Organization, Config: info.Config,
		ConfigSecretKeys: info.ConfigSecretKeys, DryRun: info.DryRun, Parallel: int32(info.Parallel),
	}
	for _, f := range features() {
		supported, err := s.monitor.SupportsFeature(ctx, f.name)
		if err != nil {
			return nil, err
		}
		if supported {
			got.SupportedFeatures = append(got.SupportedFeatures, f.number)
		}
	}
	got.SupportedFeatures = append(got.SupportedFeatures,
		pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_BYTE_STRING,
		pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_DEPENDS_ON,
		pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_PARENT)
	return got, nil
}

// SupportsFeature reports whether the monitor supports the named feature of E2.4.
func (s *server) SupportsFeature(ctx context.Context, r *pulumirpc.SupportsFeatureRequest) (
	*pulumirpc.SupportsFeatureResponse, error) {
	supported, err := s.monitor.SupportsFeature(ctx, r.GetId())
	return &pulumirpc.SupportsFeatureResponse{HasSupport: supported}, err
}

// RegisterPackage registers a package (E2.67).
func (s *server) RegisterPackage(ctx context.Context, r *pulumirpc.RegisterPackageRequest) (
	*pulumirpc.RegisterPackageResponse, error) {
	if r.GetName() == "" {
		return nil, status.Error(codes.InvalidArgument, "a package needs a name")
	}
	p := monitor.Package{Name: r.GetName(), Version: r.GetVersion(), DownloadURL: r.GetDownloadUrl(),
		Checksums: r.GetChecksums()}
	parameters := r.GetParameterization()
	if extension := r.GetExtension(); extension != nil {
		if parameters != nil {
			return nil, status.Error(codes.InvalidArgument, "a package has parameters or an extension, not both")
		}
		p.Extension, parameters = true, extension
	}
	if parameters != nil {
		p.Parameterization = &monitor.Parameterization{
			Name: parameters.GetName(), Version: parameters.GetVersion(), Value: parameters.GetValue(),
		}
	}
	ref, err := s.monitor.RegisterPackage(ctx, p)
	return &pulumirpc.RegisterPackageResponse{Ref: ref}, err
}

// RegisterResource registers a resource; the capabilities in the request decide the format of the response
// (E2.34–E2.37).
func (s *server) RegisterResource(ctx context.Context, r *pulumirpc.RegisterResourceRequest) (
	*pulumirpc.RegisterResourceResponse, error) {
	request, err := registration(ctx, r)
	if err != nil {
		return nil, err
	}
	if request.Transforms, err = s.transformsOf(r.GetTransforms()); err != nil {
		return nil, err
	}
	got, err := s.monitor.RegisterResource(ctx, request)
	if err != nil {
		return nil, err
	}
	exact := isExact(ctx)
	if got.Result != monitor.Succeeded && !r.GetSupportsResultReporting() {
		return nil, status.Error(codes.Internal, "resource registration failed")
	}
	id, _ := plainID(got.ID)
	outputs := got.Outputs
	if !exact && !r.GetSupportsPartialValues() {
		outputs = withoutUnknowns(outputs)
	}
	object, err := encode(answer(exact, r.GetAcceptSecrets(), r.GetAcceptResources(), r.GetAcceptsByteString()),
		outputs)
	if err != nil {
		return nil, err
	}
	if exact {
		if err := sendTrailer(ctx, got.Known, got.ID); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.RegisterResourceResponse{
		Urn: string(got.URN), Id: id, Object: object, Result: resultMessage(got.Result, exact),
		// A skipped creation has neither ID nor outputs, in an update too (E2.37).
		Unknown: got.Result == monitor.Succeeded && r.GetCustom() && !got.Known && id == "" && got.Outputs.Len() == 0,
		PropertyDependencies: wire.DependencyMessages(got.PropertyDependencies,
			func(us []string) *pulumirpc.RegisterResourceResponse_PropertyDependencies {
				return &pulumirpc.RegisterResourceResponse_PropertyDependencies{Urns: us}
			}),
	}, nil
}

// withoutUnknowns removes the top-level properties that contain unknown values (F1.20).
func withoutUnknowns(v value.Value) value.Value {
	if !v.ContainsUnknown() {
		return v
	}
	var entries []value.Entry
	for i, key := range v.Keys() {
		if item := v.At(i); !item.ContainsUnknown() {
			entries = append(entries, value.Entry{Key: key, Value: item})
		}
	}
	return value.MapOf(entries...)
}

// skipped is the number that engines have used for a resource that was not attempted because another one failed. The
// current message definitions do not name it any more, but the enum is open.
const skipped pulumirpc.Result = 2

// resultMessage encodes a result. Other callers may not know skipped, so they get a failure instead.
func resultMessage(r monitor.Result, exact bool) pulumirpc.Result {
	switch {
	case r == monitor.Succeeded:
		return pulumirpc.Result_SUCCESS
	case r == monitor.Skipped && exact:
		return skipped
	}
	return pulumirpc.Result_FAIL
}

func resultOf(r pulumirpc.Result) monitor.Result {
	switch r {
	case pulumirpc.Result_SUCCESS:
		return monitor.Succeeded
	case skipped:
		return monitor.Skipped
	}
	return monitor.Failed
}

// RegisterResourceOutputs records the outputs of a component or of the stack (E2.59).
func (s *server) RegisterResourceOutputs(ctx context.Context, r *pulumirpc.RegisterResourceOutputsRequest) (
	*emptypb.Empty, error) {
	u, err := urn.Parse(r.GetUrn())
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "invalid resource URN: %s", err)
	}
	outputs, err := known("outputs", r.GetOutputs())
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, s.monitor.RegisterOutputs(ctx, u, outputs)
}

// ReadResource reads a resource that is managed elsewhere (E2.45).
func (s *server) ReadResource(ctx context.Context, r *pulumirpc.ReadResourceRequest) (*pulumirpc.ReadResourceResponse,
	error) {
	if err := checkURNs(urns{"parent", []string{r.GetParent()}}, urns{"dependency", r.GetDependencies()}); err != nil {
		return nil, err
	}
	state, err := known("properties", r.GetProperties())
	if err != nil {
		return nil, err
	}
	md, _ := metadata.FromIncomingContext(ctx)
	id, ok, err := unpackID(md)
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "ID: %s", err)
	}
	if !ok {
		id = value.String(r.GetId())
		if _, unknown := wire.KindOfSentinel(r.GetId()); unknown {
			id = value.Unknown(value.KindString)
		}
	}
	got, err := s.monitor.ReadResource(ctx, monitor.ReadRequest{
		Type: r.GetType(), Name: r.GetName(), Parent: urn.URN(r.GetParent()), ID: id, State: state,
		Dependencies: wire.URNs(r.GetDependencies()), Plugin: pluginOf(r),
		AdditionalSecretOutputs: r.GetAdditionalSecretOutputs(), SourcePosition: positionOf(r.GetSourcePosition()),
	})
	if err != nil {
		return nil, err
	}
	exact := isExact(ctx)
	properties, err := encode(answer(exact, r.GetAcceptSecrets(), r.GetAcceptResources(), r.GetAcceptsByteString()),
		got.Outputs)
	if err != nil {
		return nil, err
	}
	if exact {
		if err := sendTrailer(ctx, got.Known, got.ID); err != nil {
			return nil, err
		}
	}
	text, _ := plainID(got.ID)
	return &pulumirpc.ReadResourceResponse{Urn: string(got.URN), Properties: properties, Id: text}, nil
}

// Invoke calls a provider function (E2.50, E2.55).
func (s *server) Invoke(ctx context.Context, r *pulumirpc.ResourceInvokeRequest) (*pulumirpc.ResourceInvokeResponse,
	error) {
	if err := checkURNs(urns{"parent", []string{r.GetParent()}}, urns{"dependency", r.GetDependsOn()}); err != nil {
		return nil, err
	}
	args, err := known("args", r.GetArgs())
	if err != nil {
		return nil, err
	}
	got, err := s.monitor.Invoke(ctx, monitor.InvokeRequest{
		Token: r.GetTok(), Args: args, Plugin: pluginOf(r), Parent: urn.URN(r.GetParent()),
		DependsOn: wire.URNs(r.GetDependsOn()), SourcePosition: positionOf(r.GetSourcePosition()),
	})
	if err != nil {
		return nil, err
	}
	resources := r.GetAcceptResources() || r.GetTok() == "pulumi:pulumi:getResource"
	result, err := encode(answer(isExact(ctx), true, resources, r.GetAcceptsByteString()), got.Result)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ResourceInvokeResponse{Return: result, Failures: failureMessages(got.Failures),
		Unknown: got.Unknown}, nil
}

// Call calls a method of a resource (E2.56).
func (s *server) Call(ctx context.Context, r *pulumirpc.ResourceCallRequest) (*pulumirpc.CallResponse, error) {
	args, err := known("args", r.GetArgs())
	if err != nil {
		return nil, err
	}
	got, err := s.monitor.Call(ctx, monitor.CallRequest{
		Token: r.GetTok(), Args: args, ArgDependencies: wire.Dependencies(r.GetArgDependencies()), Plugin: pluginOf(r),
		SourcePosition: positionOf(r.GetSourcePosition()),
	})
	if err != nil {
		return nil, err
	}
	encoding := answer(isExact(ctx), true, true, r.GetAcceptsByteString())
	encoding.KeepOutputs = encoding.KeepOutputs || r.GetAcceptOutputValues()
	result, err := encode(encoding, got.Result)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CallResponse{
		Return: result, Failures: failureMessages(got.Failures),
		ReturnDependencies: wire.DependencyMessages(got.ReturnDependencies,
			func(us []string) *pulumirpc.CallResponse_ReturnDependencies {
				return &pulumirpc.CallResponse_ReturnDependencies{Urns: us}
			}),
	}, nil
}

// SignalAndWaitForShutdown waits until the engine is done (E2.68).
func (s *server) SignalAndWaitForShutdown(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.monitor.SignalAndWaitForShutdown(ctx)
}

func unsupported(feature string) error {
	return status.Errorf(codes.Unimplemented, "yamlhost does not support %s", feature)
}

// ExistsResource is not supported.
func (s *server) ExistsResource(context.Context, *pulumirpc.ExistsResourceRequest) (*pulumirpc.ExistsResourceResponse,
	error) {
	return nil, unsupported("asking whether a resource exists")
}
