package schema

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Resealed returns an index with a correct checksum, so that fuzzing reaches the code behind the check.
func Resealed(index []byte) []byte {
	if len(index) < 4 {
		return index
	}
	body := append([]byte(nil), index[:len(index)-4]...)
	return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, checksums))
}

// Complete is Converter.Complete with an environment only.
func Complete(o *Object, inputs value.Value, getenv func(name string) (string, bool)) (value.Value, error) {
	return Converter{Getenv: getenv}.Complete(o, inputs)
}

// OpenIndexed opens an index of a text.
func OpenIndexed(index []byte, text io.ReaderAt, size int64, stamp string) (*Package, error) {
	return openIndexed(index, text, size, stamp, func() {})
}
