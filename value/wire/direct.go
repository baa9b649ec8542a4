package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/value"
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
// one; strings of the value share its bytes. most is how many bytes are taken. An error is a *PropertyError or
// ErrTooLarge, or says that the bytes are no message.
func (o Options) DecodeField(m proto.Message, field protoreflect.FieldNumber, most int) (value.Value, error) {
	reflected := m.ProtoReflect()
	if f := reflected.Descriptor().Fields().ByNumber(field); reflected.Has(f) {
		s, _ := reflected.Get(f).Message().Interface().(*structpb.Struct)
		if proto.Size(s) > most {
			return value.Null, ErrTooLarge
		}
		return o.Decode(s)
	}
	var content []byte
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

// DecodeBytes translates the bytes of a message, as Decode does with what proto.Unmarshal makes of them. Strings of the
// value share the bytes: nobody may change them any more.
func (o Options) DecodeBytes(b []byte) (value.Value, error) {
	if v, how := o.direct(b, true, 0); how == good {
		return v, nil
	}
	s := new(structpb.Struct)
	if err := proto.Unmarshal(b, s); err != nil {
		return value.Null, err
	}
	return o.Decode(s)
}

// reading says how a map can be read from bytes.
type reading int

const (
	good   reading = iota // it was read
	signed                // it has a signature
	odd                   // needs a tree: unlike what programs write, or with a fault, which only the tree reader reports
)

// directDepth is how deep maps and lists that are read directly may be. Deeper ones are counted as protobuf does.
const directDepth = 500

// direct is decodeFields from bytes.
func (o Options) direct(b []byte, top bool, depth int) (value.Value, reading) {
	n, ok := countFields(b)
	if !ok || depth > directDepth {
		return value.Null, odd
	}
	if n == 0 {
		return value.EmptyMap(), good
	}
	keys, values := make([]string, 0, n), make([]value.Value, 0, n)
	sorted := true
	for len(b) > 0 {
		var entry []byte
		if entry, b, ok = nested(b, fieldsField); !ok {
			return value.Null, odd
		}
		text, rest, ok := nested(entry, keyField)
		if !ok || !utf8.Valid(text) {
			return value.Null, odd
		}
		key := shared(text)
		switch {
		case key == SignatureKey && !top:
			return value.Null, signed
		case o.SkipInternalKeys && top && len(key) > 1 && key[:2] == "__":
			return value.Null, odd
		}
		content, rest, ok := nested(rest, valueField)
		if !ok || len(rest) > 0 {
			return value.Null, odd
		}
		item, dropped, ok := o.directValue(content, depth+1)
		if !ok {
			return value.Null, odd
		}
		if dropped || o.SkipNulls && item.IsNull() {
			continue
		}
		if last := len(keys) - 1; last >= 0 && keys[last] >= key {
			sorted = false
		}
		keys, values = append(keys, key), append(values, item)
	}
	if !sorted {
		sort.Sort(byKey{keys, values})
		for i := 1; i < len(keys); i++ {
			if keys[i-1] == keys[i] {
				return value.Null, odd
			}
		}
	}
	return value.SortedMap(keys, values), good
}

type byKey struct {
	keys   []string
	values []value.Value
}

func (m byKey) Len() int           { return len(m.keys) }
func (m byKey) Less(i, j int) bool { return m.keys[i] < m.keys[j] }
func (m byKey) Swap(i, j int) {
	m.keys[i], m.keys[j] = m.keys[j], m.keys[i]
	m.values[i], m.values[j] = m.values[j], m.values[i]
}

// directValue is decode from bytes.
func (o Options) directValue(b []byte, depth int) (v value.Value, dropped, ok bool) {
	if len(b) == 0 {
		return value.Null, false, true
	}
	number, kind := protowire.Number(b[0]>>3), protowire.Type(b[0]&7)
	switch {
	case number == numberField && kind == protowire.Fixed64Type && len(b) == 9:
		return value.Number(math.Float64frombits(binary.LittleEndian.Uint64(b[1:]))), false, true
	case number == boolField && kind == protowire.VarintType && len(b) == 2 && b[1] < 2:
		return value.Bool(b[1] == 1), false, true
	case number == nullField && kind == protowire.VarintType && len(b) == 2 && b[1] == 0:
		return value.Null, false, true
	case kind != protowire.BytesType:
		return value.Null, false, false
	}
	content, rest, ok := nested(b, number)
	if !ok || len(rest) > 0 {
		return value.Null, false, false
	}
	switch number {
	case textField:
		text := shared(content)
		if of, ok := KindOfSentinel(text); ok {
			v, dropped, f := o.unknown(of)
			return v, dropped, f == nil
		}
		return value.String(text), false, utf8.ValidString(text)
	case listField:
		v, ok := o.directList(content, depth)
		return v, false, ok
	case structField:
		v, how := o.direct(content, false, depth)
		if how != signed {
			return v, false, how == good
		}
		s := new(structpb.Struct)
		if proto.Unmarshal(content, s) != nil {
			return value.Null, false, false
		}
		v, dropped, f := o.decodeSpecial(s.GetFields()[SignatureKey], s.GetFields())
		return v, dropped, f == nil
	}
	return value.Null, false, false
}

// directList reads the items of a list.
func (o Options) directList(b []byte, depth int) (v value.Value, ok bool) {
	n, ok := countFields(b)
	if !ok || depth > directDepth {
		return value.Null, false
	}
	items := make([]value.Value, 0, n)
	for len(b) > 0 {
		var content []byte
		if content, b, ok = nested(b, itemsField); !ok {
			return value.Null, false
		}
		item, _, ok := o.directValue(content, depth+1) // what is dropped leaves its place null (F1.11)
		if !ok {
			return value.Null, false
		}
		items = append(items, item)
	}
	return value.List(items...), true
}

// countFields is the number of fields of a message that has only nested ones.
func countFields(b []byte) (n int, ok bool) {
	for len(b) > 0 {
		if _, b, ok = nested(b, protowire.Number(b[0]>>3)); !ok {
			return 0, false
		}
		n++
	}
	return n, true
}

// nested takes a nested message or a string from the front of a message.
func nested(b []byte, number protowire.Number) (content, rest []byte, ok bool) {
	if len(b) < 2 || b[0] != byte(number)<<3|byte(protowire.BytesType) {
		return nil, nil, false
	}
	size, n := uint64(b[1]), 1
	if size >= 0x80 {
		size, n = protowire.ConsumeVarint(b[1:])
	}
	if n < 0 || size > uint64(len(b)-1-n) {
		return nil, nil, false
	}
	return b[1+n : 1+n+int(size)], b[1+n+int(size):], true
}

// shared is bytes as a text, without a copy.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
