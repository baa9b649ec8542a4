package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
)

const (
	u1 = urn.URN("urn:pulumi:dev::proj::pkg:index:Res::one")
	u2 = urn.URN("urn:pulumi:dev::proj::pkg:index:Res::two")
	u3 = urn.URN("urn:pulumi:dev::proj::pkg:index:Res::three::with::colons")
)

// recorder is a monitor that records the last request and returns a given response.
type recorder struct {
	info     monitor.Info
	got      any
	answer   any
	err      error
	features map[string]bool
}

func answer[T any](r *recorder, request any) (T, error) {
	r.got = request
	a, _ := r.answer.(T)
	return a, r.err
}

func (r *recorder) Info(context.Context) (monitor.Info, error) { return r.info, nil }
func (r *recorder) SupportsFeature(_ context.Context, f string) (bool, error) {
	return r.features[f], nil
}
func (r *recorder) RegisterPackage(_ context.Context, p monitor.Package) (string, error) {
	return answer[string](r, p)
}
func (r *recorder) RegisterResource(_ context.Context, q monitor.RegisterRequest) (monitor.RegisterResponse, error) {
	return answer[monitor.RegisterResponse](r, q)
}
func (r *recorder) RegisterOutputs(_ context.Context, u urn.URN, outputs value.Value) error {
	r.got = map[urn.URN]value.Value{u: outputs}
	return r.err
}
func (r *recorder) ReadResource(_ context.Context, q monitor.ReadRequest) (monitor.ReadResponse, error) {
	return answer[monitor.ReadResponse](r, q)
}
func (r *recorder) Invoke(_ context.Context, q monitor.InvokeRequest) (monitor.InvokeResponse, error) {
	return answer[monitor.InvokeResponse](r, q)
}
func (r *recorder) Call(_ context.Context, q monitor.CallRequest) (monitor.CallResponse, error) {
	return answer[monitor.CallResponse](r, q)
}
func (r *recorder) SignalAndWaitForShutdown(context.Context) error {
	r.got = "shutdown"
	return r.err
}

