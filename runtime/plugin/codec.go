package plugin

import (
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/yamlhost/yamlhost/internal/value/wire"
)

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
