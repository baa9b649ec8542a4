package plugin

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/internal/value/wire"
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

// codec is gRPC's codec with another decoder: properties stay bytes (see wire.Unmarshal), and a schema stays in the
// received buffers.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(grpcproto.Name)} }

// Unmarshal reads a message.
func (c codec) Unmarshal(data mem.BufferSlice, dst any) error {
	if text, ok := dst.(*schemaText); ok {
		return text.receive(data)
	}
	m, ok := dst.(proto.Message)
	if !ok {
		return c.CodecV2.Unmarshal(data, dst)
	}
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	return wire.Unmarshal(buffer.ReadOnlyData(), m)
}
