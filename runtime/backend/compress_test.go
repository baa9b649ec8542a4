package backend

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A small file that unpacks to more than the limit is rejected before it is unpacked completely.
func TestUnpackingHasALimit(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, unpackedAtMost+1<<20)
	text := bytes.Repeat([]byte("{\"a\":1}"), 1000)
	for _, c := range []Compression{Gzip, Zstd} {
		bomb, err := c.pack(zeros)
		require.NoError(t, err)
		require.Less(t, len(bomb), 1<<20)
		_, err = unpack(bomb)
		require.ErrorContains(t, err, "unpack", c)
		packed, err := c.pack(text)
		require.NoError(t, err)
		plain, err := unpack(packed)
		require.NoError(t, err)
		require.Equal(t, text, plain)
	}
}
