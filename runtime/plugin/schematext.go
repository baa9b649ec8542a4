package plugin

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// schemaText is the answer to GetSchema in the received buffers: the largest schemas have 150 MB, of which a decoder
// would hold three copies. The receiver must call release.
type schemaText struct {
	buffers mem.BufferSlice
	offset  int // of the text in buffers
	size    int // of the text, in bytes
}

// schemaField is the number of the only field that the answer has (F2.16).
const schemaField = 1

var errSchemaMessage = errors.New("the message with the schema is damaged")

// receive keeps the buffers of a message, which are shared with gRPC, and locates the text. As always in protobuf, the
// last of equal fields wins and unknown ones are ignored.
func (s *schemaText) receive(buffers mem.BufferSlice) error {
	r := buffers.Reader()
	defer r.Close()
	total := r.Remaining()
	i, size := 0, 0
	for r.Remaining() > 0 {
		tag, err := binary.ReadUvarint(r)
		if err != nil {
			return errSchemaMessage
		}
		number, kind := protowire.DecodeTag(tag)
		skip := uint64(0)
		switch kind {
		case protowire.VarintType:
			_, err = binary.ReadUvarint(r)
		case protowire.Fixed32Type:
			skip = 4
		case protowire.Fixed64Type:
			skip = 8
		case protowire.BytesType:
			skip, err = binary.ReadUvarint(r)
		default:
			err = errSchemaMessage
		}
		if err != nil || skip > uint64(r.Remaining()) {
			return errSchemaMessage
		}
		if number == schemaField && kind == protowire.BytesType {
			i, size = total-r.Remaining(), int(skip)
		}
		if _, err := r.Discard(int(skip)); err != nil {
			return errSchemaMessage
		}
	}
	buffers.Ref()
	s.buffers, s.offset, s.size = slices.Clone(buffers), i, size
	return nil
}

// release frees the buffers. It is safe to call twice.
func (s *schemaText) release() {
	s.buffers.Free()
	*s = schemaText{}
}

// open reads the text from its start, until it is released.
func (s *schemaText) open() io.Reader {
	r := s.buffers.Reader()
	_, _ = r.Discard(s.offset) // in range by construction
	return io.LimitReader(r, int64(s.size))
}

// bytes returns a copy of the text.
func (s *schemaText) bytes() []byte {
	text := make([]byte, s.size)
	_, _ = io.ReadFull(s.open(), text) // all of in range by construction
	return text
}

// message returns the received protobuf message.
func (s *schemaText) message() *pulumirpc.GetSchemaResponse {
	return &pulumirpc.GetSchemaResponse{Schema: string(s.bytes())}
}
