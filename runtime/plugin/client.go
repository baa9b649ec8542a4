package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

var _ provider.Provider = (*client)(nil)

// client is a plugin without configuration.
type client struct {
	host    *Host
	name    string // of the plugin
	pkg     string // the package that it serves
	version string
	process *process // nil when attached
	conn    *grpc.ClientConn
	remote  pulumirpc.ResourceProviderClient
	shaken  bool // it has Handshake, so that Configure's flags are ignored (E3.5)
	capabilities

	closing sync.Once
}

// Info identifies the plugin.
func (c *client) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: c.name, Version: c.version}, nil
}

// Parameterize makes the plugin serve another package (E3.8).
func (c *client) Parameterize(ctx context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse,
	error) {
	request := &pulumirpc.ParameterizeRequest{Parameters: &pulumirpc.ParameterizeRequest_Args{
		Args: &pulumirpc.ParameterizeRequest_ParametersArgs{Args: r.Args},
	}}
	if r.Name != "" {
		request.Parameters = &pulumirpc.ParameterizeRequest_Value{Value: &pulumirpc.ParameterizeRequest_ParametersValue{
			Name: r.Name, Version: r.Version, Value: r.Value,
		}}
	}
	got, err := c.remote.Parameterize(ctx, request)
	if err != nil {
		return provider.ParameterizeResponse{}, c.fail(ctx, "parameterize", err)
	}
	c.pkg = got.GetName()
	return provider.ParameterizeResponse{Name: got.GetName(), Version: got.GetVersion()}, nil
}

var _ provider.SchemaReader = (*client)(nil)

// Schema asks for the package's schema. For a plugin without one it returns an error.
func (c *client) Schema(ctx context.Context, r provider.SchemaRequest) ([]byte, error) {
	got, err := c.schema(ctx, r)
	if err != nil {
		return nil, err
	}
	defer got.release()
	return got.bytes(), nil
}

// ReadSchema is Schema without another copy of the text in memory.
func (c *client) ReadSchema(ctx context.Context, r provider.SchemaRequest,
	read func(open func() io.Reader) error) error {
	got, err := c.schema(ctx, r)
	if err != nil {
		return err
	}
	defer got.release()
	return read(got.open)
}

func (c *client) schema(ctx context.Context, r provider.SchemaRequest) (*schemaText, error) {
	got := &schemaText{}
	err := c.conn.Invoke(ctx, pulumirpc.ResourceProvider_GetSchema_FullMethodName, &pulumirpc.GetSchemaRequest{
		SubpackageName: r.SubpackageName, SubpackageVersion: r.SubpackageVersion,
	}, got)
	if err != nil {
		return nil, c.fail(ctx, "get the schema", err)
	}
	// the size of an empty object with spaces
	const short = 64
	if got.size <= short && strings.Trim(string(got.bytes()), "{} \t\r\n") == "" { // F2.16
		got.release()
		return nil, &provider.Error{Unimplemented: true, Message: fmt.Sprintf("plugin %s has no schema", c.name)}
	}
	return got, nil
}

// Mapping implements provider.Mapper.
func (c *client) Mapping(ctx context.Context, key, name string) (from string, data []byte, err error) {
	got, err := c.remote.GetMapping(ctx, &pulumirpc.GetMappingRequest{Key: key, Provider: name})
	if status.Code(err) == codes.Unimplemented {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, c.fail(ctx, "get the mapping of "+key, err)
	}
	return got.GetProvider(), got.GetData(), nil
}

// CheckConfig validates configuration; the request has no seed for names (E3.18). A plugin without this method accepts
// the configuration unchanged (E3.19).
func (c *client) CheckConfig(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	request := &pulumirpc.CheckRequest{Urn: string(r.URN), Name: r.Name, Type: r.Type}
	encoding := c.checkConfig(r.AllowUnknowns)
	if err := c.encodeInto(request,
		sent{"olds", withoutInternal(r.Olds.MapOrEmpty()), encoding, "olds"},
		sent{"news", withoutInternal(r.News), encoding, "news"},
	); err != nil {
		return provider.CheckResponse{}, err
	}
	got, err := c.remote.CheckConfig(ctx, request)
	if c.unknownCall(err) {
		return provider.CheckResponse{Inputs: r.News}, nil
	}
	if err != nil {
		return provider.CheckResponse{}, c.fail(ctx, "check the configuration", err)
	}
	inputs, err := c.decode(response(r.AllowUnknowns), "inputs", got, "inputs")
	if err != nil {
		return provider.CheckResponse{}, err
	}
	return provider.CheckResponse{
		Inputs:   withSecretsOf(r.News, inputs.MapOrEmpty()), // nothing was sent as a secret
		Failures: failuresOf(got.GetFailures()),
	}, nil
}

