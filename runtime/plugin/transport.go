package plugin

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	// messageLimit is the largest message either side takes, in bytes (F2.7).
	messageLimit = 400 << 20
	// largestField is the largest field of an answer that is made a value of, in bytes: what a program's budget has for
	// one value.
	largestField = 256 << 20
	// windowSize is how much may be in flight unacknowledged. A fixed one also spares the pings that estimate one.
	windowSize = 4 << 20
)

// dial makes a connection that is opened on first use. Nothing leaves the machine, so there are no proxies to ask, no
// services to look up and nothing to retry elsewhere.
func dial(address string, trace *tracer) (*grpc.ClientConn, error) {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.MaxCallSendMsgSize(messageLimit)),
		grpc.WithInitialWindowSize(windowSize),
		grpc.WithInitialConnWindowSize(windowSize),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithNoProxy(),
		grpc.WithIdleTimeout(0),
		// A plugin prints its port just before it listens, at times: try again soon (F2.7).
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.2,
				MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: startLimit,
		}),
	}
	if trace != nil {
		options = append(options, grpc.WithUnaryInterceptor(trace.intercept))
	}
	return grpc.NewClient("passthrough:///"+address, options...)
}

func serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(messageLimit),
		grpc.MaxSendMsgSize(messageLimit),
		grpc.InitialWindowSize(windowSize),
		grpc.InitialConnWindowSize(windowSize),
	}
}
