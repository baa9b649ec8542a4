package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// attach loads the provider that listens on address.
func attach(t testing.TB, address string, change func(*plugin.Options)) provider.Provider {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	options := plugin.Options{DebugProviders: map[string]int{"pkg": port}}
	if change != nil {
		change(&options)
	}
	host := plugin.NewHost(options)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	p, err := host.Load(context.Background(), provider.Package{Name: "pkg"})
	require.NoError(t, err)
	return p
}

func configure(t testing.TB, p provider.Provider) provider.Configured {
	t.Helper()
	c, err := p.Configure(context.Background(), provider.ConfigureRequest{
		Subject: provider.SubjectOf("urn:pulumi:dev::proj::pulumi:providers:pkg::default"), ID: "pid",
		Inputs: value.EmptyMap()})
	require.NoError(t, err)
	return c
}

// loopback returns r behind the package's own server and client.
func loopback(t testing.TB, r provider.Provider) provider.Provider {
	t.Helper()
	address, stop, err := plugin.Serve(r)
	require.NoError(t, err)
	t.Cleanup(stop)
	return attach(t, address, nil)
}

// plainly returns a map with every kind of value that any request may carry, secrets included.
func plainly() value.Value {
	return value.Map(map[string]value.Value{
		"null": value.Null, "n": value.Number(1.5), "b": value.Bool(true), "s": value.String("s"),
		"bytes":  value.String("\xff"),
		"secret": value.String("x").Secret(), "list": value.List(value.Int(1),
			value.EmptyMap().With("a", value.Int(2).Secret())),
		"ref":   value.Resource(&value.ResourceRef{URN: resource, ID: value.String("i"), PackageVersion: "1.0.0"}),
		"asset": value.NewAsset(&value.Asset{Hash: "abc"}),
	})
}

func requireFull(t *testing.T, request any) {
	t.Helper()
	v := reflect.ValueOf(request)
	for i := range v.NumField() {
		if v.Type().Field(i).Name == "Views" {
			continue // holds a function; see TestViews
		}
		require.False(t, v.Field(i).IsZero(), "field %s of %T is not populated: does it survive?", v.Type().Field(i).Name,
			request)
	}
}

func ptr[T any](v T) *T { return &v }

func exchange(ctx context.Context, p provider.Provider, c provider.Configured, request any) (response any, err error) {
	switch q := request.(type) {
	case provider.ParameterizeRequest:
		return p.Parameterize(ctx, q)
	case provider.SchemaRequest:
		return p.Schema(ctx, q)
	case provider.CheckRequest:
		return c.Check(ctx, q)
	case provider.DiffRequest:
		return c.Diff(ctx, q)
	case provider.CreateRequest:
		return c.Create(ctx, q)
	case provider.ReadRequest:
		return c.Read(ctx, q)
	case provider.UpdateRequest:
		return c.Update(ctx, q)
	case provider.DeleteRequest:
		return nil, c.Delete(ctx, q)
	case provider.InvokeRequest:
		return c.Invoke(ctx, q)
	case provider.ListRequest:
		return provider.List(ctx, c, q)
	case provider.CallRequest:
		return c.Call(ctx, q)
	case provider.ConstructRequest:
		return c.Construct(ctx, q)
	}
	return nil, fmt.Errorf("no call for %T", request)
}