// DiffConfig compares configurations; the request has no ID (E3.20). For a plugin without this method the diff is
// unknown (E3.19).
func (c *client) DiffConfig(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	request := &pulumirpc.DiffRequest{Urn: string(r.URN), Name: r.Name, Type: r.Type, IgnoreChanges: r.IgnoreChanges}
	encoding := c.checkConfig(withUnknowns)
	if err := c.encodeInto(request,
		sent{"old inputs", withoutInternal(r.OldInputs), encoding, "old_inputs"},
		sent{"olds", withoutInternal(r.OldOutputs), encoding, "olds"},
		sent{"news", withoutInternal(r.News), encoding, "news"},
	); err != nil {
		return provider.DiffResponse{}, err
	}
	got, err := c.remote.DiffConfig(ctx, request)
	if c.unknownCall(err) {
		return provider.DiffResponse{}, nil
	}
	if err != nil {
		return provider.DiffResponse{}, c.fail(ctx, "compare configurations", err)
	}
	return diffOf(got), nil
}

// unknownCall reports whether an error means that a plugin has no CheckConfig or DiffConfig; two old plugins have
// errors of their own (F2.17).
func (c *client) unknownCall(err error) bool {
	switch s := status.Convert(err); s.Code() {
	case codes.Unimplemented:
		return true
	case codes.Internal:
		return c.name == "pulumi-nodejs" && !c.lost(err)
	case codes.Unknown:
		return c.name == "kubernetes" && strings.Contains(s.Message(), "Unimplemented")
	}
	return false
}

// Configure configures the plugin. It returns an error for unknown configuration, with which engines do not configure
// providers (F2.20).
func (c *client) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	inputs := withoutInternal(r.Inputs)
	if inputs.Without("version").ContainsUnknown() {
		return nil, fmt.Errorf("configure plugin %s: its configuration is not known", c.name)
	}
	pkg := c.pkg
	if urn.IsProviderType(r.Type) {
		pkg = urn.PackageOf(r.Type)
	}
	variables, err := configVariables(pkg, inputs)
	if err != nil {
		return nil, fmt.Errorf("configure plugin %s: %w", c.name, err)
	}
	request := &pulumirpc.ConfigureRequest{
		//lint:ignore SA1019 plugins that are older than its successor read it
		Variables:     variables,
		AcceptSecrets: true, AcceptResources: true, SendsOldInputs: true, SendsOldInputsToDelete: true,
		Id: optional(r.ID), Urn: optional(string(r.URN)), Name: optional(r.Name), Type: optional(r.Type),
	}
	if err := c.encodeInto(request, sent{"args", inputs, c.capabilities.configure(), "args"}); err != nil {
		return nil, err
	}
	got, err := c.remote.Configure(ctx, request)
	if err != nil {
		return nil, c.fail(ctx, "configure", err)
	}
	can := c.capabilities
	if !c.shaken {
		can = capabilities{
			secrets: got.GetAcceptSecrets(), resources: got.GetAcceptResources(), outputs: got.GetAcceptOutputs(),
			autonaming: got.GetSupportsAutonamingConfiguration(), preview: got.GetSupportsPreview(),
		}
	}
	can.preview = can.preview && !c.host.options.DisablePreview
	return &configured{client: c, capabilities: can}, nil
}

// Cancel asks the plugin to end calls in flight. A plugin without this method is no error.
func (c *client) Cancel(ctx context.Context) error {
	if _, err := c.remote.Cancel(ctx, &emptypb.Empty{}); err != nil && status.Code(err) != codes.Unimplemented {
		return c.fail(ctx, "cancel", err)
	}
	return nil
}

// connect connects to the port of the plugin.
func (c *client) connect(port int) (err error) {
	if c.conn, err = dial("127.0.0.1:"+strconv.Itoa(port), c.host.trace); err != nil {
		return fmt.Errorf("connect to plugin %s: %w", c.name, err)
	}
	return nil
}

// Close cancels and ends the plugin (E3.54). An attached plugin is only disconnected, since others use it later, and a
// provider takes no more calls after a cancel.
func (c *client) Close() error {
	c.host.forget(c)
	c.end(func(ctx context.Context) { _ = c.Cancel(ctx) })
	return nil
}

// end closes the connection, and ends the process unless the plugin is attached. Before that it calls cancel if the
// process still runs.
func (c *client) end(cancel func(context.Context)) {
	c.closing.Do(func() {
		if c.process != nil && !c.process.gone() {
			ctx, done := context.WithTimeout(context.Background(), c.host.options.EndLimit)
			cancel(ctx)
			done()
		}
		_ = c.conn.Close()
		if c.process != nil {
			c.process.close()
		}
	})
}

// abandon releases a plugin that did not start.
func (c *client) abandon() {
	c.closing.Do(func() {
		if c.conn != nil {
			_ = c.conn.Close()
		}
		if c.process != nil {
			c.process.kill()
		}
	})
}

