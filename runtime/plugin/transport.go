package plugin

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/yamlhost/yamlhost/internal/transport"
)

// largestField is the largest field of an answer that is decoded, in bytes, which is a program's budget for one value.
const largestField = 256 << 20

// dial returns a connection that is opened on first use.
func dial(address string, trace *tracer) (*grpc.ClientConn, error) {
	// Some plugins print their port just before they listen: retry soon (F2.7).
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