// Every field of every request and response survives the transport (E3.45, E3.46).
func TestLoopback(t *testing.T) {
	t.Parallel()
	subject := provider.Subject{URN: resource, Name: "another", Type: "pkg:index:Other"}
	full := plainly()
	unknown := full.With("u", value.Unknown(value.KindNumber)).With("su", value.Unknown(value.KindAny).Secret())
	deps := unknown.With("d", value.String("d").DependingOn(resource)).With("du",
		value.Unknown(value.KindAny).DependingOn(resource))
	deployment := provider.DeploymentInfo{Info: monitor.Info{Project: "p", Stack: "s", Organization: "o",
		Config: map[string]string{"k": "v"}, ConfigSecretKeys: []string{"k"}, DryRun: true, Parallel: 3},
		MonitorEndpoint: "127.0.0.1:1"}
	byKey := map[string][]urn.URN{"a": {resource}}
	failures := []provider.Failure{{Property: "p", Reason: "r"}}
	for _, c := range []struct {
		name         string
		request, got any
		full         bool
	}{
		{"Parameterize, value", provider.ParameterizeRequest{Name: "n", Version: "v", Value: []byte{0, 1}},
			provider.ParameterizeResponse{Name: "n", Version: "v"}, false},
		{"Parameterize, arguments", provider.ParameterizeRequest{Args: []string{"a", "b"}},
			provider.ParameterizeResponse{Name: "n"}, false},
		{"Schema", provider.SchemaRequest{SubpackageName: "n", SubpackageVersion: "v"}, []byte(`{"name":"n"}`), true},
		{"Check", provider.CheckRequest{Subject: subject, Olds: full, News: unknown, RandomSeed: bytes.Repeat([]byte{7}, 32),
			AllowUnknowns: true,
			Autonaming:    &provider.Autonaming{Mode: "enforce", Name: "n"}},
			provider.CheckResponse{Inputs: unknown, Failures: failures}, true},
		{"Diff", provider.DiffRequest{Subject: subject, ID: "i", OldInputs: full, OldOutputs: full, News: unknown,
			IgnoreChanges: []string{"x"}, AllowUnknowns: true},
			provider.DiffResponse{Changes: provider.DiffSome, Replaces: []string{"a"}, Stables: []string{"b"},
				Diffs: []string{"c"}, DeleteBeforeReplace: true,
				Detailed: map[string]provider.PropertyDiff{"a": {Kind: provider.DiffAdd},
					"b": {Kind: provider.DiffAddReplace, InputDiff: true},
					"c": {Kind: provider.DiffDelete}, "d": {Kind: provider.DiffDeleteReplace}, "e": {Kind: provider.DiffUpdate},
					"f": {Kind: provider.DiffUpdateReplace}}}, true},
		{"Diff, none", provider.DiffRequest{OldInputs: full, OldOutputs: full, News: full},
			provider.DiffResponse{Changes: provider.DiffNone, Detailed: map[string]provider.PropertyDiff{}}, false},
		{"Diff, unknown", provider.DiffRequest{OldInputs: full, OldOutputs: full, News: full}, provider.DiffResponse{},
			false},
		{"Create", provider.CreateRequest{Subject: subject, Inputs: unknown, Timeout: 1.5, Preview: true},
			provider.CreateResponse{Outputs: unknown, RefreshBeforeUpdate: true}, true},
		{"Read", provider.ReadRequest{Subject: subject, ID: "i", Inputs: full, Outputs: full, Timeout: 2},
			provider.ReadResponse{ID: "j", Inputs: full, Outputs: full, RefreshBeforeUpdate: true}, true},
		{"Read, import", provider.ReadRequest{Subject: subject, ID: "i", Outputs: value.EmptyMap()},
			provider.ReadResponse{ID: "j", Outputs: full}, false},
		{"Read, gone", provider.ReadRequest{Subject: subject, ID: "i"}, provider.ReadResponse{}, false},
		{"Update", provider.UpdateRequest{Subject: subject, ID: "i", OldInputs: full, OldOutputs: full, News: unknown,
			Timeout: 3, IgnoreChanges: []string{"x"}, Preview: true},
			provider.UpdateResponse{Outputs: unknown, RefreshBeforeUpdate: true}, true},
		{"Delete", provider.DeleteRequest{Subject: subject, ID: "i", Inputs: full, Outputs: full, Timeout: 4}, nil, true},
		{"Invoke", provider.InvokeRequest{Token: "pkg:index:f", Args: full, Preview: true},
			provider.InvokeResponse{Result: full, Failures: failures}, true},
		{"List", provider.ListRequest{Type: "pkg:index:R", Query: full, Limit: 3, Continuation: "c"},
			provider.ListResponse{Resources: []provider.Listed{{ID: "i", Name: "n"}, {ID: "j"}}, Continuation: "d"}, true},
		{"List, not known", provider.ListRequest{Type: "pkg:index:R", Query: value.EmptyMap()},
			provider.ListResponse{Unknown: true}, false},
		{"Call", provider.CallRequest{Token: "pkg:index:R/m", Args: deps, ArgDependencies: byKey, Deployment: deployment},
			provider.CallResponse{Result: deps, ReturnDependencies: map[string][]urn.URN{"a": {resource}, "d": {resource},
				"du": {resource}}, Failures: failures}, true},
		{"Construct", provider.ConstructRequest{
			Deployment: deployment, Type: "t", Name: "n", Parent: resource, Inputs: deps, InputDependencies: byKey,
			Dependencies: []urn.URN{resource},
			Providers:    map[string]string{"pkg": "r"}, Aliases: []urn.URN{resource},
			AliasSpecs: []monitor.Alias{{Name: "old", Type: "pkg:index:Old", Stack: "dev", Project: "proj", Parent: resource},
				{NoParent: true}}, Protect: ptr(true), RetainOnDelete: ptr(false), DeleteBeforeReplace: ptr(true),
			AdditionalSecretOutputs: []string{"a"}, IgnoreChanges: []string{"b"}, ReplaceOnChanges: []string{"c"},
			DeletedWith: resource,
			ReplaceWith: []urn.URN{resource}, CreateTimeout: "1m", UpdateTimeout: "2m", DeleteTimeout: "3m",
			ReplacementTrigger: value.Int(1).Secret()},
			provider.ConstructResponse{URN: resource, Outputs: deps, StateDependencies: map[string][]urn.URN{"a": {resource},
				"d": {resource}, "du": {resource}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.full {
				requireFull(t, c.request)
			}
			r := &recorder{answer: c.got, info: provider.Info{Version: "1.2.3"}}
			p := loopback(t, r)
			info, err := p.Info(t.Context())
			require.NoError(t, err)
			require.Equal(t, provider.Info{Name: "pkg", Version: "1.2.3"}, info)
			got, err := exchange(t.Context(), p, configure(t, p), c.request)
			require.NoError(t, err)
			require.Equal(t, c.request, r.got)
			require.Equal(t, c.got, got)
		})
	}
}

func TestErrorsSurvive(t *testing.T) { // E3.50, F2.22
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want provider.Error
	}{
		{"plain", errors.New("no quota"), provider.Error{Outcome: provider.Unclear, Message: "no quota"}},
		{"nothing happened", &provider.Error{Message: "refused"}, provider.Error{Message: "refused"}},
		{"unclear", &provider.Error{Outcome: provider.Unclear, Message: "timeout"}, provider.Error{Outcome: provider.Unclear,
			Message: "timeout"}},
		{"properties", &provider.Error{Message: "bad inputs",
			Properties: []provider.Failure{{Property: "a.b", Reason: "too long"}}},
			provider.Error{Message: "bad inputs", Properties: []provider.Failure{{Property: "a.b", Reason: "too long"}}}},
		{"unimplemented", &provider.Error{Unimplemented: true, Message: "not here"},
			provider.Error{Unimplemented: true, Message: "plugin pkg cannot update: not here"}},
		{"partial", &provider.Error{Outcome: provider.Partial, ID: "i", Outputs: plainly().Without("bytes"),
			Inputs: value.EmptyMap(), Reasons: []string{"a", "b"}},
			provider.Error{Outcome: provider.Partial, ID: "i", Outputs: plainly().Without("bytes"), Inputs: value.EmptyMap(),
				Reasons: []string{"a", "b"}}},
		{"wrapped status of another plugin", fmt.Errorf("inner: %w", status.Error(codes.NotFound, "x")),
			provider.Error{Outcome: provider.Unclear, Message: "inner: rpc error: code = NotFound desc = x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := loopback(t, &recorder{err: c.err})
			_, err := configure(t, p).Update(t.Context(), provider.UpdateRequest{News: value.EmptyMap()})
			var got *provider.Error
			require.ErrorAs(t, err, &got)
			got.Cause = nil
			require.Equal(t, &c.want, got)
		})
	}
}

