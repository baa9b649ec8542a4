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

// Unmarshal reads a message as proto.Unmarshal does, but leaves its own fields that hold properties as the bytes that
// they are: DecodeField makes values of them, without a tree of messages in between. The message keeps the bytes where
// unknown fields are, so that its own getters give nil for these fields. It does not keep data.
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
				left = make([]byte, 0, len(field)+len(data)) // what comes behind is mostly as large
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

// known are the fields that hold properties, by the descriptor of a message.
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

// ErrTooLarge is the error for a field with more bytes than are taken.
var ErrTooLarge = errors.New("the field is too large")

// DecodeField translates a field of a message, as Decode does. The field is a message, or what Unmarshal has left of
// one; strings of the value share its bytes. most is how many bytes are taken. An error names the property at fault, is
// ErrTooLarge, or reports that the bytes are not a message.
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
			} else { // the parts of a message that comes in parts make one
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

// EncodeInto makes properties a field of a message, as Encode does it, but writes them straight to bytes: a message
// that is sent and not looked at needs no tree, and no second walk for sizes. The message keeps them as bytes, and its
// own field stays nil; nobody else may have its bytes. Null adds nothing. An error names the property at fault.
func (o Options) EncodeInto(m proto.Message, field protoreflect.FieldNumber, v value.Value) error {
	if v.IsNull() {
		return nil
	}
	reflected := m.ProtoReflect()
	b := []byte(reflected.GetUnknown())
	if b == nil {
		b = make([]byte, 0, 2048)
	}
	b, start := beginMessage(b, field)
	b, err := o.appendProperties(b, v)
	if err != nil {
		return err
	}
	reflected.SetUnknown(endMessage(b, start))
	return nil
}
