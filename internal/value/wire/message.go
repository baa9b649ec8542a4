package wire

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
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

// appendEntry adds an entry to a map; write adds its value, or reports that there is none, and then b is unchanged.
func appendEntry(b []byte, key string, write func([]byte) ([]byte, bool, *fault)) ([]byte, bool, *fault) {
	open, entry := beginMessage(b, fieldsField)
	open = protowire.AppendString(protowire.AppendTag(open, keyField, protowire.BytesType), key)
	open, start := beginMessage(open, valueField)
	open, there, f := write(open)
	if f != nil || !there {
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

// appendTextEntry adds an entry whose value is a text.
func appendTextEntry(b []byte, key, text string) []byte {
	b, _, _ = appendEntry(b, key, func(b []byte) ([]byte, bool, *fault) { return appendText(b, text), true, nil })
	return b
}

// beginSpecial opens a map with a signature; endMessage closes it.
func beginSpecial(b []byte, signature string) ([]byte, int) {
	b, start := beginMessage(b, structField)
	return appendTextEntry(b, SignatureKey, signature), start
}

// countFields returns the number of fields of a message that has only nested ones.
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