func loopback(t testing.TB, r *recorder) *rpc.Client {
	t.Helper()
	address, stop, err := rpc.Serve(context.Background(), r)
	require.NoError(t, err)
	t.Cleanup(stop)
	client, err := rpc.Dial(address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// raw returns a client without our headers.
func raw(t testing.TB, r *recorder) pulumirpc.ResourceMonitorClient {
	t.Helper()
	address, stop, err := rpc.Serve(context.Background(), r)
	require.NoError(t, err)
	t.Cleanup(stop)
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return pulumirpc.NewResourceMonitorClient(conn)
}

func ptr[T any](v T) *T { return &v }

// everything returns a value with each kind of value and each kind of mark.
func everything() value.Value {
	asset := value.NewAsset(&value.Asset{HasText: true, Text: "hello", Hash: "abc"})
	return value.Map(map[string]value.Value{
		"null": value.Null, "bool": value.Bool(true), "number": value.Number(1.5), "text": value.String("é"),
		"bytes": value.String("\xff\xfe"), "list": value.List(value.Int(1), value.Null), "asset": asset,
		"archive":  value.NewArchive(&value.Archive{Assets: value.EmptyMap().With("a", asset), Hash: "def"}),
		"ref":      value.Resource(&value.ResourceRef{URN: u1, ID: value.String("i"), PackageVersion: "1.2.3"}),
		"secret":   value.String("s").Secret(),
		"deps":     value.String("d").DependingOn(u1, u2),
		"both":     value.List(value.Int(1).Secret().DependingOn(u2)).DependingOn(u1),
		"unknown":  value.Unknown(value.KindNumber),
		"unknown2": value.Unknown(value.KindMap).Secret().DependingOn(u3),
		"__inner":  value.EmptyMap(),
	})
}

func fullRegistration() monitor.RegisterRequest {
	return monitor.RegisterRequest{
		Type: "pkg:index:Res", Name: "one", Parent: u1, Custom: true, Remote: true, Inputs: everything(),
		PropertyDependencies: urn.DependenciesOf(map[string][]urn.URN{"deps": {u1, u2}, "none": nil}),
		Dependencies:         []urn.URN{u2, u1},
		Plugin: monitor.Plugin{Provider: string(u1) + "::id", PackageRef: "ref", Version: "1.2.3",
			PluginDownloadURL: "https://example.com", PluginChecksums: map[string][]byte{"linux-amd64": {1, 2}}},
		Providers: map[string]string{"pkg": "ref"},
		Protect:   ptr(false), RetainOnDelete: ptr(true), DeleteBeforeReplace: ptr(false),
		IgnoreChanges: []string{"a"}, ReplaceOnChanges: []string{"b[*]"}, HideDiffs: []string{"c"},
		AdditionalSecretOutputs: []string{"d"},
		Aliases: []monitor.Alias{{URN: u3}, {Name: "n", Type: "t", Stack: "s", Project: "p", Parent: u2},
			{Name: "m", NoParent: true}, {Name: "o"}},
		ImportID: "imp", CustomTimeouts: monitor.Timeouts{Create: "1m", Update: "2m", Delete: "3m", Read: "4m"},
		DeletedWith: u2, ReplaceWith: []urn.URN{u3}, ReplacementTrigger: value.List(value.Int(1), value.String("x").Secret()),
		EnvVarMappings: map[string]string{"A": "B"},
		Defaults: []value.Path{value.PathOf("mode"), value.PathOf("rules").Then(value.IndexStep(0),
			value.KeyStep("é"))},
		Hooks: map[string][]string{"BeforeCreate": {"a"}, "AfterCreate": {"b"}, "BeforeUpdate": {"c"}, "AfterUpdate": {"d"},
			"BeforeDelete": {"e"}, "AfterDelete": {"f"}, "OnError": {"g", "h"}},
		SourcePosition: &monitor.Position{Path: "/home/me/a dir/Pulumi.yaml", Line: 12, Column: 3},
	}
}

// requireFull fails if a field of a request is unset, so that tests cover new fields of the contract.
func requireFull(t *testing.T, request any) {
	t.Helper()
	v := reflect.ValueOf(request)
	for i := range v.NumField() {
		if v.Type().Field(i).Name == "Transforms" {
			continue // functions cannot be compared; see TestTransforms
		}
		if v.Type().Field(i).Name == "Transformed" {
			continue // set by transforms in the engine's process; Pulumi's protocol has no field for it
		}
		require.False(t, v.Field(i).IsZero(), "field %s of %T is not populated: does it survive?", v.Type().Field(i).Name,
			request)
	}
}

func TestRequestsSurvive(t *testing.T) {
	t.Parallel()
	read := monitor.ReadRequest{
		Type: "pkg:index:Res", Name: "r", Parent: u1, ID: value.String("id"), State: everything(),
		Dependencies:            []urn.URN{u2},
		Plugin:                  chosen(),
		AdditionalSecretOutputs: []string{"s"}, SourcePosition: &monitor.Position{Path: "/p", Line: 1, Column: 2},
	}
	withID := func(id value.Value) monitor.ReadRequest { r := read; r.ID = id; return r }
	for _, c := range []struct {
		name    string
		request any
		full    bool
	}{
		{name: "RegisterResource", request: fullRegistration(), full: true},
		{name: "RegisterResource, next to nothing", request: monitor.RegisterRequest{Type: "t", Name: "n",
			Inputs: value.EmptyMap()}},
		{name: "RegisterResource, deleteBeforeReplace", request: monitor.RegisterRequest{Inputs: value.EmptyMap(),
			DeleteBeforeReplace: ptr(true)}},
		{name: "RegisterResource, unknown trigger", request: monitor.RegisterRequest{Inputs: value.EmptyMap(),
			ReplacementTrigger: value.Unknown(value.KindAny)}},
		{name: "ReadResource", request: read, full: true},
		{name: "ReadResource, unknown ID", request: withID(value.Unknown(value.KindString))},
		{name: "ReadResource, marked ID", request: withID(value.String("i").Secret().DependingOn(u1))},
		{name: "ReadResource, unknown marked ID", request: withID(value.Unknown(value.KindString).DependingOn(u1))},
		{name: "Invoke", full: true, request: monitor.InvokeRequest{
			Token: "pkg:index:f", Args: everything(), Plugin: chosen(), Parent: u1, DependsOn: []urn.URN{u2},
			SourcePosition: &monitor.Position{Path: "/p",
				Line: 1}}},
		{name: "Call", full: true, request: monitor.CallRequest{
			Token: "pkg:index:R/m", Args: everything(), ArgDependencies: map[string][]urn.URN{"a": {u1}}, Plugin: chosen(),
			SourcePosition: &monitor.Position{Path: "/p", Line: 1}}},
		{name: "RegisterPackage", full: true, request: monitor.Package{Name: "n", Version: "1", DownloadURL: "u",
			Checksums: map[string][]byte{"a": {1}}, Parameterization: &monitor.Parameterization{Name: "m", Version: "2",
				Value: []byte{0, 255}}, Extension: true}},
		{name: "RegisterOutputs", request: map[urn.URN]value.Value{u3: everything()}},
		{name: "SignalAndWaitForShutdown", request: "shutdown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.full {
				requireFull(t, c.request)
			}
			r := &recorder{}
			client := loopback(t, r)
			require.NoError(t, send(t.Context(), client, c.request))
			require.Equal(t, c.request, r.got)
		})
	}
}

