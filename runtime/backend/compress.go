package backend

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A state packs to between a tenth and a thirtieth of its size. A file that unpacks to more than unpackedAtMost, and
// to more than maxRatio times its size, is not a state but an attempt to use up the memory.
const (
	unpackedAtMost = 128 << 20
	maxRatio       = 100
)

// unpack undoes gzip or zstd, known by the first bytes (F6.8).
func unpack(data []byte) ([]byte, error) {
	limit := max(unpackedAtMost, maxRatio*len(data))
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b, 0x08}):
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("unpack it with gzip: %w", err)
		}
		return unpacked(r, limit, "gzip")
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderMaxMemory(uint64(limit)))
		if err != nil {
			return nil, fmt.Errorf("unpack it with zstd: %w", err)
		}
		defer r.Close()
		return unpacked(r, limit, "zstd")
	}
	return data, nil
}

// unpacked reads at most limit bytes; more are an error.
func unpacked(r io.Reader, limit int, how string) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack it with %s: %w", how, err)
	case len(plain) > limit:
		return nil, fmt.Errorf("it unpacks to more than %d MiB, over %d times its size: no state does", limit>>20, maxRatio)
	}
	return plain, nil
}

// pack compresses data; Plain leaves it as it is.
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
