package backend

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// unpack undoes gzip or zstd, known by the first bytes (F6.8).
func unpack(data []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b, 0x08}):
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("unpack it with gzip: %w", err)
		}
		plain, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("unpack it with gzip: %w", err)
		}
		return plain, nil
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(nil)
		if err != nil {
			return nil, fmt.Errorf("unpack it with zstd: %w", err)
		}
		defer r.Close()
		plain, err := r.DecodeAll(data, nil)
		if err != nil {
			return nil, fmt.Errorf("unpack it with zstd: %w", err)
		}
		return plain, nil
	}
	return data, nil
}

func (c Compression) pack(data []byte) ([]byte, error) {
	var out bytes.Buffer
	switch c {
	case Gzip:
		w := gzip.NewWriter(&out)
		w.Write(data) // writing to memory: a fault would show in Close
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("pack with gzip: %w", err)
		}
		return out.Bytes(), nil
	case Zstd:
		w, err := zstd.NewWriter(nil)
		if err != nil {
			return nil, fmt.Errorf("pack with zstd: %w", err)
		}
		defer w.Close()
		return w.EncodeAll(data, nil), nil
	}
	return data, nil
}