// send calls the method of a monitor for a request.
func send(ctx context.Context, m monitor.Monitor, request any) error {
	_, err := exchange(ctx, m, request)
	return err
}

func exchange(ctx context.Context, m monitor.Monitor, request any) (response any, err error) {
	switch q := request.(type) {
	case monitor.RegisterRequest:
		return m.RegisterResource(ctx, q)
	case monitor.ReadRequest:
		return m.ReadResource(ctx, q)
	case monitor.InvokeRequest:
		return m.Invoke(ctx, q)
	case monitor.CallRequest:
		return m.Call(ctx, q)
	case monitor.Package:
		return m.RegisterPackage(ctx, q)
	case map[urn.URN]value.Value:
		for u, outputs := range q {
			err = m.RegisterOutputs(ctx, u, outputs)
		}
		return nil, err
	}
	return nil, m.SignalAndWaitForShutdown(ctx)
}

func TestResponsesSurvive(t *testing.T) { // E2.34: responses over gRPC equal those of a direct call
	t.Parallel()
	component := monitor.RegisterRequest{Inputs: value.EmptyMap()}
	custom := monitor.RegisterRequest{Custom: true, Inputs: value.EmptyMap()}
	read := monitor.ReadRequest{ID: value.String("i"), State: value.EmptyMap()}
	deps := map[string][]urn.URN{"a": {u1}}
	failures := []monitor.Failure{{Property: "p", Reason: "r"}, {Reason: "s"}}
	for _, c := range []struct {
		name             string
		request, answers any
	}{
		{"created", custom, monitor.RegisterResponse{URN: u1, ID: value.String("id"), Outputs: everything(), Known: true,
			PropertyDependencies: deps}},
		{"component", component, monitor.RegisterResponse{URN: u1, Outputs: value.EmptyMap(), Known: true}},
		{"component not known", component, monitor.RegisterResponse{URN: u1, Outputs: value.EmptyMap()}},
		{"to be created", custom, monitor.RegisterResponse{URN: u1, ID: value.Unknown(value.KindString),
			Outputs: value.EmptyMap()}},
		{"custom without ID", custom, monitor.RegisterResponse{URN: u1, Outputs: value.EmptyMap(), Known: true}},
		{"component with ID", component, monitor.RegisterResponse{URN: u1, ID: value.String("i").DependingOn(u1),
			Outputs: value.EmptyMap()}},
		{"failed", custom, monitor.RegisterResponse{URN: u1, Outputs: value.EmptyMap(), Result: monitor.Failed}},
		{"skipped", custom, monitor.RegisterResponse{URN: u1, Outputs: value.EmptyMap(), Result: monitor.Skipped}},
		{"read", read, monitor.ReadResponse{URN: u1, ID: value.String("j"), Outputs: everything(), Known: true}},
		{"read not known", read, monitor.ReadResponse{URN: u1, ID: value.Unknown(value.KindString),
			Outputs: value.EmptyMap()}},
		{"invoked", monitor.InvokeRequest{Args: value.EmptyMap()}, monitor.InvokeResponse{Result: everything(),
			Failures: failures, Unknown: true}},
		{"called", monitor.CallRequest{Args: value.EmptyMap()}, monitor.CallResponse{Result: everything(),
			ReturnDependencies: deps, Failures: failures}},
		{"package", monitor.Package{Name: "n"}, "ref"},
	} {
		for _, preview := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/preview=%v", c.name, preview), func(t *testing.T) {
				t.Parallel()
				r := &recorder{answer: c.answers, info: monitor.Info{DryRun: preview}}
				direct, err := exchange(t.Context(), r, c.request)
				require.NoError(t, err)
				got, err := exchange(t.Context(), loopback(t, r), c.request)
				require.NoError(t, err)
				require.Equal(t, direct, got)
			})
		}
	}
}