func TestNotConfigured(t *testing.T) {
	t.Parallel()
	s := plugin.NewServer(&recorder{})
	_, err := s.Create(t.Context(), &pulumirpc.CreateRequest{})
	require.ErrorContains(t, err, "the provider is not configured yet")
}

// oldPlugin is a plugin without a handshake. It keeps the fields of the last request.
type oldPlugin struct {
	pulumirpc.UnimplementedResourceProviderServer
	accepts  *pulumirpc.ConfigureResponse
	got      map[string]*structpb.Struct
	config   *pulumirpc.ConfigureRequest
	answer   *structpb.Struct
	noAnswer bool
	err      error
}

func (o *oldPlugin) keep(fields map[string]*structpb.Struct) { o.got = fields }

func (o *oldPlugin) Configure(_ context.Context, r *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	o.config = r
	return o.accepts, o.err
}
func (o *oldPlugin) Check(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	o.keep(map[string]*structpb.Struct{"olds": r.GetOlds(), "news": r.GetNews()})
	return &pulumirpc.CheckResponse{Inputs: o.answer}, o.err
}
func (o *oldPlugin) Diff(_ context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	o.keep(map[string]*structpb.Struct{"oldInputs": r.GetOldInputs(), "olds": r.GetOlds(), "news": r.GetNews()})
	return &pulumirpc.DiffResponse{DetailedDiff: map[string]*pulumirpc.PropertyDiff{"a": {Kind: 99}},
		HasDetailedDiff: !o.noAnswer}, o.err
}
func (o *oldPlugin) Create(_ context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	o.keep(map[string]*structpb.Struct{"properties": r.GetProperties()})
	if o.noAnswer {
		return &pulumirpc.CreateResponse{}, o.err
	}
	return &pulumirpc.CreateResponse{Id: "i", Properties: o.answer}, o.err
}
func (o *oldPlugin) Read(_ context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	o.keep(map[string]*structpb.Struct{"inputs": r.GetInputs(), "properties": r.GetProperties()})
	return &pulumirpc.ReadResponse{Id: "i", Properties: o.answer, Inputs: o.answer}, o.err
}
func (o *oldPlugin) Update(_ context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	o.keep(map[string]*structpb.Struct{"oldInputs": r.GetOldInputs(), "olds": r.GetOlds(), "news": r.GetNews()})
	return &pulumirpc.UpdateResponse{Properties: o.answer}, o.err
}
func (o *oldPlugin) Delete(_ context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	o.keep(map[string]*structpb.Struct{"oldInputs": r.GetOldInputs(), "properties": r.GetProperties()})
	return &emptypb.Empty{}, o.err
}
func (o *oldPlugin) Invoke(_ context.Context, r *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	o.keep(map[string]*structpb.Struct{"args": r.GetArgs()})
	return &pulumirpc.InvokeResponse{Return: o.answer}, o.err
}
func (o *oldPlugin) Call(_ context.Context, r *pulumirpc.CallRequest) (*pulumirpc.CallResponse, error) {
	o.keep(map[string]*structpb.Struct{"args": r.GetArgs()})
	return &pulumirpc.CallResponse{Return: o.answer}, o.err
}
func (o *oldPlugin) Construct(_ context.Context, r *pulumirpc.ConstructRequest) (*pulumirpc.ConstructResponse, error) {
	o.keep(map[string]*structpb.Struct{"inputs": r.GetInputs()})
	return &pulumirpc.ConstructResponse{State: o.answer}, o.err
}

