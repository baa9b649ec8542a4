package rpc_test

import (
	"context"
	"errors"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
)

// transformer is a monitor that applies registered transforms.
type transformer struct {
	recorder
	stack  []monitor.Transform
	invoke []monitor.InvokeTransform
}

func (t *transformer) RegisterStackTransform(_ context.Context, f monitor.Transform) error {
	t.stack = append(t.stack, f)
	return nil
}

func (t *transformer) RegisterStackInvokeTransform(_ context.Context, f monitor.InvokeTransform) error {
	t.invoke = append(t.invoke, f)
	return nil
}

func serveTransformer(t *testing.T) (*transformer, *rpc.Client) {
	t.Helper()
	r := &transformer{recorder: recorder{answer: monitor.RegisterResponse{URN: u1, Outputs: value.EmptyMap()}}}
	address, stop, err := rpc.Serve(context.Background(), r)
	require.NoError(t, err)
	t.Cleanup(stop)
	client, err := rpc.Dial(address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return r, client
}

// forOthers returns a value with everything that the protocol can express: not the kind of an unknown with
// dependencies.
func forOthers() value.Value {
	return everything().With("unknown2", value.Unknown(value.KindAny).Secret().DependingOn(u3))
}

// E2.69–E2.73: a transform in another process gets the whole registration, and its changes take effect.
func TestTransforms(t *testing.T) {
	t.Parallel()
	full := fullRegistration()
	full.Inputs = forOthers()
	// A transform must not lose fields that it does not get.
	hidden := func(r monitor.RegisterRequest) monitor.RegisterRequest {
		r.Remote, r.PropertyDependencies, r.PackageRef = false, urn.Dependencies{}, ""
		r.EnvVarMappings, r.SourcePosition, r.Defaults = nil, nil, nil
		return r
	}
	var saw monitor.RegisterRequest
	var change func(monitor.RegisterRequest) (monitor.RegisterRequest, error)
	transform := func(_ context.Context, r monitor.RegisterRequest) (monitor.RegisterRequest, error) {
		saw = r
		return change(r)
	}
	r, client := serveTransformer(t)
	require.NoError(t, client.RegisterStackTransform(t.Context(), transform))
	registration := full
	registration.Transforms = []monitor.Transform{transform}
	_, err := client.RegisterResource(t.Context(), registration)
	require.NoError(t, err)
	own := r.got.(monitor.RegisterRequest).Transforms
	require.Len(t, own, 1)

	for _, f := range []monitor.Transform{r.stack[0], own[0]} {
		change = func(r monitor.RegisterRequest) (monitor.RegisterRequest, error) { return r, nil }
		got, err := f(t.Context(), full)
		require.NoError(t, err)
		require.Equal(t, hidden(full), saw)
		require.Equal(t, full, got, "nothing was changed")

		change = func(monitor.RegisterRequest) (monitor.RegisterRequest, error) {
			return monitor.RegisterRequest{Inputs: value.EmptyMap().With("only", value.String("this").DependingOn(u3)),
				Protect: ptr(true)}, nil
		}
		got, err = f(t.Context(), full)
		require.NoError(t, err)
		require.Equal(t, full.EnvVarMappings, got.EnvVarMappings)
		require.Equal(t, full.Name, got.Name)
		require.Equal(t, value.EmptyMap().With("only", value.String("this").DependingOn(u3)), got.Inputs)
		require.True(t, *got.Protect)
		require.Nil(t, got.DeleteBeforeReplace, "E2.72: three states")
		require.Empty(t, got.Aliases)
		require.True(t, got.ReplacementTrigger.IsNull())

		change = func(r monitor.RegisterRequest) (monitor.RegisterRequest, error) { return r, errors.New("not today") }
		_, err = f(t.Context(), full)
		require.ErrorContains(t, err, "not today")
	}
}

// E2.50, E2.69: the same for function calls.
func TestInvokeTransforms(t *testing.T) {
	t.Parallel()
	r, client := serveTransformer(t)
	var saw monitor.InvokeRequest
	require.NoError(t, client.RegisterStackInvokeTransform(t.Context(),
		func(_ context.Context, q monitor.InvokeRequest) (monitor.InvokeRequest, error) {
			saw = q
			q.Args, q.Version, q.Provider = q.Args.With("more", value.Int(1)), "2.0.0", ""
			return q, nil
		}))
	call := monitor.InvokeRequest{Token: "pkg:index:f", Args: forOthers(), Plugin: monitor.Plugin{
		Provider: string(u1) + "::id", Version: "1.0.0", PluginDownloadURL: "u",
		PluginChecksums: map[string][]byte{"a": {1}}}, Parent: u2}
	got, err := r.invoke[0](t.Context(), call)
	require.NoError(t, err)
	want := call
	want.Parent = ""
	require.Equal(t, want, saw)
	want = call
	want.Args, want.Version, want.Provider = call.Args.With("more", value.Int(1)), "2.0.0", ""
	require.Equal(t, want, got)
}

// E2.70: options absent from an answer stay unchanged, and an invalid URN is an error.
func TestTransformAnswers(t *testing.T) {
	t.Parallel()
	r, client := serveTransformer(t)
	require.NoError(t, client.RegisterStackTransform(t.Context(),
		func(_ context.Context, q monitor.RegisterRequest) (monitor.RegisterRequest, error) {
			q.DeletedWith = "nonsense"
			return q, nil
		}))
	_, err := r.stack[0](t.Context(), fullRegistration())
	require.ErrorContains(t, err, "invalid deletedWith")

	_, err = raw(t, &recorder{}).RegisterStackInvokeTransform(t.Context(), &pulumirpc.Callback{})
	require.Equal(t, codes.Unimplemented, status.Code(err), "of a monitor without transforms")
}