func TestInfo(t *testing.T) { // E2.3, E2.4
	t.Parallel()
	info := monitor.Info{Project: "p", Stack: "s", Organization: "o", Config: map[string]string{"p:k": "v"},
		ConfigSecretKeys: []string{"p:k"}, DryRun: true, Parallel: 7}
	requireFull(t, info)
	r := &recorder{info: info, features: map[string]bool{"secrets": true, "transforms": true}}
	client := loopback(t, r)
	got, err := client.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, info, got)
	for feature, want := range map[string]bool{"secrets": true, "transforms": true, "else": false} {
		has, err := client.SupportsFeature(t.Context(), feature)
		require.NoError(t, err)
		require.Equal(t, want, has, feature)
	}

	// Other clients get the same answer (E2.5).
	other := raw(t, r)
	has, err := other.SupportsFeature(t.Context(), &pulumirpc.SupportsFeatureRequest{Id: "transforms"})
	require.NoError(t, err)
	require.True(t, has.GetHasSupport())
	deployment, err := other.GetDeploymentInfo(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Equal(t, []pulumirpc.ResourceMonitorFeature{
		pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_SECRETS,
		pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_TRANSFORMS,
		pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_BYTE_STRING,
		pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_DEPENDS_ON,
		pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_PARENT,
	}, deployment.GetSupportedFeatures())
	_, err = other.RegisterResource(t.Context(),
		&pulumirpc.RegisterResourceRequest{StateMigrations: []*pulumirpc.Callback{{}}})
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "E2.5")
}

func TestErrorsSurvive(t *testing.T) {
	t.Parallel()
	failures := &monitor.FailuresError{Token: "t", Failures: []monitor.Failure{{Property: "p", Reason: "r"}}}
	for _, c := range []struct {
		name string
		err  error
		is   []error
		not  []error
	}{
		{"shutdown", fmt.Errorf("register one: %w", monitor.ErrShutdown), []error{monitor.ErrShutdown},
			[]error{monitor.ErrReported}},
		{"reported", fmt.Errorf("register one: %w", monitor.ErrReported), []error{monitor.ErrReported},
			[]error{monitor.ErrShutdown}},
		{"both", fmt.Errorf("%w, %w", monitor.ErrReported, monitor.ErrShutdown),
			[]error{monitor.ErrReported, monitor.ErrShutdown}, nil},
		{"plain", errors.New("no such thing"), nil, []error{monitor.ErrReported, monitor.ErrShutdown}},
		{"cancelled", fmt.Errorf("stop: %w", context.Canceled), []error{context.Canceled}, []error{monitor.ErrShutdown}},
		{"failures", fmt.Errorf("call: %w", failures), nil, []error{monitor.ErrShutdown}},
		{"a plugin's Unavailable is not ours", fmt.Errorf("create: %w", status.Error(codes.Unavailable, "cloud is down")),
			nil, []error{monitor.ErrShutdown}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{err: c.err}
			err := send(t.Context(), loopback(t, r), monitor.RegisterRequest{Inputs: value.EmptyMap()})
			require.EqualError(t, err, c.err.Error())
			for _, want := range c.is {
				require.ErrorIs(t, err, want)
			}
			for _, other := range c.not {
				require.NotErrorIs(t, err, other)
			}
			if c.name == "failures" {
				var got *monitor.FailuresError
				require.ErrorAs(t, err, &got)
				require.Equal(t, failures, got)
			}
		})
	}
}

