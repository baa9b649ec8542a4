// Package transport connects processes of one machine by gRPC: the engine, its plugins, and programs.
//
// Nothing leaves the machine, so there are no proxies to ask, no services to look up and nothing to retry elsewhere.
package transport

import (
	"context"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
)

const (
	messageLimit = 400 << 20 // bytes of one message (F2.7)
	windowSize   = 4 << 20   // bytes in flight unacknowledged; a fixed window spares the pings that estimate one
)

// Dial makes a connection to an address of this machine. It is opened on first use, and the caller's to close.
func Dial(address string, more ...grpc.DialOption) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+address, append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.MaxCallSendMsgSize(messageLimit)),
		grpc.WithInitialWindowSize(windowSize),
		grpc.WithInitialConnWindowSize(windowSize),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithNoProxy(),
		grpc.WithIdleTimeout(0),
	}, more...)...)
}

// Serve offers the services that register adds on a port of 127.0.0.1. stop ends calls in flight too and returns once
// no goroutine of the server is left; it is safe to call twice. The error message names what.
func Serve(what string, register func(*grpc.Server), more ...grpc.ServerOption) (address string, stop func(),
	err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve %s: %w", what, err)
	}
	server := grpc.NewServer(append([]grpc.ServerOption{
		grpc.MaxRecvMsgSize(messageLimit), grpc.MaxSendMsgSize(messageLimit),
		grpc.InitialWindowSize(windowSize), grpc.InitialConnWindowSize(windowSize),
	}, more...)...)
	register(server)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it ends when it is stopped
	return listener.Addr().String(), func() {
		server.Stop()
		serving.Wait()
	}, nil
}

// WatchEngine returns nil when ctx is done, and an error when the engine behind conn is gone (F2.11). An engine without
// a health service is trusted to end this process.
func WatchEngine(ctx context.Context, conn *grpc.ClientConn) error {
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
	return fmt.Errorf("the engine is gone: %s", status.Convert(err).Message())
}

// Status makes the error that a call returns. Details that cannot be encoded are left out.
func Status(code codes.Code, text string, details ...protoadapt.MessageV1) error {
	s := status.New(code, text)
	if len(details) > 0 {
		if detailed, fault := s.WithDetails(details...); fault == nil {
			s = detailed
		}
	}
	return s.Err()
}
