package plugin

import (
	"context"
	"fmt"
	"io"
	"net"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Serve serves a provider on a port of 127.0.0.1. stop ends the server and the calls in flight, and returns once all
// goroutines have ended. The caller closes the provider.
func Serve(p provider.Provider) (address string, stop func(), err error) {
	return transport.Serve("the provider", func(s *grpc.Server) {
		pulumirpc.RegisterResourceProviderServer(s, NewServer(p))
	}, grpc.ForceServerCodecV2(newCodec()))
}

// ServeMain is the main function of a plugin's process: it prints the port to stdout (F2.5) and serves until ctx is
// done or the engine at engineAddress, if any, has ended (F2.11). It closes the provider.
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
	conn, err := dial(engineAddress, nil)
	if err != nil {
		return fmt.Errorf("watch the engine at %s: %w", engineAddress, err)
	}
	defer func() { _ = conn.Close() }()
	if err := transport.WatchEngine(ctx, conn); err != nil {
		return fmt.Errorf("watch the engine at %s: %w", engineAddress, err)
	}
	return nil
}