func serveOld(t testing.TB, o *oldPlugin) string {
	t.Helper()
	if o.accepts == nil {
		o.accepts = &pulumirpc.ConfigureResponse{}
	}
	return serveProvider(t, o)
}

// serveProvider serves a plugin in this process until the test ends, and returns its address.
func serveProvider(t testing.TB, p pulumirpc.ResourceProviderServer) string {
	t.Helper()
	address, stop, err := transport.Serve("the provider", func(s *grpc.Server) {
		pulumirpc.RegisterResourceProviderServer(s, p)
	})
	require.NoError(t, err)
	t.Cleanup(stop)
	return address
}

func TestEncodingTable(t *testing.T) { // F1.13, E3.45
	t.Parallel()
	asset := value.NewAsset(&value.Asset{HasText: true, Text: "t", Hash: "abc"})
	properties := value.Map(map[string]value.Value{
		"secret": value.String("x").Secret(), "unknown": value.Unknown(value.KindAny), "asset": asset,
		"ref":  value.Resource(&value.ResourceRef{URN: resource, ID: value.String("i")}),
		"deps": value.String("d").DependingOn(resource),
	})
	// arrived returns a letter for each kind that is kept: unknown, secret, reference, output, asset with content.
	arrived := func(s *structpb.Struct) string {
		got, err := wire.KeepAll().Decode(s)
		require.NoError(t, err)
		var flags strings.Builder
		if got.Has("unknown") {
			flags.WriteByte('u')
		}
		if got.Get("secret").IsSecret() {
			flags.WriteByte('s')
		}
		if _, ok := got.Get("ref").AsResource(); ok {
			flags.WriteByte('r')
		}
		if len(got.Get("deps").Deps()) > 0 {
			flags.WriteByte('o')
		}
		if a, ok := got.Get("asset").AsAsset(); ok && a.HasText {
			flags.WriteByte('a')
		}
		return flags.String()
	}
	for _, c := range []struct {
		name    string
		request any
		none    map[string]string // expected of a plugin that accepts nothing
		all     map[string]string // expected of a plugin that accepts everything
	}{
		{"Check in preview", provider.CheckRequest{Olds: properties, News: properties, AllowUnknowns: true},
			map[string]string{"olds": "ua", "news": "ua"}, map[string]string{"olds": "usra", "news": "usra"}},
		{"Check", provider.CheckRequest{News: properties}, map[string]string{"olds": "", "news": "a"},
			map[string]string{"olds": "", "news": "sra"}},
		{"Diff in preview", provider.DiffRequest{OldInputs: properties, OldOutputs: properties, News: properties,
			AllowUnknowns: true},
			map[string]string{"oldInputs": "u", "olds": "u", "news": "u"}, map[string]string{"oldInputs": "usr", "olds": "usr",
				"news": "usr"}},
		{"Create in preview", provider.CreateRequest{Inputs: properties, Preview: true}, nil,
			map[string]string{"properties": "usra"}},
		{"Create", provider.CreateRequest{Inputs: properties}, map[string]string{"properties": "a"},
			map[string]string{"properties": "sra"}},
		{"Read", provider.ReadRequest{ID: "i", Inputs: properties, Outputs: properties},
			map[string]string{"inputs": "", "properties": ""}, map[string]string{"inputs": "sr", "properties": "sr"}},
		{"Update in preview", provider.UpdateRequest{OldInputs: properties, OldOutputs: properties, News: properties,
			Preview: true}, nil, map[string]string{"oldInputs": "sr", "olds": "sr", "news": "usra"}},
		{"Update", provider.UpdateRequest{OldInputs: properties, OldOutputs: properties, News: properties},
			map[string]string{"oldInputs": "", "olds": "", "news": "a"}, map[string]string{"oldInputs": "sr", "olds": "sr",
				"news": "sra"}},
		{"Delete", provider.DeleteRequest{Inputs: properties, Outputs: properties},
			map[string]string{"oldInputs": "", "properties": ""}, map[string]string{"oldInputs": "sr", "properties": "sr"}},
		{"Invoke", provider.InvokeRequest{Args: properties}, map[string]string{"args": "a"},
			map[string]string{"args": "sra"}},
		{"Call", provider.CallRequest{Args: properties}, map[string]string{"args": "usra"},
			map[string]string{"args": "usroa"}},
		{"Construct", provider.ConstructRequest{Inputs: properties}, nil, map[string]string{"inputs": "usroa"}},
	} {
		for accepts, want := range map[string]map[string]string{"nothing": c.none, "all": c.all} {
			t.Run(c.name+"/accepts "+accepts, func(t *testing.T) {
				t.Parallel()
				all := accepts == "all"
				o := &oldPlugin{accepts: &pulumirpc.ConfigureResponse{AcceptSecrets: all, AcceptResources: all, AcceptOutputs: all,
					SupportsPreview: all}}
				p := attach(t, serveOld(t, o), nil)
				_, err := exchange(t.Context(), p, configure(t, p), c.request)
				if want == nil { // the plugin is not called: E3.53 for previews, E2.40 for components
					require.Nil(t, o.got)
					return
				}
				require.NoError(t, err)
				got := map[string]string{}
				for field, s := range o.got {
					require.NotNil(t, s, field)
					got[field] = arrived(s)
				}
				require.Equal(t, want, got)
			})
		}
	}
}

