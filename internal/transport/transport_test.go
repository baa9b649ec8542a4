package transport

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWatchEngineEndsWithTheEngine(t *testing.T) {
	t.Parallel()
	healthy := func(s *grpc.Server) { grpc_health_v1.RegisterHealthServer(s, health.NewServer()) }
	address, stop, err := Serve("the engine", healthy)
	require.NoError(t, err)
	conn, err := Dial(address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus())

	done := make(chan error, 1)
	go func() { done <- WatchEngine(t.Context(), conn) }()
	stop()
	stop() // a second call does nothing
	require.ErrorContains(t, <-done, "the engine is gone")
}

func TestWatchEngineTrustsOneWithoutHealth(t *testing.T) {
	t.Parallel()
	address, stop, err := Serve("the engine", func(*grpc.Server) {})
	require.NoError(t, err)
	t.Cleanup(stop)
	conn, err := Dial(address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.NoError(t, WatchEngine(ctx, conn))
	require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, "it waits for the end of the context")
}

func TestStatusKeepsCodeTextAndDetails(t *testing.T) {
	t.Parallel()
	err := Status(codes.InvalidArgument, "bad", &grpc_health_v1.HealthCheckRequest{Service: "x"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.Equal(t, "bad", status.Convert(err).Message())
	require.Len(t, status.Convert(err).Details(), 1)
	require.Empty(t, status.Convert(Status(codes.Unknown, "bad")).Details())
}
