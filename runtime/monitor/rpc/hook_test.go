package rpc

import (
	"context"
	"errors"
	"net"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// hookEngine is an engine that records hooks.
type hookEngine struct {
	pulumirpc.UnimplementedResourceMonitorServer
	hook      *pulumirpc.RegisterResourceHookRequest
	errorHook *pulumirpc.RegisterErrorHookRequest
}

func (e *hookEngine) RegisterResourceHook(_ context.Context, r *pulumirpc.RegisterResourceHookRequest) (*emptypb.Empty,
	error) {
	e.hook = r
	return &emptypb.Empty{}, nil
}

func (e *hookEngine) RegisterErrorHook(_ context.Context, r *pulumirpc.RegisterErrorHookRequest) (*emptypb.Empty,
	error) {
	e.errorHook = r
	return &emptypb.Empty{}, nil
}

func serveHookEngine(t *testing.T, e pulumirpc.ResourceMonitorServer) *Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	pulumirpc.RegisterResourceMonitorServer(server, e)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	c, err := Dial(listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// callBack calls a hook as an engine does.
func callBack(t *testing.T, c *pulumirpc.Callback, request, response proto.Message) {
	t.Helper()
	conn, err := grpc.NewClient(c.GetTarget(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	bytes, err := proto.Marshal(request)
	require.NoError(t, err)
	got, err := pulumirpc.NewCallbacksClient(conn).Invoke(t.Context(),
		&pulumirpc.CallbackInvokeRequest{Token: c.GetToken(), Request: bytes})
	require.NoError(t, err)
	require.NoError(t, proto.Unmarshal(got.GetResponse(), response))
}

// L10.C14, E2.75–E2.81: hooks get the arguments of the engine; their errors are part of the response and name them.
func TestHooks(t *testing.T) {
	t.Parallel()
	e := &hookEngine{}
	c := serveHookEngine(t, e)
	var seen value.Value
	var fail error
	var broken bool
	run := func(_ context.Context, args value.Value) (bool, error) {
		seen = args
		if broken {
			panic("out of order")
		}
		return true, fail
	}
	require.NoError(t, c.RegisterHook(t.Context(), monitor.Hook{Name: "h", OnDryRun: true, IgnoreErrors: true, Run: run}))
	require.NoError(t, c.RegisterHook(t.Context(), monitor.Hook{Name: "again", OnError: true, Run: run}))
	require.True(t, e.hook.GetOnDryRun())
	require.True(t, e.hook.GetIgnoreErrors())
	require.Equal(t, "again", e.errorHook.GetName())

	inputs, err := structpb.NewStruct(map[string]any{"size": 1})
	require.NoError(t, err)
	request := &pulumirpc.ResourceHookRequest{Urn: "urn:x", Id: "i", Name: "r", Type: "a:b:C", NewInputs: inputs}
	answer := &pulumirpc.ResourceHookResponse{}
	callBack(t, e.hook.GetCallback(), request, answer)
	require.Empty(t, answer.GetError())
	require.Equal(t, value.Map(map[string]value.Value{
		"urn": value.String("urn:x"), "id": value.String("i"), "name": value.String("r"), "type": value.String("a:b:C"),
		"newInputs": value.Map(map[string]value.Value{"size": value.Int(1)}),
	}), seen)

	fail = errors.New("no")
	callBack(t, e.hook.GetCallback(), request, answer)
	require.Equal(t, "hook h: no", answer.GetError())
	broken = true
	callBack(t, e.hook.GetCallback(), request, answer)
	require.Equal(t, "hook h: out of order", answer.GetError())
	broken, fail = false, nil

	again := &pulumirpc.ErrorHookResponse{}
	callBack(t, e.errorHook.GetCallback(), &pulumirpc.ErrorHookRequest{Name: "r", FailedOperation: "create",
		Errors: []string{"one"}}, again)
	require.True(t, again.GetRetry())
	require.True(t, value.SameContent(value.String("create"), seen.Get("failedOperation")))
	require.Equal(t, 1, seen.Get("errors").Len())
}

func TestHooksOfOldEngines(t *testing.T) {
	t.Parallel()
	c := serveHookEngine(t, &struct {
		pulumirpc.UnimplementedResourceMonitorServer
	}{})
	require.ErrorContains(t, c.RegisterHook(t.Context(), monitor.Hook{Name: "h"}), "too old to run the hook h")
}
