package rpc

import (
	"context"
	"fmt"
	"sync"

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

var _ monitor.Monitor = (*Client)(nil)

// Client is a monitor whose engine runs in another process. It is safe for concurrent use.
type Client struct {
	conn      *grpc.ClientConn
	callbacks callbacks // serves the program's hooks and transforms
	remote    pulumirpc.ResourceMonitorClient

	mu   sync.Mutex // guards the rest; held during the request of meet, which is sent only once
	met  bool
	info monitor.Info
	ours bool // the server is yamlhost's: the encoding can be lossless
}

// Option configures a Client.
type Option func(*Client)

// WithInfo sets the result of Info for an engine that does not implement the request. Other engines ignore it.
func WithInfo(info monitor.Info) Option { return func(c *Client) { c.info = info } }

// Dial returns a client for the monitor at host:port. It does not connect before the first call. The caller closes the
// client.
func Dial(address string, options ...Option) (*Client, error) {
	c := &Client{}
	conn, err := transport.Dial(address, grpc.WithUnaryInterceptor(c.ask))
	if err != nil {
		return nil, fmt.Errorf("connect to the resource monitor at %s: %w", address, err)
	}
	c.conn, c.remote = conn, pulumirpc.NewResourceMonitorClient(conn)
	for _, option := range options {
		option(c)
	}
	return c, nil
}

// Close closes the connection; calls in flight fail.
func (c *Client) Close() error {
	c.callbacks.stop()
	return c.conn.Close()
}

// meet asks the engine once for the deployment's Info and whether the engine is yamlhost's.
func (c *Client) meet(ctx context.Context) (info monitor.Info, ours bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.met {
		return c.info, c.ours, nil
	}
	var header metadata.MD
	got, err := c.remote.GetDeploymentInfo(metadata.AppendToOutgoingContext(ctx, exactHeader, "1"), &emptypb.Empty{},
		grpc.Header(&header))
	switch {
	case err == nil:
		c.info = monitor.Info{
			Project: got.GetProject(), Stack: got.GetStack(), Organization: got.GetOrganization(),
			Config:           orNone(got.GetConfig()),
			ConfigSecretKeys: got.GetConfigSecretKeys(), DryRun: got.GetDryRun(), Parallel: int(got.GetParallel()),
		}
		c.ours = len(header.Get(exactHeader)) > 0
	case status.Code(err) != codes.Unimplemented:
		return monitor.Info{}, false, errorOf(ctx, err)
	}
	c.met = true
	return c.info, c.ours, nil
}

// ask is the interceptor of all calls. It calls meet first, marks requests to a yamlhost server as exact, and decodes
// errors with errorOf.
func (c *Client) ask(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if method == pulumirpc.ResourceMonitor_GetDeploymentInfo_FullMethodName {
		return invoke(ctx, method, request, answer, conn, options...)
	}
	_, ours, err := c.meet(ctx)
	if err != nil {
		return err
	}
	if ours {
		ctx = metadata.AppendToOutgoingContext(ctx, exactHeader, "1")
	}
	return errorOf(ctx, invoke(ctx, method, request, answer, conn, options...))
}

// encoding returns the encoding of values. For other engines dependencies are not part of the values, as for Pulumi's
// own programs.
func (c *Client) encoding(ctx context.Context) (encoding wire.Options, info monitor.Info, err error) {
	info, ours, err := c.meet(ctx)
	encoding = wire.KeepAll()
	encoding.KeepOutputs, encoding.KeepUnknownKinds = ours, ours
	return encoding, info, err
}

// Info identifies the deployment.
func (c *Client) Info(ctx context.Context) (monitor.Info, error) {
	info, _, err := c.meet(ctx)
	return info, err
}

// SupportsFeature reports whether the engine supports the named feature.
func (c *Client) SupportsFeature(ctx context.Context, feature string) (bool, error) {
	got, err := c.remote.SupportsFeature(ctx, &pulumirpc.SupportsFeatureRequest{Id: feature})
	return got.GetHasSupport(), err
}

// RegisterPackage registers a package and returns its reference.
func (c *Client) RegisterPackage(ctx context.Context, p monitor.Package) (string, error) {
	request := &pulumirpc.RegisterPackageRequest{Name: p.Name, Version: p.Version, DownloadUrl: p.DownloadURL,
		Checksums: p.Checksums}
	if parameters := p.Parameterization; parameters != nil {
		message := &pulumirpc.Parameterization{Name: parameters.Name, Version: parameters.Version,
			Value: parameters.Value}
		if p.Extension {
			request.Extension = message
		} else {
			request.Parameterization = message
		}
	}
	got, err := c.remote.RegisterPackage(ctx, request)
	return got.GetRef(), err
}

// RegisterResource registers a resource.
func (c *Client) RegisterResource(ctx context.Context, r monitor.RegisterRequest) (monitor.RegisterResponse, error) {
	encoding, info, err := c.encoding(ctx)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	request, err := registerMessage(encoding, r)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	if request.Transforms, err = c.callbacks.offer(r.Transforms); err != nil {
		return monitor.RegisterResponse{}, err
	}
	if encoding.KeepOutputs { // a yamlhost server
		if ctx, err = packDefaults(ctx, r.Defaults); err != nil {
			return monitor.RegisterResponse{}, err
		}
	}
	var trailer metadata.MD
	got, err := c.remote.RegisterResource(ctx, request, grpc.Trailer(&trailer))
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	outputs, err := receive("the outputs of "+r.Name, got.GetObject())
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	response := monitor.RegisterResponse{
		URN: urn.URN(got.GetUrn()), Outputs: outputs, Result: resultOf(got.GetResult()),
		PropertyDependencies: wire.Dependencies(got.GetPropertyDependencies()),
	}
	response.Known, response.ID, err = told(trailer, got.GetId(), r.Custom, info.DryRun, got.GetUnknown())
	return response, err
}

// told decodes the trailer of a yamlhost server. For another engine, absent outputs are known except in a preview
// (F1.20), and an absent ID is that of a component or unknown.
func told(trailer metadata.MD, id string, custom, preview, unknown bool) (known bool, _ value.Value, err error) {
	known = !preview && !unknown
	if says := trailer.Get(knownHeader); len(says) > 0 {
		known = says[0] == "1"
	}
	if exact, ok, err := unpackID(trailer); ok || err != nil {
		return known, exact, err
	}
	_, sentinel := wire.KindOfSentinel(id)
	switch {
	case id != "" && !sentinel:
		return known, value.String(id), nil
	case custom:
		return known, value.Unknown(value.KindString), nil
	}
	return known, value.Null, nil
}

// RegisterOutputs records the outputs of a component or of the stack. What is not known stays unknown, also outside of
// previews: Pulumi's conformance suite demands that of an output whose resource was left out by --target.
func (c *Client) RegisterOutputs(ctx context.Context, u urn.URN, outputs value.Value) error {
	properties, err := c.properties(ctx, "the outputs of "+u.Name(), outputs)
	if err != nil {
		return err
	}
	_, err = c.remote.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: string(u),
		Outputs: properties})
	return err
}

