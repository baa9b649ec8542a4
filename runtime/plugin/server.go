package plugin

import (
	"context"
	"fmt"
	"math"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// NewServer serves a provider as a plugin. The caller closes the provider. The server is safe for concurrent use, as
// the provider must be.
func NewServer(p provider.Provider) pulumirpc.ResourceProviderServer { return &server{provider: p} }

// server translates gRPC calls to calls of a provider in this process.
type server struct {
	pulumirpc.UnimplementedResourceProviderServer
	provider provider.Provider

	mu          sync.RWMutex // guards the fields below
	configured  provider.Configured
	byteStrings bool // the engine accepts strings that are not UTF-8
}

// all decodes fields of a request with every kind of value that an engine can send.
func all(request proto.Message, fields ...protoreflect.Name) ([]value.Value, error) {
	values := make([]value.Value, len(fields))
	known := request.ProtoReflect().Descriptor().Fields()
	for i, field := range fields {
		v, err := wire.KeepAll().DecodeField(request, known.ByName(field).Number(), math.MaxInt)
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		values[i] = v
	}
	return values, nil
}

// encoding returns the encoding of answers, with the kinds of values that the engine accepts.
func (s *server) encoding() wire.Options {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return wire.Options{KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepByteStrings: s.byteStrings}
}

func (s *server) ready() (provider.Configured, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.configured == nil {
		return nil, status.Error(codes.FailedPrecondition, "the provider is not configured yet")
	}
	return s.configured, nil
}

// enter begins every call of a configured provider: it returns the provider and the values of the request.
func (s *server) enter(request proto.Message, fields ...protoreflect.Name) (provider.Configured, []value.Value, error) {
	p, err := s.ready()
	if err != nil {
		return nil, nil, err
	}
	v, err := all(request, fields...)
	return p, v, err
}

// stepRequest is the common part of the requests of steps.
type stepRequest interface {
	proto.Message
	GetUrn() string
	GetName() string
	GetType() string
	GetResourceStatusAddress() string
	GetResourceStatusToken() string
}

// step is a running step. end is called at its end.
type step struct {
	provider provider.Configured
	subject  provider.Subject
	views    *provider.Views
	end      func()
}

// enterStep is enter for a step, which may publish views. old are the former views.
func (s *server) enterStep(r stepRequest, old []*pulumirpc.View, fields ...protoreflect.Name) (*step, []value.Value,
	error) {
	p, v, err := s.enter(r, fields...)
	if err != nil {
		return nil, nil, err
	}
	views, release, err := publisher(r.GetResourceStatusAddress(), r.GetResourceStatusToken(), old)
	if err != nil {
		return nil, nil, err
	}
	return &step{p, subject(r.GetUrn(), r.GetName(), r.GetType()), views, release}, v, nil
}

func (s *server) fail(err error) error { return statusOf(err, s.encoding()) }

// encodeTo encodes a value into a field of an answer.
func encodeTo(o wire.Options, v value.Value, answer proto.Message, field protoreflect.Name) error {
	number := answer.ProtoReflect().Descriptor().Fields().ByName(field).Number()
	if err := o.EncodeInto(answer, number, v); err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return nil
}

// Handshake returns the features of all our providers.
func (s *server) Handshake(_ context.Context, r *pulumirpc.ProviderHandshakeRequest) (
	*pulumirpc.ProviderHandshakeResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byteStrings = r.GetAcceptsByteString()
	return &pulumirpc.ProviderHandshakeResponse{
		AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true, SupportsAutonamingConfiguration: true,
		AcceptsByteString: true,
	}, nil
}

// Attach does nothing: the provider makes no calls to the engine.
func (s *server) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// GetPluginInfo returns the version.
func (s *server) GetPluginInfo(ctx context.Context, _ *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	info, err := s.provider.Info(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	return &pulumirpc.PluginInfo{Version: info.Version}, nil
}

// Parameterize forwards the request to the provider.
func (s *server) Parameterize(ctx context.Context, r *pulumirpc.ParameterizeRequest) (*pulumirpc.ParameterizeResponse,
	error) {
	request := provider.ParameterizeRequest{
		Args: r.GetArgs().GetArgs(), Name: r.GetValue().GetName(), Version: r.GetValue().GetVersion(),
		Value: r.GetValue().GetValue(),
	}
	got, err := s.provider.Parameterize(ctx, request)
	if err != nil {
		return nil, s.fail(err)
	}
	return &pulumirpc.ParameterizeResponse{Name: got.Name, Version: got.Version}, nil
}

// GetSchema forwards the request to the provider.
func (s *server) GetSchema(ctx context.Context, r *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	text, err := s.provider.Schema(ctx, provider.SchemaRequest{SubpackageName: r.GetSubpackageName(),
		SubpackageVersion: r.GetSubpackageVersion()})
	if err != nil {
		return nil, s.fail(err)
	}
	return &pulumirpc.GetSchemaResponse{Schema: string(text)}, nil
}

func subject(u, name, typ string) provider.Subject {
	s := provider.SubjectOf(urn.URN(u))
	if name != "" {
		s.Name = name
	}
	if typ != "" {
		s.Type = typ
	}
	return s
}

func (s *server) check(
	ctx context.Context, r *pulumirpc.CheckRequest, do func(context.Context,
		provider.CheckRequest) (provider.CheckResponse, error),
) (*pulumirpc.CheckResponse, error) {
	v, err := all(r, "olds", "news")
	if err != nil {
		return nil, err
	}
	request := provider.CheckRequest{
		Subject: subject(r.GetUrn(), r.GetName(), r.GetType()), Olds: v[0].MapOrEmpty(), News: v[1].MapOrEmpty(),
		// the request does not tell whether this is a preview
		RandomSeed: r.GetRandomSeed(), AllowUnknowns: v[1].ContainsUnknown(),
	}
	if a := r.GetAutonaming(); a != nil {
		request.Autonaming = &provider.Autonaming{Name: a.GetProposedName()}
		for name, mode := range autonamingModes {
			if mode == a.GetMode() {
				request.Autonaming.Mode = name
			}
		}
	}
	got, err := do(ctx, request)
	if err != nil {
		return nil, s.fail(err)
	}
	answer := &pulumirpc.CheckResponse{Failures: checkFailures(got.Failures)}
	return answer, encodeTo(s.encoding(), got.Inputs, answer, "inputs")
}

func checkFailures(failures []provider.Failure) []*pulumirpc.CheckFailure {
	var list []*pulumirpc.CheckFailure
	for _, f := range failures {
		list = append(list, &pulumirpc.CheckFailure{Property: f.Property, Reason: f.Reason})
	}
	return list
}

func (s *server) diff(
	ctx context.Context, r *pulumirpc.DiffRequest, do func(context.Context,
		provider.DiffRequest) (provider.DiffResponse,
		error),
) (*pulumirpc.DiffResponse, error) {
	v, err := all(r, "old_inputs", "olds", "news")
	if err != nil {
		return nil, err
	}
	got, err := do(ctx, provider.DiffRequest{
		Subject: subject(r.GetUrn(), r.GetName(), r.GetType()), ID: r.GetId(),
		OldInputs: v[0], OldOutputs: v[1], News: v[2], IgnoreChanges: r.GetIgnoreChanges(),
		AllowUnknowns: v[2].ContainsUnknown(),
	})
	if err != nil {
		return nil, s.fail(err)
	}
	answer := &pulumirpc.DiffResponse{
		Replaces: got.Replaces, Stables: got.Stables, Diffs: got.Diffs, DeleteBeforeReplace: got.DeleteBeforeReplace,
		HasDetailedDiff: got.Detailed != nil, DetailedDiff: detailedMessages(got.Detailed),
	}
	switch got.Changes {
	case provider.DiffNone:
		answer.Changes = pulumirpc.DiffResponse_DIFF_NONE
	case provider.DiffSome:
		answer.Changes = pulumirpc.DiffResponse_DIFF_SOME
	case provider.DiffUnknown, provider.DiffUnavailable:
	}
	return answer, nil
}

func detailedMessages(detailed map[string]provider.PropertyDiff) map[string]*pulumirpc.PropertyDiff {
	messages := make(map[string]*pulumirpc.PropertyDiff, len(detailed))
	for path, p := range detailed {
		messages[path] = &pulumirpc.PropertyDiff{Kind: pulumirpc.PropertyDiff_Kind(p.Kind), InputDiff: p.InputDiff}
	}
	return messages
}

// CheckConfig forwards the request to the provider.
func (s *server) CheckConfig(ctx context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return s.check(ctx, r, s.provider.CheckConfig)
}

// DiffConfig forwards the request to the provider.
func (s *server) DiffConfig(ctx context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return s.diff(ctx, r, s.provider.DiffConfig)
}

// Configure configures the provider, once.
func (s *server) Configure(ctx context.Context, r *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	v, err := all(r, "args")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configured != nil {
		return nil, status.Error(codes.FailedPrecondition, "the provider is configured already")
	}
	got, err := s.provider.Configure(ctx, provider.ConfigureRequest{
		Subject: subject(r.GetUrn(), r.GetName(), r.GetType()), ID: r.GetId(), Inputs: v[0].MapOrEmpty(),
	})
	if err != nil {
		return nil, statusOf(err, wire.Options{KeepUnknowns: true, KeepSecrets: true, KeepResources: true})
	}
	s.configured = got
	return &pulumirpc.ConfigureResponse{
		AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true, SupportsPreview: true,
		SupportsAutonamingConfiguration: true,
	}, nil
}

// Check forwards the request to the provider.
func (s *server) Check(ctx context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	p, err := s.ready()
	if err != nil {
		return nil, err
	}
	return s.check(ctx, r, p.Check)
}

// Diff forwards the request to the provider.
func (s *server) Diff(ctx context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	p, err := s.ready()
	if err != nil {
		return nil, err
	}
	return s.diff(ctx, r, p.Diff)
}

// Create forwards the request to the provider.
func (s *server) Create(ctx context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	st, v, err := s.enterStep(r, nil, "properties")
	if err != nil {
		return nil, err
	}
	defer st.end()
	got, err := st.provider.Create(ctx, provider.CreateRequest{Subject: st.subject,
		Inputs: v[0].MapOrEmpty(), Timeout: r.GetTimeout(), Preview: r.GetPreview(), Views: st.views})
	if err != nil {
		return nil, s.fail(err)
	}
	answer := &pulumirpc.CreateResponse{Id: got.ID, RefreshBeforeUpdate: got.RefreshBeforeUpdate}
	return answer, encodeTo(s.encoding(), got.Outputs, answer, "properties")
}

// Read forwards the request to the provider.
func (s *server) Read(ctx context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	st, v, err := s.enterStep(r, r.GetOldViews(), "inputs", "properties")
	if err != nil {
		return nil, err
	}
	defer st.end()
	got, err := st.provider.Read(ctx, provider.ReadRequest{
		Subject: st.subject, ID: r.GetId(), Inputs: v[0], Outputs: v[1],
		Timeout: r.GetTimeout(),
		Views:   st.views,
	})
	if err != nil {
		return nil, s.fail(err)
	}
	answer := &pulumirpc.ReadResponse{Id: got.ID, RefreshBeforeUpdate: got.RefreshBeforeUpdate}
	if err := encodeTo(s.encoding(), got.Inputs, answer, "inputs"); err != nil {
		return nil, err
	}
	return answer, encodeTo(s.encoding(), got.Outputs, answer, "properties")
}

// Update forwards the request to the provider.
func (s *server) Update(ctx context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	st, v, err := s.enterStep(r, r.GetOldViews(), "old_inputs", "olds", "news")
	if err != nil {
		return nil, err
	}
	defer st.end()
	got, err := st.provider.Update(ctx, provider.UpdateRequest{
		Subject: st.subject, ID: r.GetId(), OldInputs: v[0], OldOutputs: v[1],
		News: v[2].MapOrEmpty(), Timeout: r.GetTimeout(), IgnoreChanges: r.GetIgnoreChanges(), Preview: r.GetPreview(),
		Views: st.views,
	})
	if err != nil {
		return nil, s.fail(err)
	}
	answer := &pulumirpc.UpdateResponse{RefreshBeforeUpdate: got.RefreshBeforeUpdate}
	return answer, encodeTo(s.encoding(), got.Outputs, answer, "properties")
}

// Delete forwards the request to the provider.
func (s *server) Delete(ctx context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	st, v, err := s.enterStep(r, r.GetOldViews(), "old_inputs", "properties")
	if err != nil {
		return nil, err
	}
	defer st.end()
	if err := st.provider.Delete(ctx, provider.DeleteRequest{
		Subject: st.subject, ID: r.GetId(), Inputs: v[0], Outputs: v[1],
		Timeout: r.GetTimeout(),
		Views:   st.views,
	}); err != nil {
		return nil, s.fail(err)
	}
	return &emptypb.Empty{}, nil
}

// Invoke forwards the request to the provider.
func (s *server) Invoke(ctx context.Context, r *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	p, v, err := s.enter(r, "args")
	if err != nil {
		return nil, err
	}
	got, err := p.Invoke(ctx, provider.InvokeRequest{Token: r.GetTok(), Args: v[0].MapOrEmpty(),
		Preview: r.GetPreview()})
	if err != nil {
		return nil, s.fail(err)
	}
	answer := &pulumirpc.InvokeResponse{Failures: checkFailures(got.Failures)}
	return answer, encodeTo(s.encoding(), got.Result, answer, "return")
}

// List forwards the request to the provider and sends the page as a stream.
func (s *server) List(r *pulumirpc.ListRequest, stream pulumirpc.ResourceProvider_ListServer) error {
	p, v, err := s.enter(r, "query")
	if err != nil {
		return err
	}
	page, err := provider.List(stream.Context(), p, provider.ListRequest{Type: r.GetToken(),
		Query: v[0].MapOrEmpty(), Limit: int(r.GetLimit()), Continuation: r.GetContinuationToken()})
	if err != nil {
		return s.fail(err)
	}
	if page.Unknown {
		return stream.Send(&pulumirpc.ListResponse{Response: &pulumirpc.ListResponse_Computed_{
			Computed: &pulumirpc.ListResponse_Computed{}}})
	}
	for _, l := range page.Resources {
		if err := stream.Send(&pulumirpc.ListResponse{Response: &pulumirpc.ListResponse_Result_{
			Result: &pulumirpc.ListResponse_Result{Id: l.ID, Name: l.Name}}}); err != nil {
			return err
		}
	}
	if page.Continuation == "" {
		return nil
	}
	return stream.Send(&pulumirpc.ListResponse{Response: &pulumirpc.ListResponse_Continuation_{
		Continuation: &pulumirpc.ListResponse_Continuation{ContinuationToken: page.Continuation}}})
}

// Call forwards the request to the provider.
func (s *server) Call(ctx context.Context, r *pulumirpc.CallRequest) (*pulumirpc.CallResponse, error) {
	p, v, err := s.enter(r, "args")
	if err != nil {
		return nil, err
	}
	request := provider.CallRequest{Token: r.GetTok(), Args: v[0].MapOrEmpty(), Deployment: deploymentOf(r),
		ArgDependencies: wire.Dependencies(r.GetArgDependencies())}
	got, err := p.Call(ctx, request)
	if err != nil {
		return nil, s.fail(err)
	}
	answer := &pulumirpc.CallResponse{Failures: checkFailures(got.Failures)}
	answer.ReturnDependencies = wire.DependencyMessages(got.ReturnDependencies,
		func(us []string) *pulumirpc.CallResponse_ReturnDependencies {
			return &pulumirpc.CallResponse_ReturnDependencies{Urns: us}
		})
	encoding := s.encoding()
	encoding.KeepOutputs = r.GetAcceptsOutputValues()
	return answer, encodeTo(encoding, got.Result, answer, "return")
}

// deploymentOf returns the deployment of a call into a running program.
func deploymentOf(r interface {
	GetProject() string
	GetStack() string
	GetOrganization() string
	GetConfig() map[string]string
	GetConfigSecretKeys() []string
	GetDryRun() bool
	GetParallel() int32
	GetMonitorEndpoint() string
}) provider.DeploymentInfo {
	return provider.DeploymentInfo{MonitorEndpoint: r.GetMonitorEndpoint(), Info: monitor.Info{
		Project: r.GetProject(), Stack: r.GetStack(), Organization: r.GetOrganization(), Config: r.GetConfig(),
		ConfigSecretKeys: r.GetConfigSecretKeys(), DryRun: r.GetDryRun(), Parallel: int(r.GetParallel()),
	}}
}

// Construct forwards the request to the provider.
func (s *server) Construct(ctx context.Context, r *pulumirpc.ConstructRequest) (*pulumirpc.ConstructResponse, error) {
	p, v, err := s.enter(r, "inputs")
	if err != nil {
		return nil, err
	}
	trigger, err := wire.KeepAll().DecodeValue(r.GetReplacementTrigger())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	request := provider.ConstructRequest{
		Deployment: deploymentOf(r), InputDependencies: wire.Dependencies(r.GetInputDependencies()),
		Type: r.GetType(), Name: r.GetName(), Parent: urn.URN(r.GetParent()), Inputs: v[0].MapOrEmpty(),
		Dependencies: wire.URNs(r.GetDependencies()), Providers: r.GetProviders(),
		Protect: r.Protect, RetainOnDelete: r.RetainOnDelete, DeleteBeforeReplace: r.DeleteBeforeReplace,
		AdditionalSecretOutputs: r.GetAdditionalSecretOutputs(), IgnoreChanges: r.GetIgnoreChanges(),
		ReplaceOnChanges: r.GetReplaceOnChanges(),
		DeletedWith:      urn.URN(r.GetDeletedWith()), ReplaceWith: wire.URNs(r.GetReplaceWith()),
		CreateTimeout: r.GetCustomTimeouts().GetCreate(), UpdateTimeout: r.GetCustomTimeouts().GetUpdate(),
		DeleteTimeout: r.GetCustomTimeouts().GetDelete(), ReplacementTrigger: trigger,
	}
	for _, alias := range r.GetAliases() {
		switch a := alias.GetAlias().(type) {
		case *pulumirpc.Alias_Urn:
			request.Aliases = append(request.Aliases, urn.URN(a.Urn))
		case *pulumirpc.Alias_Spec_:
			request.AliasSpecs = append(request.AliasSpecs, monitor.Alias{
				Name: a.Spec.GetName(), Type: a.Spec.GetType(), Stack: a.Spec.GetStack(), Project: a.Spec.GetProject(),
				Parent: urn.URN(a.Spec.GetParentUrn()), NoParent: a.Spec.GetNoParent(),
			})
		default:
			return nil, status.Error(codes.InvalidArgument, fmt.Sprintf("an alias of component %s is empty", r.GetName()))
		}
	}
	got, err := p.Construct(ctx, request)
	if err != nil {
		return nil, s.fail(err)
	}
	answer := &pulumirpc.ConstructResponse{Urn: string(got.URN)}
	answer.StateDependencies = wire.DependencyMessages(got.StateDependencies,
		func(us []string) *pulumirpc.ConstructResponse_PropertyDependencies {
			return &pulumirpc.ConstructResponse_PropertyDependencies{Urns: us}
		})
	encoding := s.encoding()
	encoding.KeepOutputs = r.GetAcceptsOutputValues()
	return answer, encodeTo(encoding, got.Outputs, answer, "state")
}

// Cancel forwards the request to the provider.
func (s *server) Cancel(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	if err := s.provider.Cancel(ctx); err != nil {
		return nil, s.fail(err)
	}
	return &emptypb.Empty{}, nil
}