func TestConfigure(t *testing.T) { // F2.19, E3.21, E3.23
	t.Parallel()
	o := &oldPlugin{}
	p := attach(t, serveOld(t, o), nil)
	u := urn.URN("urn:pulumi:dev::proj::pulumi:providers:pkg::default")
	inputs := value.Map(map[string]value.Value{
		"region": value.String("eu"), "token": value.String("t").Secret(), "n": value.Int(3),
		"version": value.String("1.0.0"),
		"list":    value.List(value.String("<a>"), value.Bool(true)), "__internal": value.EmptyMap().With("x", value.Int(1)),
	})
	_, err := p.Configure(t.Context(), provider.ConfigureRequest{Subject: provider.SubjectOf(u), ID: "id", Inputs: inputs})
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"pkg:config:region": "eu", "pkg:config:token": "t", "pkg:config:n": "3", "pkg:config:list": `["\u003ca\u003e",true]`,
		//lint:ignore SA1019 plugins that are older than its successor read it
	}, o.config.GetVariables())
	args, err := wire.KeepAll().Decode(o.config.GetArgs())
	require.NoError(t, err)
	require.Equal(t, inputs.Without("__internal"), args)
	require.Equal(t, []any{string(u), "default", "pulumi:providers:pkg", "id", true, true, true, true}, []any{
		o.config.GetUrn(), o.config.GetName(), o.config.GetType(), o.config.GetId(), o.config.GetAcceptSecrets(),
		o.config.GetAcceptResources(),
		o.config.GetSendsOldInputs(), o.config.GetSendsOldInputsToDelete()})
}

