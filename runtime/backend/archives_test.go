package backend

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An archive is read back unchanged from a folder and from a store. Removing it leaves nothing.
func TestArchives(t *testing.T) {
	t.Parallel()
	folder, dir := newBackend(t)
	m := newMemory()
	for name, b := range map[string]*Backend{"folder": folder, "store": openMemory(t, m, 1)} {
		for digit, size := range map[string]int{"a": 1, "b": archivePiece, "c": 2*archivePiece + 7} {
			digest := strings.Repeat(digit, 64)
			content := bytes.Repeat([]byte("yamlhost"), size/8+1)[:size]
			for range 2 { // a second write is no error
				require.NoError(t, b.Archives().PutArchive(digest, bytes.NewReader(content)), name)
			}
			r, err := b.Archives().Archive(digest)
			require.NoError(t, err, name)
			got, err := io.ReadAll(r)
			require.NoError(t, err, name)
			require.True(t, bytes.Equal(content, got), name)
			refs, err := b.Stacks(t.Context(), "")
			require.NoError(t, err, name)
			require.Empty(t, refs, name)
			for range 2 {
				require.NoError(t, b.Archives().RemoveArchive(digest), name)
			}
			_, err = b.Archives().Archive(digest)
			require.ErrorIs(t, err, fs.ErrNotExist, name)
		}
		require.Error(t, b.Archives().PutArchive("../x", strings.NewReader("x")), name)
		require.Error(t, b.Archives().RemoveArchive(""), name)
		_, err := b.Archives().Archive(strings.Repeat("A", 64))
		require.ErrorContains(t, err, "not a digest", name)
	}
	require.Equal(t, []string{".pulumi/meta.yaml"}, m.keys())
	require.Empty(t, filesBelow(t, filepath.Join(dir, archivesFolder)))
}
