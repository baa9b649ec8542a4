package wire

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of google.protobuf.Struct, its entries, Value and ListValue.
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

// beginMessage starts a nested message. Its result is passed to endMessage.
func beginMessage(b []byte, field protowire.Number) ([]byte, int) {
	b = append(protowire.AppendTag(b, field, protowire.BytesType), 0)
	return b, len(b)
}

// endMessage inserts the length of a nested message, and moves the message if the length takes more than one byte.
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

// appendEntry appends a map entry. write appends its value, or reports that there is none; b is then returned
// unchanged.
func appendEntry(b []byte, key string, write func([]byte) ([]byte, bool, *fault)) ([]byte, bool, *fault) {
	open, entry := beginMessage(b, fieldsField)
	open = protowire.AppendString(protowire.AppendTag(open, keyField, protowire.BytesType), key)
	open, start := beginMessage(open, valueField)
	open, present, f := write(open)
	if f != nil || !present {
		return b, false, f
	}
	return endMessage(endMessage(open, start), entry), true, nil
}

func appendText(b []byte, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, textField, protowire.BytesType), text)
}

func appendBool(b []byte, yes bool) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, boolField, protowire.VarintType), protowire.EncodeBool(yes))
}

// appendTextEntry appends a map entry with a string value.
func appendTextEntry(b []byte, key, text string) []byte {
	b, _, _ = appendEntry(b, key, func(b []byte) ([]byte, bool, *fault) { return appendText(b, text), true, nil })
	return b
}

// beginSpecial starts a map with a signature; endMessage ends it.
func beginSpecial(b []byte, signature string) ([]byte, int) {
	b, start := beginMessage(b, structField)
	return appendTextEntry(b, SignatureKey, signature), start
}

// countFields returns the number of fields of a message that consists of nested messages only.
func countFields(b []byte) (n int, ok bool) {
	for len(b) > 0 {
		if _, b, ok = nested(b, protowire.Number(b[0]>>3)); !ok {
			return 0, false
		}
		n++
	}
	return n, true
}

// nested returns the nested message or string at the start of a message.
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

// shared returns b as a string, without a copy.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