// ReadResource reads a resource.
func (c *Client) ReadResource(ctx context.Context, r monitor.ReadRequest) (monitor.ReadResponse, error) {
	encoding, info, err := c.encoding(ctx)
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	state, err := send(encoding, "the state of "+r.Name, r.State)
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	id, fits := plainID(r.ID)
	if !r.ID.IsKnown() {
		id = wire.UnknownString
	}
	if !fits && encoding.KeepOutputs {
		packed, err := packID(r.ID)
		if err != nil {
			return monitor.ReadResponse{}, fmt.Errorf("send the ID of %s: %w", r.Name, err)
		}
		ctx = metadata.AppendToOutgoingContext(ctx, idHeader, packed)
	}
	var trailer metadata.MD
	got, err := c.remote.ReadResource(ctx, &pulumirpc.ReadResourceRequest{
		Type: r.Type, Name: r.Name, Parent: string(r.Parent), Id: id, Properties: state,
		Dependencies: wire.Texts(r.Dependencies),
		Provider:     r.Provider, PackageRef: r.PackageRef, Version: r.Version, PluginDownloadURL: r.PluginDownloadURL,
		PluginChecksums: r.PluginChecksums, AdditionalSecretOutputs: r.AdditionalSecretOutputs,
		SourcePosition: positionMessage(r.SourcePosition), AcceptSecrets: true, AcceptResources: true,
		AcceptsByteString: true,
	}, grpc.Trailer(&trailer))
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	outputs, err := receive("the outputs of "+r.Name, got.GetProperties())
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	response := monitor.ReadResponse{URN: urn.URN(got.GetUrn()), Outputs: outputs}
	response.Known, response.ID, err = told(trailer, got.GetId(), true, info.DryRun && !r.ID.IsKnown(),
		got.GetUnknown())
	if len(trailer.Get(idHeader)) == 0 && got.GetId() == "" {
		response.ID = r.ID // other engines do not return it (E2.46)
	}
	return response, err
}