func TestEngineGoneIsShutdown(t *testing.T) { // E2.1, E2.8
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	address, stop, err := rpc.Serve(ctx, &recorder{})
	require.NoError(t, err)
	require.Regexp(t, `^127\.0\.0\.1:[0-9]+$`, address)
	client, err := rpc.Dial(address)
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	_, err = client.Info(t.Context())
	require.NoError(t, err)
	cancel()
	stop()
	stop()
	require.ErrorIs(t, client.SignalAndWaitForShutdown(t.Context()), monitor.ErrShutdown)
}

func TestOtherPrograms(t *testing.T) { // responses to other clients than yamlhost's
	t.Parallel()
	outputs := value.Map(map[string]value.Value{
		"plain": value.Int(1), "secret": value.String("s").Secret(), "unknown": value.List(value.Unknown(value.KindAny)),
		"ref": value.Resource(&value.ResourceRef{URN: u1, ID: value.String("id")}), "deps": value.Int(2).DependingOn(u1),
	})
	register := func(t *testing.T, answer monitor.RegisterResponse, q *pulumirpc.RegisterResourceRequest) (
		*pulumirpc.RegisterResourceResponse, error) {
		return raw(t, &recorder{answer: answer}).RegisterResource(t.Context(), q)
	}
	t.Run("E2.36 nothing accepted", func(t *testing.T) {
		t.Parallel()
		got, err := register(t, monitor.RegisterResponse{URN: u1, Outputs: outputs},
			&pulumirpc.RegisterResourceRequest{Custom: true})
		require.NoError(t, err)
		require.Equal(t, map[string]any{"plain": 1.0, "secret": "s", "ref": "id", "deps": 2.0}, got.GetObject().AsMap())
	})
	t.Run("E2.36 F1.20 all accepted", func(t *testing.T) {
		t.Parallel()
		got, err := register(t, monitor.RegisterResponse{URN: u1, Outputs: outputs, Known: true},
			&pulumirpc.RegisterResourceRequest{AcceptSecrets: true, AcceptResources: true, SupportsPartialValues: true})
		require.NoError(t, err)
		back, err := wire.KeepAll().Decode(got.GetObject())
		require.NoError(t, err)
		require.Equal(t, outputs.With("deps", value.Int(2)), back)
		require.Empty(t, got.GetId())
		require.True(t, !got.GetStable() && len(got.GetStables()) == 0, "E2.34")
	})
	t.Run("E2.55 references in results", func(t *testing.T) {
		t.Parallel()
		client := raw(t, &recorder{answer: monitor.InvokeResponse{Result: value.EmptyMap().With("r", outputs.Get("ref"))}})
		for name, c := range map[string]struct {
			request *pulumirpc.ResourceInvokeRequest
			kept    bool
		}{
			"not accepted":      {&pulumirpc.ResourceInvokeRequest{Tok: "pkg:index:f"}, false},
			"accepted":          {&pulumirpc.ResourceInvokeRequest{Tok: "pkg:index:f", AcceptResources: true}, true},
			"of what finds one": {&pulumirpc.ResourceInvokeRequest{Tok: "pulumi:pulumi:getResource"}, true},
		} {
			got, err := client.Invoke(t.Context(), c.request)
			require.NoError(t, err, name)
			back, err := wire.KeepAll().Decode(got.GetReturn())
			require.NoError(t, err, name)
			_, kept := back.Get("r").AsResource()
			require.Equal(t, c.kept, kept, name)
		}
	})
	t.Run("E2.37 failure reported", func(t *testing.T) {
		t.Parallel()
		got, err := register(t, monitor.RegisterResponse{URN: u1, Outputs: value.EmptyMap(), Result: monitor.Failed},
			&pulumirpc.RegisterResourceRequest{SupportsResultReporting: true})
		require.NoError(t, err)
		require.Equal(t, pulumirpc.Result_FAIL, got.GetResult())
	})
	t.Run("E2.37 failure not understood", func(t *testing.T) {
		t.Parallel()
		_, err := register(t, monitor.RegisterResponse{URN: u1, Outputs: value.EmptyMap(), Result: monitor.Failed},
			&pulumirpc.RegisterResourceRequest{})
		require.Equal(t, codes.Internal, status.Code(err))
		require.ErrorContains(t, err, "resource registration failed")
	})
	t.Run("E2.9 parent that is not a URN", func(t *testing.T) {
		t.Parallel()
		_, err := register(t, monitor.RegisterResponse{}, &pulumirpc.RegisterResourceRequest{Parent: "x"})
		require.Equal(t, codes.InvalidArgument, status.Code(err))
		require.ErrorContains(t, err, `invalid parent: "x" is not a URN`)
	})
	t.Run("E2.13 aliases of old Node.js programs", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		ctx := metadata.AppendToOutgoingContext(t.Context(), "pulumi-runtime", "nodejs")
		_, err := raw(t, r).RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{AliasURNs: []string{string(u1)},
			Aliases: []*pulumirpc.Alias{
				{Alias: &pulumirpc.Alias_Spec_{Spec: &pulumirpc.Alias_Spec{Name: "a"}}},
				{Alias: &pulumirpc.Alias_Spec_{Spec: &pulumirpc.Alias_Spec{Name: "b",
					Parent: &pulumirpc.Alias_Spec_NoParent{NoParent: true}}}},
			}})
		require.NoError(t, err)
		require.Equal(t, []monitor.Alias{{URN: u1}, {Name: "a", NoParent: true}, {Name: "b"}},
			r.got.(monitor.RegisterRequest).Aliases)
	})
	t.Run("E2.14 deleteBeforeReplace", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		client := raw(t, r)
		for _, c := range []struct {
			defined, value bool
			want           *bool
		}{{false, false, nil}, {false, true, ptr(true)}, {true, false, ptr(false)}} {
			_, err := client.RegisterResource(t.Context(), &pulumirpc.RegisterResourceRequest{DeleteBeforeReplace: c.value,
				DeleteBeforeReplaceDefined: c.defined})
			require.NoError(t, err)
			require.Equal(t, c.want, r.got.(monitor.RegisterRequest).DeleteBeforeReplace)
		}
	})
	t.Run("E2.82 positions", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		client := raw(t, r)
		for uri, want := range map[string]*monitor.Position{
			"file:///a/b.yaml": {Path: "/a/b.yaml", Line: 1, Column: 2}, "file:///a%20b#3,4": {Path: "/a b", Line: 1, Column: 2},
			"https://x/y": nil, "relative/path": nil, "file://host/x": nil, "": nil, "%": nil,
		} {
			_, err := client.RegisterResource(t.Context(), &pulumirpc.RegisterResourceRequest{
				SourcePosition: &pulumirpc.SourcePosition{Uri: uri, Line: 1, Column: 2}})
			require.NoError(t, err)
			require.Equal(t, want, r.got.(monitor.RegisterRequest).SourcePosition, uri)
		}
		_, err := client.RegisterResource(t.Context(),
			&pulumirpc.RegisterResourceRequest{SourcePosition: &pulumirpc.SourcePosition{Uri: "file:///a#3,4"}})
		require.NoError(t, err)
		require.Equal(t, &monitor.Position{Path: "/a", Line: 3, Column: 4}, r.got.(monitor.RegisterRequest).SourcePosition)
	})
	t.Run("unsupported calls", func(t *testing.T) {
		t.Parallel()
		client := raw(t, &recorder{})
		ctx := t.Context()
		calls := map[string]func() error{
			"transforms": func() error { _, err := client.RegisterStackTransform(ctx, &pulumirpc.Callback{}); return err },
			"hooks": func() error {
				_, err := client.RegisterResourceHook(ctx, &pulumirpc.RegisterResourceHookRequest{})
				return err
			},
			"hooks that": func() error {
				_, err := client.RegisterErrorHook(ctx, &pulumirpc.RegisterErrorHookRequest{})
				return err
			},
			"exists": func() error { _, err := client.ExistsResource(ctx, &pulumirpc.ExistsResourceRequest{}); return err },
		}
		for word, call := range calls {
			err := call()
			require.Equal(t, codes.Unimplemented, status.Code(err), word)
			require.ErrorContains(t, err, "yamlhost does not support")
			require.ErrorContains(t, err, word)
		}
		_, err := client.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{Transforms: []*pulumirpc.Callback{{}}})
		require.ErrorContains(t, err, "yamlhost does not support transforms")
	})
}

