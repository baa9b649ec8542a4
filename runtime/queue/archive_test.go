//go:build !lean

package queue

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"
)

// archiveOf returns an archive with one file whose name Pack would not write.
func archiveOf(t *testing.T, name string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	archive := tar.NewWriter(packed)
	require.NoError(t, archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}))
	require.NoError(t, archive.Close())
	require.NoError(t, packed.Close())
	return &b
}