// sent is a value for a field of a request; field is its name in the protocol.
type sent struct {
	name     string
	value    value.Value
	encoding wire.Options
	field    protoreflect.Name
}

// encodeInto encodes values directly into the bytes of a request's fields. Its errors name the plugin, the value and
// the property.
func (c *client) encodeInto(request proto.Message, parts ...sent) error {
	fields := request.ProtoReflect().Descriptor().Fields()
	for _, p := range parts {
		if c.host.trace != nil {
			c.host.trace.secrets.Learn(p.value)
		}
		if err := p.encoding.EncodeInto(request, fields.ByName(p.field).Number(), p.value); err != nil {
			return fmt.Errorf("send %s to plugin %s: %w", p.name, c.name, err)
		}
	}
	return nil
}

// decode decodes a field of a response; what names it in messages. It refuses a field above the largest size of a value
// before decoding, which takes a multiple of that memory.
func (c *client) decode(o wire.Options, what string, m proto.Message, field protoreflect.Name) (value.Value, error) {
	v, err := o.DecodeField(m, m.ProtoReflect().Descriptor().Fields().ByName(field).Number(), largestField)
	if errors.Is(err, wire.ErrTooLarge) {
		err = fmt.Errorf("they are larger than %d MiB", largestField>>20)
	}
	if err != nil {
		return value.Null, &provider.Error{Outcome: provider.Unclear, Lost: true,
			Message: fmt.Sprintf("plugin %s answered %s that cannot be read: %s", c.name, what, err), Cause: err}
	}
	return v, nil
}

// fail turns a failed call into the error for it. When the plugin's process is gone it is an error that wraps
// *provider.CrashError (D10); the text names the call.
func (c *client) fail(ctx context.Context, what string, err error) error {
	if c.lost(err) {
		if c.process != nil && c.process.gone() {
			crash := c.process.crash()
			return &provider.Error{Outcome: provider.Unclear, Message: what + ": " + crash.Error(), Cause: crash}
		}
		return &provider.Error{Outcome: provider.Unclear, Lost: true, Cause: err,
			Message: fmt.Sprintf("%s: lost the connection to plugin %s: %s", what, c.name, status.Convert(err).Message())}
	}
	if cause := gaveUp(ctx, status.Code(err)); cause != nil {
		return &provider.Error{Outcome: provider.Unclear, Cause: cause,
			Message: fmt.Sprintf("%s: stopped waiting for plugin %s: %s", what, c.name, cause)}
	}
	e := errorOf(err)
	if garbled(err) {
		e.Outcome, e.Lost, e.Unimplemented = provider.Unclear, true, false
		e.Message = fmt.Sprintf("%s: the answer of plugin %s cannot be read: %s", what, c.name, e.Message)
	}
	if e.Unimplemented {
		e.Message = fmt.Sprintf("plugin %s cannot %s: %s", c.name, what, e.Message)
	}
	return e
}

// garbled reports whether the gRPC library could not decode the answer, by the text of its error.
func garbled(err error) bool {
	s := status.Convert(err)
	return (s.Code() == codes.Internal || s.Code() == codes.ResourceExhausted) && strings.HasPrefix(s.Message(), "grpc: ")
}

// gaveUp returns the reason why the caller stopped waiting, or nil. The deadline travels with the call, and the plugin
// may act on it shortly before our own timer.
func gaveUp(ctx context.Context, code codes.Code) error {
	if code != codes.Canceled && code != codes.DeadlineExceeded {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && code == codes.DeadlineExceeded && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// lost reports whether a call failed with the connection and was not refused by the plugin. After a broken connection
// it waits a moment for the end of the process.
func (c *client) lost(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable:
	case codes.Internal, codes.Canceled:
		return c.process != nil && c.process.gone()
	default:
		return false
	}
	// The call fails before the state of the connection and of the process change.
	ctx, cancel := context.WithTimeout(context.Background(), breakLimit)
	defer cancel()
	broke := c.conn.GetState() != connectivity.Ready || c.conn.WaitForStateChange(ctx, connectivity.Ready)
	if c.process == nil {
		return broke
	}
	// A broken connection nearly always means that the process has ended; its last output may still arrive.
	patience := 2 * drainLimit
	if !broke {
		patience = 0
	}
	select {
	case <-c.process.ended:
		return true
	case <-time.After(patience):
		return broke || c.process.gone()
	}
}

func failuresOf(fs []*pulumirpc.CheckFailure) []provider.Failure {
	if len(fs) == 0 {
		return nil
	}
	failures := make([]provider.Failure, len(fs))
	for i, f := range fs {
		failures[i] = provider.Failure{Property: f.GetProperty(), Reason: f.GetReason()}
	}
	return failures
}