func TestMissingConfiguration(t *testing.T) { // E3.26
	t.Parallel()
	s, err := status.New(codes.InvalidArgument, "x").WithDetails(&pulumirpc.ConfigureErrorMissingKeys{
		MissingKeys: []*pulumirpc.ConfigureErrorMissingKeys_MissingKey{{Name: "pkg:region", Description: "where to run"}}})
	require.NoError(t, err)
	p := attach(t, serveOld(t, &oldPlugin{err: s.Err()}), nil)
	_, err = p.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.EmptyMap()})
	require.ErrorContains(t, err, `missing required configuration key "pkg:region": where to run`)
	require.ErrorContains(t, err, "yamlhost config set pkg:region VALUE")
}

// Many providers frame each error as a list with one item.
func TestFramedError(t *testing.T) { // E3.50
	t.Parallel()
	const framed = "apply of x: 1 error occurred:\n\t* x is held by kubectl\n\n"
	for _, c := range []struct {
		sent error
		want string
	}{
		{sent: status.Error(codes.Unknown, framed), want: "apply of x: x is held by kubectl"},
		{sent: partial(t, framed), want: "apply of x: x is held by kubectl"},
		{sent: partial(t, framed, "y"), want: "2 error(s) occurred:\n    * apply of x: x is held by kubectl\n    * y"},
		{sent: status.Error(codes.Unknown, "2 errors occurred:\n\t* x\n\t* y\n\n"),
			want: "2 errors occurred:\n\t* x\n\t* y\n\n"},
	} {
		p := attach(t, serveOld(t, &oldPlugin{err: c.sent}), nil)
		_, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.EmptyMap()})
		require.EqualError(t, err, c.want)
	}
}

// partial returns a partial failure with the given reasons.
func partial(t *testing.T, reasons ...string) error {
	t.Helper()
	s, err := status.New(codes.Unknown, "x").WithDetails(&pulumirpc.ErrorResourceInitFailed{Reasons: reasons})
	require.NoError(t, err)
	return s.Err()
}

