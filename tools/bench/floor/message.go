package main

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protobuf message under construction. Fields and nested messages are encoded directly, without a tree and
// a pass for sizes: end moves the content of a nested message if its length takes more than one byte.
type message []byte

func (m message) text(field protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), s)
}

// bytes adds a field of bytes; it does nothing if the field number is 0.
func (m message) bytes(field protowire.Number, b []byte) message {
	if field == 0 {
		return m
	}
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

func (m message) bool(field protowire.Number, b bool) message {
	return append(m, byte(field<<3), byte(protowire.EncodeBool(b)))
}

func (m message) number(f float64) message {
	return protowire.AppendFixed64(append(m, numberField<<3|1), math.Float64bits(f))
}

// begin opens a nested message. Its results are passed to end.
func (m message) begin(f protowire.Number) (message, int) {
	return append(m, byte(f<<3|2), 0), len(m) + 2
}

func (m message) end(start int) message {
	n := len(m) - start
	if n < 0x80 {
		m[start-1] = byte(n)
		return m
	}
	return slices.Replace(m, start-1, start, protowire.AppendVarint(nil, uint64(n))...)
}

// entry begins an entry of a google.protobuf.Struct. The caller appends the value and calls end twice.
func (m message) entry(key string) (open message, entry, value int) {
	m, entry = m.begin(1)
	m, value = m.text(1, key).begin(2)
	return m, entry, value
}

// with adds a string to a google.protobuf.Struct.
func (m message) with(key, text string) message {
	m, entry, value := append(make(message, 0, len(m)+64), m...).entry(key)
	return m.text(stringField, text).end(value).end(entry)
}

// The fields of google.protobuf.Value.
const nullField, numberField, stringField, boolField, structField, listField = 1, 2, 3, 4, 5, 6

// fields yields the numbers and contents of a message's fields.
func (m message) fields() iter.Seq2[protowire.Number, message] {
	return func(yield func(protowire.Number, message) bool) {
		for len(m) > 0 {
			tag, n := binary.Uvarint(m)
			start, size := n, 8
			switch tag & 7 {
			case 0:
				_, size = binary.Uvarint(m[n:])
			case 2:
				length, taken := binary.Uvarint(m[n:])
				start, size = n+taken, int(length)
			}
			if !yield(protowire.Number(tag>>3), m[start:start+size]) {
				return
			}
			m = m[start+size:]
		}
	}
}

// find returns a field of a message; nil if there is none.
func (m message) find(wanted protowire.Number) message {
	for field, content := range m.fields() {
		if field == wanted {
			return content
		}
	}
	return nil
}

// property returns a string of a google.protobuf.Struct.
func (m message) property(key string) string {
	for _, entry := range m.fields() {
		if string(entry.find(1)) == key {
			return string(entry.find(2).find(stringField))
		}
	}
	return ""
}

// appendStruct writes a google.protobuf.Struct as JSON.
func appendStruct(dst []byte, m message) []byte {
	dst = append(dst, '{')
	for _, entry := range m.fields() {
		dst, _ = jsontext.AppendQuote(dst, entry.find(1)) // it is UTF-8
		dst = append(appendValue(append(dst, ':'), entry.find(2)), ',')
	}
	return append(bytes.TrimSuffix(dst, []byte(",")), '}')
}

// appendValue writes a google.protobuf.Value as JSON.
func appendValue(dst []byte, m message) []byte {
	for field, content := range m.fields() {
		switch field {
		case numberField:
			dst = strconv.AppendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(content)), 'f', -1, 64)
		case stringField:
			dst, _ = jsontext.AppendQuote(dst, content) // it is UTF-8
		case boolField:
			dst = strconv.AppendBool(dst, content[0] == 1)
		case structField:
			dst = appendStruct(dst, content)
		case nullField:
			dst = append(dst, "null"...)
		case listField:
			dst = append(dst, '[')
			for _, item := range content.fields() {
				dst = append(appendValue(dst, item), ',')
			}
			dst = append(bytes.TrimSuffix(dst, []byte(",")), ']')
		}
	}
	return dst
}
