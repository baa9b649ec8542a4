package disk

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Holds reports true for the exact content, and false for content of another length or with one other byte.
func TestHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	content := bytes.Repeat([]byte("0123456789"), 20_000)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	holds := func(content []byte) bool {
		same, err := Holds(Real{}, path, content)
		require.NoError(t, err)
		return same
	}
	require.True(t, holds(content))
	require.False(t, holds(content[1:]))
	require.False(t, holds(append(bytes.Clone(content), '0')))
	require.False(t, holds(nil))
	for _, i := range []int{0, 1 << 16, len(content) - 1} {
		other := bytes.Clone(content)
		other[i]++
		require.False(t, holds(other), i)
	}
	_, err := Holds(Real{}, path+"2", content)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