func TestOldPlugin(t *testing.T) {
	t.Parallel()
	secretIn := value.Map(map[string]value.Value{
		"secret": value.String("x").Secret(), "nested": value.EmptyMap().With("a", value.Int(1).Secret()).With("b",
			value.Int(2)),
		"list": value.List(value.Int(1).Secret()), "plain": value.Int(1),
	})
	plain, err := (wire.Options{}).Encode(secretIn)
	require.NoError(t, err)
	want := secretIn.With("list", value.List(value.Int(1)).Secret())
	load := func(t *testing.T, o *oldPlugin) (provider.Provider, provider.Configured) {
		p := attach(t, serveOld(t, o), nil)
		return p, configure(t, p)
	}
	t.Run("E3.47, E9.81 secrets come back by key", func(t *testing.T) {
		t.Parallel()
		_, c := load(t, &oldPlugin{answer: plain})
		checked, err := c.Check(t.Context(), provider.CheckRequest{News: secretIn})
		require.NoError(t, err)
		require.Equal(t, want, checked.Inputs)
		created, err := c.Create(t.Context(), provider.CreateRequest{Inputs: secretIn})
		require.NoError(t, err)
		require.Equal(t, want, created.Outputs)
		updated, err := c.Update(t.Context(), provider.UpdateRequest{News: secretIn})
		require.NoError(t, err)
		require.Equal(t, want, updated.Outputs)
		read, err := c.Read(t.Context(), provider.ReadRequest{ID: "i", Inputs: secretIn, Outputs: secretIn})
		require.NoError(t, err)
		require.Equal(t, want, read.Inputs)
		require.Equal(t, want, read.Outputs)
		invoked, err := c.Invoke(t.Context(), provider.InvokeRequest{Args: secretIn})
		require.NoError(t, err)
		for _, key := range invoked.Result.Keys() {
			require.True(t, invoked.Result.Get(key).IsSecret(), key) // E2.53
		}
		invoked, err = c.Invoke(t.Context(), provider.InvokeRequest{Args: value.EmptyMap()})
		require.NoError(t, err)
		require.False(t, invoked.Result.ContainsSecret())
	})
	t.Run("E3.19 CheckConfig and DiffConfig", func(t *testing.T) {
		t.Parallel()
		p, _ := load(t, &oldPlugin{})
		checked, err := p.CheckConfig(t.Context(), provider.CheckRequest{News: secretIn})
		require.NoError(t, err)
		require.Equal(t, provider.CheckResponse{Inputs: secretIn}, checked)
		diff, err := p.DiffConfig(t.Context(), provider.DiffRequest{News: secretIn})
		require.NoError(t, err)
		require.Equal(t, provider.DiffResponse{}, diff)
	})
	t.Run("F2.23 kinds of the future, and no detail unless said", func(t *testing.T) {
		t.Parallel()
		_, c := load(t, &oldPlugin{})
		diff, err := c.Diff(t.Context(), provider.DiffRequest{News: secretIn})
		require.NoError(t, err)
		require.Equal(t, map[string]provider.PropertyDiff{"a": {Kind: provider.DiffUpdate}}, diff.Detailed)
		_, c = load(t, &oldPlugin{noAnswer: true})
		diff, err = c.Diff(t.Context(), provider.DiffRequest{News: secretIn})
		require.NoError(t, err)
		require.Nil(t, diff.Detailed)
	})
	t.Run("E1.10 E3.51 no ID", func(t *testing.T) {
		t.Parallel()
		_, c := load(t, &oldPlugin{noAnswer: true})
		_, err := c.Create(t.Context(), provider.CreateRequest{Subject: provider.SubjectOf(resource), Inputs: secretIn})
		require.ErrorContains(t, err, "plugin pkg returned no ID for what it created as "+string(resource))
	})
	t.Run("E3.53 no preview", func(t *testing.T) {
		t.Parallel()
		_, c := load(t, &oldPlugin{})
		created, err := c.Create(t.Context(), provider.CreateRequest{Inputs: secretIn, Preview: true})
		require.NoError(t, err)
		require.Equal(t, provider.CreateResponse{Outputs: secretIn}, created)
		updated, err := c.Update(t.Context(), provider.UpdateRequest{News: secretIn, Preview: true})
		require.NoError(t, err)
		require.Equal(t, provider.UpdateResponse{Outputs: secretIn}, updated)
	})
	t.Run("E2.40 components need secrets", func(t *testing.T) {
		t.Parallel()
		_, c := load(t, &oldPlugin{})
		_, err := c.Construct(t.Context(), provider.ConstructRequest{})
		require.ErrorContains(t, err, "plugins that can construct components must support secrets")
	})
	t.Run("E3.48 F1.14 unknown where none is allowed", func(t *testing.T) {
		t.Parallel()
		_, c := load(t, &oldPlugin{answer: &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue(
			wire.UnknownString)}}})
		_, err := c.Create(t.Context(), provider.CreateRequest{Inputs: value.EmptyMap()})
		require.ErrorContains(t, err,
			`plugin pkg answered outputs that cannot be read: the value of property "a" is not known yet`)
		checked, err := c.Check(t.Context(), provider.CheckRequest{News: value.EmptyMap(), AllowUnknowns: true})
		require.NoError(t, err)
		require.Equal(t, value.Unknown(value.KindAny), checked.Inputs.Get("a"))
	})
	t.Run("F1.9 byte strings", func(t *testing.T) {
		t.Parallel()
		_, c := load(t, &oldPlugin{})
		_, err := c.Create(t.Context(), provider.CreateRequest{Inputs: value.EmptyMap().With("b", value.String("\xff"))})
		require.ErrorContains(t, err,
			`send inputs to plugin pkg: the value of property "b" is a string that contains non-UTF8 bytes`)
	})
	t.Run("E3.49 F1.17 contents come back by hash", func(t *testing.T) {
		t.Parallel()
		full := value.MapOf(
			value.Entry{Key: "a", Value: value.NewAsset(&value.Asset{HasText: true, Text: "t", Hash: "abc"})},
			value.Entry{Key: "z", Value: value.NewArchive(&value.Archive{Path: "p.zip", Hash: "def"})})
		elided, err := (wire.Options{ElideAssetContents: true}).Encode(full)
		require.NoError(t, err)
		_, c := load(t, &oldPlugin{answer: elided})
		read, err := c.Read(t.Context(), provider.ReadRequest{ID: "i", Inputs: full, Outputs: full})
		require.NoError(t, err)
		require.Equal(t, full, read.Inputs)
		require.Equal(t, full, read.Outputs)
	})
	for code, want := range map[codes.Code]provider.Outcome{ // E3.50
		codes.Internal: provider.Unclear, codes.DataLoss: provider.Unclear, codes.Unknown: provider.Unclear,
		codes.NotFound: provider.NothingHappened, codes.InvalidArgument: provider.NothingHappened,
		codes.PermissionDenied: provider.NothingHappened,
		codes.Unavailable:      provider.NothingHappened,
	} {
		t.Run("E3.50 "+code.String(), func(t *testing.T) {
			t.Parallel()
			o := &oldPlugin{}
			_, c := load(t, o)
			o.err = status.Error(code, "no")
			err := c.Delete(t.Context(), provider.DeleteRequest{})
			var got *provider.Error
			require.ErrorAs(t, err, &got)
			require.Equal(t, want, got.Outcome)
			require.Equal(t, "no", got.Message)
		})
	}
}

