package wire

import (
	"errors"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Unmarshal is like proto.Unmarshal, but keeps the fields of m that hold properties as bytes: DecodeField decodes them
// to values without intermediate messages. The bytes are kept as unknown fields, so the getters of these fields return
// nil. m does not share data.
func Unmarshal(data []byte, m proto.Message) error {
	reflected := m.ProtoReflect()
	properties := propertyFields(reflected.Descriptor())
	if len(properties) == 0 {
		return proto.Unmarshal(data, m)
	}
	var left, rest []byte
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, kind, data[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		field := data[:n+size]
		if data = data[n+size:]; kind == protowire.BytesType && slices.Contains(properties, number) {
			if left == nil {
				left = make([]byte, 0, len(field)+len(data)) // the rest often has a similar size
			}
			left = append(left, field...)
		} else {
			rest = append(rest, field...)
		}
	}
	if err := proto.Unmarshal(rest, m); err != nil {
		return err
	}
	reflected.SetUnknown(left)
	return nil
}

// known caches the numbers of the fields that hold properties, by message descriptor.
var known sync.Map

func propertyFields(d protoreflect.MessageDescriptor) []protowire.Number {
	if numbers, ok := known.Load(d); ok {
		return numbers.([]protowire.Number)
	}
	var numbers []protowire.Number
	for i := range d.Fields().Len() {
		if f := d.Fields().Get(i); f.Kind() == protoreflect.MessageKind && f.Cardinality() != protoreflect.Repeated &&
			f.Message().FullName() == "google.protobuf.Struct" {
			numbers = append(numbers, f.Number())
		}
	}
	known.Store(d, numbers)
	return numbers
}

// ErrTooLarge is returned for a field that exceeds the size limit.
var ErrTooLarge = errors.New("the field is too large")

// DecodeField decodes a field of a message, like Decode. The field is a message, or was kept as bytes by Unmarshal;
// strings of the value share these bytes. most is the maximum size in bytes. The error names the invalid property, is
// ErrTooLarge, or reports that the bytes are not a valid message.
func (o Options) DecodeField(m proto.Message, field protoreflect.FieldNumber, most int) (value.Value, error) {
	reflected := m.ProtoReflect()
	var content []byte
	if f := reflected.Descriptor().Fields().ByNumber(field); reflected.Has(f) {
		var err error
		content, err = proto.MarshalOptions{}.MarshalAppend([]byte{}, reflected.Get(f).Message().Interface())
		if err != nil {
			return value.Null, err
		}
	}
	for rest := []byte(reflected.GetUnknown()); len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		size := protowire.ConsumeFieldValue(number, kind, rest[max(n, 0):])
		if n < 0 || size < 0 {
			return value.Null, protowire.ParseError(min(n, size))
		}
		if number == field && kind == protowire.BytesType {
			part, _ := protowire.ConsumeBytes(rest[n:])
			if content == nil {
				content = part[:len(part):len(part)]
			} else { // protobuf concatenates the parts of a repeated message field
				content = append(content, part...)
			}
		}
		rest = rest[n+size:]
	}
	switch {
	case content == nil:
		return value.Null, nil
	case len(content) > most:
		return value.Null, ErrTooLarge
	}
	return o.DecodeBytes(content)
}

// buffers has memory for the properties of messages; see Recycle.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, 2048)
	return &b
}}

// largestBuffer is the capacity in bytes up to which memory is kept for later messages.
const largestBuffer = 64 << 10

// Recycle lets later messages use the memory of the properties that EncodeInto has written into a message. The call
// that sent the message must have returned; the message loses its properties.
func Recycle(m proto.Message) {
	reflected := m.ProtoReflect()
	b := []byte(reflected.GetUnknown())
	reflected.SetUnknown(nil)
	if cap(b) > 0 && cap(b) <= largestBuffer {
		b = b[:0]
		buffers.Put(&b)
	}
}

// EncodeInto encodes properties into a field of a message, like Encode, but directly to bytes: a message that is only
// sent needs neither intermediate messages nor a second pass for sizes. The message keeps them as unknown fields, and
// its own field stays nil; the unknown fields must not be shared. Null adds nothing. The error names the invalid
// property.
func (o Options) EncodeInto(m proto.Message, field protoreflect.FieldNumber, v value.Value) error {
	if v.IsNull() {
		return nil
	}
	reflected := m.ProtoReflect()
	b := []byte(reflected.GetUnknown())
	if b == nil {
		b = *buffers.Get().(*[]byte)
	}
	b, start := beginMessage(b, field)
	b, err := o.appendProperties(b, v)
	if err != nil {
		return err
	}
	reflected.SetUnknown(endMessage(b, start))
	return nil
}