// Invoke calls a function.
func (c *Client) Invoke(ctx context.Context, r monitor.InvokeRequest) (monitor.InvokeResponse, error) {
	args, err := c.properties(ctx, "the arguments of "+r.Token, r.Args)
	if err != nil {
		return monitor.InvokeResponse{}, err
	}
	got, err := c.remote.Invoke(ctx, &pulumirpc.ResourceInvokeRequest{
		Tok: r.Token, Args: args, Provider: r.Provider, Parent: string(r.Parent), DependsOn: wire.Texts(r.DependsOn),
		PackageRef: r.PackageRef,
		Version:    r.Version, PluginDownloadURL: r.PluginDownloadURL, PluginChecksums: r.PluginChecksums,
		SourcePosition: positionMessage(r.SourcePosition), AcceptResources: true, AcceptsByteString: true,
	})
	if err != nil {
		return monitor.InvokeResponse{}, err
	}
	result, err := receive("the result of "+r.Token, got.GetReturn())
	if err != nil {
		return monitor.InvokeResponse{}, err
	}
	return monitor.InvokeResponse{Result: result, Failures: failuresOf(got.GetFailures()),
		Unknown: got.GetUnknown()}, nil
}

// Call calls a method.
func (c *Client) Call(ctx context.Context, r monitor.CallRequest) (monitor.CallResponse, error) {
	args, err := c.properties(ctx, "the arguments of "+r.Token, r.Args)
	if err != nil {
		return monitor.CallResponse{}, err
	}
	got, err := c.remote.Call(ctx, &pulumirpc.ResourceCallRequest{
		Tok: r.Token, Args: args, Provider: r.Provider, PackageRef: r.PackageRef, Version: r.Version,
		ArgDependencies: wire.DependencyMessages(r.ArgDependencies,
			func(us []string) *pulumirpc.ResourceCallRequest_ArgumentDependencies {
				return &pulumirpc.ResourceCallRequest_ArgumentDependencies{Urns: us}
			}),
		PluginDownloadURL: r.PluginDownloadURL, PluginChecksums: r.PluginChecksums,
		SourcePosition: positionMessage(r.SourcePosition), AcceptsByteString: true,
	})
	if err != nil {
		return monitor.CallResponse{}, err
	}
	result, err := receive("the result of "+r.Token, got.GetReturn())
	if err != nil {
		return monitor.CallResponse{}, err
	}
	return monitor.CallResponse{Result: result, ReturnDependencies: wire.Dependencies(got.GetReturnDependencies()),
		Failures: failuresOf(got.GetFailures())}, nil
}

// SignalAndWaitForShutdown announces that the program makes no further requests, and waits. An engine that does not
// implement the call does not need it.
func (c *Client) SignalAndWaitForShutdown(ctx context.Context) error {
	_, err := c.remote.SignalAndWaitForShutdown(ctx, &emptypb.Empty{})
	if isUnimplemented(err) {
		return nil
	}
	return err
}

// properties encodes a map for the engine; name describes it in errors.
func (c *Client) properties(ctx context.Context, name string, v value.Value) (*structpb.Struct, error) {
	encoding, _, err := c.encoding(ctx)
	if err != nil {
		return nil, err
	}
	return send(encoding, name, v)
}

func send(o wire.Options, name string, v value.Value) (*structpb.Struct, error) {
	if v.IsNull() {
		return &structpb.Struct{}, nil
	}
	s, err := o.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", name, err)
	}
	return s, nil
}

func receive(name string, s *structpb.Struct) (value.Value, error) {
	v, err := wire.KeepAll().Decode(s)
	if err != nil {
		return value.Null, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	if v.IsNull() {
		v = value.EmptyMap()
	}
	return v, nil
}