// otherEngine is a monitor that does not know our headers.
type otherEngine struct {
	pulumirpc.UnimplementedResourceMonitorServer
	preview, old bool
	got          *pulumirpc.RegisterResourceRequest
	answer       *pulumirpc.RegisterResourceResponse
}

func (e *otherEngine) GetDeploymentInfo(context.Context, *emptypb.Empty) (*pulumirpc.DeploymentInfo, error) {
	if e.old {
		return nil, status.Error(codes.Unimplemented, "what?")
	}
	return &pulumirpc.DeploymentInfo{Project: "p", DryRun: e.preview}, nil
}

func (e *otherEngine) RegisterResource(_ context.Context, r *pulumirpc.RegisterResourceRequest) (
	*pulumirpc.RegisterResourceResponse, error) {
	e.got = r
	return e.answer, nil
}

func (e *otherEngine) ReadResource(context.Context, *pulumirpc.ReadResourceRequest) (*pulumirpc.ReadResourceResponse,
	error) {
	return &pulumirpc.ReadResourceResponse{Urn: string(u1)}, nil
}

func TestOtherEngines(t *testing.T) {
	t.Parallel()
	dial := func(t *testing.T, e *otherEngine, options ...rpc.Option) *rpc.Client {
		t.Helper()
		address := serveRaw(t, e)
		client, err := rpc.Dial(address, options...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, client.Close()) })
		return client
	}
	custom := monitor.RegisterRequest{Type: "t", Name: "n", Custom: true,
		Inputs: value.EmptyMap().With("a", value.Int(1).DependingOn(u1))}
	t.Run("F1.20 preview: absent outputs are unknown", func(t *testing.T) {
		t.Parallel()
		got, err := dial(t, &otherEngine{preview: true,
			answer: &pulumirpc.RegisterResourceResponse{Urn: string(u1)}}).RegisterResource(t.Context(), custom)
		require.NoError(t, err)
		require.Equal(t, monitor.RegisterResponse{URN: u1, ID: value.Unknown(value.KindString), Outputs: value.EmptyMap()},
			got)
	})
	t.Run("update: absent outputs are null", func(t *testing.T) {
		t.Parallel()
		e := &otherEngine{answer: &pulumirpc.RegisterResourceResponse{Urn: string(u1), Id: "i"}}
		got, err := dial(t, e).RegisterResource(t.Context(), custom)
		require.NoError(t, err)
		require.Equal(t, monitor.RegisterResponse{URN: u1, ID: value.String("i"), Outputs: value.EmptyMap(), Known: true},
			got)
		require.Equal(t, map[string]any{"a": 1.0}, e.got.GetObject().AsMap(), "dependencies travel beside the values")
		require.True(t, e.got.GetAcceptSecrets() && e.got.GetAcceptResources() && e.got.GetSupportsPartialValues() &&
			e.got.GetSupportsResultReporting())
	})
	t.Run("E2.37 create left out", func(t *testing.T) {
		t.Parallel()
		got, err := dial(t, &otherEngine{answer: &pulumirpc.RegisterResourceResponse{Urn: string(u1),
			Unknown: true}}).RegisterResource(t.Context(), custom)
		require.NoError(t, err)
		require.False(t, got.Known)
		require.Equal(t, value.Unknown(value.KindString), got.ID)
	})
	t.Run("skipped", func(t *testing.T) {
		t.Parallel()
		got, err := dial(t, &otherEngine{answer: &pulumirpc.RegisterResourceResponse{Result: 2}}).RegisterResource(
			t.Context(), custom)
		require.NoError(t, err)
		require.Equal(t, monitor.Skipped, got.Result)
	})
	t.Run("E2.46 read without ID", func(t *testing.T) {
		t.Parallel()
		got, err := dial(t, &otherEngine{}).ReadResource(t.Context(), monitor.ReadRequest{ID: value.String("i"),
			State: value.EmptyMap()})
		require.NoError(t, err)
		require.Equal(t, monitor.ReadResponse{URN: u1, ID: value.String("i"), Outputs: value.EmptyMap(), Known: true}, got)
	})
	t.Run("an old engine without deployment info", func(t *testing.T) {
		t.Parallel()
		client := dial(t, &otherEngine{old: true}, rpc.WithInfo(monitor.Info{Project: "q", DryRun: true}))
		info, err := client.Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, monitor.Info{Project: "q", DryRun: true}, info)
		require.NoError(t, client.SignalAndWaitForShutdown(t.Context()))
	})
}

