package plugin

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Serve offers a provider on a port of 127.0.0.1. stop ends that, calls in flight too, and returns once no goroutine of
// it is left; the provider stays the caller's to close.
func Serve(p provider.Provider) (address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve the provider: %w", err)
	}
	server := grpc.NewServer(serverOptions()...)
	pulumirpc.RegisterResourceProviderServer(server, NewServer(p))
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	return listener.Addr().String(), func() {
		server.Stop()
		serving.Wait()
	}, nil
}

// ServeMain is the whole life of a plugin's process: it prints the port to stdout (F2.5) and serves until ctx is done
// or the engine at engineAddress, if there is one, is gone (F2.11). It closes the provider.
func ServeMain(ctx context.Context, p provider.Provider, stdout io.Writer, engineAddress string) error {
	defer func() { _ = p.Close() }()
	address, stop, err := Serve(p)
	if err != nil {
		return err
	}
	defer stop()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("serve the provider: %w", err)
	}
	if _, err := fmt.Fprintln(stdout, port); err != nil {
		return fmt.Errorf("print the port: %w", err)
	}
	if engineAddress == "" {
		<-ctx.Done()
		return nil
	}
	return watchEngine(ctx, engineAddress)
}

// watchEngine returns when ctx is done or the engine is gone. An engine without a health service is trusted to end us.
func watchEngine(ctx context.Context, address string) error {
	conn, err := dial(address, nil)
	if err != nil {
		return fmt.Errorf("watch the engine at %s: %w", address, err)
	}
	defer func() { _ = conn.Close() }()
	watch, err := grpc_health_v1.NewHealthClient(conn).Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	for err == nil {
		_, err = watch.Recv()
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case status.Code(err) == codes.Unimplemented:
		<-ctx.Done()
		return nil
	}
	return fmt.Errorf("the engine at %s is gone: %s", address, status.Convert(err).Message())
}
