package plugin

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/yamlhost/yamlhost/internal/transport"
)

// largestField is the largest field of an answer that is made a value of, in bytes: what a program's budget has for one
// value.
const largestField = 256 << 20

// dial makes a connection that is opened on first use.
func dial(address string, trace *tracer) (*grpc.ClientConn, error) {
	// A plugin prints its port just before it listens, at times: try again soon (F2.7).
	options := []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.2,
			MaxDelay: 200 * time.Millisecond},
		MinConnectTimeout: startLimit,
	}), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec()))}
	if trace != nil {
		options = append(options, grpc.WithUnaryInterceptor(trace.intercept))
	}
	return transport.Dial(address, options...)
}
