package main

import (
	"encoding/binary"
	"iter"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// message is a protobuf message under construction. Fields and nested messages go straight to bytes, without a tree and
// without a pass for sizes: end moves what a nested message holds if its length takes more than one byte.
type message []byte

func (m message) text(field int, s string) message {
	return append(binary.AppendUvarint(append(m, byte(field<<3|2)), uint64(len(s))), s...)
}

func (m message) bytes(field int, b []byte) message {
	return append(binary.AppendUvarint(append(m, byte(field<<3|2)), uint64(len(b))), b...)
}

func (m message) bool(field int, b byte) message { return append(m, byte(field<<3), b) }

func (m message) number(f float64) message {
	return binary.LittleEndian.AppendUint64(append(m, numberField<<3|1), math.Float64bits(f))
}

// begin opens a nested message; end takes what it returned.
func (m message) begin(field int) (message, int) { return append(m, byte(field<<3|2), 0), len(m) + 2 }

func (m message) end(start int) message {
	n := len(m) - start
	if n < 0x80 {
		m[start-1] = byte(n)
		return m
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	m = append(m, length[1:size]...) // room, whatever it holds
	copy(m[start+size-1:], m[start:start+n])
	copy(m[start-1:], length[:size])
	return m
}

// entry begins an entry of a google.protobuf.Struct; its value and two ends follow.
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

// fields gives the fields of a message: their numbers and what they hold.
func (m message) fields() iter.Seq2[int, message] {
	return func(yield func(int, message) bool) {
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
			if !yield(int(tag>>3), m[start:start+size]) {
				return
			}
			m = m[start+size:]
		}
	}
}

// find returns a field of a message; nil if it is not there.
func (m message) find(wanted int) message {
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
func appendStruct(to []byte, m message) []byte {
	mark := byte('{')
	for _, entry := range m.fields() {
		to, _ = jsontext.AppendQuote(append(to, mark), entry.find(1)) // it is UTF-8
		to, mark = appendValue(append(to, ':'), entry.find(2)), ','
	}
	if mark == '{' {
		to = append(to, mark)
	}
	return append(to, '}')
}

// appendValue writes a google.protobuf.Value as JSON.
func appendValue(to []byte, m message) []byte {
	for field, content := range m.fields() {
		switch field {
		case numberField:
			to = strconv.AppendFloat(to, math.Float64frombits(binary.LittleEndian.Uint64(content)), 'f', -1, 64)
		case stringField:
			to, _ = jsontext.AppendQuote(to, content) // it is UTF-8
		case boolField:
			to = strconv.AppendBool(to, content[0] == 1)
		case structField:
			to = appendStruct(to, content)
		case nullField:
			to = append(to, "null"...)
		case listField:
			to = append(to, '[')
			for _, item := range content.fields() {
				to = append(appendValue(to, item), ',')
			}
			if len(content) > 0 {
				to = to[:len(to)-1]
			}
			to = append(to, ']')
		}
	}
	return to
}
