package wire

import (
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/yamlhost/yamlhost/value"
)

// The numbers of fields in google.protobuf.Struct, its entries, Value and ListValue.
const (
	fieldsField protowire.Number = 1
	keyField    protowire.Number = 1
	valueField  protowire.Number = 2
	itemsField  protowire.Number = 1
	nullField   protowire.Number = 1
	numberField protowire.Number = 2
	textField   protowire.Number = 3
	boolField   protowire.Number = 4
	structField protowire.Number = 5
	listField   protowire.Number = 6
)

// EncodeInto makes properties a field of a message, as Encode does it, but writes them straight to bytes: a message
// that is sent and not looked at needs no tree, and no second walk for sizes. The message keeps them as bytes, and its
// own field stays nil; nobody else may have its bytes. Null adds nothing. An error is a *PropertyError.
func (o Options) EncodeInto(m proto.Message, field protoreflect.FieldNumber, v value.Value) error {
	if v.IsNull() {
		return nil
	}
	if !v.Is(value.KindMap) {
		return newFault("is not a map of properties").err()
	}
	reflected := m.ProtoReflect()
	b := []byte(reflected.GetUnknown())
	if b == nil {
		b = make([]byte, 0, 2048)
	}
	b, start := beginMessage(b, field)
	b, f := o.appendFields(b, v, true)
	if f != nil {
		return f.err()
	}
	reflected.SetUnknown(endMessage(b, start))
	return nil
}

// beginMessage opens a nested message; endMessage takes what it returned.
func beginMessage(b []byte, field protowire.Number) ([]byte, int) {
	b = append(protowire.AppendTag(b, field, protowire.BytesType), 0)
	return b, len(b)
}

// endMessage writes the length of a nested message in front of it, which moves it if that takes more than a byte.
func endMessage(b []byte, start int) []byte {
	n := len(b) - start
	size := protowire.SizeVarint(uint64(n))
	if size > 1 {
		b = append(b, make([]byte, size-1)...)
		copy(b[start+size-1:], b[start:start+n])
	}
	protowire.AppendVarint(b[:start-1], uint64(n))
	return b
}

// appendFields is encodeFields to bytes.
func (o Options) appendFields(b []byte, v value.Value, top bool) ([]byte, *fault) {
	marked := top && (v.IsSecret() || len(v.Deps()) > 0)
	for i, key := range v.Keys() {
		item := v.At(i)
		if o.SkipNulls && item.IsNull() || o.SkipInternalKeys && top && strings.HasPrefix(key, "__") {
			continue
		}
		if marked {
			item = item.WithMarksOf(v)
		}
		if !utf8.ValidString(key) {
			return nil, newFault("has a name that is not UTF-8").inKey(strings.ToValidUTF8(key, "\uFFFD"))
		}
		without := len(b)
		open, entry := beginMessage(b, fieldsField)
		open = protowire.AppendString(protowire.AppendTag(open, keyField, protowire.BytesType), key)
		open, start := beginMessage(open, valueField)
		open, there, f := o.appendValue(open, item)
		switch {
		case f != nil:
			return nil, f.inKey(key)
		case there:
			b = endMessage(endMessage(open, start), entry)
		default:
			b = open[:without]
		}
	}
	return b, nil
}

// appendValue is encode to bytes; there is false for a value that is left out. Special values go through encode.
func (o Options) appendValue(b []byte, v value.Value) (_ []byte, there bool, f *fault) {
	if v.IsKnown() && !v.IsSecret() && (!o.KeepOutputs && !o.UpgradeToOutputs || len(v.Deps()) == 0) {
		switch v.Kind() {
		case value.KindBool:
			yes, _ := v.AsBool()
			b = protowire.AppendTag(b, boolField, protowire.VarintType)
			return protowire.AppendVarint(b, protowire.EncodeBool(yes)), true, nil
		case value.KindNumber:
			n, _ := v.AsNumber()
			b = protowire.AppendTag(b, numberField, protowire.Fixed64Type)
			return protowire.AppendFixed64(b, math.Float64bits(n)), true, nil
		case value.KindString:
			if s, _ := v.AsString(); utf8.ValidString(s) {
				return protowire.AppendString(protowire.AppendTag(b, textField, protowire.BytesType), s), true, nil
			}
		case value.KindNull:
			return protowire.AppendVarint(protowire.AppendTag(b, nullField, protowire.VarintType), 0), true, nil
		case value.KindList:
			b, start := beginMessage(b, listField)
			b, f := o.appendItems(b, v)
			if f != nil {
				return nil, false, f
			}
			return endMessage(b, start), true, nil
		case value.KindMap:
			b, start := beginMessage(b, structField)
			b, f := o.appendFields(b, v, false)
			if f != nil {
				return nil, false, f
			}
			return endMessage(b, start), true, nil
		}
	}
	w, f := o.encode(v)
	if f != nil || w == nil {
		return b, false, f
	}
	b, err := proto.MarshalOptions{}.MarshalAppend(b, w)
	if err != nil {
		return nil, false, newFault("cannot be written: " + err.Error())
	}
	return b, true, nil
}

// appendItems is encodeList to bytes.
func (o Options) appendItems(b []byte, v value.Value) ([]byte, *fault) {
	items, _ := v.AsList()
	for i, item := range items {
		without := len(b)
		open, start := beginMessage(b, itemsField)
		open, there, f := o.appendValue(open, item)
		switch {
		case f != nil:
			return nil, f.inItem(i)
		case there:
			b = endMessage(open, start)
		default:
			b = open[:without] // F1.11: what is left out shifts the rest
		}
	}
	return b, nil
}
