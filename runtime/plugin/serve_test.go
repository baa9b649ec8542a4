package plugin_test

import (
	"bufio"
	"context"
	"io"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// serveMain runs ServeMain in the background and returns the port that it prints.
func serveMain(t *testing.T, ctx context.Context, r *recorder, engine string) (port string, done chan error) {
	t.Helper()
	reader, writer := io.Pipe()
	done = make(chan error, 1)
	go func() { done <- plugin.ServeMain(ctx, r, writer, engine) }()
	line, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	return line[:len(line)-1], done
}

func TestServeMain(t *testing.T) { // F2.5
	t.Parallel()
	for _, engine := range []string{"", "running"} {
		t.Run("engine="+engine, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			r := &recorder{info: provider.Info{Version: "1.0.0"}}
			address := ""
			if engine != "" {
				host := plugin.NewHost(plugin.Options{})
				defer func() { require.NoError(t, host.Close()) }()
				var err error
				address, err = host.EngineAddress()
				require.NoError(t, err)
			}
			port, done := serveMain(t, ctx, r, address)
			info, err := attach(t, "127.0.0.1:"+port, nil).Info(t.Context())
			require.NoError(t, err)
			require.Equal(t, provider.Info{Name: "pkg", Version: "1.0.0"}, info)
			cancel()
			require.NoError(t, <-done)
			require.Equal(t, 1, r.closed)
		})
	}
}

func TestServeMainEndsWithEngine(t *testing.T) { // F2.11
	t.Parallel()
	host := plugin.NewHost(plugin.Options{})
	address, err := host.EngineAddress()
	require.NoError(t, err)
	_, done := serveMain(t, t.Context(), &recorder{}, address)
	require.NoError(t, host.Close())
	require.ErrorContains(t, <-done, "watch the engine at "+address+": the engine is gone")
}

func TestEngineService(t *testing.T) { // F2.11
	t.Parallel()
	host := plugin.NewHost(plugin.Options{PulumiVersion: "3.260.0"})
	defer func() { require.NoError(t, host.Close()) }()
	address, err := host.EngineAddress()
	require.NoError(t, err)
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	engine := pulumirpc.NewEngineClient(conn)

	root, err := engine.GetRootResource(t.Context(), &pulumirpc.GetRootResourceRequest{})
	require.NoError(t, err)
	require.Empty(t, root.GetUrn())
	_, err = engine.SetRootResource(t.Context(), &pulumirpc.SetRootResourceRequest{Urn: string(resource)})
	require.NoError(t, err)
	root, err = engine.GetRootResource(t.Context(), &pulumirpc.GetRootResourceRequest{})
	require.NoError(t, err)
	require.Equal(t, string(resource), root.GetUrn())
	_, err = engine.Log(t.Context(), &pulumirpc.LogRequest{Message: "nobody listens"})
	require.NoError(t, err)
	for wanted, code := range map[string]codes.Code{
		"": codes.OK, ">=3.0.0": codes.OK, ">=3.0.0 <4.0.0 || >=5.0.0": codes.OK, ">=4.0.0": codes.FailedPrecondition,
		"what": codes.InvalidArgument,
	} {
		_, err := engine.RequirePulumiVersion(t.Context(), &pulumirpc.RequirePulumiVersionRequest{PulumiVersionRange: wanted})
		require.Equal(t, code, status.Code(err), wanted)
	}
	_, err = engine.StartDebugging(t.Context(), &pulumirpc.StartDebuggingRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err))
}

func TestProviderConfiguration(t *testing.T) { // E3.18, E3.20, E3.21
	t.Parallel()
	inputs := value.Map(map[string]value.Value{
		"token": value.String("t").Secret(), "u": value.Unknown(value.KindAny), "__internal": value.EmptyMap().With("name",
			value.String("x")),
	})
	sent := inputs.Without("__internal").With("token", value.String("t"))
	subject := provider.SubjectOf("urn:pulumi:dev::proj::pulumi:providers:pkg::default")

	r := &recorder{answer: provider.CheckResponse{Inputs: sent.With("region", value.String("eu"))}}
	p := loopback(t, r)
	checked, err := p.CheckConfig(t.Context(), provider.CheckRequest{Subject: subject, News: inputs, AllowUnknowns: true,
		RandomSeed: []byte("seed")})
	require.NoError(t, err)
	require.Equal(t, provider.CheckRequest{Subject: subject, Olds: value.EmptyMap(), News: sent, AllowUnknowns: true},
		r.got)
	require.Equal(t, sent.With("token", value.String("t").Secret()).With("region", value.String("eu")), checked.Inputs)

	r.answer = provider.DiffResponse{Changes: provider.DiffSome, Replaces: []string{"region"}}
	diff, err := p.DiffConfig(t.Context(), provider.DiffRequest{
		Subject: subject, ID: "i", OldInputs: inputs.Without("u"), OldOutputs: inputs.Without("u"), News: inputs,
		IgnoreChanges: []string{"x"}})
	require.NoError(t, err)
	require.Equal(t, r.answer, diff)
	require.Equal(t, provider.DiffRequest{Subject: subject, OldInputs: sent.Without("u"), OldOutputs: sent.Without("u"),
		News: sent, IgnoreChanges: []string{"x"}, AllowUnknowns: true}, r.got)
}

func FuzzServer(f *testing.F) { // a server survives arbitrary requests
	properties, err := wire.KeepAll().Encode(plainly())
	require.NoError(f, err)
	seed, err := proto.Marshal(&pulumirpc.UpdateRequest{Id: "i", Urn: string(resource), Olds: properties, News: properties,
		OldInputs: properties})
	require.NoError(f, err)
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		q := new(pulumirpc.UpdateRequest)
		if proto.Unmarshal(data, q) != nil {
			return
		}
		r := &recorder{}
		s := plugin.NewServer(r)
		_, err := s.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: q.GetNews()})
		if err != nil {
			return
		}
		if _, err := s.Update(t.Context(), q); err != nil {
			return
		}
		require.Equal(t, q.GetId(), r.got.(provider.UpdateRequest).ID)
	})
}