func TestUnknownConfiguration(t *testing.T) { // F2.20
	t.Parallel()
	o := &oldPlugin{}
	p := attach(t, serveOld(t, o), nil)
	_, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.EmptyMap().With("a",
		value.List(value.Unknown(value.KindAny)))})
	require.ErrorContains(t, err, "configure plugin pkg: its configuration is not known")
	require.Nil(t, o.config, "the plugin is not asked")
	_, err = p.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.EmptyMap().With("version",
		value.Unknown(value.KindString))})
	require.NoError(t, err)
	require.NotNil(t, o.config, "an unknown version does not count")
}

func TestNoSchema(t *testing.T) { // F2.16
	t.Parallel()
	p := loopback(t, &recorder{answer: []byte(" {} \n")})
	_, err := p.Schema(t.Context(), provider.SchemaRequest{})
	require.ErrorContains(t, err, "plugin pkg has no schema")
}

func TestParameterizedName(t *testing.T) { // E3.8
	t.Parallel()
	address, stop, err := plugin.Serve(&recorder{answer: provider.ParameterizeResponse{Name: "x"}})
	require.NoError(t, err)
	defer stop()
	_, text, _ := net.SplitHostPort(address)
	port, _ := strconv.Atoi(text)
	host := plugin.NewHost(plugin.Options{DebugProviders: map[string]int{"base": port}})
	defer func() { require.NoError(t, host.Close()) }()
	_, err = host.Load(t.Context(), provider.Package{Name: "base",
		Parameterization: &provider.Parameterization{Name: "y"}})
	require.ErrorContains(t, err, `parameterize response name "x" does not match expected package "y"`)
}

func TestLostConnection(t *testing.T) { // an attached plugin has no process that could have crashed
	t.Parallel()
	address, stop, err := plugin.Serve(&recorder{})
	require.NoError(t, err)
	p := attach(t, address, nil)
	c := configure(t, p)
	stop()
	_, err = c.Update(t.Context(), provider.UpdateRequest{News: value.EmptyMap()})
	require.ErrorContains(t, err, "update: lost the connection to plugin pkg")
	var got *provider.Error
	require.ErrorAs(t, err, &got)
	require.Equal(t, provider.Unclear, got.Outcome)
}

func TestTrace(t *testing.T) { // F2.39; the trace contains no secret
	t.Parallel()
	var trace bytes.Buffer
	answers, err := structpb.NewStruct(map[string]any{"echo": "before hunter2secret after hunter", "pin": "42"})
	require.NoError(t, err)
	p := attach(t, serveOld(t, &oldPlugin{answer: answers}), func(o *plugin.Options) { o.Trace = &trace })
	inputs := value.Map(map[string]value.Value{"password": value.String("hunter").Secret(),
		"longer": value.String("hunter2secret").Secret(), "pin": value.String("42").Secret(), "name": value.String("n")})
	c, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: inputs})
	require.NoError(t, err)
	_, err = c.Create(t.Context(), provider.CreateRequest{Inputs: inputs})
	require.NoError(t, err)
	require.NoError(t, p.Close())
	require.NotContains(t, trace.String(), "hunter")
	require.NotContains(t, trace.String(), "2secret", "a secret that contains another one leaves no rest")
	require.NotContains(t, trace.String(), `"42"`)
	var line struct {
		Method   string
		Request  any
		Response any
		Progress string
	}
	lines := strings.Split(strings.TrimSpace(trace.String()), "\n")
	found := false
	for _, text := range lines {
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		if line.Method == "/pulumirpc.ResourceProvider/Create" && line.Progress == "response_completed" {
			found = true
			require.Equal(t, map[string]any{"properties": map[string]any{"password": "[secret]", "longer": "[secret]",
				"pin": "[secret]", "name": "n"}}, line.Request)
			require.Equal(t, map[string]any{"id": "i", "properties": map[string]any{"echo": "before [secret] after [secret]",
				"pin": "[secret]"}}, line.Response)
		}
	}
	require.True(t, found)
}

func BenchmarkCheck(b *testing.B) {
	inputs := plainly()
	p := loopback(b, &recorder{answer: provider.CheckResponse{Inputs: inputs}})
	c := configure(b, p)
	request := provider.CheckRequest{Subject: provider.SubjectOf(resource), Olds: value.EmptyMap(), News: inputs,
		RandomSeed: make([]byte, 32)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Check(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}