func serveRaw(t *testing.T, e pulumirpc.ResourceMonitorServer) string {
	t.Helper()
	address, stop, err := transport.Serve("the monitor", func(s *grpc.Server) {
		pulumirpc.RegisterResourceMonitorServer(s, e)
	})
	require.NoError(t, err)
	t.Cleanup(stop)
	return address
}

func FuzzRegisterRequest(f *testing.F) {
	s, err := wire.KeepAll().Encode(everything())
	require.NoError(f, err)
	seed, err := proto.Marshal(&pulumirpc.RegisterResourceRequest{
		Type: "t", Name: "n", Object: s, Aliases: []*pulumirpc.Alias{{}, {Alias: &pulumirpc.Alias_Spec_{}}},
		SourcePosition:       &pulumirpc.SourcePosition{Uri: "file:///a#1,2"},
		Hooks:                &pulumirpc.RegisterResourceRequest_ResourceHooksBinding{},
		PropertyDependencies: map[string]*pulumirpc.RegisterResourceRequest_PropertyDependencies{"a": {}},
		ReplacementTrigger:   structpb.NewNullValue(),
	})
	require.NoError(f, err)
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		q := new(pulumirpc.RegisterResourceRequest)
		if proto.Unmarshal(data, q) != nil {
			return
		}
		r := &recorder{answer: monitor.RegisterResponse{Outputs: value.EmptyMap()}}
		if _, err := rpc.NewServer(r).RegisterResource(t.Context(), q); err != nil {
			return
		}
		got := r.got.(monitor.RegisterRequest)
		require.Equal(t, q.GetName(), got.Name)
		require.True(t, got.Inputs.Is(value.KindMap))
	})
}

func BenchmarkRegisterResource(b *testing.B) {
	client := loopback(b, &recorder{answer: monitor.RegisterResponse{URN: u1, ID: value.String("i"), Outputs: everything(),
		Known: true}})
	q := fullRegistration()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.RegisterResource(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}

// chosen returns a plugin with all fields.
func chosen() monitor.Plugin {
	return monitor.Plugin{Provider: "p", PackageRef: "ref", Version: "1", PluginDownloadURL: "u",
		PluginChecksums: map[string][]byte{"a": {1}}}
}
